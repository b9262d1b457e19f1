/* SPDX-License-Identifier: BSD-3-Clause */
/* top.c - `heapwatch top`: options, then the screen (loop.c) or text (plain.c). */
#include "client/cli/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/console/console.h"
#include "client/console/loop.h"
#include "client/console/plain.h"
#include "client/console/screen.h"
#include "proto/base/nearest.h"
#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "proto/base/clock.h"
#include "heapwatch/text.h"

#define PICTURE_NS UINT64_C(100000000)  /* the screen: at most ten pictures a second */
#define REPORT_NS  UINT64_C(1000000000) /* --plain: a report a second unless told otherwise */

struct top {
        struct text_list endpoints, targets, files;
        bool plain, once, json;
        const char *view_name; /* NULL: the usual one */
        uint64_t interval_ns;  /* 0: the default */
        struct feed *feed;
        struct world *view;
        struct console *console; /* of reports */
};

static const char help[] =
        "usage: heapwatch top [--connect EP]... [TARGET]... [OPTION]...\n"
        "       heapwatch top FILE... [OPTION]...\n"
        "\n"
        "Shows memory, collections, bands, notes and the health of the stream: live\n"
        "from the daemon, or of finished eventlogs. An argument with a slash, one that\n"
        "ends in .eventlog or one that names an existing file is a FILE.\n"
        "\n"
        "  --connect EP     follow the daemon at EP (ipc://PATH or tcp://HOST:PORT);\n"
        "                   may be repeated; default: your own daemon\n"
        "  --plain          print text instead of drawing; also when standard output\n"
        "                   is no terminal, or TERM=dumb\n"
        "  --once           one report, when the picture is complete (a FILE: at its end)\n"
        "  --view NAME      overview, targets, memory, bands, gc, profile, threads, notes\n"
        "                   or alerts: the one to begin with, or to print\n"
        "  --format json    print each report as a line of JSON (text is the other format)\n"
        "  --interval S     seconds between reports (default 1) or pictures (default 0.1)\n"
        "\n"
        "Keys: q quit, ? explains every key and every number of a view.\n"
        "Colours only on a terminal; NO_COLOR is respected.\n"
        "\n"
        "Examples:\n"
        "  heapwatch top api-1\n"
        "  heapwatch top --plain --once run.eventlog\n"
        "  heapwatch top --once --view bands --format json api-1\n";

static int run(int argc, char **argv);

const struct command command_top = {
        .name = "top",
        .summary = "watch memory, collections and bands on the terminal",
        .help = help,
        .run = run,
};

/* ----------------------------------------------------------------- options */

static bool is_file(const char *text)
{
        size_t n = strlen(text);
        static const char suffix[] = ".eventlog";

        return strchr(text, '/') || (n > sizeof(suffix) - 1 && !strcmp(text + n - (sizeof(suffix) - 1), suffix)) ||
               access(text, F_OK) == 0;
}

/* "2", "0.5" or "500ms". */
static int parse_interval(struct top *t, const char *text)
{
        char *end;
        double seconds;

        if (hw_parse_duration(text, &t->interval_ns) && t->interval_ns > 0)
                return 0;
        errno = 0;
        seconds = strtod(text, &end);
        if (errno || end == text || *end || !(seconds >= 0.01 && seconds <= 86400))
                return command_usage_error(&command_top, "--interval '%s': expected seconds from 0.01 to 86400", text);
        t->interval_ns = (uint64_t)(seconds * 1e9);
        return 0;
}

static int parse_view(struct top *t, const char *text)
{
        const char *names[VIEWS_MAX], *meant;
        size_t n = 0;

        for (size_t i = 0; console_views[i]; i++) {
                if (!console_views[i]->letter)
                        continue;
                if (!strcmp(console_views[i]->name, text)) {
                        t->view_name = text;
                        return 0;
                }
                names[n++] = console_views[i]->name;
        }
        meant = nearest(text, names, n);
        return command_usage_error(&command_top, "--view '%s': %s%s%s", text, meant ? "did you mean '" : "",
                                   meant ? meant : "expected a view, e.g. memory, bands, gc", meant ? "'?" : "");
}

