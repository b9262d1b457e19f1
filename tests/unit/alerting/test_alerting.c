/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A live target whose stream falls silent: the one built-in rule that no log can
 * show (the others: tests/data/rules/builtin-test.yaml).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/model/events.h"
#include "tests/unit/test.h"

#include "daemon/watch/alerting/alerting.h"
#include "daemon/watch/rule_file/rulebook.h"
#include "proto/base/process.h"
#include "daemon/watch/targets/pipeline_internal.h"
#include "daemon/publish/publisher.h"
#include "daemon/judge/trend/tracker.h"

#define MIB   (UINT64_C(1) << 20)
#define S     UINT64_C(1000000000)
#define BEGAN (UINT64_C(1700000000) * S)

static struct ruleset *rules;
static struct publisher *publisher;
static struct tracker *tracker;
static struct model *model;
static struct alerting *alerting;
static uint64_t now_s; /* after BEGAN, by all clocks */

static int throw_away(void *ctx, const Hw__Update *update)
{
        return 0;
}

static void say(void *ctx, const char *line)
{
        fail_msg("%s", line);
}

static int set_up_with(bool agent)
{
        static const struct update_sink nowhere = { .send = throw_away };
        const struct error_sink says = { .say = say };
        struct tracker_config config = tracker_config_scaled(TREND_MINUTE_NS);
        struct model_sink sinks[2];

        now_s = 0;
        rules = rules_load(NULL, 0, &says);
        publisher = publisher_new("t", 1, &nowhere);
        tracker = tracker_new(&config);
        sinks[0] = publisher_sink(publisher);
        sinks[1] = tracker_sink(tracker);
        model = model_new(NULL);
        model_set_sinks(model, sinks, 2);
        tracker_set_model(tracker, model);
        publisher_attach(publisher, model, NULL, &(const struct target_messages){ NULL });
        struct alerting_options options = { .target = "t",
                                            .rules = rules,
                                            .model = model,
                                            .tracker = tracker,
                                            .publisher = publisher,
                                            .live = true,
                                            .agent = agent };
        alerting = alerting_new(&options);
        assert_non_null(alerting);
        model_begin_run(model, 1);
        tracker_begin_run(tracker);
        alerting_begin_run(alerting, 1);
        return 0;
}

static int set_up(void **state)
{
        return set_up_with(false);
}

static int set_up_agent(void **state)
{
        return set_up_with(true);
}

static int tear_down(void **state)
{
        alerting_destroy(&alerting);
        publisher_destroy(&publisher);
        tracker_destroy(&tracker);
        model_destroy(&model);
        ruleset_destroy(&rules);
        return 0;
}

/* The state after a heartbeat at this second; all other rules are quiet. */
static enum alert_state at(uint64_t s)
{
        const struct alerts *alerts = alerting_alerts(alerting);

        alerting_heartbeat(alerting, BEGAN + s * S, UNKNOWN_U64);
        if (alerts_count(alerts) == 0)
                return ALERT_INACTIVE;
        assert_int_equal(alerts_count(alerts), 1);
        assert_string_equal(alerts_get(alerts, 0)->rule->name, "stream-stalled");
        return alerts_get(alerts, 0)->state.now;
}

static void bytes(uint64_t s)
{
        alerting_bytes(alerting, BEGAN + s * S);
}

TEST_WITH(silence_of_two_minutes, set_up, tear_down)
{
        assert_int_equal(at(0), ALERT_INACTIVE);
        bytes(0);
        bytes(10);
        assert_int_equal(at(130), ALERT_INACTIVE);
        assert_int_equal(at(131), ALERT_FIRING);
        bytes(140);
        assert_int_equal(at(140), ALERT_RESOLVED);
}

/* Three days are not two minutes that nothing came. */
TEST_WITH(a_clock_that_is_set_is_no_silence, set_up, tear_down)
{
        const uint64_t days = 3 * 24 * 3600;

        assert_int_equal(at(0), ALERT_INACTIVE);
        bytes(0);
        assert_int_equal(at(100), ALERT_INACTIVE);
        alerting_step_clock(alerting, (int64_t)(days * S));
        assert_int_equal(at(days + 120), ALERT_INACTIVE);
        assert_int_equal(at(days + 121), ALERT_FIRING);
        alerting_step_clock(alerting, -(int64_t)(days * S));
        bytes(122);
        assert_int_equal(at(122), ALERT_RESOLVED);
        assert_int_equal(at(242), ALERT_RESOLVED);
}

