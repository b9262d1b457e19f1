/* SPDX-License-Identifier: BSD-3-Clause */
/* pipeline_state.c - the state of a target, and when it is published. */
#include <stdio.h>
#include <string.h>

#include "daemon/model/sizing.h"
#include "proto/base/agent_peer.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "daemon/log.h"
#include "daemon/source/loop/memory.h"
#include "daemon/source/loop/watchdog.h"
#include "daemon/watch/targets/pipeline_internal.h"

uint64_t pipeline_now_ns(const struct pipeline *p)
{
        return p->live ? clock_wall_ns() : model_wall_time(p->model, model_time_ns(p->model));
}

struct target_facts pipeline_facts(const struct pipeline *p)
{
        const bool is_cut_out = p->state.life == LIFE_ENDED && p->recorded_end.state == RUN_END_RUNNING;

        return (struct target_facts){
                .state = is_cut_out ? HW__TARGET__STATE__STATE_RUNNING : life_shown(p->state.life),
                .uri = p->uri.text,
                .detail = p->state.detail,
                .labels = p->labels,
                .process_only_reason = p->process_only_reason[0] ? p->process_only_reason : NULL,
                .runs = p->state.runs,
                .stopped_by_signal =
                        p->state.life == LIFE_STOPPED && model_heap(p->model)->process.stop == PROCESS_STOPPED,
                .state_since_wall_ns = p->state.state_since_wall_ns,
                .local = p->state.process.seen,
                .show_arguments = p->show_arguments,
                .kept = p->state.kept,
                .ended = p->state.ended,
                .why = &p->state.why,
                .joined_late = p->state.joined_late,
                .passed_bytes =
                        p->decoder ? hw_eventlog_stats(p->decoder)->passed_bytes : p->state.left_stats.passed_bytes,
        };
}

uint64_t pipeline_lag_ns(const struct pipeline *p)
{
        uint64_t newest = model_wall_time(p->model, model_time_ns(p->model));

        if (!p->live || !pipeline_in_run(p) || newest == UNKNOWN_U64 || p->state.last_bytes_wall_ns == UNKNOWN_U64)
                return UNKNOWN_U64;
        return sub_sat(p->state.last_bytes_wall_ns, newest);
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

/* How long a running program has sent nothing. */
static uint64_t silent_ns(const struct pipeline *p)
{
        if (!p->live || !pipeline_in_run(p) || !p->open || p->state.last_bytes_wall_ns == UNKNOWN_U64)
                return 0;
        return sub_sat(clock_wall_ns(), p->state.last_bytes_wall_ns);
}

/* Without what an agent makes untrue: it flushes the log itself. */
static size_t advice_of(const struct pipeline *p, enum hw_advice *codes)
{
        size_t n = model_advice(p->model, silent_ns(p), codes, HW_ADVICE_COUNT - 1), kept = 0;

        if (!agent_peer_is_uri(p->uri.text)) {
                if (p->headless || model_run(p->model)->n_pids > 1)
                        codes[n++] = HW_ADVICE_SEVERAL_PROCESSES;
                return n;
        }
        for (size_t i = 0; i < n; i++)
                if (codes[i] != HW_ADVICE_OLD_GHC && codes[i] != HW_ADVICE_NOT_FLUSHED)
                        codes[kept++] = codes[i];
        return kept;
}

struct health pipeline_health(struct pipeline *p)
{
        pipeline_measure_damage(p);

        const struct bands *bands = model_bands(p->model);
        struct health h = {
                .decoder = p->decoder ? *hw_eventlog_stats(p->decoder) : p->state.left_stats,
                .n_damages = p->state.damages.n,
                .late_samples = model_late_samples(p->model),
                .time_anomalies = model_time_anomalies(p->model),
                .last_bytes_wall_ns = p->live ? p->state.last_bytes_wall_ns : UNKNOWN_U64,
                .lag_ns = pipeline_lag_ns(p),
                .watermark_ns = model_watermark_ns(p->model),
                .bands_left_out = bands_left_out(bands),
                .info_tables = bands_info_tables(bands),
                .info_tables_left_out = bands_info_tables_left_out(bands),
                .cost_centres_left_out = bands_cost_centres_left_out(bands),
                .state_bytes = pipeline_held_bytes(p),
                .unread = p->unread[0] ? p->unread : NULL,
                .memory_pressure = bands_closed(bands) ? memory_words() : NULL,
        };

        h.decoder.events -= p->place[0].markers;
        h.decoder.blocks -= p->place[0].markers;
        h.decoder.bytes -= p->place[0].markers * BLOCK_MARKER_BYTES;
        memcpy(h.damages, p->state.damages.places, p->state.damages.n * sizeof(*h.damages));
        if (p->recording)
                recording_state(p->recording, &h.recording);
        h.has_recording = p->recording != NULL;
        h.gaps = p->state.gaps;
        h.gap_ns = p->state.gap_ns;
        if (p->source)
                h.reconnects = sub_sat(source_stats(p->source)->attaches, 1);
        if (p->state.runs > 0)
                h.n_advice = advice_of(p, h.advice);
        return h;
}

/* In the middle of a finished log the decoder is ahead by a number of events that depends on the pieces: no health. */
void pipeline_publish_state(struct pipeline *p)
{
        struct target_facts f = pipeline_facts(p);
        struct health h = pipeline_health(p);

        publisher_state(p->publisher, &f, p->live || p->finished ? &h : NULL, pipeline_now_ns(p));
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
        default:
                return RUN_END_UNKNOWN;
        }
}

/* How the run ended and what was read of its memory belongs to its recording: the log does not show it. */
static void record_end(struct pipeline *p)
{
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
                .ended_wall_ns = p->state.state_since_wall_ns,
                .started_wall_ns = run->clock_step_ns ? run_anchor_wall_ns(run) : 0,
                .why = p->state.why,
        };

        if (!p->recording || end.state == RUN_END_UNKNOWN)
                return;
        if (process->rss_bytes != UNKNOWN_U64 && process->wall_ns != UNKNOWN_U64) {
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
        record_end(p);
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
        record_end(p);
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
