/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one struct holds the chain source -> decoder -> model -> publisher
 * of a target and the few facts that belong to none of them: its state, its
 * damaged places, when bytes last came.
 *
 * A run begins with each header and ends with its end marker, with the cut of
 * its stream, or when its process is gone. Events that still come after an end
 * marker, without a header, show that it was damage: the run goes on.
 *
 * Publishing. Live: after each piece of bytes, but at most every
 * FLUSH_INTERVAL_NS, and so that it takes a fifth of the time at most (while days
 * of a log are caught up with, every flush has much to say); a timer sends what
 * is left. So an event is at the
 * subscribers within that time of its arrival, and a flood of small writes
 * does not become a flood of messages. Finished logs: whenever event time has
 * passed the next tick of ONCE_TICK_NS, decided event by event, so that the
 * size of the pieces changes nothing.
 */
#include "pipeline.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alerting.h"
#include "base/ckd.h"
#include "base/limits.h"
#include "base/process.h"
#include "clock.h"
#include "fanout.h"
#include "heapwatch/eventlog.h"
#include "log.h"
#include "model/advice.h"
#include "model/model.h"
#include "publish/health.h"
#include "publish/publisher.h"
#include "source/procfs.h"
#include "source/source.h"
#include "trend/tracker.h"

#define EVENTS_PER_READ 256
#define FLUSH_INTERVAL_NS 10000000u     /* live: 10 ms */
#define FLUSH_REST 4u                   /* live: after a flush, so many times what it took without one, ... */
#define FLUSH_REST_MOST_NS 1000000000u  /* ... but not more than this */
#define ONCE_TICK_NS 100000000u         /* finished logs: 100 ms of event time */
#define PSS_EVERY 10                    /* samples: the kernel walks the whole address space for it */
#define GONE_AFTER_NS 1000000000u       /* process gone and no bytes for 1 s: the run is over */

struct pipeline {
        char name[TARGET_NAME_MAX + 1];
        struct source_uri uri;
        bool live, show_arguments, tell_events;

        struct source *source;          /* NULL for finished logs */
        struct hw_eventlog *decoder;
        struct model *model;
        struct tracker *tracker;
        struct alerting *alerting;      /* NULL: no rules */
        struct fanout fanout;           /* from the model to publisher, tracker and alerting */
        struct publisher *publisher;
        struct event_stream *event_stream; /* finished logs whose events are wanted; else NULL */
        struct event *flush_timer;

        Hw__Target__State state;
        char detail[512];
        uint64_t state_since_wall_ns;
        uint32_t runs;
        bool in_run;

        uint64_t last_flush_mono_ns;    /* its end */
        uint64_t flush_rest_ns;         /* until the next one */
        uint64_t next_tick_ns;          /* finished logs */
        bool finished;                  /* finished logs: all bytes were given */
        uint64_t last_bytes_wall_ns, last_bytes_mono_ns;
        bool process_seen;              /* of this run, alive on this machine */
        uint64_t pss_bytes;             /* newest; UNKNOWN_U64 */
        unsigned pss_age;               /* samples since */
        struct hw_eventlog_damage damages[LIMIT_DAMAGES];
        size_t n_damages;
        uint64_t damages_told;          /* all of them so far */
};

/* ---------------------------------------------------------------- facts */

static uint64_t now_ns(const struct pipeline *p)
{
        return p->live ? clock_wall_ns() : model_wall_time(p->model, model_time_ns(p->model));
}

static struct target_facts facts(const struct pipeline *p)
{
        return (struct target_facts){
                .state = p->state,
                .uri = p->uri.text,
                .detail = p->detail,
                .runs = p->runs,
                .state_since_wall_ns = p->state_since_wall_ns,
                .local = p->process_seen,
                .show_arguments = p->show_arguments,
        };
}

/* How far the stream was behind the clock when bytes last came. */
static uint64_t lag_ns(const struct pipeline *p)
{
        uint64_t newest = model_wall_time(p->model, model_time_ns(p->model));

        if (!p->live || !p->in_run || newest == UNKNOWN_U64 || p->last_bytes_wall_ns == UNKNOWN_U64)
                return UNKNOWN_U64;
        return sub_sat(p->last_bytes_wall_ns, newest);
}

/* A damaged place that is told before it is over has grown since. */
static void measure_damage(struct pipeline *p)
{
        const struct hw_eventlog_damage *newest = hw_eventlog_damage(p->decoder);
        struct hw_eventlog_damage *last = p->n_damages ? &p->damages[p->n_damages - 1] : NULL;

        if (last && last->offset == newest->offset && newest->lost_bytes > last->lost_bytes)
                last->lost_bytes = newest->lost_bytes;
}

