/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipeline_stream.c - from bytes to runs and events.
 *
 * DESIGN: a run begins with each header and ends with its end marker, with the cut of its
 * stream, or when its process is gone. Events that follow an end marker without a header
 * show that the marker was damage: the run goes on.
 *
 * Finished logs are published whenever event time has passed the next tick of ONCE_TICK_NS,
 * decided event by event, so that the size of the pieces does not matter.
 *
 * A few bytes may mean that days have passed, and rules are judged for all of that time.
 * Live, they are judged for TURN_NS at a time: then the model stops, and the remaining
 * events, and the source, wait for the next iteration of the loop. The results are the
 * same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "daemon/image/decoder.h"
#include "daemon/log.h"
#include "proto/base/probes.h"
#include "daemon/target/pipeline_internal.h"
#include "heapwatch/text.h"

#define EVENTS_PER_READ 256
#define TURN_NS         10000000u  /* live: rules that take longer are judged in several turns */
#define ONCE_TICK_NS    100000000u /* 100 ms of event time */

static const char joined_late[] =
        "joined late, in the middle of its run: its program and the names it had given until "
        "then (cost centres, info tables, threads) are not known";
static const char searching[] =
        "the stream does not begin with hdrb: not an eventlog, or the middle of one, whose next "
        "block is looked for";

/* False: the turn is over before everything due at the end was judged. */
static bool end_run(struct pipeline *p, Hw__Target__State state, const char *detail)
{
        if (!p->in_run)
                return true;
        if (!p->ending) {
                log_debug("target=%s run=%" PRIu32 " ends at event_time=%" PRIu64 ": %s", p->name, p->runs,
                          model_time_ns(p->model), detail);
                model_end_run(p->model);
                tracker_end_run(p->tracker);
                p->ending = true;
        }
        if (!tracker_go_on(p->tracker))
                return false;
        pipeline_flush(p);
        if (state == HW__TARGET__STATE__STATE_LOST) {
                p->alerts_wait = p->alerting != NULL;
                p->same_run = same_run_new(p->model);
        } else if (p->alerting && !alerting_end_run(p->alerting, state == HW__TARGET__STATE__STATE_CRASHED, detail))
                return false;
        p->in_run = p->ending = false;
        pipeline_set_state(p, state, detail);
        return true;
}

bool pipeline_begin_run(struct pipeline *p)
{
        if (!end_run(p, HW__TARGET__STATE__STATE_CRASHED,
                     "a new header came before the end marker of the previous run"))
                return false;
        pipeline_give_up_lost(p);
        if (p->runs > 0 && p->next_run)
                p->next_run(p->next_run_ctx, p);
        p->runs++;
        p->gaps = p->gap_ns = 0;
        p->joined_late = !pipeline_is_process(p) && hw_eventlog_joined(p->decoder);
        p->in_run = true;
        pipeline_forget_end(p);
        process_watch_begin(&p->process);
        p->next_tick_ns = 0;
        log_debug("target=%s run=%" PRIu32 " begins; header read, bytes=%" PRIu64, p->name, p->runs,
                  hw_eventlog_stats(p->decoder)->bytes);
        if (p->recording)
                recording_begin(p->recording, p->decoder, p->last_bytes_wall_ns);
        model_begin_run(p->model, p->runs);
        tracker_begin_run(p->tracker);
        publisher_begin_run(p->publisher, pipeline_now_ns(p));
        pipeline_set_state(p, HW__TARGET__STATE__STATE_RUNNING, p->joined_late ? joined_late : "");
        if (p->alerting)
                alerting_begin_run(p->alerting, p->runs);
        return true;
}

/* The lost run goes on: its state stays, and what was missed is counted. */
static void rejoin(struct pipeline *p, uint64_t gap_ns)
{
        char detail[128], gap[32];

        p->in_run = true;
        (void)hw_duration_text(gap, sizeof(gap), (double)gap_ns);
        (void)snprintf(detail, sizeof(detail), "goes on after a broken connection; %s of it was missed", gap);
        p->gaps++;
        p->gap_ns += gap_ns;
        pipeline_forget_end(p);
        model_resume_run(p->model);
        tracker_resume_run(p->tracker);
        if (p->recording)
                recording_go_on(p->recording, p->decoder, false, p->last_bytes_wall_ns);
        if (p->alerting)
                alerting_resume_run(p->alerting);
        p->alerts_wait = false;
        pipeline_set_state(p, HW__TARGET__STATE__STATE_RUNNING, detail);
}

/* With another stream. */
static void go_on(struct pipeline *p)
{
        p->goes_on = false;
        rejoin(p, same_run_gap_ns(p->same_run));
}

/* The end, with the exit status if the parent has already reported it. */
static bool end_marked(struct pipeline *p)
{
        struct run_exit ended = p->ended;

        if (!end_run(p, HW__TARGET__STATE__STATE_ENDED, "the log ended with its end marker"))
                return false;
        if (p->recording)
                recording_end(p->recording, true);
        if (ended.known)
                pipeline_exited(p, &ended);
        return true;
}

