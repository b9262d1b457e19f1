/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/archive/archiver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/past/archive/observe.h"
#include "client/cli/command.h"
#include "client/cli/progress.h"
#include "client/cli/report.h"
#include "client/cli/signals.h"
#include "client/world/feed/feed.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"

#define PENDING     50000u   /* rows; when there are more they are written at once */
#define KEEP_MS     3600000u /* between two checks for old rows */
#define WAIT_MS     500
#define HOST_BYTES  256
#define PATIENCE_NS UINT64_C(5000000000) /* within which a live run reports when it began, if at all */

struct archiver {
        const struct archiver_options *options;
        struct database database;
        struct writer writer;
        struct feed *feed;
        struct world *world;
        struct observed *runs; /* followed runs, and finished ones that are not written yet */
        char (*hosts)[HOST_BYTES];
        uint64_t written_ms, kept_ms; /* monotonic */
        struct clock_steady clock;
        uint64_t began_wall_ns;
        bool failing, failed;
        struct progress progress; /* of a finished log */
};

/* ---------------------------------------------------------------------------- runs */

static struct observed *run_of(const struct archiver *a, size_t daemon, const char *target, uint32_t number)
{
        for (struct observed *o = a->runs; o; o = o->next)
                if (!o->left && o->daemon == daemon && o->number == number && !strcmp(o->target, target))
                        return o;
        return NULL;
}

/*
 * Unix time of event time 0: the run's own, or an estimate if it has not reported it by now. 0: wait. Runtimes before
 * GHC 9.4 write it when a buffer is full, in a finished log often at its end: there nothing is late, so all is held. A
 * daemon reads such a log within seconds, too.
 */
static uint64_t start_of(const struct archiver *a, const struct observed *o, uint64_t event_ns, uint64_t published_ns)
{
        const Hw__Run *info = o->state ? o->state->run_info : NULL;

        if (info && info->has_start_wall_ns)
                return info->start_wall_ns;
        if (!feed_is_live(a->feed))
                return observed_can_hold(o) ? 0 : a->began_wall_ns;
        if (!o->over && observed_can_hold(o) && published_ns - o->held_since_ns < PATIENCE_NS)
                return 0;
        return published_ns > event_ns ? published_ns - event_ns : 0;
}

static void write_all(struct archiver *a);

static void begin_run(struct archiver *a, struct observed *o, uint64_t start_ns)
{
        if (o->start_ns || !start_ns)
                return;
        if (strchr(o->target,
                   '~')) /* it was followed under its own name: found in the archive, it is not there twice */
                write_all(a);
        o->start_ns = start_ns;
        writer_find(&a->writer, o);
        observed_begin(o);
}

/* Of a process of this machine, while it runs. */
static void request_build(const struct archiver *a, struct observed *o)
{
        const Hw__Run *info = o->state ? o->state->run_info : NULL;
        bool here = feed_is_live(a->feed) && strncmp(feed_endpoint(a->feed, o->daemon), "ipc:", 4) == 0;

        if (here && info && info->local && info->has_pid && !o->over && !o->build_id[0] &&
            !build_id_of(info->pid, o->build_id))
                o->build_id[0] = '\0';
}

static struct observed *follow_target(struct archiver *a, const Hw__Update *u, size_t daemon)
{
        struct observed *o = observed_new(daemon, u->target, u->run);

        if (!o)
                return NULL;
        o->host = a->hosts[daemon];
        o->name = a->options->name;
        o->next = a->runs;
        a->runs = o;
        return o;
}

static void leave_run(struct archiver *a, struct observed *gone)
{
        struct observed **at = &a->runs;

        while (*at != gone)
                at = &(*at)->next;
        *at = gone->next;
        observed_destroy(&gone);
}

/* ------------------------------------------------------------------------- writing */

static size_t count_pending(const struct archiver *a)
{
        size_t n = 0;

        for (const struct observed *o = a->runs; o; o = o->next)
                n += o->pending.n;
        return n;
}

