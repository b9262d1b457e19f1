/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.c - `heapwatch report`: finished logs as one file for the browser.
 *
 * DESIGN: the logs are read as any client reads them (heapwatchd --once), their
 * past is gathered within bounds, then the built page is written with its data
 * in it. The file is written beside its place and moved there when it is whole.
 */
#include "client/cli/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/document.h"
#include "proto/base/nearest.h"
#include "client/report/compose.h"
#include "client/report/embed.h"
#include "client/report/notes.h"
#include "client/cli/signals.h"
#include "client/page/assets.h"
#include "proto/base/clock.h"
#include "heapwatch/text.h"

#define HISTORY_POINTS  8192 /* of a series, while reading */
#define HISTORY_COLUMNS 2048
#define HISTORY_CELLS   ((size_t)4 << 20) /* 128 MiB at most */

struct reporter {
        struct text_list files;
        struct report_options options;
        const char *out; /* NULL: made from the first file's name */
        bool json;
        struct feed *feed;
        struct world *view;
        struct history *history;
        struct report_notes *notes;
        uint64_t total_bytes; /* of all files */
        bool terminal;        /* progress is shown */
        uint64_t shown_ms;    /* when it was drawn last */
};

static const char help[] =
        "usage: heapwatch report LOG... [-o FILE] [OPTION]...\n"
        "\n"
        "Writes one HTML file with the page of `heapwatch web` and the data of finished\n"
        "eventlogs. It works from the disk, offline. Several logs can be compared in it.\n"
        "Large logs are thinned for display with minima and maxima kept; the file says so.\n"
        "\n"
        "  -o, --output FILE        where to (default: LOG with .html; - is standard output)\n"
        "  -j, --json               the data alone, as JSON (docs/WEB.md)\n"
        "  -n, --bands N            bands drawn at first, the largest (default 15; 0: all)\n"
        "      --sort FIELD         their order: size (default), stddev, name, number, gradient\n"
        "      --reverse            the other way round\n"
        "  -i, --include TEXT       draw only notes that contain TEXT; may be repeated\n"
        "  -x, --exclude TEXT       draw no notes that contain TEXT; may be repeated\n"
        "      --no-traces          draw no notes\n"
        "      --include-trace-events  draw messages (traceEvent), too, not only markers\n"
        "      --y-axis BYTES       fixed top of the heap chart: 512M, 1.5GiB\n"
        "\n"
        "These are first settings: the page can change all of them. Its statistics are\n"
        "over all samples, however many are drawn.\n"
        "\n"
        "Ends with 0, or with 2 when a log cannot be read or the file cannot be written.\n"
        "\n"
        "Examples:\n"
        "  heapwatch report run.eventlog\n"
        "  heapwatch report before.eventlog after.eventlog -o compare.html\n";

static int run(int argc, char **argv);

const struct command command_report = {
        .name = "report",
        .summary = "finished logs as one HTML file",
        .help = help,
        .run = run,
};

/* ------------------------------------------------------------------- options */

static int parse_sort(struct reporter *r, const char *text)
{
        static const char *const fields[] = { "size", "stddev", "name", "number", "gradient" };
        const char *meant;

        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
                if (!strcmp(fields[i], text)) {
                        r->options.sort = fields[i];
                        return 0;
                }
        }
        meant = nearest(text, (const char **)fields, sizeof(fields) / sizeof(fields[0]));
        return command_usage_error(&command_report, "--sort '%s': %s%s%s", text, meant ? "did you mean '" : "expected ",
                                   meant ? meant : "size, stddev, name, number or gradient", meant ? "'?" : "");
}

static int parse_bands(struct reporter *r, const char *text)
{
        char *end;
        unsigned long n = strtoul(text, &end, 10);

        if (text[0] < '0' || text[0] > '9' || *end || n > 100000)
                return command_usage_error(&command_report, "--bands '%s': expected a number, 0 for all", text);
        r->options.bands = (unsigned)n;
        return 0;
}

