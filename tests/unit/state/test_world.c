/* SPDX-License-Identifier: BSD-3-Clause */
/* test_world.c - the state of the world from messages: every kind, runs, resets, bounds. */
#include <stdio.h>
#include "tests/unit/test.h"

#include "proto/base/array.h"
#include "proto/base/limits.h"
#include "proto/base/nearest.h"
#include "tests/unit/console/made_up.h"

static const struct history_options kept = { .points = 4096, .columns = 512, .cells = 1 << 20, .keep_recent = true };

static struct world *made;

static int begin_world(void **state)
{
        made = world_new(&kept);
        return made ? 0 : -1;
}

static int end_world(void **state)
{
        world_destroy(&made);
        assert_null(made);
        return 0;
}

TEST_EACH(begin_world, end_world)

static const struct past *series_of(const struct world_target *t, Hw__Series series)
{
        return history_series(t->history, series);
}

TEST(gauges_and_samples)
{
        assert_int_equal(send_state(made, 0, "a", 1, HW__TARGET__STATE__STATE_RUNNING), 0);
        assert_int_equal(send_live(made, 0, "a", 1, 1 * SECOND, 10), 0);
        assert_int_equal(send_live(made, 0, "a", 1, 2 * SECOND, 20), 0);
        const struct world_target *t = world_find(made, "a");
        assert_non_null(t);
        assert_int_equal(t->target->state, HW__TARGET__STATE__STATE_RUNNING);
        assert_string_equal(t->target->run_info->program, "service");
        assert_int_equal(t->heap->live_bytes, 20);
        assert_int_equal(t->heap->n_samples, 0);
        assert_int_equal(t->event_time_ns, 2 * SECOND);
        assert_int_equal(series_of(t, HW__SERIES__SERIES_LIVE)->n, 2);
        assert_true(series_of(t, HW__SERIES__SERIES_LIVE)->points[0].cell.last == 10);
        assert_true(series_of(t, HW__SERIES__SERIES_LIVE)->points[1].cell.last == 20);
        assert_null(world_find(made, "b"));
}

/* All targets share the bound evenly; a target that keeps nothing gets none. */
TEST(pasts_are_bounded_together)
{
        static const struct history_options few = { .points = 1 << 20, .columns = 16, .cells = 1 << 16 };
        struct world *v = world_new(&few), *without = world_new(NULL);
        char name[16];

        for (int i = 0; i < 100; i++) {
                (void)snprintf(name, sizeof(name), "t%d", i);
                assert_int_equal(send_live(v, 0, name, 1, SECOND, 1), 0);
        }
        for (int i = 0; i < 100; i++) { /* the bounds are those of now */
                (void)snprintf(name, sizeof(name), "t%d", i);
                assert_int_equal(send_live(v, 0, name, 1, 2 * SECOND, 1), 0);
                assert_int_equal(world_find(v, name)->history->options.points, WORLD_PAST_POINTS / 100 / SERIES_COUNT);
                assert_int_equal(world_find(v, name)->history->options.cells, WORLD_CELLS_LEAST);
        }
        assert_int_equal(send_live(without, 0, "a", 1, SECOND, 10), 0);
        assert_null(world_find(without, "a")->history);
        assert_int_equal(history_series(NULL, HW__SERIES__SERIES_LIVE)->n, 0);
        world_destroy(&v);
        world_destroy(&without);
}

/* For the requested run and target; otherwise it comes too late. */
TEST(what_daemons_remember_finds_its_run)
{
        const Hw__Series live = HW__SERIES__SERIES_LIVE;

        assert_int_equal(send_live(made, 0, "a", 2, 100 * SECOND, 7), 0);
        for (uint32_t run = 1; run <= 3; run++) {
                struct past p = { 0 }, q = { 0 }, r = { 0 };
                struct point point = past_sample(3 * SECOND, 5);

                assert_int_equal(past_append(&p, &point) | past_append(&q, &point) | past_append(&r, &point), 0);
                assert_int_equal(world_recall(made, 0, "a", run, live, 0, &p), 0);
                assert_int_equal(world_recall(made, 1, "a", run, live, 0, &q), 0);
                assert_int_equal(world_recall(made, 0, "b", run, live, 0, &r), 0);
                assert_null(p.points);
                assert_int_equal(series_of(world_find(made, "a"), live)->n, run < 2 ? 1 : 2);
        }
        assert_int_equal(history_first_ns(world_find(made, "a")->history), 3 * SECOND);
        assert_int_equal(send_live(made, 0, "a", 3, 5, 77), 0);
        assert_int_equal(series_of(world_find(made, "a"), live)->n, 1);
}