/* Sets a damaged file aside and begins a new one with what is known of the runs. */
static void reopen_database(struct archiver *a)
{
        struct error error;

        if (!database_renew(&a->database, sqlite3_errmsg(a->database.db), &error)) {
                report_error("%s", error.text);
                a->failed = true;
                return;
        }
        for (struct observed *o = a->runs; o; o = o->next)
                observed_unwritten(o);
}

static void report_result(struct archiver *a, int result)
{
        if (result == SQLITE_OK && a->failing)
                report_info("archive=%s is written again", a->database.path);
        if (result != SQLITE_OK && !a->failing)
                report_warning("archive=%s cannot be written: %s; new data waits in memory", a->database.path,
                               sqlite3_errstr(result));
        a->failing = result != SQLITE_OK;
}

static void write_all(struct archiver *a)
{
        int r;

        for (struct observed *o = a->runs; o; o = o->next)
                if (o->over && o->start_ns && !o->left)
                        observed_end(o, world_find_of(a->world, o->daemon, o->target));
        a->written_ms = clock_mono_ms();
        r = writer_write(&a->writer, a->runs);
        if (database_is_damage(r)) {
                reopen_database(a);
                r = a->failed ? r : writer_write(&a->writer, a->runs);
        }
        report_result(a, r);
        for (struct observed *o = a->runs, *next; o && r == SQLITE_OK; o = next) { /* what cannot change any more */
                const struct world_target *t = o->left ? NULL : world_find_of(a->world, o->daemon, o->target);

                next = o->next;
                if (!o->changed && o->start_ns && (!t || t->run != o->number))
                        leave_run(a, o);
        }
}

/* Only the size decides as long as what follows a daemon, from the boot on maybe, has a clock that may be wrong. */
static void forget_old(struct archiver *a)
{
        const uint64_t wall_ns = clock_wall_ns();
        const bool by_age =
                clock_tells_age(&a->clock, UINT64_MAX, wall_ns, clock_mono_ns()) || a->options->from->files.n > 0;
        uint64_t bytes = 0, most = a->options->keep.max_bytes;
        int r = keep_apply(&a->database, &a->options->keep, by_age ? wall_ns / 1000000000u : 0, &bytes);

        a->kept_ms = clock_mono_ms();
        if (database_is_damage(r))
                reopen_database(a);
        else if (r != SQLITE_OK)
                report_result(a, r);
        else if (most && bytes > most)
                report_warning("archive=%s bytes=%" PRIu64 " is larger than --max-size, with nothing left to delete",
                               a->database.path, bytes);
}

/* ------------------------------------------------------------------------- messages */

/* A target's run is over. If it never reported when it began, that is when it was first seen. */
static void end_run(struct archiver *a, const struct world_target *t)
{
        struct observed *o = t ? run_of(a, t->daemon, t->name, t->run) : NULL;

        if (!o)
                return;
        begin_run(a, o,
                  t->published_wall_ns > t->event_time_ns ? t->published_wall_ns - t->event_time_ns : a->began_wall_ns);
        observed_end(o, t);
}

static int apply_update(struct archiver *a, const Hw__Update *u)
{
        size_t daemon = feed_daemon(a->feed);
        const struct world_target *before = u->target ? world_find_of(a->world, daemon, u->target) : NULL;

        if (u->body_case == HW__UPDATE__BODY_TARGET_STATE &&
            u->target_state->state == HW__TARGET__STATE__STATE_REMOVED) {
                struct observed *gone = before ? run_of(a, daemon, before->name, before->run) : NULL;

                end_run(a, before);
                if (gone) /* the next target of this name counts its runs from 1 again */
                        gone->left = true;
                return world_apply(a->world, daemon, u);
        }
        bool of_run = u->target && u->has_run && u->run && (!before || u->run >= before->run);
        struct observed *o = of_run ? run_of(a, daemon, u->target, u->run) : NULL;

        if (of_run && before && u->run > before->run)
                end_run(a, before);
        if (of_run && !o && !(o = follow_target(a, u, daemon)))
                return -ENOMEM;
        if (o) {
                observed_add(o, before, u);
                begin_run(a, o, start_of(a, o, u->event_time_ns, u->published_wall_ns));
                if (u->body_case == HW__UPDATE__BODY_TARGET_STATE)
                        request_build(a, o);
        }
        return world_apply(a->world, daemon, u);
}

