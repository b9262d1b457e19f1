/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a tick of the tracker is a moment of the run; the heartbeat, and in a
 * finished log each tick too, is a moment of the target. At the end of a run
 * one more moment covers the last, unfinished second; then the run's alerts
 * end.
 *
 * Alerts are published when one has changed, after all rules of the moment have
 * been judged, and with each heartbeat while there are any.
 */
#include "daemon/watch/alerting/alerting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/watch/alerting/internal.h"
#include "daemon/log.h"
#include "daemon/source/loop/watchdog.h"
#include "daemon/judge/rules/data.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/process.h"
#include "proto/base/clock.h"
#include "daemon/publish/publisher.h"

/* --------------------------------------------------------------------- moments */

/* The end of the second that a time is in. */
static uint64_t end_of_second(uint64_t time_ns)
{
        uint64_t end;

        return ckd_add(&end, time_ns - time_ns % HISTORY_STEP_NS, HISTORY_STEP_NS) ? UINT64_MAX : end;
}

/* Advances the target's clock: live by ours, in a finished log by the log's. */
static void advance_clock(struct alerting *a)
{
        uint64_t newest = model_time_ns(a->model),
                 now = a->live ? clock_wall_ns() - a->stepped_ns : model_wall_time(a->model, newest);

        if (now != UNKNOWN_U64 && !a->live && !a->in_unix_time) {
                /*
                 * A log says what its Unix time is only in some event, which may come late where buffers are flushed
                 * in no order. What was counted by event time until then is moved with the clock: no window loses it.
                 */
                const uint64_t elapsed = a->began_ns == UNKNOWN_U64 ? 0 : a->target_ns - a->began_ns;

                a->in_unix_time = true;
                if (a->began_ns != UNKNOWN_U64) {
                        a->began_ns = a->target_ns = sub_sat(now, elapsed);
                        for (unsigned i = RULE_LOST_BYTES; i < RULE_STREAM_LAG; i++)
                                series_done(&a->gauges[GAUGE(i)].series);
                        alerting_sample_target(a);
                }
        }
        if (now == UNKNOWN_U64 && ckd_add(&now, a->base_ns, newest))
                now = UINT64_MAX;
        if (now > a->target_ns)
                a->target_ns = now;
        if (a->began_ns == UNKNOWN_U64)
                a->began_ns = a->target_ns;
}

static struct rule_moment moment_of(struct alerting *a, uint64_t time_ns)
{
        advance_clock(a);
        return (struct rule_moment){
                .time_ns = time_ns,
                .target_ns = end_of_second(a->target_ns),
                .wall_ns = model_wall_time(a->model, time_ns),
                .beyond_ns = time_ns == UNKNOWN_U64 ? 0 : sub_sat(time_ns, model_time_ns(a->model)),
                .run = a->run,
        };
}

/* ---------------------------------------------------------------------- publishing */

static void publish_alerts(struct alerting *a)
{
        uint64_t newest = model_wall_time(a->model, model_time_ns(a->model));

        a->changed = false;
        a->published_any = alerts_count(a->alerts) > 0;
        publisher_alerts(a->publisher, a->live ? clock_wall_ns() : newest);
}

static void on_changed(void *ctx, const struct alert *alert, const struct rule_moment *at)
{
        struct alerting *a = ctx;

        a->changed = true;
        log_debug("target=%s run=%u rule=%s state=%s event_time=%llu value=%s", alerts_target(a->alerts), alert->run,
                  alert->rule->name, alert_state_name(alert->state.now), (unsigned long long)at->time_ns,
                  alert->value_text ? alert->value_text : "unknown");
        if (a->hooks.changed)
                a->hooks.changed(a->hooks.ctx, alert, at);
}

static void on_removed(void *ctx, const char *target, struct alert *alert)
{
        struct alerting *a = ctx;

        if (a->hooks.removed)
                a->hooks.removed(a->hooks.ctx, target, alert);
}

/* A run that begins does not show its Unix time yet: live, our clock does. */
static void judge_target(struct alerting *a, uint64_t time_ns)
{
        struct rule_moment at = moment_of(a, time_ns);

        if (a->live)
                at.wall_ns = a->target_ns + a->stepped_ns + at.beyond_ns;
        alerting_sample_target(a);
        alerts_judge_target(a->alerts, &at);
}

static bool turn_is_over(const struct alerting *a)
{
        return a->turn_ends_ns < UINT64_MAX && clock_mono_ns() >= a->turn_ends_ns;
}

static bool on_time_is_up(void *ctx)
{
        const struct alerting *a = ctx;

        return !a->hurry && turn_is_over(a);
}

/* False: the turn is over before all rules were judged; the same call continues. */
static bool judge_rules(struct alerting *a, uint64_t time_ns, struct rule_gap gap)
{
        struct rule_moment at = moment_of(a, time_ns);

        if (!a->judging)
                alerting_sample_run(a, time_ns);
        watchdog_begin(WATCHDOG_RULES);
        a->judging = !alerts_judge_run(a->alerts, &at, gap);
        watchdog_end();
        if (a->judging)
                return false;
        if (!a->live)
                judge_target(a, time_ns);
        if (a->changed)
                publish_alerts(a);
        return true;
}