TEST(new_run_clears_old_run_is_ignored)
{
        uint32_t ids[] = { 1 };
        uint64_t bytes[] = { 100 };

        assert_int_equal(send_state(made, 0, "a", 1, HW__TARGET__STATE__STATE_RUNNING), 0);
        assert_int_equal(send_live(made, 0, "a", 1, SECOND, 10), 0);
        assert_int_equal(send_band(made, "a", 1, 1, "old"), 0);
        assert_int_equal(send_census(made, "a", 1, 1, ids, bytes, 1), 0);
        assert_int_equal(send_note(made, "a", 1, 1, "old"), 0);
        assert_int_equal(send_live(made, 0, "a", 2, 5, 77), 0);
        const struct world_target *t = world_find(made, "a");
        assert_int_equal(t->run, 2);
        assert_non_null(t->target);
        assert_null(t->target->run_info);
        assert_null(t->census);
        assert_int_equal(t->n_bands, 0);
        assert_int_equal(t->notes_last, 0);
        assert_null(world_note(t, 1));
        assert_int_equal(series_of(t, HW__SERIES__SERIES_LIVE)->n, 1);
        assert_int_equal(t->event_time_ns, 5);
        assert_int_equal(send_live(made, 0, "a", 1, 9 * SECOND, 999), 0);
        assert_int_equal(t->heap->live_bytes, 77);
        assert_int_equal(world_targets(made), 1);
}

TEST(bands_follow_censuses)
{
        uint32_t ids[] = { 2, 1 }, one[] = { 1 }, late[] = { 1, 3 };
        uint64_t bytes[] = { 50, 100 }, less[] = { 70 }, more[] = { 80, 5 };
        const struct world_band *top[3];
        struct past past = { 0 };

        assert_int_equal(send_band(made, "a", 1, 2, "two"), 0);
        assert_int_equal(send_census(made, "a", 1, 1, ids, bytes, 2), 0);
        assert_int_equal(send_census(made, "a", 1, 1, ids, bytes, 2), 0); /* repeated by a snapshot */
        const struct world_target *t = world_find(made, "a");
        assert_int_equal(world_top_bands(t, top, 3), 2);
        assert_int_equal(top[0]->id, 1);
        assert_string_equal(top[0]->def->label, "band 1");
        assert_string_equal(top[1]->def->label, "two");
        assert_int_equal(send_census(made, "a", 1, 2, one, less, 1), 0);
        assert_int_equal(t->bands[1]->bytes, 0);
        assert_int_equal(t->bands[1]->census, 1);
        assert_int_equal(t->bands[0]->max_bytes, 100);
        assert_int_equal(send_census(made, "a", 1, 3, late, more, 2), 0);
        assert_int_equal(history_band(t->history, 3, NULL, &past), 0);
        assert_true(past.n == 3 && past.points[1].cell.last == 0 && past.points[2].cell.last == 5); /* seen to appear */
        past_done(&past);
        assert_int_equal(t->bands[2]->first_bytes, 5);
        assert_int_equal(series_of(t, HW__SERIES__SERIES_CENSUS_TOTAL)->n, 3);
        assert_int_equal(world_top_bands(t, top, 1), 1);
        assert_int_equal(top[0]->id, 1);
}

TEST(hostile_ids_are_not_believed)
{
        uint32_t ids[] = { 0, UINT32_MAX, LIMIT_BANDS + 1, 1, 1 };
        uint64_t bytes[] = { 1, 2, 3, UINT64_MAX, 5 };

        assert_int_equal(send_census(made, "a", 1, 1, ids, bytes, 5), 0);
        assert_int_equal(send_band(made, "a", 1, UINT32_MAX, "far"), 0);
        const struct world_target *t = world_find(made, "a");
        assert_int_equal(t->n_bands, 1);
        assert_true(t->bands[0]->bytes == UINT64_MAX);
}

TEST(notes_keep_the_newest)
{
        for (uint64_t i = 1; i <= WORLD_NOTES + 10; i++)
                assert_int_equal(send_note(made, "a", 1, i, "n"), 0);
        const struct world_target *t = world_find(made, "a");
        assert_int_equal(t->notes_first, 11);
        assert_int_equal(t->notes_last, WORLD_NOTES + 10);
        assert_null(world_note(t, 10));
        assert_int_equal(world_note(t, 11)->number, 11);
        assert_int_equal(send_note(made, "a", 1, 5, "too old"), 0);
        assert_null(world_note(t, 5));
        assert_int_equal(send_note(made, "a", 1, UINT64_MAX, "far"), 0);
        assert_null(world_note(t, WORLD_NOTES + 10));
        assert_string_equal(world_note(t, UINT64_MAX)->text, "far");
        assert_true(t->notes_last == UINT64_MAX);
}