static int parse_option(struct reporter *r, int o)
{
        switch (o) {
        case 'o':
                r->out = optarg;
                return 0;
        case 'j':
                r->json = true;
                return 0;
        case 'n':
                return parse_bands(r, optarg);
        case 's':
                return parse_sort(r, optarg);
        case 'r':
                r->options.reverse = true;
                return 0;
        case 'i':
                return options_add(&command_report, &r->options.include, optarg);
        case 'x':
                return options_add(&command_report, &r->options.exclude, optarg);
        case 'T':
                r->options.no_traces = true;
                return 0;
        case 'e':
                r->options.trace_events = true;
                return 0;
        case 'y':
                if (hw_parse_bytes(optarg, &r->options.y_axis_bytes) && r->options.y_axis_bytes)
                        return 0;
                return command_usage_error(&command_report, "--y-axis '%s': expected a size, e.g. 512M or 1.5GiB",
                                           optarg);
        default:
                return command_usage_error(&command_report, "unknown option or missing value");
        }
}

static int parse(struct reporter *r, int argc, char **argv)
{
        static const struct option options[] = {
                { "output", required_argument, NULL, 'o' },
                { "json", no_argument, NULL, 'j' },
                { "bands", required_argument, NULL, 'n' },
                { "sort", required_argument, NULL, 's' },
                { "reverse", no_argument, NULL, 'r' },
                { "include", required_argument, NULL, 'i' },
                { "exclude", required_argument, NULL, 'x' },
                { "no-traces", no_argument, NULL, 'T' },
                { "y-axis", required_argument, NULL, 'y' },
                { "include-trace-events", no_argument, NULL, 'e' },
                { NULL, 0, NULL, 0 },
        };
        int o, bad = 0;

        r->options.bands = 15;
        r->options.sort = "size";
        optind = 1;
        while (!bad && (o = getopt_long(argc, argv, "o:jn:i:x:", options, NULL)) != -1)
                bad = parse_option(r, o);
        for (int i = optind; !bad && i < argc; i++)
                bad = options_add(&command_report, &r->files, argv[i]);
        if (!bad && !r->files.n)
                bad = command_usage_error(&command_report, "which log? expected an eventlog");
        if (!bad && !r->json && !page_size()) {
                command_error(&command_report, "%s, or use --json", PAGE_MISSING);
                bad = EXIT_USAGE;
        }
        return bad;
}

/* ------------------------------------------------------------------ progress */

static void size_up(struct reporter *r)
{
        struct stat st;

        for (size_t i = 0; i < r->files.n; i++) {
                if (stat(r->files.items[i], &st) == 0)
                        r->total_bytes += (uint64_t)st.st_size;
        }
}

static void show_progress(struct reporter *r)
{
        char done_text[HW_NUMBER_MAX], total_text[HW_NUMBER_MAX];
        uint64_t now = clock_mono_ms(), done = 0;

        if (!r->terminal || now - r->shown_ms < 100)
                return;
        r->shown_ms = now;
        for (size_t i = 0; i < world_targets(r->view); i++)
                done += world_target(r->view, i)->health ? world_target(r->view, i)->health->bytes : 0;
        (void)fprintf(stderr, "\rheapwatch report: read %s of %s (%u %%)\x1b[K",
                      hw_bytes_text(done_text, sizeof(done_text), (double)done),
                      hw_bytes_text(total_text, sizeof(total_text), (double)r->total_bytes),
                      r->total_bytes ? (unsigned)(done >= r->total_bytes ? 100 : done * 100 / r->total_bytes) : 100);
}

static void end_progress(const struct reporter *r)
{
        if (r->terminal)
                (void)fputs("\r\x1b[K", stderr);
}

/* ------------------------------------------------------------------- reading */

static bool take(struct reporter *r, const Hw__Update *u)
{
        size_t daemon = feed_daemon(r->feed);

        if (world_apply(r->view, daemon, u) < 0 || history_take(r->history, daemon, u) < 0 ||
            report_notes_take(r->notes, u) < 0) {
                command_error(&command_report, "out of memory");
                return false;
        }
        show_progress(r);
        return true;
}

