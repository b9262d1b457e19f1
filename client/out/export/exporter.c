/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/export/exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/cli/out_file.h"
#include "client/cli/report.h"
#include "client/out/export/delivery.h"
#include "client/out/export/profile_batch.h"
#include "client/world/feed/feed.h"
#include "client/out/metrics/collect.h"
#include "client/out/http/http.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/event.h"
#include "proto/base/time.h"
#include "proto/cli/command.h"
#include "proto/wire/endpoints.h"

/* ---------------------------------------------------------------- exporter */

#define LAST_MS 2000u /* at the end, for what is being sent */

/* One sink. Of these it has those that its kind needs. */
struct sink {
        struct exporter *exporter;
        const struct sink_plan *plan;
        struct event *timer;
        struct metrics *metrics;
        struct scrape *scrape;
        struct batcher *batcher;
        struct profiles *profiles;
        struct delivery *delivery;
        struct sink_health health; /* of a file */
        uint64_t written_ns;       /* monotonic, of its newest success */
        uint64_t walk_wall_ns;     /* of its newest walk */
        struct error failure;      /* that was logged last; "": none since it worked */
};

struct exporter {
        const struct plan *plan;
        bool only_check;
        struct event_base *base;
        struct http *http;
        struct connections *connections;
        struct feed_loop loop;
        struct event *end;
        struct feed *feed;
        struct world *world;
        struct sink sinks[EXPORT_SINKS_MAX];
        size_t n;
        struct sink_health health[EXPORT_SINKS_MAX];
        struct metrics_source source;
        bool reported[OPTIONS_MAX]; /* by daemon: its state is known, there or silent */
        uint64_t last_ms;           /* monotonic: deadline of the shutdown */
        bool ending;
        int status;
};

/* ---------------------------------------------------------------------- feed */

static void stop_exporter(struct exporter *e, int status)
{
        e->status = status;
        (void)event_base_loopbreak(e->base);
}

/* One event of the feed. False when there is none now. */
static bool receive_event(void *ctx)
{
        struct exporter *e = ctx;
        const Hw__Update *update = NULL;
        enum feed_event event = feed_next(e->feed, 0, &update);

        switch (event) {
        case FEED_UPDATE:
                if (world_apply(e->world, feed_daemon(e->feed), update) < 0) {
                        report_error("out of memory");
                        stop_exporter(e, EXIT_USAGE);
                        return false;
                }
                return true;
        case FEED_RESET:
                world_reset(e->world, feed_daemon(e->feed));
                e->reported[feed_daemon(e->feed)] = false; /* until the snapshot is complete: targets are missing */
                return true;
        case FEED_STALE:
                e->reported[feed_daemon(e->feed)] = true;
                report_warning("daemon=%s is silent", feed_endpoint(e->feed, feed_daemon(e->feed)));
                world_set_stale(e->world, feed_daemon(e->feed), true);
                return true;
        case FEED_READY:
        case FEED_ALIVE:
                e->reported[feed_daemon(e->feed)] = true;
                report_info("daemon=%s is followed", feed_endpoint(e->feed, feed_daemon(e->feed)));
                world_set_stale(e->world, feed_daemon(e->feed), false);
                return true;
        case FEED_FAILED:
                report_error("%s", feed_error(e->feed));
                stop_exporter(e, EXIT_USAGE);
                return false;
        default:
                return false;
        }
}

/* --------------------------------------------------------------------- sinks */

/* The current state, with the health of each sink. */
static const struct metrics_source *source_now(void *ctx)
{
        struct exporter *e = ctx;
        uint64_t now = clock_mono_ns();

        for (size_t i = 0; i < e->n; i++) {
                const struct sink *s = &e->sinks[i];
                struct sink_health *h = &e->health[i];

                *h = s->health;
                h->queued_s = NAN;
                h->sent_ago_s = s->written_ns ? (double)(now - s->written_ns) / 1e9 : NAN;
                if (s->delivery)
                        delivery_health(s->delivery, h);
                if (s->scrape) {
                        h->samples_sent = scrape_samples(s->scrape);
                        h->batches_sent = scrape_answers(s->scrape);
                }
                h->name = s->plan->name;
                h->kind = sink_kinds[s->plan->kind].name;
        }
        return &e->source;
}