/* Five times the longest pause before. */
TEST_WITH(a_program_with_long_pauses, set_up, tear_down)
{
        bytes(0);
        bytes(60);
        assert_int_equal(at(60 + 300), ALERT_INACTIVE);
        assert_int_equal(at(60 + 301), ALERT_FIRING);
}

TEST_WITH(nothing_is_to_come_after_the_end, set_up, tear_down)
{
        bytes(0);
        alerting_end_run(alerting, ALERTING_ENDED, "");
        assert_int_equal(at(1000), ALERT_INACTIVE);
}

TEST_WITH(time_between_two_runs_is_no_silence, set_up, tear_down)
{
        bytes(0);
        alerting_end_run(alerting, ALERTING_ENDED, "");
        assert_int_equal(at(1000), ALERT_INACTIVE);
        alerting_begin_run(alerting, 2);
        assert_int_equal(at(1001), ALERT_INACTIVE);
        bytes(1001);
        assert_int_equal(at(1121), ALERT_INACTIVE);
        assert_int_equal(at(1122), ALERT_FIRING);
}

static void process(uint64_t s, uint64_t cpu_s)
{
        const struct process_sample p = {
                .rss_bytes = UNKNOWN_U64,
                .pss_bytes = UNKNOWN_U64,
                .swap_bytes = UNKNOWN_U64,
                .cpu_ns = cpu_s * S,
                .threads = UNKNOWN_U64,
                .cgroup_current_bytes = UNKNOWN_U64,
                .cgroup_max_bytes = UNKNOWN_U64,
                .wall_ns = BEGAN + s * S,
        };

        model_process(model, s * S, &p);
}

static void reason_is(const char *part)
{
        assert_int_equal(at(1000), ALERT_FIRING);
        if (!strstr(alerts_get(alerting_alerts(alerting), 0)->sentence, part))
                fail_msg("%s", alerts_get(alerting_alerts(alerting), 0)->sentence);
}

TEST_WITH(an_idle_program, set_up, tear_down)
{
        process(0, 5);
        bytes(0);
        process(999, 5);
        reason_is("no CPU time since then: it is idle");
}

TEST_WITH(a_program_that_works_and_does_not_flush, set_up, tear_down)
{
        process(0, 5);
        bytes(0);
        process(999, 500);
        reason_is("works (8m 15s of CPU time since then) and has no flush interval");
}

TEST_WITH(a_program_elsewhere, set_up, tear_down)
{
        bytes(0);
        reason_is("it has no flush interval, so it writes only when a buffer is full");
}

/* Its agent flushes the log: nothing waits for a full buffer. */
TEST_WITH(a_program_with_an_agent, set_up_agent, tear_down)
{
        process(0, 5);
        bytes(0);
        process(999, 500);
        reason_is("works (8m 15s of CPU time since then), but its agent, which flushes the log, sends nothing");
        tear_down(state);
        set_up_agent(state);
        bytes(0);
        reason_is("whether it is idle or hangs is not known");
}

/* ------------------------------------------------------------------- restarts */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
        *ret = (struct timespec){ .tv_sec = (time_t)(BEGAN / S + now_s) };
        return 0;
}

/* A heartbeat of the run that goes on at this second; the state of `rule`. */
static enum alert_state state_of(const char *rule, uint64_t s)
{
        const struct alerts *alerts = alerting_alerts(alerting);

        now_s = s;
        bytes(s);
        alerting_heartbeat(alerting, BEGAN + s * S, UNKNOWN_U64);
        for (size_t i = 0; i < alerts_count(alerts); i++)
                if (strcmp(alerts_get(alerts, i)->rule->name, rule) == 0)
                        return alerts_get(alerts, i)->state.now;
        return ALERT_INACTIVE;
}

static void end_and_begin(enum alerting_end end, const char *why)
{
        alerting_end_run(alerting, end, why);
        alerting_begin_run(alerting, 2);
}