TEST(same_name_in_two_daemons)
{
        assert_int_equal(send_live(made, 1, "a", 1, SECOND, 1), 0);
        assert_int_equal(send_live(made, 0, "a", 1, SECOND, 2), 0);
        assert_int_equal(send_live(made, 0, "B", 1, SECOND, 3), 0);
        assert_int_equal(world_targets(made), 3);
        assert_string_equal(world_target(made, 0)->name, "B");
        assert_int_equal(world_target(made, 1)->daemon, 0);
        assert_int_equal(world_target(made, 2)->daemon, 1);
        assert_int_equal(world_target(made, 2)->heap->live_bytes, 1);
        world_reset(made, 0);
        assert_int_equal(world_targets(made), 1);
        assert_int_equal(world_find(made, "a")->daemon, 1);
        assert_null(world_target(made, 1));
}

static int send_daemon(struct world *v, uint64_t wall_ns, char **names, size_t n)
{
        Hw__Update u = HW__UPDATE__INIT;
        Hw__DaemonState d = HW__DAEMON_STATE__INIT;

        SET(u, published_wall_ns, wall_ns);
        SET_LIST(d, targets, names, n);
        u.body_case = HW__UPDATE__BODY_DAEMON;
        u.daemon = &d;
        return apply_made(v, 0, &u);
}

TEST(targets_go)
{
        char *names[] = { (char *)"a" };

        assert_int_equal(send_live(made, 0, "a", 1, SECOND, 1), 0);
        assert_int_equal(send_live(made, 0, "b", 1, SECOND, 1), 0);
        assert_int_equal(send_live(made, 0, "c", 1, SECOND, 1), 0);
        assert_int_equal(send_state(made, 0, "c", 1, HW__TARGET__STATE__STATE_REMOVED), 0);
        assert_null(world_find(made, "c"));
        assert_int_equal(send_daemon(made, 1, names, 1), 0); /* an older list says nothing about b */
        assert_non_null(world_find(made, "b"));
        assert_int_equal(send_daemon(made, UINT64_MAX, names, 1), 0);
        assert_null(world_find(made, "b"));
        assert_non_null(world_find(made, "a"));
        assert_int_equal(world_daemon(made, 0)->heard_wall_ns, UINT64_MAX);
        assert_null(world_daemon(made, 1));
        world_set_stale(made, 0, true);
        assert_true(world_daemon(made, 0)->stale);
}

TEST(number_of_targets_is_bounded)
{
        char name[32];

        for (int i = 0; i < WORLD_TARGETS + 3; i++) {
                (void)snprintf(name, sizeof(name), "t%06d", i);
                assert_int_equal(send_live(made, 0, name, 1, SECOND, 1), 0);
        }
        assert_int_equal(world_targets(made), WORLD_TARGETS);
        assert_int_equal(world_daemon(made, 0)->left_out, 3);
}

TEST(names_and_daemons_from_outside_are_checked)
{
        char name[WORLD_NAME_MAX + 2];

        memset(name, 'x', sizeof(name) - 1);
        name[sizeof(name) - 1] = '\0';
        assert_int_equal(send_live(made, 0, name, 1, SECOND, 1), 0);
        assert_int_equal(send_live(made, 0, "", 1, SECOND, 1), 0);
        assert_int_equal(send_live(made, WORLD_DAEMONS, "a", 1, SECOND, 1), 0);
        assert_int_equal(world_targets(made), 0);
        assert_int_equal(send_live(made, 0, name + 1, 1, SECOND, 1), 0);
        assert_string_equal(world_target(made, 0)->name, name + 1);
}

