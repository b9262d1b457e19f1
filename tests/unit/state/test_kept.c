/* SPDX-License-Identifier: BSD-3-Clause */
/* test_kept.c - entries follow their targets, however others come and go, and each is dropped once. */
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test.h"

#include "client/world/state/world.h"
#include "tests/unit/console/made_up.h"

struct entry {
        struct kept_of of;
        char *mine;
};

static int dropped;

static void drop(void *entry)
{
        struct entry *e = entry;

        dropped += e->mine != NULL;
        free(e->mine);
}

/* Every entry has the name of the target at its index; returns how many are new, and gives those something to keep. */
static int new_ones(struct kept *k, const struct world *w)
{
        int n = 0;

        assert_true(kept_follow(k, w));
        assert_int_equal(k->n, world_targets(w));
        for (size_t i = 0; i < k->n; i++) {
                struct entry *e = kept_entry(k, i);

                assert_string_equal(e->of.name, world_target(w, i)->name);
                assert_int_equal(e->of.daemon, world_target(w, i)->daemon);
                n += !e->mine;
                if (!e->mine)
                        e->mine = strdup(e->of.name);
                assert_string_equal(e->mine, e->of.name);
        }
        return n;
}

TEST(entries_follow_their_targets)
{
        struct world *w = world_new(NULL);
        struct kept k = { .size = sizeof(struct entry), .drop = drop };

        assert_int_equal(new_ones(&k, w), 0);
        for (const char *name = "mdx"; *name; name++)
                assert_int_equal(send_live(w, 0, (char[]){ *name, 0 }, 1, SECOND, 1), 0);
        assert_int_equal(new_ones(&k, w), 3);
        assert_int_equal(new_ones(&k, w), 0);
        assert_int_equal(send_live(w, 0, "a", 1, SECOND, 1), 0); /* before, between, behind, and of another daemon */
        assert_int_equal(send_live(w, 0, "e", 1, SECOND, 1), 0);
        assert_int_equal(send_live(w, 0, "z", 1, SECOND, 1), 0);
        assert_int_equal(send_live(w, 1, "m", 1, SECOND, 1), 0);
        assert_int_equal(new_ones(&k, w), 4);
        assert_int_equal(dropped, 0);
        assert_int_equal(send_state(w, 0, "d", 1, HW__TARGET__STATE__STATE_REMOVED), 0);
        assert_int_equal(send_state(w, 0, "m", 1, HW__TARGET__STATE__STATE_REMOVED), 0);
        assert_int_equal(new_ones(&k, w), 0);
        assert_int_equal(dropped, 2);
        world_reset(w, 0);
        assert_int_equal(new_ones(&k, w), 0);
        assert_int_equal(k.n, 1);
        assert_int_equal(dropped, 6);
        kept_clear(&k);
        assert_int_equal(dropped, 7);
        assert_int_equal(new_ones(&k, w), 1);
        kept_clear(&k);
        world_destroy(&w);
}
