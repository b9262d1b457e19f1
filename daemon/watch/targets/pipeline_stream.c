/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipeline_stream.c - from bytes to runs and events.
 *
 * DESIGN: a run begins with each header and ends with its end marker, with the cut of its
 * stream, or when its process is gone: life.def says what follows from which.
 *
 * Finished logs are published whenever event time has passed the next tick of ONCE_TICK_NS,
 * decided event by event, so that the size of the pieces does not matter.
 *
 * A few bytes may mean that days have passed, and rules are judged for all of that time.
 * Live, they are judged for one turn at a time: then the model stops, and the remaining
 * events, and the source, wait for the next iteration of the loop. The results are the
 * same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/model/image/containers.h"
#include "proto/base/bytes.h"
#include "proto/base/ckd.h"
#include "daemon/log.h"
#include "proto/base/probes.h"
#include "daemon/watch/targets/pipeline_internal.h"

#define EVENTS_PER_READ 256
#define ONCE_TICK_NS    100000000u /* 100 ms of event time */

static const char searching[] =
        "the stream does not begin with hdrb: not an eventlog, or the middle of one, whose next "
        "block is looked for";

/* The program ended its log and has begun it again, by the same socket: some runtimes do not tell whose it is then. */
static bool is_of_its_process(const struct pipeline *p)
{
        return p->marked && p->source && p->state.process.seen && source_peer(p->source) == p->state.process.pid &&
               !p->state.ended.known;
}

/* The header of the lost run once more, or that of another run. */
static bool handle_header(struct pipeline *p)
{
        static const char no_marker[] = "a new header came before the end marker of the previous run";
        char detail[sizeof(p->state.detail)];

        if (pipeline_in_run(p) && (p->state.ended.known || !p->live) &&
            !pipeline_happens(p, pipeline_judge_end(p, false, no_marker, detail, sizeof(detail)), detail))
                return false;
        if (!life_is_lost(p->state.life) || !(is_of_its_process(p) || (p->same_run && same_run_continues(p->same_run))))
                return pipeline_happens(p, ON_HEADER, no_marker);
        p->missed_ns = p->same_run ? same_run_gap_ns(p->same_run) : 0;
        return pipeline_happens(p, ON_HEADER_AGAIN, NULL) &&
               (p->missed_ns != UNKNOWN_U64 || pipeline_happens(p, ON_MISSING, NULL));
}

/* The end, with the exit status if the parent has already reported it. */
static bool end_marked(struct pipeline *p)
{
        char detail[sizeof(p->state.detail)];
        const bool in_run = pipeline_in_run(p);

        if (p->recorded_end.state == RUN_END_RUNNING) /* its recording was read up to here: pipeline_finish */
                return true;
        p->marked = true;
        const enum life_event end = pipeline_judge_end(p, true, NULL, detail, sizeof(detail));

        if (in_run && !pipeline_happens(p, end, detail))
                return false;
        if (p->recording)
                recording_end(p->recording, true);
        return true;
}

static void note_damage(struct pipeline *p)
{
        const struct hw_eventlog_damage damage = pipeline_damage(p);

        damages_add(&p->state.damages, &damage);
        log_debug("target=%s resyncs=%" PRIu64 " damages=%" PRIu64, p->name, hw_eventlog_stats(p->decoder)->resyncs,
                  p->state.damages.all);
        if (p->live || p->state.runs > 0) /* a file that is not an eventlog is reported elsewhere, in one line */
                log_warning("target=%s offset=%" PRIu64 " lost_bytes=%" PRIu64 " damaged stream: %s", p->name,
                            damage.offset, damage.lost_bytes, damage.reason);
        if (p->alerting)
                alerting_damage(p->alerting, damage.lost_bytes);
        if (p->state.runs == 0)
                (void)pipeline_happens(p, ON_NOT_A_LOG, damage.reason);
}

/* ---------------------------------------------------------------- events */

/* Finished logs: passes events to the model piece by piece, publishing whenever a tick is passed. */
static void process_by_tick(struct pipeline *p, const struct hw_event *events, size_t n)
{
        size_t from = 0;

        for (size_t i = 0; i < n; i++) {
                if (events[i].time_ns < p->next_tick_ns)
                        continue;
                model_events(p->model, events + from, i - from);
                from = i;
                if (p->next_tick_ns > 0 && p->wish.ends_alone && !model_gc(p->model)->counted)
                        publisher_skip_flush(
                                p->publisher); /* collections that are counted are known from state alone */
                else if (p->next_tick_ns > 0)
                        pipeline_flush(p);
                p->next_tick_ns = events[i].time_ns - events[i].time_ns % ONCE_TICK_NS;
                if (ckd_add(&p->next_tick_ns, p->next_tick_ns, ONCE_TICK_NS))
                        p->next_tick_ns = UINT64_MAX;
        }
        model_events(p->model, events + from, n - from);
}