static enum tick_answer on_tick(void *ctx, const struct tracker_tick *tick)
{
        struct alerting *a = ctx;

        if (!a->in_run)
                return TICK_TAKEN;
        if (a->hurry && tick->goes_on && !a->judging && turn_is_over(a))
                return TICK_COSTLY;
        if (!judge_rules(a, tick->watermark_ns, (struct rule_gap){ tick->follows, tick->goes_on }))
                return TICK_WAIT;
        return alerts_gap_is_costly(a->alerts) ? TICK_COSTLY : TICK_TAKEN;
}

void alerting_turn(struct alerting *a, uint64_t until_mono_ns, bool hurry)
{
        a->turn_ends_ns = until_mono_ns;
        a->hurry = hurry;
}

/* ------------------------------------------------------------------------- runs */

void alerting_watch(struct alerting *a, const struct model *model, struct tracker *tracker)
{
        tracker_on_tick(a->tracker, NULL, NULL);
        a->model = model;
        a->tracker = tracker;
        tracker_on_tick(tracker, on_tick, a);
}

void alerting_detach(struct alerting *a)
{
        if (a->tracker)
                tracker_on_tick(a->tracker, NULL, NULL);
        if (a->publisher)
                publisher_set_alerts(a->publisher, NULL, NULL, NULL);
        a->model = NULL;
        a->tracker = NULL;
        a->publisher = NULL;
}

void alerting_attach(struct alerting *a, const struct model *model, struct tracker *tracker,
                     struct publisher *publisher)
{
        a->model = model;
        a->tracker = tracker;
        a->publisher = publisher;
        tracker_on_tick(tracker, on_tick, a);
        publisher_set_alerts(publisher, a->alerts, a->hooks.extra, a->hooks.ctx);
}

void alerting_count_restart(struct alerting *a)
{
        a->restarts++;
}

void alerting_begin_run(struct alerting *a, uint32_t ordinal)
{
        for (unsigned i = RULE_ALLOCATION_RATE; i < RULE_LOST_BYTES; i++)
                series_done(&a->gauges[GAUGE(i)].series);
        a->base_ns = a->target_ns;
        advance_clock(a);
        a->run = ordinal;
        a->in_run = true;
        a->end = ALERTING_ENDED;
        a->judging = false;
        a->gap_ns = 0;
        a->cpu_at_bytes_ns = a->last_bytes_wall_ns = UNKNOWN_U64; /* between two runs nothing was to come */
        if (ordinal > 1)
                a->restarts++;
        alerts_begin_run(a->alerts);
        judge_target(a, 0);
        if (a->changed)
                publish_alerts(a);
}

static void set_end(struct alerting *a, enum alerting_end end, const char *why)
{
        if (end != ALERTING_CRASHED && *why && a->end == ALERTING_CRASHED && a->crashes > 0)
                a->crashes--; /* it looked like one until its parent reported how it ended */
        a->crashes += end == ALERTING_CRASHED && a->end != ALERTING_CRASHED;
        a->failures += end == ALERTING_FAILED && a->end != ALERTING_FAILED;
        a->end = end;
        snprintf(a->end_words, sizeof(a->end_words), "%s", why);
        if (end == ALERTING_CRASHED)
                memcpy(a->crash_words, a->end_words, sizeof(a->crash_words));
        else if (end == ALERTING_FAILED)
                memcpy(a->failure_words, a->end_words, sizeof(a->failure_words));
}

void alerting_set_end(struct alerting *a, enum alerting_end end, const char *why)
{
        const bool any = model_first_time_ns(a->model) != UNKNOWN_U64;

        set_end(a, end, why);
        judge_target(a, any ? end_of_second(model_time_ns(a->model)) : UNKNOWN_U64);
        if (a->changed)
                publish_alerts(a);
}

bool alerting_end_run(struct alerting *a, enum alerting_end end, const char *why)
{
        struct rule_moment at = moment_of(a, end_of_second(model_time_ns(a->model)));

        if (!a->in_run)
                return true;
        if (!judge_rules(a, at.time_ns, (struct rule_gap){ .follows = false }))
                return false;
        if (a->live)
                alerts_refresh(a->alerts, &at); /* the last values stay */
        alerts_end_run(a->alerts, &at);
        a->in_run = false;
        set_end(a, end, why);
        judge_target(a, at.time_ns);
        if (a->changed)
                publish_alerts(a);
        return true;
}

void alerting_resume_run(struct alerting *a)
{
        a->in_run = true;
        set_end(a, ALERTING_ENDED, "");
        a->last_bytes_wall_ns = UNKNOWN_U64; /* a broken connection is not a pause of the program */
        judge_target(a, UNKNOWN_U64);
        if (a->changed)
                publish_alerts(a);
}

/* ----------------------------------------------------------------------- stream */

