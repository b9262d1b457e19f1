/* SPDX-License-Identifier: BSD-3-Clause */
/* What censuses may cost: the bucket of pauses, the prediction of one, and when live data count as rising. */
#include "tests/unit/test.h"

#include "agent/budget.h"
#include "agent/pace.h"

#define S   INT64_C(1000000000)
#define MS  INT64_C(1000000)
#define MIB (UINT64_C(1) << 20)

/* A program whose census pauses it `pause_ns_per_mib` for each MiB alive, seen by the timetable each second. */
struct program {
        struct timetable timetable;
        struct census_facts facts;
        uint64_t live_mib;
        int64_t ns_per_mib, now, paused_ns, last_ns;
};

static struct program program(uint64_t live_mib, int64_t ns_per_mib)
{
        struct program p = { .timetable = { .interval_ns = S }, .live_mib = live_mib, .ns_per_mib = ns_per_mib };

        timetable_set_flush(&p.timetable, 0, S);
        timetable_set_profile(&p.timetable, 0, 'T');
        budget_begin(&p.timetable.budget, 0, BUDGET_SHARE, 0);
        return p;
}

/* A collection of its own, without a census. */
static void collect(struct program *p)
{
        p->facts.lives++;
        p->facts.live_bytes = p->live_mib * MIB;
}

static void census(struct program *p)
{
        collect(p);
        p->facts.known++;
        p->facts.pause_ns = p->live_mib * (uint64_t)p->ns_per_mib;
        p->paused_ns += (int64_t)p->facts.pause_ns;
        p->last_ns = p->now;
}

/* Returns how many censuses there were. */
static uint64_t run_for(struct program *p, int64_t ns)
{
        const uint64_t before = p->facts.known;

        for (int64_t end = p->now + ns; p->now < end; p->now += S / 10) {
                budget_learn(&p->timetable.budget, p->now, &p->facts);
                if (timetable_census(&p->timetable, p->now))
                        census(p);
        }
        return p->facts.known - before;
}

/* 20 ms each 40 s; 250 ms each eight minutes. */
TEST(test_the_average_share)
{
        static const struct {
                uint64_t live_mib;
                int64_t every_s;
        } cases[] = { { 50, 40 }, { 625, 500 } };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct program p = program(cases[i].live_mib, 400000);

                (void)run_for(&p, 1000 * S); /* the first looks are paid for */
                int64_t before = p.last_ns, paused = p.paused_ns;
                uint64_t n = run_for(&p, 3600 * S);
                assert_in_range(n, 3600 / cases[i].every_s - 1, 3600 / cases[i].every_s + 1);
                assert_true((double)(p.paused_ns - paused) <= 0.00051 * (double)(p.last_ns - before));
                assert_in_range(timetable_census_every(&p.timetable, p.now), (cases[i].every_s - 1) * S,
                                (cases[i].every_s + 1) * S);
        }
}

/* Whatever it costs, the first one comes at once; the next when it is made up for. */
TEST(test_the_first_look_is_soon)
{
        struct program p = program(500, 400000);

        assert_int_equal(run_for(&p, 2 * S), 1);
        assert_true(p.last_ns <= S / 2);
        assert_int_equal(run_for(&p, 790 * S), 0); /* 200 ms, and as much for the next one */
        assert_int_equal(run_for(&p, 20 * S), 1);

        p = program(2, 1000000); /* 2 ms each */
        assert_in_range(run_for(&p, 400 * S), 98, 101);
}

/* What is left of a long time without censuses is bounded. */
TEST(test_what_is_saved_up_is_bounded)
{
        struct census_budget b;

        budget_begin(&b, 0, BUDGET_SHARE, 0);
        budget_set_share(&b, 1000000 * S, BUDGET_SHARE);
        assert_int_equal(b.left_ns, BUDGET_SAVED_NS);
}

/* What is saved up is not spent on a program that is as it was: long pauses stay rare in every minute. */
TEST(test_long_ones_are_spaced_by_the_share)
{
        struct program p = program(100, 400000);

        p.now = 100000 * S;
        (void)run_for(&p, 10 * S); /* the first look */
        assert_int_equal(p.facts.known, 1);
        for (int64_t last = p.last_ns, i = 0; i < 5; i++, last = p.last_ns) {
                assert_int_equal(run_for(&p, last + 79 * S - p.now), 0); /* 40 ms: 80 s */
                assert_int_equal(run_for(&p, 2 * S), 1);
        }
}