static void note_damage(struct pipeline *p, const struct hw_eventlog_damage *damage)
{
        damages_add(&p->damages, damage);
        log_debug("target=%s resyncs=%" PRIu64 " damages=%" PRIu64, p->name, hw_eventlog_stats(p->decoder)->resyncs,
                  p->damages.all);
        if (p->live || p->runs > 0) /* a file that is not an eventlog is reported elsewhere, in one line */
                log_warning("target=%s offset=%" PRIu64 " lost_bytes=%" PRIu64 " damaged stream: %s", p->name,
                            damage->offset, damage->lost_bytes, damage->reason);
        if (p->alerting)
                alerting_damage(p->alerting, damage->lost_bytes);
        if (p->runs == 0)
                pipeline_set_state(p, HW__TARGET__STATE__STATE_FAILED, damage->reason);
}

/* ---------------------------------------------------------------- events */

/* Finished logs: passes events to the model piece by piece, publishing whenever a tick is passed. */
static void take_ticked(struct pipeline *p, const struct hw_event *events, size_t n)
{
        size_t from = 0;

        for (size_t i = 0; i < n; i++) {
                if (events[i].time_ns < p->next_tick_ns)
                        continue;
                model_events(p->model, events + from, i - from);
                from = i;
                if (p->next_tick_ns > 0)
                        pipeline_flush(p);
                p->next_tick_ns = events[i].time_ns - events[i].time_ns % ONCE_TICK_NS;
                if (ckd_add(&p->next_tick_ns, p->next_tick_ns, ONCE_TICK_NS))
                        p->next_tick_ns = UINT64_MAX;
        }
        model_events(p->model, events + from, n - from);
}

/* Publishes events and their effects on the model one by one, so the order of messages depends only on the log. */
static void take_told(struct pipeline *p, const struct hw_event *events, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                event_stream_add(p->event_stream, p->runs, &events[i]);
                take_ticked(p, &events[i], 1);
        }
}

/* Events without a new header after an end marker: damage looked like one, and the run goes on. */
static void resume_run(struct pipeline *p)
{
        p->in_run = true;
        log_debug("target=%s run=%" PRIu32 " goes on: events after its end marker", p->name, p->runs);
        model_resume_run(p->model);
        if (p->recording)
                recording_begin(p->recording, p->decoder, p->last_bytes_wall_ns);
        pipeline_set_state(p, HW__TARGET__STATE__STATE_RUNNING, "");
}

/* The first event after a gap that the daemon itself has caused. */
static void after_gap(struct pipeline *p, const struct hw_event *first)
{
        const uint64_t gap_ns = sub_sat(first->time_ns, model_time_ns(p->model));

        p->gap_opens = false;
        if (!p->in_run) {
                rejoin(p, gap_ns);
                return;
        }
        p->gaps++;
        p->gap_ns += gap_ns;
}

/* Returns how many are taken: live, the model stops where rules run out of time. */
static size_t give_events(struct pipeline *p, const struct hw_event *events, size_t n)
{
        if (p->live && !p->tell_events)
                return model_events(p->model, events, n);
        if (p->tell_events)
                take_told(p, events, n);
        else
                take_ticked(p, events, n);
        return n;
}

/* Returns how many are taken. */
static size_t take_events(struct pipeline *p, const struct hw_event *events, size_t n)
{
        if (n == 0 || p->runs == 0)
                return n;
        if (p->gap_opens)
                after_gap(p, &events[0]);
        else if (!p->in_run)
                resume_run(p);
        if (p->recording)
                recording_events(p->recording, p->decoder, &p->piece, events, n, p->last_bytes_wall_ns);
        return give_events(p, events, n);
}

/* False: the turn is over before all its effects were done; call again in the next one. */
static bool take_status(struct pipeline *p, enum hw_eventlog_status status)
{
        switch (status) {
        case HW_EVENTLOG_RUN:
                pipeline_measure_damage(p);
                if (!p->goes_on)
                        return pipeline_begin_run(p);
                go_on(p);
                break;
        case HW_EVENTLOG_END:
                return end_marked(p);
        case HW_EVENTLOG_BAD:
        case HW_EVENTLOG_LIMIT:
                note_damage(p, hw_eventlog_damage(p->decoder));
                break;
        case HW_EVENTLOG_OK:
        case HW_EVENTLOG_NEED_MORE:
                break;
        }
        return true;
}

/* -------------------------------------------------------------------- turns */

static void begin_turn(struct pipeline *p, bool hurry)
{
        if (p->alerting && p->live)
                alerting_turn(p->alerting, clock_mono_ns() + TURN_NS, hurry);
}

/* Takes what the previous turn has left of its batch; false: not all of it. */
static bool take_left(struct pipeline *p)
{
        if (!p->left.open)
                return true;
        do {
                if (!tracker_go_on(p->tracker))
                        return false;
                if (p->left.from < p->left.n)
                        p->left.from += give_events(p, p->left.events + p->left.from, p->left.n - p->left.from);
        } while (p->left.from < p->left.n || tracker_waits(p->tracker));
        if (!take_status(p, p->left.status))
                return false;
        p->left.open = false;
        free(p->left.events);
        p->left.events = NULL;
        return true;
}

