/* SPDX-License-Identifier: BSD-3-Clause */
/* pipeline_state.c - the state of a target, and when it is published. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daemon/publish/limits.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "daemon/log.h"
#include "daemon/source/loop/watchdog.h"
#include "daemon/watch/targets/pipeline_internal.h"

uint64_t pipeline_now_ns(const struct pipeline *p)
{
        return p->live ? clock_wall_ns() : model_wall_time(p->model, model_time_ns(p->model));
}

uint64_t pipeline_lag_ns(const struct pipeline *p)
{
        uint64_t newest = model_wall_time(p->model, model_time_ns(p->model));

        if (!p->live || !pipeline_in_run(p) || newest == UNKNOWN_U64 || p->state.last_bytes_wall_ns == UNKNOWN_U64)
                return UNKNOWN_U64;
        return sub_sat(p->state.last_bytes_wall_ns, newest);
}

void damages_add(struct damages *d, const struct hw_eventlog_damage *place)
{
        if (d->n == LIMIT_DAMAGES) {
                memmove(d->places, d->places + 1, (LIMIT_DAMAGES - 1) * sizeof(*d->places));
                d->n--;
        }
        d->places[d->n++] = *place;
        d->all++;
}

uint64_t damages_measure(struct damages *d, const struct hw_eventlog_damage *newest)
{
        struct hw_eventlog_damage *last = d->n ? &d->places[d->n - 1] : NULL;

        if (!last || last->offset != newest->offset || newest->lost_bytes <= last->lost_bytes)
                return 0;
        const uint64_t more = newest->lost_bytes - last->lost_bytes;
        last->lost_bytes = newest->lost_bytes;
        return more;
}

struct hw_eventlog_damage pipeline_damage(const struct pipeline *p)
{
        struct hw_eventlog_damage d = *hw_eventlog_damage(p->decoder);

        d.offset += (uint64_t)p->place[d.offset < p->place[0].from].moved;
        return d;
}

void pipeline_measure_damage(struct pipeline *p)
{
        const struct hw_eventlog_damage newest = p->decoder ? pipeline_damage(p) : (struct hw_eventlog_damage){ 0 };
        const uint64_t more = p->decoder ? damages_measure(&p->state.damages, &newest) : 0;

        if (more && p->alerting)
                alerting_damage(p->alerting, more);
}

void publish_pace_flushed(struct publish_pace *p, uint64_t began_ns, uint64_t ended_ns)
{
        uint64_t took = sub_sat(ended_ns, began_ns);
        uint64_t rest = took < PACE_REST_MOST_NS / PACE_REST ? PACE_REST * took : PACE_REST_MOST_NS;

        p->flushed_ns = ended_ns;
        p->rest_ns = rest > PACE_INTERVAL_NS ? rest : PACE_INTERVAL_NS;
}

uint64_t publish_pace_wait_ns(const struct publish_pace *p, uint64_t now_ns)
{
        return sub_sat(p->rest_ns, sub_sat(now_ns, p->flushed_ns));
}

/* In the middle of a finished log the decoder is ahead by a number of events that depends on the pieces: no health. */
void pipeline_publish_state(struct pipeline *p)
{
        pipeline_measure_damage(p);
        publisher_state(p->publisher, p->live || p->finished, pipeline_now_ns(p));
}

static enum run_end_state recorded_state(enum life_state state)
{
        switch (life_shown(state)) {
        case HW__TARGET__STATE__STATE_LOST:
                return RUN_END_LOST;
        case HW__TARGET__STATE__STATE_ENDED:
                return RUN_END_ENDED;
        case HW__TARGET__STATE__STATE_FAILED:
                return RUN_END_FAILED;
        case HW__TARGET__STATE__STATE_CRASHED:
                return RUN_END_CRASHED;
        case HW__TARGET__STATE__STATE_RUNNING:
                return RUN_END_RUNNING;
        default:
                return RUN_END_UNKNOWN;
        }
}