static struct health health(struct pipeline *p)
{
        measure_damage(p);

        const struct bands *bands = model_bands(p->model);
        struct health h = {
                .decoder = *hw_eventlog_stats(p->decoder),
                .n_damages = p->n_damages,
                .late_samples = model_late_samples(p->model),
                .time_anomalies = model_time_anomalies(p->model),
                .last_bytes_wall_ns = p->live ? p->last_bytes_wall_ns : UNKNOWN_U64,
                .lag_ns = lag_ns(p),
                .watermark_ns = model_watermark_ns(p->model),
                .bands_left_out = bands_left_out(bands),
                .info_tables = bands_info_tables(bands),
                .info_tables_left_out = bands_info_tables_left_out(bands),
                .cost_centres_left_out = bands_cost_centres_left_out(bands),
                .state_bytes = model_held_bytes(p->model) + tracker_held_bytes(p->tracker) +
                               (p->alerting ? alerting_held_bytes(p->alerting) : 0),
        };

        memcpy(h.damages, p->damages, p->n_damages * sizeof(*p->damages));
        if (p->source)
                h.reconnects = sub_sat(source_stats(p->source)->attaches, 1);
        if (p->runs > 0)
                h.n_advice = model_advice(p->model, h.advice, HW_ADVICE_COUNT);
        return h;
}

/* In the middle of a finished log the decoder is some events ahead, how far depends on the pieces: health waits. */
static void publish_state(struct pipeline *p)
{
        struct target_facts f = facts(p);
        struct health h = health(p);

        publisher_state(p->publisher, &f, p->live || p->finished ? &h : NULL, now_ns(p));
}

/* "RUNNING" of STATE_RUNNING. */
static const char *state_name(Hw__Target__State state)
{
        const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(&hw__target__state__descriptor, (int)state);

        return v ? v->name + strlen("STATE_") : "?";
}

static void set_state(struct pipeline *p, Hw__Target__State state, const char *detail)
{
        if (state == p->state && strcmp(detail, p->detail) == 0)
                return;
        if (state != p->state)
                p->state_since_wall_ns = now_ns(p);
        p->state = state;
        snprintf(p->detail, sizeof(p->detail), "%s", detail);
        if (p->live)
                log_info("target=%s state=%s detail=\"%s\"", p->name, state_name(state), detail);
        publish_state(p);
}

/* ------------------------------------------------------------------ runs */

static uint64_t rest_after(uint64_t took_ns)
{
        uint64_t rest = took_ns < FLUSH_REST_MOST_NS / FLUSH_REST ? FLUSH_REST * took_ns : FLUSH_REST_MOST_NS;

        return rest > FLUSH_INTERVAL_NS ? rest : FLUSH_INTERVAL_NS;
}

static void flush(struct pipeline *p)
{
        uint64_t began = p->live ? clock_mono_ns() : 0;

        if (publisher_run_changed(p->publisher))
                publish_state(p);
        publisher_flush(p->publisher, now_ns(p));
        if (p->event_stream)
                event_stream_flush(p->event_stream);
        p->last_flush_mono_ns = p->live ? clock_mono_ns() : 0;
        p->flush_rest_ns = rest_after(p->last_flush_mono_ns - began);
}

static void end_run(struct pipeline *p, Hw__Target__State state, const char *detail)
{
        if (!p->in_run)
                return;
        model_end_run(p->model);
        tracker_end_run(p->tracker);
        flush(p);
        if (p->alerting)
                alerting_end_run(p->alerting, state == HW__TARGET__STATE__STATE_CRASHED);
        p->in_run = false;
        set_state(p, state, detail);
}

static void begin_run(struct pipeline *p)
{
        end_run(p, HW__TARGET__STATE__STATE_CRASHED, "a new header came before the end marker of the run before");
        p->runs++;
        p->in_run = true;
        p->process_seen = false;
        p->pss_bytes = UNKNOWN_U64;
        p->pss_age = 0;
        p->next_tick_ns = 0;
        model_begin_run(p->model, p->runs);
        tracker_begin_run(p->tracker);
        publisher_begin_run(p->publisher, now_ns(p));
        set_state(p, HW__TARGET__STATE__STATE_RUNNING, "");
        if (p->alerting)
                alerting_begin_run(p->alerting, p->runs);
}

