/* SPDX-License-Identifier: BSD-3-Clause */
/* test_world.c - the state of the world from messages: every kind, runs, resets, bounds. */
#include <math.h>
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

/* Of target "a", at 1 s of this run: lines of fields. */
static __attribute__((format(printf, 2, 3))) void tell(uint32_t run, const char *lines, ...)
{
        Hw__Update u = update_of("a", run, SECOND);
        char text[600];
        va_list ap;

        va_start(ap, lines);
        assert_in_range(vsnprintf(text, sizeof(text), lines, ap), 1, sizeof(text) - 1);
        va_end(ap);
        message_each(text, set_in_update, &u);
        assert_int_equal(apply_made(made, 0, &u), 0);
        messages_forget();
}

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
        assert_true(world_band_bytes(t, t->bands[1]) == 0);
        Hw__Update u = update_of("a", 1, 4 * SECOND);
        Hw__Census sample = census_of(4, one, less, 1);
        SET(sample, spread, 0.01);
        u.body_case = HW__UPDATE__BODY_CENSUS;
        u.census = &sample;
        assert_int_equal(apply_made(made, 0, &u), 0);
        assert_true(world_band_bytes(t, t->bands[0]) == 70 && isnan(world_band_bytes(t, t->bands[1])));
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
        tell(1, "gc.collections.0 end_time_ns=1 pause_ns=5");
        const struct world_target *t = world_find(made, "a");
        assert_int_equal(t->gc->n_collections, 0);
        assert_int_equal(series_of(t, HW__SERIES__SERIES_GC_PAUSE)->n, 1);
        assert_int_equal(series_of(t, HW__SERIES__SERIES_SLOP)->n, 0);
        tell(1, "heap.samples.0 series=SERIES_GC_PAUSE times_ns=3 values=9");
        tell(1, "gc.collections.0 end_time_ns=1 pause_ns=5");
        assert_int_equal(series_of(t, HW__SERIES__SERIES_GC_PAUSE)->n, 1);
        assert_true(series_of(t, HW__SERIES__SERIES_GC_PAUSE)->points[0].cell.last == 9);
        tell(1, "heap.samples.0 series=1000000 times_ns=3 values=9");
}

TEST(profile_ticky_sched_health)
{
        tell(1, "profile ticks=7\nprofile.stacks.0 id=2 ticks=3");
        tell(1, "profile ticks=7\nprofile.stacks.0 id=%u ticks=3", UINT32_MAX);
        for (unsigned i = 0; i < 300; i++)
                tell(1, "ticky.counters.0 id=%llu entries=%u", (i % 150ULL) << 40, i);
        tell(1, "sched migrations=4");
        tell(1, "health lost_bytes=12");
        const struct world_target *t = world_find(made, "a");
        assert_int_equal(t->ticks, 7);
        assert_int_equal(t->n_stacks, 2);
        assert_null(t->stacks[0]);
        assert_int_equal(t->stacks[1]->ticks, 3);
        assert_int_equal(t->n_ticky, 150);
        assert_int_equal(t->ticky[149]->entries, 299);
        assert_int_equal(t->sched->migrations, 4);
        assert_int_equal(t->health->lost_bytes, 12);
}

TEST(trends_are_kept_by_series_and_band)
{
        tell(1,
             "trends.trends.0 series=SERIES_LIVE verdict=VERDICT_GROWING\ntrends.trends.1 band=3 slope=2.5\n"
             "trends.trends.2 band=%u\ntrends.growth where=WHERE_LIVE",
             LIMIT_BANDS + 1);
        const struct world_target *t = world_find(made, "a");
        assert_int_equal(t->trends[HW__SERIES__SERIES_LIVE]->verdict, HW__VERDICT__VERDICT_GROWING);
        assert_null(t->trends[HW__SERIES__SERIES_RSS]);
        assert_int_equal(t->n_bands, 3);
        assert_true(t->bands[2]->trend->slope == 2.5);
        assert_string_equal(t->bands[2]->def->label, "band 3");
        assert_int_equal(t->trend_state->growth->where, HW__GROWTH__WHERE__WHERE_LIVE);
        assert_int_equal(t->trend_state->n_trends, 0);

        /* only what changed is sent; the rest is full state */
        tell(1, "trends.trends.0 series=SERIES_LIVE verdict=VERDICT_LEAK");
        assert_int_equal(t->trends[HW__SERIES__SERIES_LIVE]->verdict, HW__VERDICT__VERDICT_LEAK);
        assert_true(t->bands[2]->trend->slope == 2.5);
        assert_null(t->trend_state->growth);

        tell(2, ". trends={}"); /* a new run knows nothing */
        assert_null(t->trends[HW__SERIES__SERIES_LIVE]);
        assert_int_equal(t->n_bands, 0);
}

