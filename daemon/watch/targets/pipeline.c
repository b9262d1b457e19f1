/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one struct holds the chain source -> decoder -> model -> publisher
 * of a target and the few facts that belong to none of them: its state, its
 * damages, when bytes last came. It is created here, with its accessors; its
 * other files are listed in pipeline_internal.h.
 */
#include "daemon/watch/targets/pipeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/record/checkpoint/store.h"
#include "daemon/log.h"
#include "daemon/source/loop/watchdog.h"
#include "daemon/source/limits.h"
#include "daemon/watch/targets/pipeline_checkpoint.h"
#include "daemon/watch/targets/pipeline_internal.h"
#include "proto/base/agent_peer.h"
#include "proto/base/ckd.h"
#include "proto/base/event.h"
#include "heapwatch/text.h"

/* A live run's end is judged here: what its stream says of it may be anything. */
static void on_recorded_end(void *ctx, const char *text, size_t size)
{
        struct pipeline *p = ctx;

        if (!p->live)
                (void)run_end_parse(text, size, &p->recorded_end);
}

/* Where no rule is judged: times pass for the tracker as they would for one. */
static enum tick_answer on_unjudged_tick(void *ctx, const struct tracker_tick *tick)
{
        return TICK_TAKEN;
}

void pipeline_wire(struct pipeline *p)
{
        struct model_sink sinks[MODEL_SINKS_MAX] = {
                { .ctx = p, .recorded_end = on_recorded_end },
                publisher_sink(p->publisher), /* before the tracker, so that a verdict comes after its samples */
        };
        unsigned n = 2;

        if (!p->unjudged)
                sinks[n++] = tracker_sink(p->tracker);
        if (p->alerting)
                sinks[n++] = alerting_sink(p->alerting);
        model_set_sinks(p->model, sinks, n);
        const struct target_messages messages = pipeline_messages(p);
        tracker_set_model(p->tracker, p->model);
        publisher_attach(p->publisher, p->model, p->unjudged ? NULL : p->tracker, &messages);
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
                .agent = agent_peer_is_uri(p->uri.text),
        };

        model_keep_finely(p->model, ruleset_reads(given->rules));
        if (!update_wish_has(&p->wish, WISH(ALERT))) {
                tracker_on_tick(p->tracker, on_unjudged_tick, p);
                return 0;
        }
        if (given->alerting && *given->alerting) {
                p->alerting = *given->alerting;
                *given->alerting = NULL;
                alerting_attach(p->alerting, p->model, p->tracker, p->publisher);
                return 0;
        }
        p->alerting = alerting_new(&options);
        return p->alerting ? 0 : -ENOMEM;
}

static int make_model(struct pipeline *p, const struct pipeline_options *given)
{
        struct tracker_config config = given->trend ? *given->trend : tracker_config_scaled(TREND_MINUTE_NS);

        p->tracker = tracker_new(&config);
        p->model = model_new(NULL);
        if (!p->tracker || !p->model || (given->rules && !p->unjudged && make_alerting(p, given) != 0))
                return -ENOMEM;
        if (p->wish.unjudged)
                model_want(p->model, update_wish_has(&p->wish, WISH(BAND) | WISH(CENSUS) | WISH(HEALTH)),
                           update_wish_has(&p->wish, WISH(HEAP) | WISH(GC) | WISH(HEALTH)));
        pipeline_wire(p);
        return 0;
}

/* Makes everything but its source. NULL when out of memory. */
static struct pipeline *build_pipeline(const struct pipeline_options *options)
{
        struct pipeline *p = calloc(1, sizeof(*p));