static void note_damage(struct pipeline *p, const struct hw_eventlog_damage *damage)
{
        if (p->n_damages == LIMIT_DAMAGES) {
                memmove(p->damages, p->damages + 1, (LIMIT_DAMAGES - 1) * sizeof(*p->damages));
                p->n_damages--;
        }
        p->damages[p->n_damages++] = *damage;
        p->damages_told++;
        log_warning("target=%s offset=%" PRIu64 " lost_bytes=%" PRIu64 " damaged stream: %s", p->name, damage->offset,
                    damage->lost_bytes, damage->reason);
        if (p->alerting)
                alerting_damage(p->alerting, damage->lost_bytes);
        if (p->runs == 0)
                set_state(p, HW__TARGET__STATE__STATE_FAILED, damage->reason);
}

/* ---------------------------------------------------------------- events */

/* Finished logs: gives the events to the model piece by piece, publishing whenever a tick is passed. */
static void take_ticked(struct pipeline *p, const struct hw_event *events, size_t n)
{
        size_t from = 0;

        for (size_t i = 0; i < n; i++) {
                if (events[i].time_ns < p->next_tick_ns)
                        continue;
                model_events(p->model, events + from, i - from);
                from = i;
                if (p->next_tick_ns > 0)
                        flush(p);
                p->next_tick_ns = events[i].time_ns - events[i].time_ns % ONCE_TICK_NS;
                if (ckd_add(&p->next_tick_ns, p->next_tick_ns, ONCE_TICK_NS))
                        p->next_tick_ns = UINT64_MAX;
        }
        model_events(p->model, events + from, n - from);
}

/* Events and what the model makes of them, one by one: so the order of messages depends on the log alone. */
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
        model_resume_run(p->model);
        set_state(p, HW__TARGET__STATE__STATE_RUNNING, "");
}

static void take_events(struct pipeline *p, const struct hw_event *events, size_t n)
{
        if (n == 0 || p->runs == 0)
                return;
        if (!p->in_run)
                resume_run(p);
        if (p->tell_events)
                take_told(p, events, n);
        else if (p->live)
                model_events(p->model, events, n);
        else
                take_ticked(p, events, n);
}

static void take_status(struct pipeline *p, enum hw_eventlog_status status)
{
        switch (status) {
        case HW_EVENTLOG_RUN:
                measure_damage(p);
                begin_run(p);
                break;
        case HW_EVENTLOG_END:
                end_run(p, HW__TARGET__STATE__STATE_ENDED, "the log ended with its end marker");
                break;
        case HW_EVENTLOG_BAD:
        case HW_EVENTLOG_LIMIT:
                note_damage(p, hw_eventlog_damage(p->decoder));
                break;
        case HW_EVENTLOG_OK:
        case HW_EVENTLOG_NEED_MORE:
                break;
        }
}

/* Takes all that the decoder can deliver by now. */
static void drain(struct pipeline *p)
{
        struct hw_event events[EVENTS_PER_READ];
        enum hw_eventlog_status status;
        size_t n;

        do {
                status = hw_eventlog_read(p->decoder, events, EVENTS_PER_READ, &n);
                take_events(p, events, n);
                take_status(p, status);
        } while (status != HW_EVENTLOG_NEED_MORE);
}

static void decode(struct pipeline *p, const uint8_t *data, size_t size)
{
        hw_eventlog_input(p->decoder, data, size);
        drain(p);
}

/* The stream is over: closes decoder and run, ready for another stream. */
static void finish_stream(struct pipeline *p, const char *why)
{
        char detail[sizeof(p->detail)];
        uint64_t left;

        hw_eventlog_input_end(p->decoder);
        drain(p);
        bool clean = hw_eventlog_finish(p->decoder, &left);
        measure_damage(p);
        if (hw_eventlog_stats(p->decoder)->resyncs > p->damages_told) /* the stream ends inside it */
                note_damage(p, hw_eventlog_damage(p->decoder));
        if (!clean && left > 0)
                snprintf(detail, sizeof(detail), "%s, without an end marker and inside an event (%" PRIu64
                         " bytes of it were there)", why, left);
        else
                snprintf(detail, sizeof(detail), "%s, without an end marker", why);
        end_run(p, HW__TARGET__STATE__STATE_CRASHED, detail);
        hw_eventlog_reset(p->decoder);
}

/* ------------------------------------------------------------ live source */

static void on_flush_timer(evutil_socket_t fd, short what, void *ctx)
{
        (void)fd;
        (void)what;
        flush(ctx);
}