/* A service manager starts it again within a second: who reads the alerts a minute later is to see the crash. */
TEST_WITH(a_crash_is_shown_after_the_restart, set_up, tear_down)
{
        assert_int_equal(state_of("crashed", 10), ALERT_INACTIVE);
        end_and_begin(ALERTING_CRASHED, "killed by signal 9 (SIGKILL)");
        assert_int_equal(state_of("crashed", 11), ALERT_FIRING);
        assert_int_equal(state_of("crashed", 14 * 60), ALERT_FIRING);
        assert_string_equal(alerts_get(alerting_alerts(alerting), 0)->sentence,
                            "t crashed: killed by signal 9 (SIGKILL)");
        assert_int_equal(state_of("crashed", 16 * 60), ALERT_RESOLVED);
}

TEST_WITH(a_failure_is_shown_after_the_restart, set_up, tear_down)
{
        assert_int_equal(state_of("failed", 10), ALERT_INACTIVE);
        end_and_begin(ALERTING_FAILED, "ended with status 1");
        assert_int_equal(state_of("failed", 14 * 60), ALERT_FIRING);
        assert_int_equal(state_of("failed", 16 * 60), ALERT_RESOLVED);
        assert_int_equal(state_of("crashed", 17 * 60), ALERT_INACTIVE);
}

static const struct alert *alert_of(const char *rule)
{
        const struct alerts *alerts = alerting_alerts(alerting);

        for (size_t i = 0; i < alerts_count(alerts); i++)
                if (strcmp(alerts_get(alerts, i)->rule->name, rule) == 0)
                        return alerts_get(alerts, i);
        fail_msg("there is no alert %s", rule);
        return NULL;
}

/* What came after the last heartbeat counts, too. */
TEST_WITH(an_alert_keeps_the_last_value_of_its_run, set_up, tear_down)
{
        static struct feed f;

        f.m = model;
        ev(&f, HW_HEAP_INFO_GHC, NONE, 1, "428888", U(0), U(2), U(100 * MIB), U(4194304), U(1048576), U(4096));
        for (uint64_t s = 1; s < 4; s++) {
                ev(&f, HW_BLOCK_MARKER, 0, s * S, "482", U(0), U(s * S), U(0));
                ev(&f, HW_HEAP_SIZE, 0, s * S, "48", U(0), U(100 * MIB));
        }
        assert_int_equal(state_of("heap-limit-met", 3), ALERT_FIRING);
        ev(&f, HW_HEAP_SIZE, 0, 4 * S, "48", U(0), U(150 * MIB));
        alerting_end_run(alerting, ALERTING_ENDED, "");
        assert_int_equal(alert_of("heap-limit-met")->state.now, ALERT_RESOLVED);
        assert_true(fabs(alert_of("heap-limit-met")->value - 1.5) < 1e-9);
}

/* Another target takes the name over, and its log ends before its parent says how: the crash is the one before. */
TEST_WITH(a_crash_keeps_its_words, set_up, tear_down)
{
        assert_int_equal(state_of("crashed", 10), ALERT_INACTIVE);
        alerting_end_run(alerting, ALERTING_CRASHED, "killed by signal 9 (SIGKILL)");
        alerting_set_end(alerting, ALERTING_ENDED, "");
        alerting_count_restart(alerting);
        alerting_begin_run(alerting, 1);
        assert_int_equal(state_of("crashed", 11), ALERT_FIRING);
        assert_string_equal(alert_of("crashed")->sentence, "t crashed: killed by signal 9 (SIGKILL)");
        alerting_end_run(alerting, ALERTING_ENDED, "the log ended with its end marker");
        assert_int_equal(state_of("crashed", 20), ALERT_FIRING);
        assert_string_equal(alert_of("crashed")->sentence, "t crashed: killed by signal 9 (SIGKILL)");
        alerting_set_end(alerting, ALERTING_CRASHED, "ended with status 251, heap exhausted at -M400m");
        assert_int_equal(state_of("crashed", 21), ALERT_FIRING);
        assert_string_equal(alert_of("crashed")->sentence,
                            "t crashed: ended with status 251, heap exhausted at -M400m");
}