void alerting_bytes(struct alerting *a, uint64_t wall_ns)
{
        uint64_t gap = a->last_bytes_wall_ns == UNKNOWN_U64 ? 0 : sub_sat(wall_ns, a->last_bytes_wall_ns);

        if (a->in_run && gap > a->gap_ns)
                a->gap_ns = gap;
        a->last_bytes_wall_ns = wall_ns;
        a->cpu_at_bytes_ns = a->in_run ? model_heap(a->model)->process.cpu_ns : UNKNOWN_U64;
}

uint64_t alerting_cpu_since_bytes(const struct alerting *a)
{
        const uint64_t cpu = a->in_run ? model_heap(a->model)->process.cpu_ns : UNKNOWN_U64;

        return cpu == UNKNOWN_U64 || a->cpu_at_bytes_ns == UNKNOWN_U64 ? UNKNOWN_U64 : sub_sat(cpu, a->cpu_at_bytes_ns);
}

void alerting_step_clock(struct alerting *a, int64_t step_ns)
{
        uint64_t *const times[] = { &a->last_bytes_wall_ns, &a->heartbeat_wall_ns };

        a->stepped_ns += (uint64_t)step_ns;
        for (size_t i = 0; i < ARRAY_SIZE(times); i++)
                *times[i] += *times[i] == UNKNOWN_U64 ? 0 : (uint64_t)step_ns;
}

void alerting_damage(struct alerting *a, uint64_t lost_bytes)
{
        advance_clock(a);
        alerting_sample_target(a); /* the old count */
        if (ckd_add(&a->lost_bytes, a->lost_bytes, lost_bytes))
                a->lost_bytes = UINT64_MAX;
        alerting_sample_target(a);
}

void alerting_recording(struct alerting *a, const char *why, bool first, uint64_t others)
{
        snprintf(a->pause, sizeof(a->pause), "%s", why);
        a->pause_first = first;
        a->pause_others = others;
}

void alerting_heartbeat(struct alerting *a, uint64_t wall_ns, uint64_t lag_ns)
{
        uint64_t time_ns = a->in_run ? model_event_time(a->model, wall_ns) : UNKNOWN_U64;
        struct rule_moment at = moment_of(a, a->in_run ? tracker_watermark_ns(a->tracker) : UNKNOWN_U64);

        a->heartbeat_wall_ns = wall_ns;
        a->lag_ns = lag_ns;
        judge_target(a, time_ns);
        alerts_refresh(a->alerts, &at);
        if (a->changed || a->published_any || alerts_count(a->alerts) > 0)
                publish_alerts(a);
}

void alerting_reload(struct alerting *a, const struct ruleset *rules)
{
        struct rule_moment at = moment_of(a, a->in_run ? tracker_watermark_ns(a->tracker) : UNKNOWN_U64);

        gauges_require(a->gauges, rules);
        alerts_reload(a->alerts, rules, &at);
        alerts_refresh(a->alerts, &at);
        publish_alerts(a);
}

/* ------------------------------------------------------------------------- life */

static void on_band(void *ctx, const struct band *band)
{
        alerts_band_changed(((struct alerting *)ctx)->alerts, band->id);
}

struct model_sink alerting_sink(struct alerting *a)
{
        return (struct model_sink){ .ctx = a, .band = on_band };
}

struct alerting *alerting_new(const struct alerting_options *options)
{
        struct alerting *a = calloc(1, sizeof(*a));
        struct alerts_sink sink = {
                .ctx = a, .changed = on_changed, .removed = on_removed, .time_is_up = on_time_is_up
        };

        if (!a)
                return NULL;
        a->live = options->live;
        a->agent = options->agent;
        a->turn_ends_ns = UINT64_MAX;
        a->published_any = a->live; /* an empty list is published too */
        if (options->hooks)
                a->hooks = *options->hooks;
        a->began_ns = a->last_bytes_wall_ns = a->lag_ns = a->heartbeat_wall_ns = a->cpu_at_bytes_ns = UNKNOWN_U64;
        gauges_require(a->gauges, options->rules);
        struct rule_data data = alerting_data(a);
        a->alerts = alerts_new(options->target, options->rules, &data, &sink);
        if (!a->alerts) {
                alerting_destroy(&a);
                return NULL;
        }
        alerting_attach(a, options->model, options->tracker, options->publisher);
        return a;
}

void alerting_destroy(struct alerting **ap)
{
        struct alerting *a = *ap;

        *ap = NULL;
        if (!a)
                return;
        alerting_detach(a);
        alerts_destroy(&a->alerts);
        for (unsigned i = 0; i < GAUGES; i++)
                series_done(&a->gauges[i].series);
        free(a);
}

const struct alerts *alerting_alerts(const struct alerting *a)
{
        return a->alerts;
}

uint64_t alerting_held_bytes(const struct alerting *a)
{
        uint64_t bytes = sizeof(*a) + alerts_held_bytes(a->alerts);

        for (unsigned i = 0; i < GAUGES; i++)
                bytes += a->gauges[i].series.pyramid.held_bytes;
        return bytes;
}