/* Keeps what a turn has no time for. When out of memory for the events, they are taken now. */
static bool leave(struct pipeline *p, const struct hw_event *events, size_t n, enum hw_eventlog_status status)
{
        struct hw_event *copy = n > 0 ? malloc(n * sizeof(*events)) : NULL;

        if (n > 0 && !copy) {
                begin_turn(p, true);
                (void)tracker_go_on(p->tracker);
                (void)give_events(p, events, n);
                return !take_status(p, status);
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

/* Takes everything that the decoder can deliver, until the turn is over. True: all. */
static bool drain(struct pipeline *p)
{
        struct hw_event events[EVENTS_PER_READ];
        enum hw_eventlog_status status;
        size_t n;

        if (!take_left(p))
                return false;
        do {
                status = hw_eventlog_read(p->decoder, events, EVENTS_PER_READ, &n);
                PROBE_EVENTS_DECODED(p->name, n);
                const size_t taken = take_events(p, events, n);
                const bool all = taken == n && !tracker_waits(p->tracker) && take_status(p, status);
                if (!all && leave(p, events + taken, n - taken, status))
                        return false;
        } while (status != HW_EVENTLOG_NEED_MORE);
        if (hw_eventlog_searching(p->decoder) && !p->in_run && p->state != HW__TARGET__STATE__STATE_FAILED)
                pipeline_set_state(p, HW__TARGET__STATE__STATE_CONNECTED, searching);
        return true;
}

/* It is decided whether the run goes on: takes what was held back. */
static void input_held(struct pipeline *p, bool goes_on)
{
        size_t size;
        const uint8_t *held = same_run_held(p->same_run, &size);

        p->goes_on = goes_on;
        if (size > 0)
                hw_eventlog_input(p->decoder, held, size);
}

static void forget_same_run(struct pipeline *p)
{
        p->goes_on = false;
        same_run_destroy(&p->same_run);
}

bool pipeline_go_on(struct pipeline *p)
{
        begin_turn(p, false);
        if (!drain(p))
                return false;
        if (!p->left.data)
                return true;
        hw_eventlog_input(p->decoder, p->left.data, p->left.size); /* after what was held back */
        p->left.data = NULL;
        const bool all = drain(p);
        forget_same_run(p);
        return all;
}

bool pipeline_decode(struct pipeline *p, const uint8_t *data, size_t size)
{
        PROBE_BYTES_IN(p->name, size);
        if (!p->same_run) {
                hw_eventlog_input(p->decoder, data, size);
                return pipeline_go_on(p);
        }
        enum same_run_answer answer = same_run_take(p->same_run, data, size);
        if (answer == SAME_RUN_UNKNOWN)
                return true;
        input_held(p, answer == SAME_RUN_YES);
        p->left.data = data;
        p->left.size = size;
        return pipeline_go_on(p);
}

void pipeline_end_run(struct pipeline *p, Hw__Target__State state, const char *detail)
{
        begin_turn(p, true); /* as below */
        (void)end_run(p, state, detail);
}

void pipeline_lose_run(struct pipeline *p, const char *why)
{
        begin_turn(p, true); /* as below */
        hw_eventlog_reset(p->decoder);
        if (p->recording)
                recording_end(p->recording, false);
        (void)end_run(p, HW__TARGET__STATE__STATE_LOST, why);
}

void pipeline_miss(struct pipeline *p)
{
        decoder_gap(p->decoder);
        p->gap_opens = p->in_run;
}

void pipeline_interrupt(struct pipeline *p, const char *why)
{
        begin_turn(p, true); /* as below */
        p->gap_opens = p->in_run;
        (void)end_run(p, HW__TARGET__STATE__STATE_LOST, why);
        same_run_destroy(&p->same_run); /* it is the same */
}

void pipeline_finish_stream(struct pipeline *p, const char *why)
{
        char detail[sizeof(p->detail)], cause[sizeof(p->detail)];
        uint64_t left;

        begin_turn(p, true); /* a stream that is over must not wait */
        if (p->same_run) {
                size_t held;
                (void)same_run_held(p->same_run, &held);
                if (held == 0)
                        return; /* nothing has come since the run was lost */
                input_held(p, false);
                (void)drain(p);
                forget_same_run(p);
        }
        hw_eventlog_input_end(p->decoder);
        (void)drain(p);
        bool clean = hw_eventlog_finish(p->decoder, &left);
        pipeline_measure_damage(p);
        if (hw_eventlog_stats(p->decoder)->resyncs > p->damages.all) /* the stream ends inside damage */
                note_damage(p, hw_eventlog_damage(p->decoder));
        if (!clean && left > 0)
                snprintf(cause, sizeof(cause),
                         "%s, without an end marker and inside an event (%" PRIu64 " bytes of it were there)", why,
                         left);
        else
                snprintf(cause, sizeof(cause), "%s, without an end marker", why);
        if (p->in_run) {
                Hw__Target__State state = pipeline_state_at_end(p, cause, detail, sizeof(detail));
                (void)end_run(p, state, detail);
        }
        if (p->recording)
                recording_end(p->recording, false);
        hw_eventlog_reset(p->decoder);
}