TEST(alerts_are_replaced_and_outlive_runs)
{
        tell(1, "alerts.alerts.0 rule=leak state=STATE_FIRING");
        const struct world_target *t = world_find(made, "a");
        assert_int_equal(t->alerts->n_alerts, 1);
        assert_string_equal(t->alerts->alerts[0]->rule, "leak");
        assert_int_equal(send_live(made, 0, "a", 2, SECOND, 10), 0);
        assert_int_equal(t->alerts->n_alerts, 1);
        tell(2, ". alerts={}");
        assert_int_equal(t->alerts->n_alerts, 0);
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
                set_in_update(&u, !strcmp(body, "targetState") ? "target_state" : body, "{}");
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
static int send_four_trends(struct world *w, const char *target, uint64_t time_ns, bool growth)
{
        static const char *const of[] = { "series=SERIES_LIVE verdict=VERDICT_UNKNOWN", "series=SERIES_SLOP",
                                          "band=1 verdict=VERDICT_STEADY", "band=2 verdict=VERDICT_UNKNOWN" };
        Hw__Update u = update_of(target, 1, time_ns);
        char text[300];

        for (unsigned i = 0; i < ARRAY_SIZE(of); i++) {
                (void)snprintf(text, sizeof(text),
                               "trends.trends.%u sentence=why %s\ntrends.trends.%u.windows.0 window_ns=0\n"
                               "trends.trends.%u.windows.1 min=7",
                               i, of[i], i, i);
                message_each(text, set_in_update, &u);
        }
        if (growth)
                set_in_update(&u, "trends.growth", "{}");
        const int r = apply_made(w, 0, &u);
        messages_forget();
        return r;
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
        char name[16];

        for (unsigned i = 0; i <= WORLD_WHOLE; i++) {
                (void)snprintf(name, sizeof(name), "t%u", i);
                assert_int_equal(send_four_trends(w, name, SECOND, false), 0);
        }
        check_trends(world_find(w, "t1"), true);
        assert_true(world_focus(w, world_find(w, "t0")));
        assert_int_equal(send_live(w, 0, "t1", 1, 2 * SECOND, 1), 0);
        check_trends(world_find(w, "t1"), false);
        assert_int_equal(send_four_trends(w, "t1", 3 * SECOND, true), 0);
        check_trends(world_find(w, "t1"), false);
        assert_true(world_focus(w, world_find(w, "t1")));
        assert_int_equal(send_four_trends(w, "t1", 3 * SECOND - 1, false), 0); /* it comes too late */
        check_trends(world_find(w, "t1"), false);
        assert_non_null(world_find(w, "t1")->trend_state->growth);
        assert_int_equal(send_four_trends(w, "t1", 3 * SECOND, false), 0);
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
        tell(1,
             "census number=1 time_ns=1s total_bytes=150 band=1,2 bytes=100,50 closures=7,5\n"
             "census.contents.0 band=2 bytes=51 name=[More]\ncensus.contents.1 band=9 bytes=1 name=[None]\n"
             "census.contents.2 band=0 bytes=1 name=[None]\ncensus.contents.3 band=2 bytes=50 name=\"\"\n"
             "census.contents.4 band=2 bytes=40 name=[Int]\ncensus.contents.5 band=2 bytes=9 name=[Other]");
        const struct world_target *t = world_find(made, "a");
        assert_true(t->bands[0]->closures == 7 && t->bands[1]->closures == 5 && !t->bands[0]->contents);
        assert_string_equal(t->bands[1]->contents->name, "[Int]");
        tell(1, "census number=2 time_ns=2s total_bytes=150 band=1,2 bytes=100,50");
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
