/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of facts: names, help, and that unknown is never 0. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "client/world/state/world.h"
#include "proto/base/array.h"

TEST(test_every_fact_is_described)
{
        static const char *const suffixes[] = {
                [FACT_BYTES] = "_bytes", [FACT_NS] = "_ns", [FACT_RATE] = "_bps", [FACT_WALL] = "_wall_ns"
        };

        for (int id = FACT_NONE + 1; id < FACTS; id++) {
                const struct fact_row *f = &fact_rows[id];
                const char *suffix = (size_t)f->unit < ARRAY_SIZE(suffixes) ? suffixes[f->unit] : NULL;

                for (const char *c = f->name; *c; c++)
                        if (!islower((unsigned char)*c) && *c != '_')
                                fail_msg("%s is no name", f->name);
                if (suffix)
                        assert_string_equal(f->name + strlen(f->name) - strlen(suffix), suffix);
                if (f->help[strlen(f->help) - 1] != '.')
                        fail_msg("the help of %s is no sentence: %s", f->name, f->help);
                assert_true(f->source[0] != '\0');
        }
        for (int id = FACT_NONE + 1; id < FACTS; id++)
                for (int other = FACT_NONE + 1; other < id; other++)
                        if (facts_key((enum fact)id) == facts_key((enum fact)other))
                                fail_msg("%s and %s have the same key, or name", fact_rows[id].name,
                                         fact_rows[other].name);
}

/* The live data among the parts of RSS beside a newer measurement: one of a second ago and more has its age. */
TEST(test_the_live_data_in_rss_has_its_age)
{
        Hw__Resident resident = HW__RESIDENT__INIT;
        Hw__Heap heap = HW__HEAP__INIT;
        struct world_target t = { .heap = &heap, .event_time_ns = UINT64_C(9000000000) };
        char age[WORLD_AGE_TEXT];

        heap.resident = &resident;
        assert_string_equal(world_parts_age(age, &t), "");
        SET(resident, live_time_ns, UINT64_C(8500000000));
        assert_string_equal(world_parts_age(age, &t), "");
        SET(resident, live_time_ns, UINT64_C(7000000000));
        assert_string_equal(world_parts_age(age, &t), ", 2.00 s before the end");
}

TEST(test_nothing_is_known_of_an_empty_target)
{
        struct world_target *t = calloc(1, sizeof(*t));
        Hw__Heap heap = HW__HEAP__INIT;
        Hw__Gc gc = HW__GC__INIT;
        Hw__Health health = HW__HEALTH__INIT;
        Hw__Sched sched = HW__SCHED__INIT;
        Hw__Target target = HW__TARGET__INIT;

        assert_non_null(t);
        for (int messages = 0; messages < 2; messages++) {
                for (int id = FACT_NONE; id <= FACTS; id++)
                        if (!isnan(facts_get(t, (enum fact)id)))
                                fail_msg("%s is known", fact_rows[id].name);
                t->heap = &heap; /* and messages without any field */
                t->gc = &gc;
                t->health = &health;
                t->sched = &sched;
                t->target = &target;
        }
        assert_false(facts_is_known(t, FACT_LIVE));
        assert_int_equal(facts_get_u64(t, FACT_LIVE, UINT64_MAX), UINT64_MAX);
        free(t);
}

/* A number that travels by its key; one of a newer version is ignored. */
TEST(test_carried_facts)
{
        struct world_target *t = calloc(1, sizeof(*t));
        Hw__Heap heap = HW__HEAP__INIT;
        uint32_t keys[] = { 12345, facts_key(FACT_LIVE_SUM) };
        double values[] = { 1, 0 };

        assert_non_null(t);
        t->heap = &heap;
        assert_false(facts_is_known(t, FACT_LIVE_SUM));
        heap.fact = keys;
        heap.fact_value = values;
        heap.n_fact = heap.n_fact_value = 2;
        assert_true(facts_get(t, FACT_LIVE_SUM) == 0);
        values[1] = 7e9;
        assert_true(facts_get(t, FACT_LIVE_SUM) == 7e9);
        assert_false(facts_is_known(t, FACT_GC_PARALLEL_COPIED));
        for (unsigned i = 0; i < CARRIED_FACTS; i++) {
                keys[1] = facts_key(carried_facts[i]);
                assert_true(facts_get(t, carried_facts[i]) == 7e9);
        }
        free(t);
}

TEST(test_zero_is_known)
{
        struct world_target *t = calloc(1, sizeof(*t));
        Hw__Process process = HW__PROCESS__INIT;
        Hw__Heap heap = HW__HEAP__INIT;
        Hw__Generation young = HW__GENERATION__INIT, old = HW__GENERATION__INIT;
        Hw__Generation *generations[] = { &young, &old };
        Hw__Run run = HW__RUN__INIT;
        Hw__Target target = HW__TARGET__INIT;
        Hw__Gc gc = HW__GC__INIT;

        assert_non_null(t);
        heap.has_live_bytes = true;
        heap.process = &process;
        process.has_swap_bytes = true;
        SET(process, rss_bytes, 4096);
        t->heap = &heap;
        assert_true(facts_get(t, FACT_LIVE) == 0);
        assert_true(facts_get(t, FACT_SWAP) == 0);
        assert_true(facts_get(t, FACT_RESIDENT) == 4096);
        assert_int_equal(facts_get_u64(t, FACT_RESIDENT, 0), 4096);
        assert_true(isnan(facts_get(t, FACT_PROPORTIONAL)));

        SET(young, count, 40);
        SET(old, count, 2);
        old.generation = 1;
        SET_LIST(gc, generations, generations, 2);
        t->gc = &gc;
        assert_true(facts_get(t, FACT_COLLECTIONS) == 42);
        assert_true(isnan(facts_get(t, FACT_MAJOR_COLLECTIONS))); /* which generation is the oldest is not known */
        SET(run, generations, 2);
        target.run_info = &run;
        t->target = &target;
        assert_true(facts_get(t, FACT_MAJOR_COLLECTIONS) == 2);
        free(t);
}
