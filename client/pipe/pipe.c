/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipe.c - `heapwatch pipe`: updates to standard output, a line each.
 *
 * DESIGN: every update is written and flushed at once, so that the next
 * program of the pipe sees it live. A reader that went away ends us quietly:
 * that is how `| head` works.
 */
#include "client/cli/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/feed/feed.h"
#include "client/cli/options.h"
#include "client/pipe/csv.h"
#include "client/cli/signals.h"

enum format { FORMAT_NONE, FORMAT_JSON, FORMAT_CSV };

struct pipe {
        struct text_list files, endpoints, targets;
        struct kind_list kinds;    /* to print; empty: all */
        struct kind_list followed; /* to ask for; empty: all */
        enum format format;
        bool numbers;
        struct world *view; /* CSV only */
        struct csv_text rows;
};

static const char help[] =
        "usage: heapwatch pipe [FILE...] --format json|csv [OPTION]...\n"
        "\n"
        "Writes updates to standard output, one a line, each at once: live from the\n"
        "daemon, or from finished eventlogs (FILE), ending with them.\n"
        "\n"
        "  --format json      every update as one JSON object (the messages of\n"
        "                     heapwatch.proto, in their canonical JSON form)\n"
        "  --format csv       one number a row, for spreadsheets and awk (see below)\n"
        "  --numbers          JSON: 64-bit integers as numbers, not as strings\n"
        "  --kinds A,B        only these: daemon target heap gc census band note profile\n"
        "                     ticky sched health trend alert\n"
        "  --targets X,Y      only these targets\n"
        "  --connect EP       follow the daemon at EP (ipc://PATH or tcp://HOST:PORT);\n"
        "                     may be repeated; default: your own daemon\n"
        "\n"
        "The columns of CSV, a column that does not apply being empty:\n"
        "  target,run,time_s,wall_time,series,unit,value,band,label\n"
        "  time_s     event time, seconds since the program's runtime started\n"
        "  wall_time  the same in UTC, when the log tells its start\n"
        "  series     heap: live heap_size rss gc_pause ... and allocation_rate (B/s);\n"
        "             gc: gc_share (of 1); census: band, and bands_left_out (bytes of\n"
        "             the bands beyond the daemon's limit); note: note; health:\n"
        "             lost_bytes, lag\n"
        "  unit       B, ns, B/s, 1 or nothing\n"
        "  band,label of a band row: its number and name; label of a note row: its text\n"
        "             (control characters are written as \\n, \\t, \\xNN)\n"
        "\n"
        "Ends with 0 when the files end or the reader goes away, 2 on bad input.\n"
        "\n"
        "Examples:\n"
        "  heapwatch pipe --format json --kinds heap --numbers | jq .heap.liveBytes\n"
        "  heapwatch pipe --format csv --kinds census run.eventlog > bands.csv\n";

static int run(int argc, char **argv);

const struct command command_pipe = {
        .name = "pipe",
        .summary = "updates as JSON lines or CSV on standard output, live or from files",
        .help = help,
        .run = run,
};

/* ----------------------------------------------------------------- options */

static int parse_format(struct pipe *p, const char *text)
{
        if (!strcmp(text, "json"))
                p->format = FORMAT_JSON;
        else if (!strcmp(text, "csv"))
                p->format = FORMAT_CSV;
        else
                return command_usage_error(&command_pipe, "unknown format '%s'; expected json or csv", text);
        return 0;
}

static int parse(struct pipe *p, int argc, char **argv)
{
        static const struct option options[] = {
                { "connect", required_argument, NULL, 'c' }, { "kinds", required_argument, NULL, 'k' },
                { "targets", required_argument, NULL, 't' }, { "format", required_argument, NULL, 'f' },
                { "numbers", no_argument, NULL, 'n' },       { NULL, 0, NULL, 0 },
        };
        int o, bad = 0;

        optind = 1;
        while (!bad && (o = getopt_long(argc, argv, "c:k:t:f:n", options, NULL)) != -1) {
                if (o == 'c')
                        bad = options_add(&command_pipe, &p->endpoints, optarg);
                else if (o == 'k')
                        bad = options_kinds(&command_pipe, &p->kinds, optarg);
                else if (o == 't')
                        bad = options_split(&command_pipe, &p->targets, optarg);
                else if (o == 'f')
                        bad = parse_format(p, optarg);
                else if (o == 'n')
                        p->numbers = true;
                else
                        bad = command_usage_error(&command_pipe, "unknown option or missing value");
        }
        for (int i = optind; !bad && i < argc; i++)
                bad = options_add(&command_pipe, &p->files, argv[i]);
        if (!bad && p->format == FORMAT_NONE)
                bad = command_usage_error(&command_pipe, "which format? add --format json or --format csv");
        if (!bad && p->files.n && p->endpoints.n)
                bad = command_usage_error(&command_pipe, "files and --connect exclude each other");
        return bad;
}