/* All of the logs. False with a message printed, or when a signal came. */
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
                        end_progress(r);
                        return true;
                case FEED_FAILED:
                        end_progress(r);
                        command_error(&command_report, "%s", feed_error(r->feed));
                        return false;
                default:
                        break;
                }
        }
        end_progress(r);
        return false;
}

/* What a reader of the report should know before it is opened. */
static void warn(const struct reporter *r)
{
        char text[HW_NUMBER_MAX];

        for (size_t i = 0; i < world_targets(r->view); i++) {
                const struct world_target *t = world_target(r->view, i);

                if (t->health && t->health->lost_bytes)
                        command_error(&command_report, "%s: %s of it could not be read", t->name,
                                      hw_bytes_text(text, sizeof(text), (double)t->health->lost_bytes));
        }
}

/* ------------------------------------------------------------------- writing */

static int write_all(const struct reporter *r, FILE *to)
{
        struct state_source state = { .view = r->view,
                                      .feed = r->feed,
                                      .n_daemons = 1,
                                      .history = r->history,
                                      .put_notes = report_notes_put,
                                      .ctx = r->notes };
        struct report report = { .options = &r->options, .state = &state, .history = r->history };
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

/* "run.eventlog" becomes "run.html". NULL: out of memory. */
static char *out_name(const struct reporter *r)
{
        const char *log = r->files.items[0], *dot = strrchr(log, '.');
        size_t n = dot && !strcmp(dot, ".eventlog") ? (size_t)(dot - log) : strlen(log);
        char *name = NULL;

        if (r->out)
                return strdup(r->out);
        return asprintf(&name, "%.*s%s", (int)n, log, r->json ? ".json" : ".html") < 0 ? NULL : name;
}

/* Beside its place first, then moved: a reader never sees half of it. */
static int write_file(const struct reporter *r, const char *name)
{
        char *draft = NULL;
        FILE *to;
        int status;

        if (asprintf(&draft, "%s.%ld.part", name, (long)getpid()) < 0)
                return -ENOMEM;
        to = fopen(draft, "wxe");
        status = to ? write_all(r, to) : -errno;
        if (to && fclose(to) && !status)
                status = -errno;
        if (!status && rename(draft, name) < 0)
                status = -errno;
        if (to && status)
                (void)unlink(draft);
        free(draft);
        return status;
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
        if (status < 0)
                command_error(&command_report, "cannot write %s: %s", name, strerror(-status));
        else if (strcmp(name, "-") && stat(name, &st) == 0)
                (void)printf("%s  %s\n", name, hw_bytes_text(text, sizeof(text), (double)st.st_size));
        free(name);
        return status < 0 ? EXIT_USAGE : EXIT_OK;
}

static int report(struct reporter *r)
{
        static const struct history_options h = {
                .series = true,
                .max_points = HISTORY_POINTS,
                .max_columns = HISTORY_COLUMNS,
                .max_cells = HISTORY_CELLS,
        };
        char error[512];
        int status = EXIT_USAGE;

        r->view = world_new();
        r->history = history_new(&h);
        r->notes = report_notes_new();
        r->terminal = isatty(STDERR_FILENO);
        size_up(r);
        r->feed = feed_files(r->files.items, r->files.n, NULL, error, sizeof(error));
        if (!r->feed)
                command_error(&command_report, "%s", error);
        else if (r->view && r->history && r->notes && read_logs(r))
                status = deliver(r);
        feed_close(&r->feed);
        report_notes_destroy(&r->notes);
        history_destroy(&r->history);
        world_destroy(&r->view);
        return status;
}

static int run(int argc, char **argv)
{
        struct reporter *r = calloc(1, sizeof(*r));
        int status = EXIT_USAGE;

        if (r && !parse(r, argc, argv)) {
                signals_catch();
                status = report(r);
        }
        free(r);
        signals_die();
        return status;
}