/* Returns how many are taken: live, the model stops where rules run out of time. */
static size_t pass_to_model(struct pipeline *p, const struct hw_event *events, size_t n)
{
        if (p->live)
                return model_events(p->model, events, n);
        if (p->events == EVENTS_ALONE) {
                for (size_t i = 0; i < n; i++)
                        if (!p->event_ids || p->event_ids[events[i].id])
                                event_stream_add(p->event_stream, p->state.runs, &events[i]);
        } else if (p->events == EVENTS_FULL) {
                /*
                 * Publishes events and their effects on the model one by one, so the order of messages depends only on
                 * the log.
                 */
                for (size_t i = 0; i < n; i++) {
                        event_stream_add(p->event_stream, p->state.runs, &events[i]);
                        process_by_tick(p, &events[i], 1);
                }
        } else {
                process_by_tick(p, events, n);
        }
        return n;
}

/* Returns how many are taken. */
static size_t process_events(struct pipeline *p, const struct hw_event *events, size_t n)
{
        if (n == 0 || p->state.runs == 0 ||
            p->events == EVENTS_COUNTED) /* the decoder has counted them, which is all that is wanted */
                return n;
        /* what is missing ends with the first event that is newer: an agent repeats definitions before that */
        const uint64_t newest_ns = model_time_ns(p->model);
        size_t first = 0;
        while (p->state.life == LIFE_INTERRUPTED && first < n && events[first].time_ns < newest_ns)
                first++;
        p->missed_ns = first < n ? sub_sat(events[first].time_ns, newest_ns) : 0;
        /*
         * Events without a header behind an end that the runtime has made: another process has written into the same
         * file, behind the end of this one.
         */
        if (!p->live && p->state.life == LIFE_ENDED && model_run(p->model)->deleted_capsets) {
                p->headless = true;
                (void)pipeline_happens(p, ON_HEADER, NULL);
        }
        if (first < n)
                (void)pipeline_happens(p, ON_EVENTS, NULL);
        if (p->recording)
                recording_events(p->recording, p->decoder, &p->piece, events, n, p->state.last_bytes_wall_ns);
        return pass_to_model(p, events, n);
}

/* False: the turn is over before all its effects were done; call again in the next one. */
static bool handle_status(struct pipeline *p, enum hw_eventlog_status status)
{
        switch (status) {
        case HW_EVENTLOG_RUN:
                pipeline_measure_damage(p);
                p->headless = false;
                return handle_header(p);
        case HW_EVENTLOG_END:
                return end_marked(p);
        case HW_EVENTLOG_BAD:
        case HW_EVENTLOG_LIMIT:
                note_damage(p);
                break;
        case HW_EVENTLOG_OK:
        case HW_EVENTLOG_NEED_MORE:
                break;
        }
        return true;
}

/* -------------------------------------------------------------------- turns */

/* Takes what the previous turn has left of its batch; false: not all of it. */
static bool resume_pending(struct pipeline *p)
{
        if (!p->left.open)
                return true;
        do {
                if (!tracker_resume(p->tracker))
                        return false;
                if (p->left.from < p->left.n)
                        p->left.from += pass_to_model(p, p->left.events + p->left.from, p->left.n - p->left.from);
        } while (p->left.from < p->left.n || tracker_waits(p->tracker));
        if (!handle_status(p, p->left.status))
                return false;
        p->left.open = false;
        free(p->left.events);
        p->left.events = NULL;
        return true;
}

/* Keeps what a turn has no time for. When out of memory for the events, they are taken now. */
static bool save_pending_batch(struct pipeline *p, const struct hw_event *events, size_t n,
                               enum hw_eventlog_status status)
{
        struct hw_event *copy = n > 0 ? malloc(n * sizeof(*events)) : NULL;

        if (n > 0 && !copy) {
                pipeline_begin_turn(p, true);
                (void)tracker_resume(p->tracker);
                (void)pass_to_model(p, events, n);
                return !handle_status(p, status);
        }
        if (n > 0)
                memcpy(copy, events, n * sizeof(*events));
        p->left.open = true;
        p->left.events = copy;
        p->left.from = 0;
        p->left.n = n;
        p->left.status = status;
        return true;
}

struct block_payload {
        uint8_t bytes[14]; /* u32 size, u64 end, u16 capability */
};

/* Counts the times of a finished log from its process's start; `blocks` is room for the payloads of markers. */
static void subtract_origin(const struct pipeline *p, struct hw_event *events, size_t n, struct block_payload *blocks)
{
        for (size_t i = 0; i < n; i++) {
                events[i].time_ns = sub_sat(events[i].time_ns, p->origin_ns);
                if (events[i].id != HW_BLOCK_MARKER)
                        continue;
                const uint64_t end_ns = sub_sat(hw_event_u64(&events[i], 4), p->origin_ns);
                memcpy(blocks[i].bytes, events[i].payload, sizeof(blocks[i].bytes));
                put_be(blocks[i].bytes + 4, end_ns, 8);
                events[i].payload = blocks[i].bytes;
        }
}

