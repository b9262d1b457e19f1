/* SPDX-License-Identifier: BSD-3-Clause */
/* Interned strings, the pool and the id table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "proto/base/hash.h"
#include "proto/base/idtable.h"
#include "proto/base/pool.h"
#include "proto/base/strings.h"

#define MANY 20000

TEST(test_strings)
{
        static const char *texts[MANY];
        struct strings s;
        char big[5000];

        strings_init(&s, 0);
        for (int round = 0; round < 2; round++) {
                for (int i = 0; i < MANY; i++) {
                        char text[32];
                        int n = snprintf(text, sizeof(text), "Main.label%d", i);
                        const char *p = strings_intern(&s, text, (size_t)n);
                        assert_string_equal(p, text);
                        assert_true(round == 0 || p == texts[i]);
                        texts[i] = p;
                }
        }
        for (int i = 0; i < MANY; i += 997) /* nothing was written over */
                assert_int_equal(strtol(texts[i] + 10, NULL, 10), i);
        assert_string_equal(strings_intern(&s, NULL, 0), "");
        assert_ptr_equal(strings_intern(&s, "", 0), strings_intern(&s, "\0tail", 5));
        assert_ptr_equal(strings_intern(&s, "head\0tail", 9), strings_intern(&s, "head", 4));
        memset(big, 'x', sizeof(big));
        const char *p = strings_intern(&s, big, sizeof(big));
        assert_int_equal(strlen(p), sizeof(big));
        assert_ptr_equal(p, strings_intern(&s, big, sizeof(big)));
        assert_true(strings_held(&s) > MANY * 10);
        strings_done(&s);
        assert_int_equal(strings_held(&s), 0);
        assert_string_equal(strings_intern(&s, "again", 5), "again");
        strings_done(&s);
}

/* A text's size is in front of it, wherever it is. */
TEST(test_strings_head)
{
        struct strings s;
        char text[3000];

        strings_init(&s, 0);
        for (unsigned n = 0; n <= sizeof(text); n = n < 40 ? n + 1 : n * 5 / 4) {
                memset(text, 'a' + (int)(n % 26), n);
                const char *p = strings_intern(&s, text, n);
                assert_non_null(p);
                assert_int_equal(strings_size(p), n);
                assert_memory_equal(p, text, n);
                assert_ptr_equal(p, strings_intern(&s, text, n));
        }
        strings_done(&s);
}

TEST(test_strings_cap)
{
        struct strings s;
        int kept = 0;

        strings_init(&s, 65536);
        for (int i = 0; i < MANY; i++) {
                char text[32];
                int n = snprintf(text, sizeof(text), "%d", i);
                kept += strings_intern(&s, text, (size_t)n) != NULL;
        }
        assert_in_range(kept, 1000, 15000);
        assert_string_equal(strings_intern(&s, "17", 2), "17"); /* what is known is still found */
        assert_true(s.arena.held_bytes <= 65536);
        strings_done(&s);
}

TEST(test_pool)
{
        struct pool p;
        uint64_t *first;

        pool_init(&p, sizeof(uint64_t), 4);
        first = pool_add(&p);
        for (uint32_t id = 2; id <= 1000; id++) {
                uint64_t *v = pool_add(&p);
                assert_int_equal(p.count, id);
                assert_int_equal(*v, 0);
                *v = id * 3;
        }
        assert_ptr_equal(first, pool_at(&p, 1));
        for (uint32_t id = 2; id <= 1000; id++)
                assert_int_equal(*(uint64_t *)pool_at(&p, id), id * 3);
        pool_undo(&p);
        assert_int_equal(*(uint64_t *)pool_add(&p), 0); /* zeroed again */
        assert_true(pool_held(&p) >= 8000);
        pool_done(&p);
        assert_int_equal(pool_held(&p), 0);
}

TEST(test_idtable)
{
        struct idtable t = { 0 };
        uint32_t at = idtable_start(&t, 5);

        assert_int_equal(idtable_next(&t, 5, &at), 0);
        for (uint32_t id = 1; id <= MANY; id++)
                assert_int_equal(idtable_add(&t, hash_u64(id / 2, 99), id), 0); /* two ids a hash */
        for (uint32_t key = 1; key < MANY / 2; key++) {
                uint64_t hash = hash_u64(key, 99);
                uint32_t id, found = 0;
                at = idtable_start(&t, hash);
                while ((id = idtable_next(&t, hash, &at)))
                        found += id / 2 == key;
                assert_int_equal(found, 2);
        }
        idtable_done(&t);
        assert_int_equal(idtable_held(&t), 0);
}

TEST(test_seeds_differ)
{
        const int here = 0;

        assert_true(hash_seed(&here) != hash_seed(&here));
        assert_true(hash_bytes("a", 1, 1) != hash_bytes("a", 1, 2));
        assert_true(hash_bytes("a", 1, 1) == hash_bytes("a", 1, 1));
        assert_true(hash_u64(1, 1) != hash_u64(2, 1));
}