static int parse_format(struct top *t, const char *text)
{
        t->json = !strcmp(text, "json");
        t->plain = true;
        if (t->json || !strcmp(text, "text"))
                return 0;
        return command_usage_error(&command_top, "--format '%s': expected json or text", text);
}

static int parse(struct top *t, int argc, char **argv)
{
        static const struct option options[] = {
                { "connect", required_argument, NULL, 'c' },
                { "plain", no_argument, NULL, 'p' },
                { "once", no_argument, NULL, '1' },
                { "interval", required_argument, NULL, 'i' },
                { "view", required_argument, NULL, 'v' },
                { "format", required_argument, NULL, 'f' },
                { NULL, 0, NULL, 0 },
        };
        int o, bad = 0;

        optind = 1;
        while (!bad && (o = getopt_long(argc, argv, "c:p1i:v:f:", options, NULL)) != -1) {
                if (o == 'c')
                        bad = options_add(&command_top, &t->endpoints, optarg);
                else if (o == 'p')
                        t->plain = true;
                else if (o == '1')
                        t->once = t->plain = true;
                else if (o == 'i')
                        bad = parse_interval(t, optarg);
                else if (o == 'v')
                        bad = parse_view(t, optarg);
                else if (o == 'f')
                        bad = parse_format(t, optarg);
                else
                        bad = command_usage_error(&command_top, "unknown option or missing value");
        }
        for (int i = optind; !bad && i < argc; i++)
                bad = options_add(&command_top, is_file(argv[i]) ? &t->files : &t->targets, argv[i]);
        if (!bad && t->files.n && t->endpoints.n)
                bad = command_usage_error(&command_top, "files and --connect exclude each other");
        if (!bad && t->files.n && t->targets.n)
                bad = command_usage_error(&command_top, "'%s' is no file; files and targets exclude each other",
                                          t->targets.items[0]);
        return bad;
}

static struct feed *open_feed(const struct top *t, char *error, size_t size)
{
        struct hw_subscriber_options o = {
                .endpoints = t->endpoints.n ? t->endpoints.items : NULL,
                .n_endpoints = t->endpoints.n,
                .targets = t->targets.n ? t->targets.items : NULL,
                .n_targets = t->targets.n,
        };

        if (t->files.n)
                return feed_files(t->files.items, t->files.n, NULL, error, size);
        return feed_connect(&o, error, size);
}

/* -------------------------------------------------------------------- text */

static const char *endpoint_of(const void *feed, size_t daemon)
{
        return feed_endpoint(feed, daemon);
}

static int text_width(void)
{
        const char *columns = getenv("COLUMNS");
        long n = columns ? strtol(columns, NULL, 10) : 0;

        return n >= 40 && n <= 400 ? (int)n : 100;
}

static int report(const struct top *t)
{
        struct plain_options o = {
                .view = t->view_name,
                .targets = t->targets.items,
                .n_targets = t->targets.n,
                .brief = feed_is_live(t->feed),
                .json = t->json,
                .width = text_width(),
                .ascii = !screen_has_utf8(),
        };
        int r;

        r = plain_report(stdout, t->console, &o, clock_wall_ns());
        if (r == 0 && fflush(stdout))
                r = -errno;
        return r;
}

/* What one event of the feed means for the text mode. */
struct progress {
        bool complete; /* a report would show all there is */
        bool over;     /* nothing more will come */
        int status;
};

