/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.c - `heapwatch report`: finished logs, or targets as they are now, as one file for the browser.
 *
 * DESIGN: the logs are read as by any client, their past is collected within bounds, then the built page is written
 * with the data in it. Of targets the daemon's snapshot is taken, and what it remembers of the time before.
 * The file is written under a temporary name and renamed when it is complete.
 */
#include "client/cli/command.h"
#include "client/cli/out_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/feed/locate.h"
#include "proto/base/document.h"
#include "client/report/compose.h"
#include "client/report/embed.h"
#include "client/report/notes.h"
#include "client/report/pair.h"
#include "client/report/replaceable.h"
#include "client/report/watched.h"
#include "client/cli/progress.h"
#include "client/cli/signals.h"
#include "client/page/assets.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/error.h"

#define HISTORY_POINTS  8192 /* of a series, while reading */
#define HISTORY_COLUMNS 2048
#define HISTORY_CELLS   ((size_t)4 << 20) /* 128 MiB at most */

struct reporter {
        struct text_list operands, files, targets, endpoints; /* operands: files or targets */
        struct judging judging;                               /* of files */
        struct report_options options;
        const char *out; /* NULL: made from the name of the first file or target */
        bool json, force;
        struct feed *feed;
        struct world *world;
        struct report_notes *notes;
        struct pair *pair; /* NULL: there are not exactly two logs */
        struct progress progress;
};

/* ------------------------------------------------------------------- options */

static const char *nth_order(size_t n)
{
        static const char *const orders[] = { "size", "stddev", "name", "number", "gradient", NULL };

        return orders[n];
}