static void schedule_flush(struct pipeline *p)
{
        uint64_t since = clock_mono_ns() - p->last_flush_mono_ns;

        if (!publisher_pending(p->publisher) && !publisher_run_changed(p->publisher))
                return;
        if (evtimer_pending(p->flush_timer, NULL))
                return;
        if (since >= p->flush_rest_ns) {
                flush(p);
                return;
        }
        uint64_t wait_us = (p->flush_rest_ns - since) / 1000;
        struct timeval wait = { .tv_sec = (time_t)(wait_us / 1000000), .tv_usec = (suseconds_t)(wait_us % 1000000) };
        if (evtimer_add(p->flush_timer, &wait) != 0)
                flush(p);
}

static void on_bytes(void *ctx, const uint8_t *data, size_t size)
{
        struct pipeline *p = ctx;

        p->last_bytes_wall_ns = clock_wall_ns();
        p->last_bytes_mono_ns = clock_mono_ns();
        publisher_set_clock(p->publisher, p->last_bytes_wall_ns);
        decode(p, data, size);
        if (p->alerting)
                alerting_bytes(p->alerting, p->last_bytes_wall_ns);
        schedule_flush(p);
}

static void on_cut(void *ctx, const char *why)
{
        finish_stream(ctx, why);
}

static void on_source_state(void *ctx, enum source_state state, const char *why)
{
        struct pipeline *p = ctx;

        switch (state) {
        case SOURCE_WAITING:
                /* How the last run ended says more than that the source is gone. */
                if (p->state != HW__TARGET__STATE__STATE_ENDED && p->state != HW__TARGET__STATE__STATE_CRASHED)
                        set_state(p, HW__TARGET__STATE__STATE_WAITING, why);
                break;
        case SOURCE_OPEN:
                if (!p->in_run)
                        set_state(p, HW__TARGET__STATE__STATE_CONNECTED, why);
                break;
        case SOURCE_ENDED:
                finish_stream(p, why);
                break;
        case SOURCE_FAILED:
                if (!p->in_run)
                        set_state(p, HW__TARGET__STATE__STATE_FAILED, why);
                break;
        }
}

/* --------------------------------------------------------------- process */

static void process_gone(struct pipeline *p, uint32_t pid)
{
        char why[96];

        if (clock_mono_ns() - p->last_bytes_mono_ns < GONE_AFTER_NS)
                return;
        snprintf(why, sizeof(why), "process %" PRIu32 " is gone and its log stopped", pid);
        finish_stream(p, why);
}

static void look_at_process(struct pipeline *p, uint64_t wall_ns)
{
        const struct run *run = model_run(p->model);
        struct process_sample sample;

        if (!p->in_run || run->pid == 0 || run->start_wall_ns == UNKNOWN_U64 || !source_is_local(p->source))
                return;
        if (!procfs_is_process("", run->pid, run->start_wall_ns) || procfs_sample("", run->pid, &sample) != 0) {
                if (p->process_seen)
                        process_gone(p, run->pid);
                return;
        }
        p->process_seen = true;
        tracker_set_local(p->tracker, true);
        if (p->pss_age++ % PSS_EVERY == 0)
                p->pss_bytes = procfs_pss("", run->pid);
        sample.pss_bytes = p->pss_bytes;
        sample.wall_ns = wall_ns;
        uint64_t time_ns = model_event_time(p->model, wall_ns);
        if (time_ns != UNKNOWN_U64)
                model_process(p->model, time_ns, &sample);
        schedule_flush(p);
}

/* ------------------------------------------------------------- interface */

static int start_source(struct pipeline *p, struct event_base *base, char *error, size_t error_size)
{
        struct source_sink sink = { .ctx = p, .bytes = on_bytes, .cut = on_cut, .state = on_source_state };

        p->flush_timer = evtimer_new(base, on_flush_timer, p);
        if (!p->flush_timer) {
                snprintf(error, error_size, "out of memory");
                return -ENOMEM;
        }
        p->source = source_open(base, &p->uri, &sink, error, error_size);
        return p->source ? 0 : -EINVAL;
}

static int make_alerting(struct pipeline *p, const struct pipeline_options *given)
{
        struct alerting_options options = {
                .target = p->name,
                .rules = given->rules,
                .model = p->model,
                .tracker = p->tracker,
                .publisher = p->publisher,
                .hooks = given->alert_hooks,
                .live = p->live,
        };
        struct model_sink sink;

        p->alerting = alerting_new(&options);
        if (!p->alerting)
                return -ENOMEM;
        sink = alerting_sink(p->alerting);
        fanout_add(&p->fanout, &sink);
        return 0;
}