static void take(const struct top *t, int timeout_ms, struct progress *p)
{
        const Hw__Update *update = NULL;
        enum feed_event event = feed_next(t->feed, timeout_ms, &update);
        size_t daemon = feed_daemon(t->feed);

        if (event == FEED_UPDATE)
                console_watch(t->console, daemon, update);
        if (event == FEED_UPDATE && world_apply(t->view, daemon, update) < 0) {
                command_error(&command_top, "out of memory");
                p->over = true;
                p->status = EXIT_USAGE;
        } else if (event == FEED_RESET) {
                console_forget(t->console, daemon);
                world_reset(t->view, daemon);
        } else if (event == FEED_STALE || event == FEED_ALIVE) {
                world_set_stale(t->view, daemon, event == FEED_STALE);
                p->complete = p->complete || feed_complete(t->feed);
        } else if (event == FEED_READY) {
                world_set_stale(t->view, daemon, false);
                p->complete = feed_complete(t->feed);
        } else if (event == FEED_END) {
                p->complete = p->over = true;
        } else if (event == FEED_FAILED) {
                command_error(&command_top, "%s", feed_error(t->feed));
                p->complete = p->over = true;
                p->status = EXIT_USAGE;
        }
}

/* Nobody answers: said once, and again by nobody. */
static void say_waiting(const struct top *t)
{
        command_error(&command_top, "waiting for a daemon at %s; start one with: heapwatchd FILE",
                      feed_endpoint(t->feed, 0));
}

static int plain(const struct top *t)
{
        uint64_t interval_ns = t->interval_ns ? t->interval_ns : REPORT_NS;
        uint64_t begin_ns = clock_mono_ns(), due_ns = begin_ns + interval_ns;
        struct progress p = { .status = EXIT_OK };
        bool said = false;
        int r = 0;

        while (r == 0 && !p.over && !(t->once && p.complete) && !signals_stop()) {
                uint64_t now_ns = clock_mono_ns();

                take(t, now_ns < due_ns ? (int)((due_ns - now_ns) / 1000000) + 1 : 0, &p);
                now_ns = clock_mono_ns();
                if (now_ns < due_ns)
                        continue;
                due_ns = now_ns + interval_ns;
                if (!t->once && p.complete)
                        r = report(t);
                else if (feed_is_live(t->feed) && !p.complete && !said && now_ns - begin_ns > 2 * REPORT_NS) {
                        say_waiting(t);
                        said = true;
                }
        }
        if (r == 0 && p.complete && (t->once || p.over) && !signals_stop())
                r = report(t);
        return r == 0 || r == -EPIPE ? p.status : EXIT_USAGE;
}

/* -------------------------------------------------------------------- both */

static int print(struct top *t)
{
        int status = EXIT_USAGE;

        t->console = console_new(t->view, feed_is_live(t->feed));
        if (!t->console) {
                command_error(&command_top, "out of memory");
                return status;
        }
        t->console->scene.endpoint = endpoint_of;
        t->console->scene.endpoint_ctx = t->feed;
        t->console->recall = recall_new(feed_requester(t->feed));
        status = plain(t);
        console_destroy(&t->console);
        return status;
}

static int show(struct top *t)
{
        bool drawn = !t->plain && screen_possible();
        char error[512];
        int status;

        if (drawn)
                screen_hold_messages();
        t->feed = open_feed(t, error, sizeof(error));
        if (!t->feed) {
                screen_release_messages();
                command_error(&command_top, "%s", error);
                return EXIT_USAGE;
        }
        if (drawn)
                status = console_run(t->feed, t->view, t->view_name, t->targets.n == 1 ? t->targets.items[0] : NULL,
                                     t->interval_ns ? t->interval_ns : PICTURE_NS);
        else
                status = print(t);
        feed_close(&t->feed);
        screen_release_messages();
        return status;
}

static int run(int argc, char **argv)
{
        struct top *t = calloc(1, sizeof(*t));
        int status = EXIT_USAGE;

        if (t && !parse(t, argc, argv)) {
                signals_catch();
                t->view = world_new();
                if (t->view)
                        status = show(t);
                world_destroy(&t->view);
        }
        free(t);
        signals_die();
        return status;
}