/* Live data that rise for half a minute are worth a hundredth of the time, until they are flat again. */
TEST(test_more_while_live_data_rise)
{
        struct program p = program(50, 400000);

        (void)run_for(&p, 200 * S);
        assert_false(budget_rising(&p.timetable.budget, p.now));
        for (int i = 0; i < 60; i++) {
                p.live_mib += 2;
                collect(&p);
                (void)run_for(&p, S);
        }
        assert_true(budget_rising(&p.timetable.budget, p.now));
        uint64_t n = 0;
        for (int i = 0; i < 60; i++) {
                p.live_mib += 2;
                collect(&p);
                n += run_for(&p, S);
        }
        assert_in_range(n, 5, 15); /* 70 to 116 ms each */
        for (int i = 0; i < 60; i++) {
                collect(&p);
                (void)run_for(&p, S);
        }
        assert_false(budget_rising(&p.timetable.budget, p.now));
        assert_in_range(run_for(&p, 3600 * S), 12, 20);
}

/* A start fills the heap, and then no collection tells that it has ended: that is not a rise for ever. */
TEST(test_a_rise_ends_when_no_collection_tells_of_it)
{
        struct program p = program(1, 400000);

        for (; p.live_mib < 512; p.live_mib *= 2) {
                collect(&p);
                (void)run_for(&p, S);
        }
        int64_t paused = p.paused_ns;
        (void)run_for(&p, 100 * S);
        assert_true(p.paused_ns - paused <= 410 * MS); /* two; four and more otherwise */
        assert_false(budget_rising(&p.timetable.budget, p.now));
}

static bool rises(const uint64_t *live, size_t n, int64_t every_ns)
{
        struct rise r = { 0 };

        for (size_t i = 0; i < n; i++)
                rise_add(&r, (int64_t)i * every_ns, live[i], 0);
        return r.rises;
}

/* Ten MiB a second are promoted, of which `kept` stay alive; n collections, 10 s apart. Does it show between two? */
static bool promoting(double kept, int n, double since_s)
{
        struct rise r = { 0 };
        int64_t now = S;

        for (int i = 0; i < n; i++, now += 10 * S)
                rise_add(&r, now, 50 * MIB + (uint64_t)(kept * 10 * i * (double)MIB), i > 0 ? 100 * MIB : 0);
        rise_promoted(&r, now - 10 * S + (int64_t)(since_s * 1e9), (uint64_t)(10 * since_s * (double)MIB));
        return r.is_promoting;
}

TEST(test_what_is_promoted_tells_between_collections)
{
        assert_true(promoting(10, 5, 6));  /* all of it stays */
        assert_false(promoting(10, 5, 4)); /* a tenth of 450 MiB is not there yet */
        assert_true(promoting(2, 5, 9));
        assert_false(promoting(1, 50, 80)); /* of 550 MiB: slower than a tenth in 40 s */
        assert_false(promoting(0, 5, 100)); /* requests that outlive the nursery */

        struct rise r = { 0 };
        rise_add(&r, S, 50 * MIB, 0);
        rise_add(&r, 20 * S, 50 * MIB, MIB);
        rise_promoted(&r, 22 * S, 2 * MIB);
        assert_false(r.is_promoting);
        rise_promoted(&r, 24 * S, 8 * MIB); /* a leak begins */
        assert_true(r.is_promoting);
        rise_add(&r, 25 * S, 60 * MIB, 10 * MIB);
        rise_promoted(&r, 25 * S, 0);
        assert_false(r.is_promoting);
}

