/* SPDX-License-Identifier: BSD-3-Clause */
/* malloc_arena: what our threads allocate comes from the arena of the thread that started them. */
#include "tests/unit/test.h"

#include <pthread.h>
#include <stdlib.h>

#include "agent/thread.h"

#define NON_MAIN_ARENA 4u /* in the size of a chunk of glibc's malloc, before what it returns */

static size_t *allocated[3];

static void allocate(void)
{
        for (size_t i = 0; i < 3; i++)
                allocated[i] = malloc((size_t)100 << (4 * i)); /* of the thread's cache, of a bin, large */
}

static void *allocate_as_others_do(void *unused)
{
        allocate();
        return unused;
}

static bool is_of_main_arena(void)
{
        bool yes = true;

        for (size_t i = 0; i < 3; i++) {
                yes &= (allocated[i][-1] & NON_MAIN_ARENA) == 0;
                free(allocated[i]);
        }
        return yes;
}

TEST(test_threads_allocate_where_the_first_one_does)
{
        static struct thread t;
        pthread_t other;

        if (!malloc_arena_find().state)
                skip(); /* another allocator: a sanitizer's, valgrind's */
        assert_int_equal(pthread_create(&other, NULL, allocate_as_others_do, NULL), 0);
        assert_int_equal(pthread_join(other, NULL), 0);
        assert_false(is_of_main_arena()); /* the mark means what this test takes it for */
        for (int i = 0; i < 20; i++) {    /* the count of threads of an arena is checked at the end of each */
                assert_int_equal(thread_start(&t, "test", allocate), 0);
                assert_int_equal(pthread_join(t.id, NULL), 0);
                assert_true(is_of_main_arena());
        }
}