/* Collections feed the pause series only as long as the daemon does not sample it itself. */
TEST(pauses_are_derived)
{
        Hw__Update u = update_of("a", 1, SECOND);
        Hw__Gc gc = HW__GC__INIT;
        Hw__Collection c = HW__COLLECTION__INIT;
        Hw__Collection *list[] = { &c };
        Hw__Heap heap = HW__HEAP__INIT;
        Hw__Samples samples = HW__SAMPLES__INIT;
        Hw__Samples *sampled[] = { &samples };
        uint64_t time_ns = 3, value = 9;
        const struct world_target *t;

        SET(c, end_time_ns, 1);
        SET(c, pause_ns, 5);
        SET_LIST(gc, collections, list, 1);
        u.body_case = HW__UPDATE__BODY_GC;
        u.gc = &gc;
        assert_int_equal(apply_made(made, 0, &u), 0);
        t = world_find(made, "a");
        assert_int_equal(t->gc->n_collections, 0);
        assert_int_equal(series_of(t, HW__SERIES__SERIES_GC_PAUSE)->n, 1);
        assert_int_equal(series_of(t, HW__SERIES__SERIES_SLOP)->n, 0);
        SET(samples, series, HW__SERIES__SERIES_GC_PAUSE);
        samples.n_times_ns = samples.n_values = 1;
        samples.times_ns = &time_ns;
        samples.values = &value;
        SET_LIST(heap, samples, sampled, 1);
        u.body_case = HW__UPDATE__BODY_HEAP;
        u.heap = &heap;
        assert_int_equal(apply_made(made, 0, &u), 0);
        u.body_case = HW__UPDATE__BODY_GC;
        u.gc = &gc;
        assert_int_equal(apply_made(made, 0, &u), 0);
        assert_int_equal(series_of(t, HW__SERIES__SERIES_GC_PAUSE)->n, 1);
        assert_true(series_of(t, HW__SERIES__SERIES_GC_PAUSE)->points[0].cell.last == 9);
        samples.series = (Hw__Series)1000000;
        u.body_case = HW__UPDATE__BODY_HEAP;
        u.heap = &heap;
        assert_int_equal(apply_made(made, 0, &u), 0);
}

TEST(profile_ticky_sched_health)
{
        Hw__Update u = update_of("a", 1, SECOND);
        Hw__Profile profile = HW__PROFILE__INIT;
        Hw__Stack stack = HW__STACK__INIT;
        Hw__Stack *stacks[] = { &stack };
        Hw__Ticky ticky = HW__TICKY__INIT;
        Hw__TickyCounter counter = HW__TICKY_COUNTER__INIT;
        Hw__TickyCounter *counters[] = { &counter };
        Hw__Sched sched = HW__SCHED__INIT;
        Hw__Health health = HW__HEALTH__INIT;
        const struct world_target *t;

        SET(profile, ticks, 7);
        SET(stack, id, 2);
        SET(stack, ticks, 3);
        SET_LIST(profile, stacks, stacks, 1);
        u.body_case = HW__UPDATE__BODY_PROFILE;
        u.profile = &profile;
        assert_int_equal(apply_made(made, 0, &u), 0);
        stack.id = UINT32_MAX;
        assert_int_equal(apply_made(made, 0, &u), 0);
        SET_LIST(ticky, counters, counters, 1);
        u.body_case = HW__UPDATE__BODY_TICKY;
        u.ticky = &ticky;
        for (uint64_t i = 0; i < 300; i++) {
                SET(counter, id, (i % 150) << 40);
                SET(counter, entries, i);
                assert_int_equal(apply_made(made, 0, &u), 0);
        }
        SET(sched, migrations, 4);
        u.body_case = HW__UPDATE__BODY_SCHED;
        u.sched = &sched;
        assert_int_equal(apply_made(made, 0, &u), 0);
        SET(health, lost_bytes, 12);
        u.body_case = HW__UPDATE__BODY_HEALTH;
        u.health = &health;
        assert_int_equal(apply_made(made, 0, &u), 0);
        t = world_find(made, "a");
        assert_int_equal(t->ticks, 7);
        assert_int_equal(t->n_stacks, 2);
        assert_null(t->stacks[0]);
        assert_int_equal(t->stacks[1]->ticks, 3);
        assert_int_equal(t->n_ticky, 150);
        assert_int_equal(t->ticky[149]->entries, 299);
        assert_int_equal(t->sched->migrations, 4);
        assert_int_equal(t->health->lost_bytes, 12);
}

static int send_trends_of(struct world *v, const char *target, uint32_t run, uint64_t time_ns, Hw__Trends *trends)
{
        Hw__Update u = update_of(target, run, time_ns);

        u.body_case = HW__UPDATE__BODY_TRENDS;
        u.trends = trends;
        return apply_made(v, 0, &u);
}

static int send_trends(struct world *v, uint32_t run, Hw__Trend **list, size_t n, Hw__Growth *growth)
{
        Hw__Trends trends = HW__TRENDS__INIT;

        SET_LIST(trends, trends, list, n);
        trends.growth = growth;
        return send_trends_of(v, "a", run, SECOND, &trends);
}

