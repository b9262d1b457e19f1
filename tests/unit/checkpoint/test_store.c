/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/record/checkpoint/store.h"
#include "daemon/log.h"

#define TRIES 2000 /* of 5 ms */

static char root[] = "/tmp/test-store-XXXXXX";

static char *path_of(const char *target)
{
        static char path[256];

        (void)snprintf(path, sizeof(path), "%s/%s" CHECKPOINT_SUFFIX, root, target);
        return path;
}

static void put(struct checkpoint_store *s, const char *target)
{
        uint8_t *image = malloc(16);

        assert_non_null(image);
        memset(image, 7, 16);
        checkpoint_store_put(s, target, image, 16, 1, 0);
}

static bool is_file(const char *target)
{
        struct stat st;

        return stat(path_of(target), &st) == 0 && S_ISREG(st.st_mode);
}

static void put_and_wait(struct checkpoint_store *s, const char *target)
{
        put(s, target);
        for (int i = 0; i < TRIES && !is_file(target); i++)
                (void)poll(NULL, 0, 5);
        assert_true(is_file(target));
}

static bool wait_for_trouble(struct checkpoint_store *s, bool wanted)
{
        struct checkpoint_trouble trouble;

        for (int i = 0; i < TRIES && checkpoint_store_trouble(s, &trouble) != wanted; i++)
                (void)poll(NULL, 0, 5);
        return checkpoint_store_trouble(s, &trouble);
}

/* As on a full disk, where the checkpoint of a small target fits and that of a large one does not. */
TEST(test_trouble_lasts_until_its_target_is_written)
{
        struct error error;
        struct checkpoint_store *s = checkpoint_store_new(root, &error);
        char inside[300];

        assert_non_null(s);
        assert_int_equal(mkdir(path_of("large"), 0700), 0); /* a file cannot replace it */
        (void)snprintf(inside, sizeof(inside), "%s/x", path_of("large"));
        assert_int_equal(mkdir(inside, 0700), 0);
        put(s, "large");
        assert_true(wait_for_trouble(s, true));
        put_and_wait(s, "small");
        put_and_wait(s, "smaller"); /* the outcome of the one before is known by now */
        assert_true(wait_for_trouble(s, true));
        assert_int_equal(rmdir(inside), 0);
        assert_int_equal(rmdir(path_of("large")), 0);
        put_and_wait(s, "large");
        assert_false(wait_for_trouble(s, false));
        checkpoint_store_destroy(&s);
}

static int begin_tests(void **state)
{
        log_set_level(LOG_ERROR);
        return mkdtemp(root) ? 0 : -1;
}

static int end_tests(void **state)
{
        static const char *const targets[] = { "large", "small", "smaller" };
        char lock[64];

        for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
                (void)unlink(path_of(targets[i]));
        (void)snprintf(lock, sizeof(lock), "%s/lock", root);
        (void)unlink(lock);
        return rmdir(root);
}

TEST_GROUP(begin_tests, end_tests)