/* How the run ended, its limits and what was read of its memory belong to its recording: the log does not show it. */
void pipeline_record_end(struct pipeline *p)
{
        const struct memory_limit limit = tracker_process_limit(p->tracker);
        const double reserved = model_heap(p->model)->facts[CARRIED_HEAP_RESERVED];
        const struct process_sample *process = &model_heap(p->model)->process;
        const struct run *run = model_run(p->model);
        struct run_end end = {
                .state = recorded_state(p->state.life),
                .exit_known = p->state.ended.known,
                .signal = p->state.ended.signal,
                .status = p->state.ended.status,
                .oom_killed = p->state.ended.oom_killed,
                .out_of_cpu = p->state.ended.out_of_cpu,
                .step_ns = tracker_config_of(p->tracker)->trend.resolution_ns,
                .limit_bytes = limit.bytes == UNKNOWN_U64 ? 0 : limit.bytes,
                .limit_source = limit.source,
                .reserved_bytes = isnan(reserved) ? 0 : (uint64_t)reserved,
                .ended_wall_ns = p->state.state_since_wall_ns,
                .started_wall_ns = run->clock_step_ns ? run_anchor_wall_ns(run) : 0,
                .why = p->state.why,
        };

        if (!p->recording || end.state == RUN_END_UNKNOWN)
                return;
        if (end.state == RUN_END_RUNNING)
                end.ended_wall_ns = 0;
        else if (process->rss_bytes != UNKNOWN_U64 && process->wall_ns != UNKNOWN_U64) {
                end.resident_bytes = process->rss_bytes;
                end.resident_wall_ns = process->wall_ns;
        }
        (void)snprintf(end.detail, sizeof(end.detail), "%s", p->state.detail);
        recording_outcome(p->recording, &end);
}

/* A recorded run may have been idle for long before it ended. */
static uint64_t state_began_wall_ns(const struct pipeline *p)
{
        const struct run_end *end = &p->recorded_end;

        return !p->live && end->state != RUN_END_UNKNOWN && end->ended_wall_ns ? end->ended_wall_ns
                                                                               : pipeline_now_ns(p);
}

void pipeline_set_state(struct pipeline *p, enum life_state state, const char *detail)
{
        const enum life_state before = p->state.life;

        p->state.life = state;
        if (life_shown(state) == life_shown(before) && !strcmp(detail, p->state.detail))
                return;
        if (life_shown(state) != life_shown(before))
                p->state.state_since_wall_ns = state_began_wall_ns(p);
        if (detail != p->state.detail)
                snprintf(p->state.detail, sizeof(p->state.detail), "%s", detail);
        if (p->live)
                log_info("target=%s state=%s detail=\"%s\"", p->name, life_state_name(state), detail);
        pipeline_record_end(p);
        pipeline_publish_state(p);
}

void pipeline_answered(struct pipeline *p, const struct alert *alert, const struct alert_result *why)
{
        const uint64_t start_ns = pipeline_has_run(p) ? model_run(p->model)->start_wall_ns : UNKNOWN_U64;
        const struct run_why before = p->state.why;

        if (alert->run != p->state.runs || (start_ns != UNKNOWN_U64 && alert->fired.wall_ns < start_ns))
                return; /* of a run before, whose alerts this one has taken over */
        run_why_set(&p->state.why,
                    why->under_way ? RUN_WHY_UNDER_WAY
                    : why->ok      ? RUN_WHY_FOUND
                                   : RUN_WHY_NOT_FOUND,
                    why->wall_ns == UNKNOWN_U64 ? 0 : why->wall_ns, why->detail);
        if (p->state.why.state == before.state && p->state.why.wall_ns == before.wall_ns &&
            !strcmp(p->state.why.text, before.text))
                return;
        p->checkpoint_mono_ns = 0;
        pipeline_record_end(p);
        pipeline_publish_state(p);
}

void pipeline_flush(struct pipeline *p)
{
        uint64_t began = p->live ? clock_mono_ns() : 0;

        watchdog_begin(WATCHDOG_PUBLISH);
        watchdog_of(p->name);
        if (publisher_run_changed(p->publisher)) {
                if (p->live && !p->state.process.seen)
                        pipeline_sample_process(p);
                pipeline_publish_state(p);
        }
        publisher_flush(p->publisher, pipeline_now_ns(p));
        if (p->event_stream)
                event_stream_flush(p->event_stream);
        watchdog_end();
        if (!p->live)
                return;
        publisher_shrink(p->publisher);
        publish_pace_flushed(&p->pace, began, clock_mono_ns());
}