static bool listed(const struct kind_list *list, Hw__Kind kind)
{
        for (size_t i = 0; i < list->n; i++) {
                if (list->items[i] == kind)
                        return true;
        }
        return false;
}

/* What to ask a daemon for: what is printed, and the names of bands when censuses become rows. */
static void choose_followed(struct pipe *p)
{
        p->followed = p->kinds;
        if (p->format == FORMAT_CSV && listed(&p->kinds, HW__KIND__KIND_CENSUS) &&
            !listed(&p->kinds, HW__KIND__KIND_BAND) && p->followed.n < OPTIONS_MAX)
                p->followed.items[p->followed.n++] = HW__KIND__KIND_BAND;
}

static struct feed *open_feed(const struct pipe *p, char *error, size_t size)
{
        struct hw_subscriber_options o = {
                .endpoints = p->endpoints.n ? p->endpoints.items : NULL,
                .n_endpoints = p->endpoints.n,
                .targets = p->targets.n ? p->targets.items : NULL,
                .n_targets = p->targets.n,
                .kinds = p->followed.n ? p->followed.items : NULL,
                .n_kinds = p->followed.n,
        };

        if (p->files.n)
                return feed_files(p->files.items, p->files.n, NULL, error, size);
        return feed_connect(&o, error, size);
}

/* ------------------------------------------------------------------ output */

static bool wanted(const struct pipe *p, const Hw__Update *u)
{
        if (p->kinds.n && !listed(&p->kinds, hw_update_kind(u)))
                return false;
        if (!p->targets.n)
                return true;
        for (size_t i = 0; u->target && i < p->targets.n; i++) {
                if (!strcmp(p->targets.items[i], u->target))
                        return true;
        }
        return false;
}

/* 0, or -errno of the output. */
static int emit(const char *text, size_t n)
{
        if (fwrite(text, 1, n, stdout) != n || fflush(stdout))
                return errno ? -errno : -EIO;
        return 0;
}

static int print_json(const struct pipe *p, const Hw__Update *u)
{
        char *json = hw_json(&u->base, p->numbers);
        size_t n;
        int r;

        if (!json)
                return -ENOMEM;
        n = strlen(json);
        json[n] = '\n'; /* in place of the NUL: one write makes one line */
        r = emit(json, n + 1);
        free(json);
        return r;
}

static int print_update(struct pipe *p, size_t daemon, const Hw__Update *u)
{
        if (p->format == FORMAT_JSON)
                return wanted(p, u) ? print_json(p, u) : 0;
        if (world_apply(p->view, daemon, u) < 0)
                return -ENOMEM;
        if (!wanted(p, u))
                return 0;
        csv_clear(&p->rows);
        csv_update(&p->rows, p->view, daemon, u);
        if (p->rows.error)
                return p->rows.error;
        return p->rows.length ? emit(p->rows.text, p->rows.length) : 0;
}

static void say(const struct feed *feed, const char *what)
{
        command_error(&command_pipe, "%s %s", feed_endpoint(feed, feed_daemon(feed)), what);
}

/* One event. Returns false at the end, with the exit status. */
static bool handle(struct pipe *p, struct feed *feed, int *ret_status)
{
        const Hw__Update *update = NULL;
        int r = 0;

        switch (feed_next(feed, 500, &update)) {
        case FEED_UPDATE:
                r = print_update(p, feed_daemon(feed), update);
                break;
        case FEED_RESET:
                world_reset(p->view, feed_daemon(feed));
                break;
        case FEED_STALE:
                say(feed, "is silent; waiting for it");
                break;
        case FEED_ALIVE:
                say(feed, "is back");
                break;
        case FEED_END:
                *ret_status = EXIT_OK;
                return false;
        case FEED_FAILED:
                command_error(&command_pipe, "%s", feed_error(feed));
                *ret_status = EXIT_USAGE;
                return false;
        default:
                break;
        }
        if (r == 0)
                return true;
        if (r != -EPIPE)
                command_error(&command_pipe, "cannot write: %s", strerror(-r));
        *ret_status = r == -EPIPE ? EXIT_OK : EXIT_USAGE;
        return false;
}

static int follow(struct pipe *p)
{
        char error[512];
        struct feed *feed = open_feed(p, error, sizeof(error));
        int status = EXIT_OK;

        if (!feed) {
                command_error(&command_pipe, "%s", error);
                return EXIT_USAGE;
        }
        if (p->format == FORMAT_JSON || emit(CSV_HEADER, strlen(CSV_HEADER)) == 0) {
                while (!signals_stop() && handle(p, feed, &status))
                        continue;
        }
        feed_close(&feed);
        return status;
}

static int run(int argc, char **argv)
{
        struct pipe *p = calloc(1, sizeof(*p));
        int status = EXIT_USAGE;

        if (p && !parse(p, argc, argv)) {
                choose_followed(p);
                p->view = world_new();
                signals_catch();
                if (p->view)
                        status = follow(p);
                world_destroy(&p->view);
                csv_done(&p->rows);
        }
        free(p);
        signals_die();
        return status;
}