/* The current state, or (at the end of the exporter) the ends of all series. */
static void push_samples(struct sink *s, bool end)
{
        const uint64_t now_ns = clock_wall_ns(), before_ns = s->walk_wall_ns;
        const struct plan *p = s->exporter->plan;

        /* Receivers refuse two samples of one millisecond. */
        s->walk_wall_ns = now_ns / NS_PER_MS == before_ns / NS_PER_MS ? before_ns + NS_PER_MS : now_ns;
        struct encoding encoding = { .wall_ns = s->walk_wall_ns,
                                     .labels = p->labels,
                                     .n_labels = p->n_labels,
                                     .take = delivery_add,
                                     .ctx = s->delivery };

        const struct metrics_source *source = source_now(s->exporter);

        delivery_lost(s->delivery, s->profiles ? profiles_run(s->profiles, &encoding, source)
                                               : batcher_run(s->batcher, &encoding, end ? NULL : s->metrics, source));
}

static void write_file(struct sink *s)
{
        struct error error;
        uint64_t n =
                sink_kinds[s->plan->kind].file->write(s->plan->address, s->metrics, source_now(s->exporter), &error);

        if (n) {
                s->health.samples_sent += n;
                s->health.batches_sent++;
                s->written_ns = clock_mono_ns();
                if (s->failure.text[0])
                        report_info("sink=%s works again", s->plan->name);
                s->failure.text[0] = '\0';
        } else {
                s->health.attempts_failed++;
                if (strcmp(error.text, s->failure.text) != 0)
                        report_warning("sink=%s cannot write %s", s->plan->name, error.text);
                s->failure = error;
        }
}

static void on_interval(evutil_socket_t fd, short what, void *ctx)
{
        struct sink *s = ctx;

        /* Until the state of every daemon is known, nothing is exported: zeros and ended series would be wrong. */
        for (size_t i = 0; i < s->exporter->source.n_daemons; i++)
                if (!s->exporter->reported[i])
                        return;
        if (s->delivery)
                push_samples(s, false);
        else
                write_file(s);
}

/* Where it keeps what was not sent; empty: nowhere. False with a message. */
static bool journal_path(const struct sink *s, char path[PATH_MAX], struct error *error)
{
        const struct plan *p = s->exporter->plan;
        char name[96], state[STATE_PATH_MAX];

        *path = '\0';
        if (s->exporter->only_check || p->no_journal)
                return true;
        (void)snprintf(name, sizeof(name), "export-%s", s->plan->name);
        if (!p->journal && state_path(state, sizeof(state), name, feed_endpoint(s->exporter->feed, 0)) < 0)
                return error_set(error, "there is no directory for unsent samples; give --journal DIR, or off");
        int n = p->journal ? snprintf(path, PATH_MAX, "%s/%s.queue", p->journal, name)
                           : snprintf(path, PATH_MAX, "%.*s.queue", (int)(strlen(state) - 5), state);
        if (n < 0 || (size_t)n >= PATH_MAX)
                return error_set(error, "the path of the journal is too long");
        for (char *c = path + 1; (c = strchr(c, '/')); *c++ = '/') {
                *c = '\0';
                (void)mkdir(path, 0700); /* errors are reported when the file is opened */
        }
        return true;
}

static bool open_delivery(struct sink *s, struct error *error)
{
        const struct sink_plan *p = s->plan;
        char journal[PATH_MAX];

        if (!journal_path(s, journal, error))
                return false;
        if (p->kind == SINK_PYROSCOPE)
                s->profiles = profiles_new(clock_wall_ns());
        else
                s->batcher = batcher_new(sink_batcher(p));
        if (s->batcher || s->profiles)
                s->delivery = delivery_new(p, s->exporter->base, s->exporter->http, journal, error);
        return s->delivery != NULL;
}

static bool open_timer(struct sink *s)
{
        const struct timeval every = timeval_of_ns(s->plan->interval_ns);
        struct metrics_options what = { .bands = s->plan->bands, .series = s->plan->series };

        s->metrics = metrics_new(&what);
        s->timer = event_new(s->exporter->base, -1, EV_PERSIST, on_interval, s);
        return s->metrics && s->timer && event_add(s->timer, &every) == 0;
}

static bool open_sink(struct exporter *e, const struct sink_plan *plan, struct error *error)
{
        struct sink *s = &e->sinks[e->n++];
        struct scrape_options o = { .base = e->base,
                                    .connections = e->connections,
                                    .plan = plan,
                                    .only_check = e->only_check,
                                    .source = source_now,
                                    .ctx = e };

        s->exporter = e;
        s->plan = plan;
        error_set(error, "out of memory");
        if (plan->kind == SINK_SCRAPE) {
                s->scrape = scrape_new(&o, error);
                return s->scrape != NULL;
        }
        const struct file_kind *file = sink_kinds[plan->kind].file;

        if (file && !file->may_replace(plan->address))
                return error_set(error,
                                 "sink %s: %s exists and has no metrics of heapwatch; remove it, or name another",
                                 plan->name, plan->address);
        return open_timer(s) && (file || open_delivery(s, error));
}