TEST(trends_are_kept_by_series_and_band)
{
        Hw__Trend live = HW__TREND__INIT, band = HW__TREND__INIT, hostile = HW__TREND__INIT;
        Hw__Trend *all[] = { &live, &band, &hostile };
        Hw__Growth growth = HW__GROWTH__INIT;

        SET(live, series, HW__SERIES__SERIES_LIVE);
        SET(live, verdict, HW__VERDICT__VERDICT_GROWING);
        SET(band, band, 3);
        SET(band, slope, 2.5);
        SET(hostile, band, LIMIT_BANDS + 1);
        SET(growth, where, HW__GROWTH__WHERE__WHERE_LIVE);
        assert_int_equal(send_trends(made, 1, all, 3, &growth), 0);
        const struct world_target *t = world_find(made, "a");
        assert_int_equal(t->trends[HW__SERIES__SERIES_LIVE]->verdict, HW__VERDICT__VERDICT_GROWING);
        assert_null(t->trends[HW__SERIES__SERIES_RSS]);
        assert_int_equal(t->n_bands, 3);
        assert_true(t->bands[2]->trend->slope == 2.5);
        assert_string_equal(t->bands[2]->def->label, "band 3");
        assert_int_equal(t->trend_state->growth->where, HW__GROWTH__WHERE__WHERE_LIVE);
        assert_int_equal(t->trend_state->n_trends, 0);

        live.verdict = HW__VERDICT__VERDICT_LEAK; /* only what changed is sent; the rest is full state */
        assert_int_equal(send_trends(made, 1, all, 1, NULL), 0);
        assert_int_equal(t->trends[HW__SERIES__SERIES_LIVE]->verdict, HW__VERDICT__VERDICT_LEAK);
        assert_true(t->bands[2]->trend->slope == 2.5);
        assert_null(t->trend_state->growth);

        assert_int_equal(send_trends(made, 2, all, 0, NULL), 0); /* a new run knows nothing */
        assert_null(t->trends[HW__SERIES__SERIES_LIVE]);
        assert_int_equal(t->n_bands, 0);
}

TEST(alerts_are_replaced_and_outlive_runs)
{
        Hw__Update u = update_of("a", 1, SECOND);
        Hw__Alerts alerts = HW__ALERTS__INIT;
        Hw__Alert leak = HW__ALERT__INIT, *list[] = { &leak };

        leak.rule = (char *)"leak";
        SET(leak, state, HW__ALERT__STATE__STATE_FIRING);
        SET_LIST(alerts, alerts, list, 1);
        u.body_case = HW__UPDATE__BODY_ALERTS;
        u.alerts = &alerts;
        assert_int_equal(apply_made(made, 0, &u), 0);
        const struct world_target *t = world_find(made, "a");
        assert_int_equal(t->alerts->n_alerts, 1);
        assert_string_equal(t->alerts->alerts[0]->rule, "leak");
        assert_int_equal(send_live(made, 0, "a", 2, SECOND, 10), 0);
        assert_int_equal(t->alerts->n_alerts, 1);
        alerts.n_alerts = 0;
        u.run = 2;
        assert_int_equal(apply_made(made, 0, &u), 0);
        assert_int_equal(t->alerts->n_alerts, 0);
}

/* An empty body of this name as the wire's JSON has it; false: no such. */
static bool set_body(Hw__Update *u, const char *name)
{
        static Hw__Heap heap = HW__HEAP__INIT;
        static Hw__Gc gc = HW__GC__INIT;
        static Hw__Sched sched = HW__SCHED__INIT;
        static Hw__Target target = HW__TARGET__INIT;
        static Hw__Health health = HW__HEALTH__INIT;
        static Hw__Alerts alerts = HW__ALERTS__INIT;
        const struct {
                const char *name;
                Hw__Update__BodyCase body;
                ProtobufCMessage *message;
        } bodies[] = {
                { "heap", HW__UPDATE__BODY_HEAP, &heap.base },
                { "gc", HW__UPDATE__BODY_GC, &gc.base },
                { "sched", HW__UPDATE__BODY_SCHED, &sched.base },
                { "targetState", HW__UPDATE__BODY_TARGET_STATE, &target.base },
                { "health", HW__UPDATE__BODY_HEALTH, &health.base },
                { "alerts", HW__UPDATE__BODY_ALERTS, &alerts.base },
        };

        for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
                if (strcmp(bodies[i].name, name))
                        continue;
                u->body_case = bodies[i].body;
                u->heap = (Hw__Heap *)bodies[i].message; /* bodies share their place */
                return true;
        }
        return false;
}

static bool has_body(const struct world_target *t, Hw__Update__BodyCase body)
{
        return body == HW__UPDATE__BODY_HEAP           ? t->heap != NULL
               : body == HW__UPDATE__BODY_GC           ? t->gc != NULL
               : body == HW__UPDATE__BODY_SCHED        ? t->sched != NULL
               : body == HW__UPDATE__BODY_TARGET_STATE ? t->target != NULL
               : body == HW__UPDATE__BODY_HEALTH       ? t->health != NULL
                                                       : t->alerts != NULL;
}