/* Takes everything that the decoder can deliver, until the turn is over. True: all. */
static bool drain_decoder(struct pipeline *p)
{
        struct hw_event events[EVENTS_PER_READ];
        struct block_payload blocks[EVENTS_PER_READ];
        enum hw_eventlog_status status;
        size_t n;

        if (!resume_pending(p))
                return false;
        do {
                status = hw_eventlog_read(p->decoder, events, EVENTS_PER_READ, &n);
                PROBE_EVENTS_DECODED(p->name, n);
                if (p->origin_ns)
                        subtract_origin(p, events, n, blocks);
                const size_t taken = process_events(p, events, n);
                const bool all = taken == n && !tracker_waits(p->tracker) && handle_status(p, status);
                if (!all && save_pending_batch(p, events + taken, n - taken, status))
                        return false;
        } while (status != HW_EVENTLOG_NEED_MORE);
        if (hw_eventlog_searching(p->decoder))
                (void)pipeline_happens(p, ON_SEARCHING, searching);
        return true;
}

/* It is decided whether the run goes on: takes what was held back. */
static void input_held(struct pipeline *p)
{
        size_t size;
        const uint8_t *held = same_run_held(p->same_run, &size);

        if (size > 0)
                hw_eventlog_input(p->decoder, held, size);
}

bool pipeline_resume(struct pipeline *p)
{
        pipeline_begin_turn(p, false);
        if (!drain_decoder(p))
                return false;
        if (!p->left.data)
                return true;
        hw_eventlog_input(p->decoder, p->left.data, p->left.size); /* after what was held back */
        p->left.data = NULL;
        const bool all = drain_decoder(p);
        same_run_destroy(&p->same_run);
        return all;
}

bool pipeline_decode(struct pipeline *p, const uint8_t *data, size_t size)
{
        PROBE_BYTES_IN(p->name, size);
        if (!p->same_run) {
                hw_eventlog_input(p->decoder, data, size);
                return pipeline_resume(p);
        }
        if (same_run_check(p->same_run, data, size) == SAME_RUN_UNKNOWN)
                return true;
        input_held(p);
        p->left.data = data;
        p->left.size = size;
        return pipeline_resume(p);
}

void pipeline_process_events(struct pipeline *p, enum hw_eventlog_status status, const struct hw_event *events,
                             size_t n)
{
        (void)process_events(p, events, n); /* all, unless live */
        (void)handle_status(p, status);
}

void pipeline_lose_run(struct pipeline *p, const char *why)
{
        hw_eventlog_reset(p->decoder);
        if (p->recording)
                recording_end(p->recording, false);
        pipeline_happens_now(p, ON_END_UNKNOWN, why);
}

void pipeline_miss(struct pipeline *p)
{
        decoder_gap(p->decoder);
        pipeline_happens_now(p, ON_MISSING, NULL);
}

void pipeline_finish_stream(struct pipeline *p, const char *why)
{
        char detail[sizeof(p->state.detail)], cause[sizeof(p->state.detail)];
        uint64_t left;

        pipeline_begin_turn(p, true); /* a stream that is over must not wait */
        if (p->same_run) {
                size_t held;
                (void)same_run_held(p->same_run, &held);
                if (held == 0)
                        return; /* nothing has come since the run was lost */
                input_held(p);
                (void)drain_decoder(p);
                same_run_destroy(&p->same_run);
        }
        hw_eventlog_input_end(p->decoder);
        (void)drain_decoder(p);
        bool clean = hw_eventlog_finish(p->decoder, &left);
        pipeline_measure_damage(p);
        p->ends_damaged = hw_eventlog_stats(p->decoder)->resyncs > p->state.damages.all;
        if (p->ends_damaged)
                note_damage(p);
        if (p->cut)
                snprintf(cause, sizeof(cause), "%s", why);
        else if (p->ends_damaged && !p->live)
                snprintf(cause, sizeof(cause), "%s inside damage, which may hide an end marker", why);
        else if (!clean && left > 0)
                snprintf(cause, sizeof(cause),
                         "%s, without an end marker and inside an event (%" PRIu64 " bytes of it were there)", why,
                         left);
        else
                snprintf(cause, sizeof(cause), "%s%s", why,
                         pipeline_has_no_log(p) ? "" : ", without an end marker"); /* which has never one */
        if (pipeline_in_run(p)) {
                const enum life_event end = pipeline_judge_end(p, false, cause, detail, sizeof(detail));
                pipeline_happens_now(p, end, detail);
        }
        if (p->recording)
                recording_end(p->recording, false);
        hw_eventlog_reset(p->decoder);
}