TEST(test_what_is_a_rise)
{
        uint64_t ramp[400], step[400], saw[400], noise[400], slow[400];

        for (unsigned i = 0; i < 400; i++) {
                ramp[i] = 1000 + 20 * i;
                step[i] = i < 5 ? 10 + i * 200 : 1000 + i % 7; /* a start */
                saw[i] = 1000 + i % 60 * 20;
                noise[i] = 1000 + i * 7919 % 100;
                slow[i] = 100000 + i; /* 0.2 % in all */
        }
        assert_true(rises(ramp, 400, S / 10));
        assert_true(rises(ramp, 6, 60 * S)); /* rare collections: longer spans */
        assert_false(rises(ramp, 5, 60 * S));
        assert_true(rises((const uint64_t[]){ 10, 20, 40, 80 }, 4, 10 * S)); /* each collection has twice as much */
        assert_false(rises((const uint64_t[]){ 80, 10, 20, 40, 80 }, 5, 10 * S));
        assert_false(rises((const uint64_t[]){ 10, 20, 40, 80, 80, 80 }, 6, 10 * S));
        assert_false(rises(step, 400, S));
        assert_false(rises(saw, 400, S / 10)); /* each span has all of it */
        assert_false(rises(noise, 400, S));
        assert_false(rises(slow, 400, S));
}

TEST(test_what_a_census_will_pause)
{
        struct census_budget b;
        struct census_facts f = { 0 };
        int64_t ns;

        budget_begin(&b, 0, BUDGET_SHARE, 50 * MS);
        assert_false(budget_predict(&b, &ns));
        assert_true(budget_forbids(&b)); /* what is not known may be longer */
        f = (struct census_facts){ .lives = 1, .live_bytes = 40 * MIB };
        budget_learn(&b, S, &f);
        assert_true(budget_predict(&b, &ns)); /* by what is usual */
        assert_in_range(ns, 15 * MS, 25 * MS);
        assert_false(budget_forbids(&b));

        f = (struct census_facts){ .lives = 2, .known = 1, .pause_ns = 40 * MS, .live_bytes = 40 * MIB };
        budget_learn(&b, 2 * S, &f);
        f.lives++;
        f.live_bytes = 60 * MIB;
        budget_learn(&b, 3 * S, &f);
        assert_true(budget_predict(&b, &ns));
        assert_in_range(ns, 58 * MS, 60 * MS);
        assert_true(budget_forbids(&b));
        f.lives++;
        f.live_bytes = 20 * MIB; /* it became smaller */
        budget_learn(&b, 4 * S, &f);
        assert_false(budget_forbids(&b));

        for (unsigned i = 0; i < 2; i++) { /* the longest of the last ones decides, whatever held it up */
                f = (struct census_facts){ f.known + 1, i ? 200 * MS : 20 * MS, f.lives + 1, 20 * MIB, 0, 0, 0, 0 };
                budget_learn(&b, (5 + i) * S, &f);
        }
        assert_true(budget_predict(&b, &ns));
        assert_in_range(ns, 199 * MS, 201 * MS);
        f.load = 2.5; /* four busy loops on two processors */
        budget_learn(&b, 8 * S, &f);
        assert_true(budget_predict(&b, &ns));
        assert_in_range(ns, 499 * MS, 501 * MS);
        b.longest_ns = 0;
        b.seen.live_bytes = 10000 * MIB;
        assert_false(budget_forbids(&b));
}

/* One collection of 70 ms took 2 s: there is none with a pause any more, until that is allowed again. */
TEST(test_a_surprise_is_the_last_one)
{
        struct program p = program(140, 500 * 1000);
        int64_t unused;

        (void)run_for(&p, 3600 * S);
        p.timetable.budget.longest_ns = 60 * S;
        assert_in_range(run_for(&p, 3600 * S), 24, 27);
        while (!run_for(&p, S / 10))
                ;
        p.facts.pause_ns = 2192 * MS;
        assert_int_equal(run_for(&p, 36000 * S), 0);
        assert_true(p.timetable.budget.ended_ns == 2192 * MS && budget_forbids(&p.timetable.budget));
        assert_true(budget_predict(&p.timetable.budget, &unused));
        budget_set_longest(&p.timetable.budget, 0);
        assert_in_range(run_for(&p, 36000 * S), 3, 250);
        p.facts.pause_ns *= 10;
        assert_true(run_for(&p, 360000 * S) > 1 && p.timetable.budget.ended_ns == 0);

        p = program(1, 500 * 1000); /* a turn of the scheduler is no surprise, however short the collection is */
        (void)run_for(&p, 100 * S);
        p.timetable.budget.longest_ns = 60 * S;
        while (!run_for(&p, S / 10))
                ;
        p.facts.pause_ns = 11 * MS;
        (void)run_for(&p, S);
        assert_false(budget_forbids(&p.timetable.budget));

        p = program(100, 500 * 1000); /* longer than allowed */
        p.timetable.budget.longest_ns = 60 * MS;
        while (!run_for(&p, S / 10))
                collect(&p);
        p.facts.pause_ns = 61 * MS;
        (void)run_for(&p, S);
        assert_true(budget_forbids(&p.timetable.budget));
}