/* Effect of a message's run: the table that the browser page has, too. */
TEST(runs_decide_as_on_the_page)
{
        FILE *f = fopen("client/page/test/run_cases.json", "r");
        int known, run, taken, after, n = 0;
        char body[16];

        assert_non_null(f);
        assert_int_equal(fscanf(f, " ["), 0);
        while (fscanf(f, " [%d, %d, \"%15[a-zA-Z]\", %d, %d] ,", &known, &run, body, &taken, &after) == 5) {
                struct world *v = world_new(&kept);
                Hw__Update first = update_of("a", (uint32_t)known, 1), u = update_of("a", 0, 2);
                Hw__Ticky nothing = HW__TICKY__INIT;

                first.body_case = HW__UPDATE__BODY_TICKY;
                first.ticky = &nothing;
                assert_int_equal(apply_made(v, 0, &first), 0);
                u.has_run = run >= 0;
                u.run = run >= 0 ? (uint32_t)run : 0;
                assert_true(set_body(&u, body));
                assert_int_equal(apply_made(v, 0, &u), 0);
                assert_int_equal(has_body(world_find(v, "a"), u.body_case), taken);
                assert_int_equal(world_find(v, "a")->run, after);
                world_destroy(&v);
                n++;
        }
        assert_true(n > 15);
        assert_int_equal(fgetc(f), ']');
        (void)fclose(f);
}

static void recall_rss(struct world *w, const char *name)
{
        struct past p = { 0 };
        struct point point = past_sample(SECOND / 2, 5);

        assert_int_equal(past_append(&p, &point), 0);
        assert_int_equal(world_recall(w, 0, name, 1, HW__SERIES__SERIES_RSS, 0, &p), 0);
}

static void check_past(const struct world *w, const char *name, size_t live, size_t rss, uint64_t censuses)
{
        const struct world_target *t = world_find(w, name);

        assert_int_equal(series_of(t, HW__SERIES__SERIES_LIVE)->n, live);
        assert_int_equal(series_of(t, HW__SERIES__SERIES_RSS)->n, rss);
        assert_int_equal(t->history->bands.censuses, censuses);
}

/* A series that is judged, one that is not, a band with and one without a verdict; two windows and a sentence each. */
static int send_four_trends(struct world *w, const char *target, uint64_t time_ns, Hw__Growth *growth)
{
        char sentence[] = "why";
        Hw__WindowStatistics ten_minutes = HW__WINDOW_STATISTICS__INIT, run = HW__WINDOW_STATISTICS__INIT;
        Hw__WindowStatistics *windows[] = { &ten_minutes, &run };
        Hw__Trend t[4], *all[4];
        Hw__Trends trends = HW__TRENDS__INIT;

        ten_minutes.has_window_ns = 1;
        SET(run, min, 7);
        for (size_t i = 0; i < 4; i++) {
                t[i] = (Hw__Trend)HW__TREND__INIT;
                SET_LIST(t[i], windows, windows, 2);
                t[i].sentence = sentence;
                t[i].has_band = i >= 2;
                t[i].band = (uint32_t)i - 1;
                t[i].has_series = i < 2;
                t[i].has_verdict = i != 1;
                t[i].verdict = i == 2 ? HW__VERDICT__VERDICT_STEADY : HW__VERDICT__VERDICT_UNKNOWN;
                all[i] = &t[i];
        }
        t[0].series = HW__SERIES__SERIES_LIVE;
        t[1].series = HW__SERIES__SERIES_SLOP;
        SET_LIST(trends, trends, all, 4);
        trends.growth = growth;
        return send_trends_of(w, target, 1, time_ns, &trends);
}

static void check_trends(const struct world_target *t, bool whole)
{
        const Hw__Trend *live = t->trends[HW__SERIES__SERIES_LIVE], *band = t->bands[0]->trend;

        assert_int_equal(live->n_windows, whole ? 2 : 1);
        assert_true(live->windows[live->n_windows - 1]->min == 7);
        assert_int_equal(t->trends[HW__SERIES__SERIES_SLOP] != NULL, whole);
        assert_int_equal(band->verdict, HW__VERDICT__VERDICT_STEADY);
        assert_int_equal(band->n_windows, whole ? 2 : 0);
        assert_int_equal(band->sentence != NULL, whole);
        assert_int_equal(t->bands[1]->trend != NULL, whole);
}