static const struct option options[] = {
        OPERAND_LIST("LOG|TARGET...", 1, struct reporter, operands, COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_TEXT("output", 'o', "FILE", struct reporter, out, COMPLETE_FILE,
                    "output file (default: LOG or TARGET with .html; - is standard output)"),
        OPTION_FLAG("force", 'f', struct reporter, force,
                    "overwrite a file of that name that is not a report of heapwatch"),
        OPTION_FLAG("json", 'j', struct reporter, json, "the data alone, as JSON (docs/WEB.md)"),
        OPTION_NUMBER("bands", 'n', unsigned, struct reporter, options.bands, 0, 100000,
                      "bands drawn at first, the largest (default 15; 0: all)"),
        OPTION_NAME("sort", 0, "FIELD", struct reporter, options.sort, nth_order,
                    "their order: size (default), stddev, name, number, gradient"),
        OPTION_FLAG("reverse", 0, struct reporter, options.reverse, "reverse the order"),
        OPTION_LIST("include", 'i', "TEXT", struct reporter, options.include, COMPLETE_NOTHING,
                    "draw only notes that contain TEXT; may be repeated"),
        OPTION_LIST("exclude", 'x', "TEXT", struct reporter, options.exclude, COMPLETE_NOTHING,
                    "draw no notes that contain TEXT; may be repeated"),
        OPTION_FLAG("no-traces", 0, struct reporter, options.no_traces, "draw no notes"),
        OPTION_FLAG("include-trace-events", 0, struct reporter, options.trace_events,
                    "draw messages (traceEvent), too, not only markers"),
        OPTION_BYTES("y-axis", 0, struct reporter, options.y_axis_bytes, 1,
                     "fixed top of the heap chart: 512M, 1.5GiB"),
        OPTION_RULES(struct reporter, judging),
        OPTIONS_OF_TREND(struct reporter, judging),
        OPTION_CONNECT(struct reporter, endpoints),
        OPTIONS_END,
};

static int check(void *filled)
{
        struct reporter *r = filled;

        for (size_t i = 0; i < r->operands.n; i++) {
                const char *what = r->operands.items[i];
                (void)text_list_add(&command_report, locate_is_log(what) ? &r->files : &r->targets, what);
        }
        if (r->files.n && (r->targets.n || r->endpoints.n))
                return command_usage_error(&command_report, "%s is not a file; files and targets exclude each other",
                                           r->targets.n ? r->targets.items[0] : "--connect");
        if (r->targets.n && judging_given(&r->judging))
                return command_usage_error(&command_report, "%s belongs to files; a daemon has its own",
                                           judging_given(&r->judging));
        if (r->json || page_size())
                return 0;
        command_error(&command_report, "%s, or use --json", PAGE_MISSING);
        return EXIT_USAGE;
}

/* ------------------------------------------------------------------ progress */

static void show_progress(struct reporter *r)
{
        uint64_t done = 0;

        for (size_t i = 0; r->progress.terminal && i < world_targets(r->world); i++)
                done += world_target(r->world, i)->health ? world_target(r->world, i)->health->bytes : 0;
        progress_show(&r->progress, done);
}

/* ------------------------------------------------------------------- reading */

static bool take(struct reporter *r, const Hw__Update *u)
{
        size_t daemon = feed_daemon(r->feed);

        if (world_apply(r->world, daemon, u) < 0 || report_notes_take(r->notes, u) < 0 ||
            (r->pair && pair_take(r->pair, u) < 0)) {
                command_error(&command_report, "out of memory");
                return false;
        }
        show_progress(r);
        return true;
}

/* Reads all logs. False after printing a message, or when a signal came. */
static bool read_logs(struct reporter *r)
{
        const Hw__Update *update = NULL;

        while (!signals_stop()) {
                switch (feed_next(r->feed, 500, &update)) {
                case FEED_UPDATE:
                        if (!take(r, update))
                                return false;
                        break;
                case FEED_END:
                        progress_end(&r->progress);
                        return true;
                case FEED_FAILED:
                        progress_end(&r->progress);
                        command_error(&command_report, "%s", feed_error(r->feed));
                        return false;
                default:
                        break;
                }
        }
        progress_end(&r->progress);
        return false;
}

/* What a reader of the report should know before opening it. */
static void warn(const struct reporter *r)
{
        char text[HW_NUMBER_MAX];

        for (size_t i = 0; i < world_targets(r->world); i++) {
                const struct world_target *t = world_target(r->world, i);

                if (t->health && t->health->lost_bytes)
                        command_error(&command_report, "%s: %s could not be read", t->name,
                                      hw_bytes_text(text, sizeof(text), (double)t->health->lost_bytes));
                if (t->health && t->health->unread)
                        command_error(&command_report, "%s: not all of it was read: %s", t->name, t->health->unread);
        }
}

/* ------------------------------------------------------------------- writing */

static int write_all(const struct reporter *r, FILE *to)
{
        bool watched = r->targets.n > 0;
        struct state_source state = { .world = r->world,
                                      .feed = r->feed,
                                      .n_daemons = watched ? feed_daemons(r->feed) : 1,
                                      .watched = watched,
                                      .files = watched ? NULL : r->files.items,
                                      .targets = watched ? r->targets.items : NULL,
                                      .put_notes = watched ? NULL : report_notes_put,
                                      .ctx = r->notes };
        struct report report = { .options = &r->options, .state = &state, .pair = r->pair, .watched = watched };
        struct document d;
        int status = -ENOMEM;

        document_open(&d);
        if (d.to)
                compose(&(struct json_out){ .to = d.to }, &report);
        if (document_close(&d)) {
                status = 0;
                if (r->json)
                        (void)fwrite(d.text, 1, d.size, to);
                else
                        status = embed_data(to, d.text);
        }
        document_done(&d);
        if (!status && (fflush(to) || ferror(to)))
                status = errno ? -errno : -EIO;
        return status;
}

/* "run.eventlog" and "run.eventlog.gz" become "run.html", as does the target "run". NULL: out of memory. */
static char *out_name(const struct reporter *r)
{
        static const char *const endings[] = { ".gz", ".zst",
                                               ".eventlog" }; /* in the order in which they are removed */
        const char *log = r->operands.items[0];
        size_t n = strlen(log);
        char *name = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
                size_t tail = strlen(endings[i]);
                if (n > tail && !strncmp(log + n - tail, endings[i], tail))
                        n -= tail;
        }

        if (r->out)
                return strdup(r->out);
        return asprintf(&name, "%.*s%s", (int)n, log, r->json ? ".json" : ".html") < 0 ? NULL : name;
}

static int write_file(const struct reporter *r, const char *name)
{
        struct out_file file;
        const int status = out_file_open(&file, name);

        return status < 0 ? status : out_file_close(&file, write_all(r, file.to));
}

