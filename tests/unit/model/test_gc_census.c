/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gc_census.c - which collections were made for the heap profile, whatever the order of their events. */
#include "tests/unit/test.h"

#include "daemon/model/gc_private.h"
#include "proto/base/process.h"

/* The pause of the collection that a census was made in, if that came before it; else 0. */
static uint64_t census(struct gc_censuses *c, uint64_t time_ns)
{
        struct time_range of;

        if (!gc_censuses_census(c, time_ns, &of))
                return 0;
        gc_censuses_count(c, of.from_ns, of.to_ns);
        return of.to_ns - of.from_ns;
}

TEST(either_may_come_first)
{
        struct gc_censuses c;

        gc_censuses_clear(&c);
        assert_false(gc_censuses_collection(&c, 10, 30));
        assert_int_equal(census(&c, 20), 20); /* the collection came first */
        assert_int_equal(census(&c, 25), 0);  /* it counts once */
        assert_int_equal(census(&c, 50), 0);
        assert_false(gc_censuses_collection(&c, 60, 70)); /* none of its own */
        assert_true(gc_censuses_collection(&c, 45, 55));  /* the census came first */
        assert_false(gc_censuses_collection(&c, 45, 55));
        assert_int_equal(census(&c, 60), 10); /* bounds belong to it */
}

TEST(the_oldest_are_forgotten)
{
        struct gc_censuses c;

        gc_censuses_clear(&c);
        for (uint64_t i = 0; i <= GC_CENSUSES; i++)
                assert_false(gc_censuses_collection(&c, 100 * i, 100 * i + 10));
        assert_int_equal(census(&c, 5), 0);
        assert_int_equal(census(&c, 105), 10);
        assert_int_equal(census(&c, UNKNOWN_U64 - 1), 0);
}

/* Their time is known by the second for half a minute, by ten seconds for five, whatever the order of events. */
TEST(how_long_they_took)
{
        const uint64_t s = 1000000000;
        struct gc_censuses c;

        gc_censuses_clear(&c);
        for (uint64_t i = 0; i < 40; i++) {
                (void)gc_censuses_collection(&c, i * s + 100, i * s + 150);
                (void)census(&c, i * s + 120);
                (void)gc_censuses_collection(&c, i * s + 200, i * s + 900); /* the program's own */
        }
        assert_int_equal(gc_censuses_pause(&c, (struct time_range){ 30 * s, 40 * s }), 10 * 50);
        assert_int_equal(gc_censuses_pause(&c, (struct time_range){ 30 * s, 31 * s }), 50);
        assert_int_equal(gc_censuses_pause(&c, (struct time_range){ 40 * s, 50 * s }), 0);
        assert_int_equal(gc_censuses_pause(&c, (struct time_range){ 0, 30 * s }), (30 - 8) * 50); /* 32 are kept */
        assert_int_equal(gc_censuses_pause(&c, (struct time_range){ 0, 40 * s }), 40 * 50);
        assert_int_equal(census(&c, 39 * s + 300), 700);
        assert_int_equal(gc_censuses_pause(&c, (struct time_range){ 39 * s, 40 * s }), 750);
        for (uint64_t i = 40; i < 400; i++) {
                (void)gc_censuses_collection(&c, i * s + 100, i * s + 150);
                (void)census(&c, i * s + 120);
        }
        assert_int_equal(gc_censuses_pause(&c, (struct time_range){ 100 * s, 400 * s }), 300 * 50);
        assert_int_equal(gc_censuses_pause(&c, (struct time_range){ 0, 400 * s }), 320 * 50);
}