/* Its process was gone without an end marker, until its parent reported that it had ended with a status. */
TEST_WITH(a_crash_that_was_a_failure_is_withdrawn, set_up, tear_down)
{
        assert_int_equal(state_of("crashed", 10), ALERT_INACTIVE);
        alerting_end_run(alerting, ALERTING_CRASHED, "process 7 is gone, and its log has no end marker");
        assert_int_equal(state_of("crashed", 12), ALERT_FIRING);
        alerting_set_end(alerting, ALERTING_FAILED, "ended with status 1; its log has no end marker");
        alerting_begin_run(alerting, 2);
        assert_int_equal(state_of("crashed", 14), ALERT_RESOLVED);
        assert_int_equal(state_of("failed", 14), ALERT_FIRING);
        assert_string_equal(alert_of("failed")->sentence, "t failed: ended with status 1; its log has no end marker");
        alerting_end_run(alerting, ALERTING_CRASHED, "process 8 is gone, and its log has no end marker");
        assert_int_equal(state_of("crashed", 16), ALERT_FIRING);
        alerting_set_end(alerting, ALERTING_ENDED, "stopped by signal 15 (SIGTERM)");
        assert_int_equal(state_of("crashed", 18), ALERT_RESOLVED);
}

/* A loop of crashes whose ends alternate: a name shows its newest end alone. */
TEST_WITH(the_newest_end_replaces_the_one_before, set_up, tear_down)
{
        static const struct {
                enum alerting_end end;
                const char *why, *fires, *over;
        } ends[] = {
                { ALERTING_FAILED, "ended with status 3", "failed", "crashed" },
                { ALERTING_CRASHED, "killed by signal 9 (SIGKILL)", "crashed", "failed" },
                { ALERTING_FAILED, "ended with status 4", "failed", "crashed" },
                { ALERTING_CRASHED, "killed by signal 11 (SIGSEGV)", "crashed", "failed" },
        };

        assert_int_equal(state_of("failed", 10), ALERT_INACTIVE);
        for (uint32_t i = 0; i < 4; i++) {
                alerting_end_run(alerting, ends[i].end, ends[i].why);
                assert_int_equal(state_of(ends[i].fires, 20 + 10 * i), ALERT_FIRING);
                assert_int_equal(state_of(ends[i].over, 20 + 10 * i), i ? ALERT_RESOLVED : ALERT_INACTIVE);
                assert_non_null(strstr(alert_of(ends[i].fires)->sentence, ends[i].why));
                alerting_begin_run(alerting, 2 + i);
                assert_int_equal(state_of(ends[i].fires, 25 + 10 * i), ALERT_FIRING);
                assert_int_equal(state_of(ends[i].over, 25 + 10 * i), i ? ALERT_RESOLVED : ALERT_INACTIVE);
        }
}

/* A full disk concerns all targets of the daemon: one of them says so for all. */
TEST_WITH(a_pause_of_recording_is_told_once, set_up, tear_down)
{
        static const char why[] = "No space left on device";

        alerting_recording(alerting, why, false, 9);
        for (uint64_t s = 0; s < 60; s++)
                assert_int_equal(state_of("recording-paused", s), ALERT_INACTIVE);
        alerting_recording(alerting, why, true, 9);
        assert_int_equal(state_of("recording-paused", 60), ALERT_PENDING);
        assert_int_equal(state_of("recording-paused", 76), ALERT_FIRING);
        assert_string_equal(
                alert_of("recording-paused")->sentence,
                "t is watched but not recorded, or not all of it: No space left on device; the same holds for 9 "
                "other targets");
        alerting_recording(alerting, why, true, 0);
        assert_int_equal(state_of("recording-paused", 77), ALERT_FIRING);
        assert_string_equal(alert_of("recording-paused")->sentence,
                            "t is watched but not recorded, or not all of it: No space left on device");
        alerting_recording(alerting, "", false, 0);
        assert_int_equal(state_of("recording-paused", 78), ALERT_RESOLVED);
}

/* Its log does not say yet what its Unix time is, nor does that of a run that has ended. */
TEST_WITH(what_a_start_fires_has_a_time_of_day, set_up, tear_down)
{
        for (unsigned i = 0; i < 3; i++) {
                assert_int_equal(state_of("restart-loop", 10 + i), ALERT_INACTIVE);
                alerting_end_run(alerting, ALERTING_ENDED, "");
                alerting_count_restart(alerting);
                alerting_begin_run(alerting, 1);
        }
        assert_int_equal(alert_of("restart-loop")->state.now, ALERT_FIRING);
        assert_int_equal(alert_of("restart-loop")->fired.wall_ns, BEGAN + 12 * S);
}