/* The model, and who listens to it: the publisher first, so that a verdict comes behind the samples it rests on. */
static int make_model(struct pipeline *p, const struct pipeline_options *given)
{
        struct tracker_config config = given->trend ? *given->trend : tracker_config_scaled(TREND_MINUTE_NS);
        struct model_sink sink = publisher_sink(p->publisher), tracker;

        p->tracker = tracker_new(&config);
        if (!p->tracker)
                return -ENOMEM;
        tracker = tracker_sink(p->tracker);
        fanout_add(&p->fanout, &sink);
        fanout_add(&p->fanout, &tracker);
        sink = fanout_sink(&p->fanout);
        p->model = model_new(&sink);
        if (!p->model)
                return -ENOMEM;
        tracker_set_model(p->tracker, p->model);
        publisher_set_model(p->publisher, p->model);
        publisher_set_tracker(p->publisher, p->tracker);
        return given->rules ? make_alerting(p, given) : 0;
}

struct pipeline *pipeline_new(const struct pipeline_options *options, char *error, size_t error_size)
{
        struct pipeline *p = calloc(1, sizeof(*p));

        if (!p)
                goto no_memory;
        snprintf(p->name, sizeof(p->name), "%s", options->name);
        p->uri = *options->uri;
        p->live = options->base != NULL;
        p->show_arguments = options->show_arguments;
        p->tell_events = options->events == EVENTS_TOLD;
        p->last_bytes_wall_ns = UNKNOWN_U64;
        p->decoder = hw_eventlog_new();
        p->publisher = publisher_new(p->name, options->epoch, &options->outlet);
        if (options->events != EVENTS_NOT_WANTED)
                p->event_stream = event_stream_new(p->name, options->epoch, &options->outlet, options->events,
                                                   options->show_arguments);
        if (!p->decoder || !p->publisher || (options->events != EVENTS_NOT_WANTED && !p->event_stream))
                goto no_memory;
        if (make_model(p, options) != 0)
                goto no_memory;
        if (p->live && start_source(p, options->base, error, error_size) != 0)
                goto fail;
        return p;

no_memory:
        snprintf(error, error_size, "out of memory");
fail:
        pipeline_destroy(&p);
        return NULL;
}

void pipeline_destroy(struct pipeline **pp)
{
        struct pipeline *p = *pp;

        *pp = NULL;
        if (!p)
                return;
        bool started = p->source != NULL;
        source_close(&p->source);
        if (started) {
                if (p->in_run)
                        flush(p);
                set_state(p, HW__TARGET__STATE__STATE_REMOVED, "removed, or the daemon stops");
        }
        if (p->flush_timer)
                event_free(p->flush_timer);
        event_stream_destroy(&p->event_stream);
        alerting_destroy(&p->alerting);
        publisher_destroy(&p->publisher);
        tracker_destroy(&p->tracker);
        model_destroy(&p->model);
        hw_eventlog_destroy(&p->decoder);
        free(p);
}

const char *pipeline_name(const struct pipeline *p)
{
        return p->name;
}

const struct tracker *pipeline_tracker(const struct pipeline *p)
{
        return p->tracker;
}

const struct model *pipeline_model(const struct pipeline *p)
{
        return p->model;
}

void pipeline_heartbeat(struct pipeline *p, uint64_t wall_ns)
{
        look_at_process(p, wall_ns);
        publish_state(p);
        if (p->alerting)
                alerting_heartbeat(p->alerting, wall_ns, lag_ns(p));
}

void pipeline_reload(struct pipeline *p, const struct ruleset *rules)
{
        if (p->alerting)
                alerting_reload(p->alerting, rules);
}

int pipeline_snapshot(struct pipeline *p, const Hw__Kind *kinds, size_t n_kinds,
                      void (*each)(void *ctx, const Hw__Update *update), void *ctx)
{
        struct target_facts f = facts(p);
        struct health h = health(p);

        flush(p);
        return publisher_snapshot(p->publisher, &f, &h, now_ns(p), kinds, n_kinds, each, ctx);
}

static int first_error(const struct pipeline *p)
{
        int r = publisher_error(p->publisher);

        return r == 0 && p->event_stream ? event_stream_error(p->event_stream) : r;
}

int pipeline_bytes(struct pipeline *p, const uint8_t *data, size_t size)
{
        decode(p, data, size);
        return first_error(p);
}

int pipeline_finish(struct pipeline *p)
{
        p->finished = true;
        finish_stream(p, "the file ends");
        if (p->event_stream)
                event_stream_finish(p->event_stream, p->decoder);
        publish_state(p);
        return first_error(p);
}

bool pipeline_has_run(const struct pipeline *p)
{
        return p->runs > 0;
}