static void reset_observed(struct archiver *a)
{
        size_t daemon = feed_daemon(a->feed);

        for (size_t i = 0; i < world_targets(a->world); i++)
                if (world_target(a->world, i)->daemon == daemon)
                        end_run(a, world_target(a->world, i));
        write_all(a);
        world_reset(a->world, daemon);
        for (struct observed *o = a->runs, *next; o; o = next) {
                next = o->next;
                if (o->daemon == daemon && !o->changed) /* it is found again in the archive, whatever its new number */
                        leave_run(a, o);
        }
}

static void on_event(struct archiver *a, enum feed_event event, const Hw__Update *u)
{
        size_t daemon = event == FEED_END || event == FEED_FAILED || event == FEED_NOTHING ? 0 : feed_daemon(a->feed);

        switch (event) {
        case FEED_UPDATE:
                if (u->body_case == HW__UPDATE__BODY_HEALTH && a->options->from->files.n == 1)
                        progress_show(&a->progress, u->health->bytes);
                if (apply_update(a, u) < 0) {
                        report_error("out of memory");
                        a->failed = true;
                }
                break;
        case FEED_RESET:
                reset_observed(a);
                break;
        case FEED_STALE:
                report_warning("daemon=%s is silent", feed_endpoint(a->feed, daemon));
                break;
        case FEED_READY:
        case FEED_ALIVE:
                report_info("daemon=%s is followed", feed_endpoint(a->feed, daemon));
                break;
        case FEED_FAILED:
                report_error("%s", feed_error(a->feed));
                a->failed = true;
                break;
        default:
                break;
        }
}

/* ------------------------------------------------------------------------- its life */

static bool open_feed(struct archiver *a, struct error *error)
{
        size_t n;

        a->feed = selection_open(a->options->from, NULL, 0, error);
        if (!a->feed)
                return false;
        n = feed_daemons(a->feed) ? feed_daemons(a->feed) : 1;
        a->hosts = calloc(n, sizeof(*a->hosts));
        a->world = world_new(NULL);
        for (size_t i = 0; a->hosts && i < n; i++)
                archive_host(a->hosts[i], HOST_BYTES, feed_endpoint(a->feed, i));
        return (a->hosts && a->world) || error_set(error, "out of memory");
}

static void run_loop(struct archiver *a)
{
        enum feed_event event = FEED_NOTHING;
        const Hw__Update *u = NULL;

        progress_begin(&a->progress, "archive", a->options->from->files.items, a->options->from->files.n);
        while (!signals_stop() && !a->failed && event != FEED_END) {
                event = feed_next(a->feed, WAIT_MS, &u);
                on_event(a, event, u);
                if (event != FEED_END) {
                        uint64_t now = clock_mono_ms();

                        if (now - a->written_ms >= a->options->interval_ns / 1000000u ||
                            (!a->failing && count_pending(a) > PENDING))
                                write_all(a);
                        if (now - a->kept_ms >= KEEP_MS)
                                forget_old(a);
                }
        }
        progress_end(&a->progress);
}

int archiver_run(const struct archiver_options *options)
{
        struct archiver a = { .options = options, .began_wall_ns = clock_wall_ns(), .database = { .lock = -1 } };
        struct error error = { "" };
        bool good = database_open(&a.database, options->path, &error) && open_feed(&a, &error);

        a.writer = (struct writer){ .database = &a.database, .labels = options->labels, .bands = options->bands };
        if (good) {
                a.written_ms = clock_mono_ms();
                forget_old(&a);
                run_loop(&a);
                for (size_t i = 0; i < world_targets(a.world); i++)
                        end_run(&a, world_target(a.world, i));
                write_all(&a);
                good = !a.failed && !a.failing;
        } else {
                command_error(&command_archive, "%s", error.text);
        }
        while (a.runs)
                leave_run(&a, a.runs);
        if (a.feed)
                feed_close(&a.feed);
        world_destroy(&a.world);
        free(a.hosts);
        database_close(&a.database);
        return good ? EXIT_OK : EXIT_USAGE;
}