/* On a busy machine each pause takes as long as it takes: at every moment all of them are within the share, or one. */
TEST(test_the_share_of_a_busy_machine)
{
        struct program p = program(20, 500 * 1000);
        uint64_t random = 1;
        int64_t longest = 0;

        p.timetable.budget.longest_ns = BUDGET_PAUSE_NS;
        p.facts.load = 3;
        collect(&p);
        for (int i = 0; i < 36000; i++) {
                if (run_for(&p, S / 10) == 0)
                        continue;
                random = random * 6364136223846793005u + 1442695040888963407u;
                const int64_t slower = 10 + (int64_t)(random >> 33) % 20; /* once to three times as long */
                p.paused_ns += (int64_t)p.facts.pause_ns * (slower - 10) / 10;
                p.facts.pause_ns = p.facts.pause_ns * (uint64_t)slower / 10;
                longest = (int64_t)p.facts.pause_ns > longest ? (int64_t)p.facts.pause_ns : longest;
                assert_true((double)p.paused_ns <= (double)(2 * longest) + BUDGET_SHARE * (double)p.now);
        }
        assert_true(p.facts.known > 30 && (double)p.paused_ns <= 1.1 * BUDGET_SHARE * (double)p.now);
        assert_false(budget_forbids(&p.timetable.budget));
}

/* A small census says little of a large heap: neither too much nor too little. */
TEST(test_a_small_census_predicts_no_large_one)
{
        struct census_budget b;
        struct census_facts f = { .known = 1, .pause_ns = 2 * MS, .lives = 1, .live_bytes = MIB };
        int64_t ns;

        budget_begin(&b, 0, BUDGET_SHARE, 0);
        budget_learn(&b, S, &f);
        f.lives++;
        f.live_bytes = 100 * MIB;
        budget_learn(&b, 2 * S, &f);
        assert_true(budget_predict(&b, &ns));
        assert_in_range(ns, 50 * MS, 51 * MS);
}

TEST(test_no_limit)
{
        struct program p = program(500, 400000);

        budget_set_share(&p.timetable.budget, 0, 0);
        assert_in_range(run_for(&p, 60 * S), 59, 60);
        budget_set_share(&p.timetable.budget, p.now, 0.05); /* 200 ms: each four seconds */
        assert_in_range(run_for(&p, 400 * S), 95, 105);
}

/* Also one of an hour's budget, and one whose cost the log does not tell. */
TEST(test_extremes)
{
        struct program p = program(100000, 400000);
        struct timetable s = { .interval_ns = S, .profile = 'T' };
        uint64_t n = 0;

        assert_in_range(run_for(&p, 6 * 3600 * S), 5, 6); /* one in 80 minutes, however expensive */
        budget_begin(&s.budget, 0, BUDGET_SHARE, 0);
        for (int64_t now = 0; now < 1000 * S; now += S)
                n += timetable_census(&s, now);
        assert_in_range(n, 98, 101);
}

/* It waits for what is forbidden without turning round all the time, and goes on when it becomes smaller. */
TEST(test_a_forbidden_pause)
{
        struct program p = program(200, 400000);

        p.timetable.budget.longest_ns = 50 * MS;
        collect(&p);
        assert_int_equal(run_for(&p, 100 * S), 0);
        assert_true(timetable_census_forbidden(&p.timetable, p.now));
        timetable_set_flush(&p.timetable, p.now, S);
        assert_int_equal(timetable_until_due(&p.timetable, p.now), S);
        p.live_mib = 60;
        collect(&p);
        assert_int_equal(run_for(&p, S), 1);
        assert_false(timetable_census_forbidden(&p.timetable, p.now));
}