/* Of what nobody looks at the answers' part is kept, from the moment on at which that is so; the rest is recalled. */
TEST(trends_of_many_targets)
{
        struct world *w = world_new(&kept);
        Hw__Growth growth = HW__GROWTH__INIT;
        char name[16];

        for (unsigned i = 0; i <= WORLD_WHOLE; i++) {
                (void)snprintf(name, sizeof(name), "t%u", i);
                assert_int_equal(send_four_trends(w, name, SECOND, NULL), 0);
        }
        check_trends(world_find(w, "t1"), true);
        assert_true(world_focus(w, world_find(w, "t0")));
        assert_int_equal(send_live(w, 0, "t1", 1, 2 * SECOND, 1), 0);
        check_trends(world_find(w, "t1"), false);
        assert_int_equal(send_four_trends(w, "t1", 3 * SECOND, &growth), 0);
        check_trends(world_find(w, "t1"), false);
        assert_true(world_focus(w, world_find(w, "t1")));
        assert_int_equal(send_four_trends(w, "t1", 3 * SECOND - 1, NULL), 0); /* it comes too late */
        check_trends(world_find(w, "t1"), false);
        assert_non_null(world_find(w, "t1")->trend_state->growth);
        assert_int_equal(send_four_trends(w, "t1", 3 * SECOND, NULL), 0);
        check_trends(world_find(w, "t1"), true);
        world_destroy(&w);
}

/* Of more targets than WORLD_WHOLE the last in focus have all of their past, the others that of live data, no notes. */
TEST(of_many_targets_some_have_a_whole_past)
{
        struct world *w = world_new(&kept);
        uint32_t id = 1;
        uint64_t bytes = 100;
        char name[16];

        assert_int_equal(send_live(w, 0, "t0", 1, SECOND, 1), 0);
        assert_false(world_focus(w, world_find(w, "t0"))); /* of few all have */
        for (int second = 1; second <= 2; second++)
                for (unsigned i = 0; i <= WORLD_WHOLE; i++) {
                        (void)snprintf(name, sizeof(name), "t%u", i);
                        assert_int_equal(send_band(w, name, 1, 1, "band"), 0);
                        assert_int_equal(send_census(w, name, 1, (uint64_t)second, &id, &bytes, 1), 0);
                        if (second == 2)
                                recall_rss(w, name);
                        assert_int_equal(send_note(w, name, 1, (uint64_t)second, "n"), 0);
                        assert_int_equal(send_live(w, 0, name, 1, (uint64_t)(10 + second) * SECOND, 1), 0);
                }
        check_past(w, "t0", 3, 1, 2);
        check_past(w, "t1", 2, 0, 0);
        assert_int_equal(world_find(w, "t0")->notes_last, 2);
        assert_int_equal(world_find(w, "t1")->notes_last, 0); /* of the rest not one is kept */
        assert_true(world_focus(w, world_find(w, "t1")));     /* it is to be recalled */
        assert_false(world_focus(w, world_find(w, "t1")));
        recall_rss(w, "t1");
        assert_int_equal(send_census(w, "t1", 1, 3, &id, &bytes, 1), 0);
        assert_int_equal(send_note(w, "t1", 1, 1, "recalled"), 0);
        assert_int_equal(world_find(w, "t1")->notes_last, 1);
        check_past(w, "t1", 2, 1, 1);
        assert_false(world_focus(w, world_find(w, "t0"))); /* it still has it */
        for (unsigned i = 2; i <= WORLD_WHOLE; i++) {
                (void)snprintf(name, sizeof(name), "t%u", i);
                assert_true(world_focus(w, world_find(w, name)));
        }
        assert_int_equal(send_census(w, "t1", 1, 4, &id, &bytes, 1), 0);
        recall_rss(w, "t0");
        check_past(w, "t1", 2, 1, 2);
        check_past(w, "t0", 3, 0, 0);
        assert_int_equal(world_find(w, "t0")->notes_last, 0);
        world_destroy(&w);
}

TEST(detached_targets_stay_as_they_are)
{
        struct world *v = world_new(&kept), *before;
        uint32_t ids[] = { 1 };
        uint64_t bytes[] = { 100 };

        for (size_t daemon = 0; daemon < 2; daemon++) {
                assert_int_equal(send_live(v, daemon, "a", 1, SECOND, 10), 0);
                assert_int_equal(send_live(v, daemon, "b", 1, SECOND, 20), 0);
        }
        assert_int_equal(send_census(v, "a", 1, 1, ids, bytes, 1), 0);
        assert_int_equal(send_note(v, "a", 1, 1, "begun"), 0);
        before = world_detach(v, 0);
        assert_int_equal(world_targets(v), 2);
        assert_null(world_find_of(v, 0, "a"));
        assert_int_equal(send_live(v, 0, "a", 1, 2 * SECOND, 11), 0);
        assert_int_equal(send_live(v, 1, "b", 1, 2 * SECOND, 12), 0);
        assert_int_equal(world_find_of(v, 1, "b")->heap->live_bytes, 12);
        world_destroy(&v);
        assert_int_equal(world_targets(before), 2);
        assert_int_equal(world_find_of(before, 0, "a")->heap->live_bytes, 10);
        assert_int_equal(world_find(before, "a")->bands[0]->bytes, 100);
        assert_string_equal(world_note(world_find(before, "a"), 1)->text, "begun");
        assert_non_null(world_find_of(before, 0, "b"));
        assert_non_null(world_daemon(before, 0));
        world_destroy(&before);
}

