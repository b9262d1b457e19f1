/* SPDX-License-Identifier: BSD-3-Clause */
/* Data gathered between two messages: arrays grow with a burst and are freed after it. */
#include "tests/unit/test.h"

#include "daemon/publish/send.h"
#include "daemon/publish/limits.h"

static void gather(struct gathered *g, unsigned n)
{
        for (unsigned i = 0; i < n; i++) {
                assert_true(gather_sample(g, SERIES_LIVE, i, 2 * i));
                if (i < LIMIT_COLLECTIONS_PER_UPDATE)
                        assert_true(gather_collection(g, &(struct collection){ .end_time_ns = i }));
        }
}

static void sent(struct gathered *g)
{
        gathered_samples_sent(g);
        gathered_collections_sent(g);
}

TEST(test_a_burst_keeps_no_memory)
{
        struct gathered g;

        gathered_init(&g);
        gather(&g, 300);
        gathered_shrink(&g); /* they still wait */
        assert_int_equal(g.samples[SERIES_LIVE].n, 300);
        assert_int_equal(g.samples[SERIES_LIVE].values[299], 598);
        assert_int_equal(g.collections.n, 256);
        sent(&g);
        gathered_shrink(&g);
        assert_int_equal(g.samples[SERIES_LIVE].capacity, 0);
        assert_null(g.samples[SERIES_LIVE].values);
        assert_int_equal(g.collections.capacity, 0);
        gather(&g, 3);
        assert_int_equal(g.samples[SERIES_LIVE].values[2], 4);
        gathered_done(&g);
}

TEST(test_what_is_usual_keeps_its_memory)
{
        struct gathered g;

        gathered_init(&g);
        gather(&g, 20);
        sent(&g);
        gathered_shrink(&g);
        assert_int_equal(g.samples[SERIES_LIVE].capacity, 32);
        assert_int_equal(g.collections.capacity, 32);
        gathered_done(&g);
}