/* ------------------------------------------------------------------- its life */

static void on_end(evutil_socket_t fd, short what, void *ctx)
{
        struct exporter *e = ctx;

        for (size_t i = 0; i < e->n; i++)
                if (e->sinks[i].delivery && !delivery_idle(e->sinks[i].delivery) && clock_mono_ms() < e->last_ms)
                        return;
        stop_exporter(e, EXIT_OK);
}

/*
 * Exports the current state once more, then the ends of all series; what cannot be sent at once is in a journal. A
 * second signal ends it at once.
 */
static void on_signal(void *ctx)
{
        static const struct timeval often = { 0, 20000 };
        struct exporter *e = ctx;
        bool again = e->ending;

        e->ending = true;
        for (size_t i = 0; !again && i < e->n; i++)
                if (e->sinks[i].timer) {
                        on_interval(-1, 0, &e->sinks[i]);
                        if (e->sinks[i].batcher)
                                push_samples(&e->sinks[i], true);
                        (void)event_del(e->sinks[i].timer);
                }
        e->last_ms = clock_mono_ms() + LAST_MS;
        if (again || event_add(e->end, &often) < 0)
                stop_exporter(e, EXIT_OK);
}

static bool open_feed(struct exporter *e, struct error *error)
{
        struct hw_subscriber_options o = {
                .endpoints = e->plan->n_daemons ? (const char *const *)e->plan->daemons : NULL,
                .n_endpoints = e->plan->n_daemons,
        };

        e->feed = feed_connect(&o, error);
        e->world = world_new(NULL);
        if (!e->feed)
                return false;
        e->source = (struct metrics_source){ .world = e->world,
                                             .n_daemons = feed_daemons(e->feed),
                                             .daemon_name = feed_endpoint_of,
                                             .ctx = e->feed,
                                             .live = true,
                                             .sinks_wall_ns = clock_wall_ns(),
                                             .sinks = e->health,
                                             .n_sinks = e->plan->n_sinks };
        return e->world || error_set(error, "out of memory");
}

struct exporter *exporter_new(const struct plan *plan, bool only_check, struct error *error)
{
        struct exporter *e = calloc(1, sizeof(*e));

        error_set(error, "out of memory");
        if (!e)
                return NULL;
        e->plan = plan;
        e->only_check = only_check;
        e->loop = (struct feed_loop){ .receive = receive_event, .signalled = on_signal, .ctx = e };
        e->base = event_base_new();
        e->http = e->base ? http_new(e->base) : NULL;
        e->connections = e->base ? connections_new(e->base) : NULL;
        e->end = e->base ? event_new(e->base, -1, EV_PERSIST, on_end, e) : NULL;
        bool whole = e->http && e->connections && e->end && open_feed(e, error) &&
                     feed_loop_open(&e->loop, e->base, e->feed);
        for (size_t i = 0; whole && i < plan->n_sinks; i++)
                whole = open_sink(e, &plan->sinks[i], error);
        if (!whole)
                exporter_destroy(&e);
        return e;
}

int exporter_run(struct exporter *e)
{
        /* Where it can be scraped: one line each, for people and scripts. */
        for (size_t i = 0; i < e->n; i++)
                if (e->sinks[i].scrape)
                        (void)printf("heapwatch export: %s\n", scrape_url(e->sinks[i].scrape));
        (void)fflush(stdout);
        (void)event_base_dispatch(e->base);
        return e->status;
}

void exporter_destroy(struct exporter **ep)
{
        struct exporter *e = *ep;
        uint64_t lost = 0;

        *ep = NULL;
        if (!e)
                return;
        for (size_t i = 0; i < e->n; i++) {
                struct sink *s = &e->sinks[i];

                lost += delivery_destroy(&s->delivery);
                free_event(&s->timer);
                scrape_destroy(&s->scrape);
                batcher_destroy(&s->batcher);
                profiles_destroy(&s->profiles);
                metrics_destroy(&s->metrics);
        }
        if (lost)
                report_warning("ends with unsent samples=%" PRIu64 " that no journal has", lost);
        http_destroy(&e->http);
        connections_destroy(&e->connections);
        feed_loop_close(&e->loop);
        free_event(&e->end);
        world_destroy(&e->world);
        if (e->feed)
                feed_close(&e->feed);
        if (e->base)
                event_base_free(e->base);
        free(e);
}