/* What does not fit the bands is not believed. */
TEST(closures_and_contents_are_of_the_newest_census)
{
        uint32_t ids[] = { 1, 2 };
        uint64_t bytes[] = { 100, 50 }, closures[] = { 7, 5 };
        Hw__BandContents of[6], *list[ARRAY_SIZE(of)];
        const struct {
                uint32_t band;
                uint64_t bytes;
                const char *name;
        } told[] = { { 2, 51, "[More]" }, { 9, 1, "[Of none]" }, { 0, 1, "[Of none]" },
                     { 2, 50, "" },       { 2, 40, "[Int]" },    { 2, 9, "[Other]" } };
        Hw__Update u = update_of("a", 1, SECOND);
        Hw__Census c = census_of(1, ids, bytes, 2);

        for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
                of[i] = (Hw__BandContents)HW__BAND_CONTENTS__INIT;
                SET(of[i], band, told[i].band);
                SET(of[i], bytes, told[i].bytes);
                of[i].name = (char *)told[i].name;
                list[i] = &of[i];
        }
        SET_LIST(c, closures, closures, 2);
        c.contents = list;
        c.n_contents = ARRAY_SIZE(list);
        u.body_case = HW__UPDATE__BODY_CENSUS;
        u.census = &c;
        assert_int_equal(apply_made(made, 0, &u), 0);
        const struct world_target *t = world_find(made, "a");
        assert_true(t->bands[0]->closures == 7 && t->bands[1]->closures == 5 && !t->bands[0]->contents);
        assert_string_equal(t->bands[1]->contents->name, "[Int]");
        assert_int_equal(send_census(made, "a", 1, 2, ids, bytes, 2), 0);
        assert_true(t->bands[0]->closures == 0 && !t->bands[1]->contents);
}

/* Each against each: a total order, that of the array, whatever the names are. */
TEST(previous_runs_are_in_order_of_their_numbers)
{
        static const char *const names[] = { "",       "api",     "api9",    "api~",  "api~1", "api~9",
                                             "api~10", "api~10a", "api~100", "api~x", "b10",   "b9" };

        for (int i = 0; i < (int)ARRAY_SIZE(names); i++)
                for (int j = 0; j < (int)ARRAY_SIZE(names); j++) {
                        const int order = name_order(names[i], names[j], false);
                        assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
                }
        assert_int_equal(name_order("API~9", "api~9", true), 0);
        assert_true(name_order("API~9", "api~10", true) < 0);
}

/* One answer for the archive, `run`, the console and all sentences; kept: its source is gone for good. */
TEST(test_when_a_run_is_over)
{
        enum { NEITHER, OVER, HAS_ENDED };
        static const int of[] = {
                [HW__TARGET__STATE__STATE_UNKNOWN] = NEITHER,   [HW__TARGET__STATE__STATE_WAITING] = NEITHER,
                [HW__TARGET__STATE__STATE_CONNECTED] = NEITHER, [HW__TARGET__STATE__STATE_RUNNING] = NEITHER,
                [HW__TARGET__STATE__STATE_ENDED] = HAS_ENDED,   [HW__TARGET__STATE__STATE_CRASHED] = HAS_ENDED,
                [HW__TARGET__STATE__STATE_UNREADABLE] = OVER,   [HW__TARGET__STATE__STATE_REMOVED] = OVER,
                [HW__TARGET__STATE__STATE_LOST] = OVER,         [HW__TARGET__STATE__STATE_FAILED] = HAS_ENDED,
                [HW__TARGET__STATE__STATE_STOPPED] = NEITHER,
        };

        for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
                Hw__Target t = HW__TARGET__INIT;
                t.state = (Hw__Target__State)i;
                assert_int_equal(run_has_ended(&t), of[i] == HAS_ENDED);
                assert_int_equal(run_is_over(&t), of[i] != NEITHER);
                t.kept = true;
                assert_int_equal(run_has_ended(&t), of[i] == HAS_ENDED);
                assert_true(run_is_over(&t));
        }
}