        if (!p)
                return NULL;
        snprintf(p->name, sizeof(p->name), "%s", options->name);
        p->uri = *options->uri;
        p->live = options->base != NULL;
        p->show_arguments = options->show_arguments;
        p->one_run = options->one_run || source_uri_is_process(&p->uri); /* a process has one life */
        p->next_run = options->next_run;
        p->next_run_ctx = options->next_run_ctx;
        p->resolution_ns = options->resolution_ns;
        p->no_record = !options->recorder || pipeline_is_process(p); /* it has no stream */
        if (options->process_only_reason)
                (void)snprintf(p->process_only_reason, sizeof(p->process_only_reason), "%s",
                               options->process_only_reason);
        p->labels = options->labels && options->labels[0] ? strdup(options->labels) : NULL;
        p->origin_ns = options->origin_ns;
        p->events = options->events;
        p->event_ids = options->event_ids;
        if (options->wish)
                p->wish = *options->wish;
        p->unjudged = p->wish.unjudged || !update_wish_has(&p->wish, WISH(TREND) | WISH(ALERT) | WISH(HEAP));
        p->state.last_bytes_wall_ns = UNKNOWN_U64;
        p->state.process.root = "";
        p->decoder = hw_eventlog_new();
        p->publisher = publisher_new(p->name, options->epoch, &options->sink);
        if (p->publisher)
                publisher_set_wish(p->publisher, &p->wish);
        if (options->events != EVENTS_OFF)
                p->event_stream = event_stream_new(p->name, options->epoch, &options->sink, options->events,
                                                   options->show_arguments);
        if (!p->decoder || !p->publisher || (options->events != EVENTS_OFF && !p->event_stream) ||
            make_model(p, options) != 0 ||
            (!p->no_record && !(p->recording = recording_new(options->recorder, p->name))))
                pipeline_destroy(&p);
        return p;
}

/* Restores it from its checkpoint or, after logging why not, starts over. NULL when out of memory. */
static struct pipeline *build_again(const struct pipeline_options *options)
{
        struct pipeline *p = build_pipeline(options);
        const struct checkpoint *c = options->checkpoint;
        struct error error;
        bool exact;

        if (!p || !c)
                return p;
        if (!pipeline_is_of(p, c->image, c->n, &error)) {
                log_info("target=%s starts over: its checkpoint is %s", p->name, error.text);
                return p;
        }
        if (pipeline_restore(p, c->image, c->n, &exact, &error)) {
                if (p->live)
                        pipeline_resume_run(p, exact);
                log_info("target=%s run=%" PRIu32 " resumes from its checkpoint", p->name, p->state.runs);
                return p;
        }
        log_warning("target=%s checkpoint refused: %s; the target starts over", p->name, error.text);
        pipeline_destroy(&p);
        return build_pipeline(options);
}

struct pipeline *pipeline_new(const struct pipeline_options *options, struct error *error)
{
        struct pipeline *p = build_again(options);

        if (!p)
                error_set(error, "out of memory");
        else if (p->live && !p->state.kept && pipeline_start_source(p, options->base, error) != 0)
                pipeline_destroy(&p);
        return p;
}