static int deliver(struct reporter *r)
{
        char *name = out_name(r), text[HW_NUMBER_MAX];
        struct stat st;
        int status;

        if (!name)
                return EXIT_USAGE;
        warn(r);
        status = strcmp(name, "-") ? write_file(r, name) : write_all(r, stdout);
        if (status == -EPIPE && !strcmp(name, "-"))
                status = EXIT_OK; /* the reader of the pipe has exited */
        else if (status < 0)
                command_error(&command_report, "cannot write %s: %s", name, strerror(-status));
        else if (strcmp(name, "-") && stat(name, &st) == 0 && S_ISREG(st.st_mode))
                (void)printf("%s  %s\n", name, hw_bytes_text(text, sizeof(text), (double)st.st_size));
        free(name);
        return status < 0 ? EXIT_USAGE : EXIT_OK;
}

/* A file that was not named with -o and is not ours is kept: LOG.json beside a log may be anything. */
static bool may_write(const struct reporter *r)
{
        char *name = r->out || r->force ? NULL : out_name(r);
        bool good = !name || report_may_replace(name);

        if (!good)
                command_error(&command_report, "%s exists and is not a report of heapwatch; give -o FILE, or --force",
                              name);
        free(name);
        return good;
}

static struct feed *open_feed(struct reporter *r, struct error *error)
{
        struct hw_subscriber_options o = {
                .endpoints = r->endpoints.n ? r->endpoints.items : NULL,
                .n_endpoints = r->endpoints.n,
                .targets = r->targets.items,
                .n_targets = r->targets.n,
        };

        if (r->targets.n)
                return feed_connect(&o, error);
        progress_begin(&r->progress, command_report.name, r->files.items, r->files.n);
        return feed_files(r->files.items, r->files.n, &r->judging, error);
}

static int report(struct reporter *r)
{
        static const struct history_options past = {
                .points = HISTORY_POINTS, .columns = HISTORY_COLUMNS, .cells = HISTORY_CELLS, .collections = true
        };
        struct error error;
        int status = EXIT_USAGE;

        if (!may_write(r))
                return EXIT_USAGE;
        r->world = world_new(&past);
        r->notes = report_notes_new();
        r->pair = r->files.n == 2 ? pair_new(r->files.items[0], r->files.items[1]) : NULL;
        r->feed = open_feed(r, &error);
        if (!r->feed)
                command_error(&command_report, "%s", error.text);
        else if (r->world && r->notes && (r->pair || r->files.n != 2) &&
                 (r->targets.n ? watched_read(r->feed, r->world, &r->targets) : read_logs(r)))
                status = r->pair && pair_end(r->pair) < 0 ? EXIT_USAGE : deliver(r);
        feed_close(&r->feed);
        report_notes_destroy(&r->notes);
        pair_destroy(&r->pair);
        world_destroy(&r->world);
        return status;
}

static int run(void *filled)
{
        signals_catch();
        int status = report(filled);
        signals_die();
        return status;
}

const struct command command_report = {
        .name = "report",
        .summary = "finished logs, or targets up to now, as one HTML file",
        .usage = (const char *const[]){ "LOG... [-o FILE] [OPTION]...", "TARGET... [--connect EP]... [OPTION]...",
                                        NULL },
        .about = "Writes one HTML file with the page of `heapwatch web` and the data of finished eventlogs, or of "
                 "targets up to now as their daemon remembers them. It works from the disk, offline. Several logs can "
                 "be compared in it. Large logs are thinned for display with minima and maxima kept; the file says so. "
                 "An argument that names a file is one.",
        .options = options,
        .notes = "These are first settings: the page can change all of them. Its statistics are over all samples, "
                 "however many are drawn.",
        .status = "0, or 2 when a log cannot be read, there is no such target, or the file cannot be written.",
        .examples =
                (const char *const[]){
                        "heapwatch report run.eventlog",
                        "heapwatch report before.eventlog after.eventlog -o compare.html",
                        "heapwatch report api -o api-now.html",
                        NULL,
                },
        .size = sizeof(struct reporter),
        .defaults = &(const struct reporter){ .options = { .bands = 15, .sort = "size" } },
        .check = check,
        .run = run,
};