void pipeline_destroy(struct pipeline **pp)
{
        struct pipeline *p = *pp;

        *pp = NULL;
        if (!p)
                return;
        if (p->source && pipeline_in_run(p))
                pipeline_flush(p);
        source_close(&p->source);
        free_event(&p->flush_timer);
        recording_destroy(&p->recording);
        event_stream_destroy(&p->event_stream);
        alerting_destroy(&p->alerting);
        same_run_destroy(&p->same_run);
        free(p->left.events);
        free(p->labels);
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

bool pipeline_has_run_of(const struct pipeline *p, const struct pipeline *other)
{
        const uint64_t first_ns = model_first_time_ns(other->model);

        return first_ns != UNKNOWN_U64 && first_ns == model_first_time_ns(p->model) &&
               model_run(p->model)->start_wall_ns == model_run(other->model)->start_wall_ns &&
               model_time_ns(p->model) >= model_time_ns(other->model) && !strcmp(p->uri.text, other->uri.text);
}

struct recording *pipeline_recording(const struct pipeline *p)
{
        return p->recording;
}

const struct alerts *pipeline_alerts(const struct pipeline *p)
{
        return p->alerting ? alerting_alerts(p->alerting) : NULL;
}

const struct model *pipeline_model(const struct pipeline *p)
{
        return p->model;
}

size_t pipeline_held_bytes(const struct pipeline *p)
{
        return model_held_bytes(p->model) + tracker_held_bytes(p->tracker) +
               (p->alerting ? alerting_held_bytes(p->alerting) : 0);
}

void pipeline_close_bands(struct pipeline *p, bool closed)
{
        model_close_bands(p->model, closed);
}

void pipeline_heartbeat(struct pipeline *p, uint64_t wall_ns)
{
        watchdog_begin(WATCHDOG_HOUSEKEEPING);
        watchdog_of(p->name);
        pipeline_poll_process(p, wall_ns);
        if (p->recording) {
                struct recording_state state;

                recording_tick(p->recording);
                recording_state(p->recording, &state);
                if (p->alerting)
                        alerting_recording(p->alerting, state.paused ? state.detail : "",
                                           state.paused && state.first_paused, sub_sat(state.paused_runs, 1));
        }
        pipeline_publish_state(p);
        if (p->alerting)
                alerting_heartbeat(p->alerting, wall_ns, pipeline_lag_ns(p));
        watchdog_end();
}

void pipeline_reload(struct pipeline *p, const struct ruleset *rules)
{
        if (!p->alerting)
                return;
        model_keep_finely(p->model, ruleset_reads(rules));
        alerting_reload(p->alerting, rules);
}

void pipeline_keep_finely(struct pipeline *p, enum series_id series)
{
        model_keep_finely(p->model, (struct series_finely){ UINT32_C(1) << series, UINT32_C(1) << series });
}

int pipeline_snapshot(struct pipeline *p, struct snapshot *s)
{
        pipeline_measure_damage(p);
        if (s->step == 0)
                pipeline_flush(p);
        return publisher_snapshot(p->publisher, pipeline_now_ns(p), s);
}

static int first_error(const struct pipeline *p)
{
        int r = publisher_error(p->publisher);

        return r == 0 && p->event_stream ? event_stream_error(p->event_stream) : r;
}

int pipeline_bytes(struct pipeline *p, const uint8_t *data, size_t size)
{
        (void)pipeline_decode(p, data, size); /* takes all, unless live */
        return first_error(p);
}

void pipeline_place(struct pipeline *p, const struct in_order_place *place)
{
        p->place[1] = p->place[0];
        p->place[0] = *place;
        model_has_blocks(p->model, place->blocks);
}

int pipeline_events(struct pipeline *p, enum hw_eventlog_status status, const struct hw_event *events, size_t n)
{
        pipeline_process_events(p, status, events, n);
        return first_error(p);
}

int pipeline_finish(struct pipeline *p, const char *why, bool cut)
{
        if (p->recorded_end.state == RUN_END_RUNNING) {
                if (p->event_stream)
                        event_stream_finish(p->event_stream, p->decoder);
                pipeline_set_state(p, p->state.life, p->recorded_end.detail);
                return pipeline_finish_part(p);
        }
        p->finished = true;
        p->cut = cut;
        (void)snprintf(p->unread, sizeof(p->unread), "%s", why ? why : "");
        pipeline_finish_stream(p, why ? why : "the file ends");
        pipeline_happens_now(p, ON_LONG_LOST, NULL); /* its rules are judged to the end, however it ended */
        if (p->event_stream)
                event_stream_finish(p->event_stream, p->decoder);
        pipeline_publish_state(p);
        pipeline_flush(p); /* what the state changes of the trends */
        return first_error(p);
}

int pipeline_finish_part(struct pipeline *p)
{
        p->finished = true;
        pipeline_begin_turn(p, true);
        tracker_end_run(p->tracker);
        tracker_resume_run(p->tracker);
        pipeline_flush(p);
        pipeline_publish_state(p);
        return first_error(p);
}

bool pipeline_is_mostly_damaged(const struct pipeline *p, char ret[PIPELINE_UNREAD_SIZE])
{
        const struct hw_eventlog_stats *stats = hw_eventlog_stats(p->decoder);
        const uint64_t whole = stats->bytes - stats->lost_bytes;
        char damaged_text[HW_NUMBER_MAX], whole_text[HW_NUMBER_MAX], read_text[HW_NUMBER_MAX];

        if (stats->lost_bytes < whole || stats->lost_bytes - whole < LIMIT_DAMAGED_BYTES)
                return false;
        (void)snprintf(ret, PIPELINE_UNREAD_SIZE,
                       "reading stopped after %s bytes of the log, because %s of them are damaged and were skipped, "
                       "and only %s could be read",
                       hw_count_text(read_text, sizeof(read_text), stats->bytes),
                       hw_bytes_text(damaged_text, sizeof(damaged_text), (double)stats->lost_bytes),
                       hw_bytes_text(whole_text, sizeof(whole_text), (double)whole));
        return true;
}

void pipeline_want_band(struct pipeline *p, uint32_t run, uint32_t band, bool wanted)
{
        if (run == p->state.runs)
                model_want_band(p->model, band, wanted);
}

bool pipeline_has_run(const struct pipeline *p)
{
        return p->state.runs > 0;
}

const char *pipeline_why_no_run(const struct pipeline *p)
{
        if (p->state.detail[0])
                return p->state.detail;
        return hw_eventlog_stats(p->decoder)->bytes ? "not an eventlog, or only its beginning: no complete header"
                                                    : "not an eventlog: it is empty";
}
