/* SPDX-License-Identifier: BSD-3-Clause */
/* top.c - `heapwatch top`: options, then the screen (loop.c) or text (plain.c). */
#include "client/cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/absent.h"
#include "client/console/console.h"
#include "client/world/feed/selection.h"
#include "client/launch/program/own_daemon.h"
#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"

#define PICTURE_NS UINT64_C(100000000)  /* the screen: at most ten frames a second */
#define ABSENT_NS  UINT64_C(5000000000) /* --once: a daemon that has not answered by then is not there */
#define RESTART_MS 2000                 /* for a daemon that is started again to listen */
#define REPORT_NS  UINT64_C(1000000000) /* --plain: a report a second by default */

struct top {
        struct selection from;
        bool plain, once, json;
        int format;            /* -1: not given; else json, or text */
        const char *view_name; /* NULL: the default one */
        uint64_t interval_ns;  /* 0: the default */
        struct feed *feed;
        struct world *world;
        struct console *console; /* of reports */
};

/* ----------------------------------------------------------------- options */

static const char *nth_view(size_t n)
{
        for (size_t i = 0; console_views[i]; i++)
                if (console_views[i]->letter && !n--)
                        return console_views[i]->name;
        return NULL;
}

static const struct option options[] = {
        OPERAND(OPTION_IS_LIST, "TARGET|FILE...", struct text_list, 0, 0, struct top, from.operands,
                COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_CONNECT(struct top, from.endpoints),
        OPTION_FLAG("plain", 'p', struct top, plain,
                    "print text instead of drawing; also when standard output is not a terminal, or TERM=dumb"),
        OPTION_FLAG("once", '1', struct top, once, "one report, when the state is complete (a FILE: at its end)"),
        OPTION_NAME("view", 'v', "NAME", struct top, view_name, nth_view, "{}: the one to begin with, or to print"),
        OPTION_CHOICE("format", 'f', "text|json", int, struct top, format, option_formats,
                      "print each report as text, or as a line of JSON: bytes, nanoseconds and fractions as plain "
                      "numbers, unknown ones as null"),
        OPTION_SECONDS("interval", 'i', "S", struct top, interval_ns, UINT64_C(10000000), UINT64_C(86400000000000),
                       "seconds between reports (default 1) or frames (default 0.1)"),
        OPTIONS_END,
};

static int check_request(void *filled)
{
        struct top *t = filled;

        t->json = t->format == 1;
        t->plain = t->plain || t->once || t->format >= 0;
        return selection_check(&command_top, &t->from);
}

/* -------------------------------------------------------------------- text */

static int text_width(void)
{
        const char *columns = getenv("COLUMNS");
        long n = columns ? strtol(columns, NULL, 10) : 0;

        return n >= 40 && n <= 400 ? (int)n : 100;
}

static int report_end(const struct top *t)
{
        struct plain_options o = {
                .view = t->view_name,
                .targets = t->from.targets.items,
                .n_targets = t->from.targets.n,
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
        bool said;     /* that a daemon does not answer */
        bool shown;    /* a report was made */
        int status;
};

/* Reports that no daemon answers there. */
static void report_absent(const struct top *t, size_t daemon, struct progress *p)
{
        char text[ABSENT_TEXT];

        command_error(&command_top, "%s%s",
                      t->once ? "" : "waiting: ", absent_daemon(text, sizeof(text), feed_endpoint(t->feed, daemon)));
        p->said = true;
        if (t->once)
                p->status = EXIT_USAGE;
}

/*
 * A daemon falls silent, or answers again: the readers of a journal must see that, whatever the view shows. Of one that
 * has never answered report_absent() says so, where it is the only one.
 */
static void set_silent(const struct top *t, size_t daemon, bool silent)
{
        const struct world_daemon *d = world_daemon(t->world, daemon);
        const bool was_silent = d && d->stale, heard = d && d->heard_wall_ns;

        if (!t->once && silent != was_silent && (heard || feed_daemons(t->feed) > 1))
                command_error(&command_top, "%s %s", feed_endpoint(t->feed, daemon),
                              silent ? "is silent; waiting for it" : "is back");
        world_set_stale(t->world, daemon, silent);
}

static void receive_update(const struct top *t, int timeout_ms, struct progress *p)
{
        const Hw__Update *update = NULL;
        enum feed_event event = feed_next(t->feed, timeout_ms, &update);
        size_t daemon = feed_daemon(t->feed);

        if (event == FEED_UPDATE)
                console_watch(t->console, daemon, update);
        if (event == FEED_UPDATE && world_apply(t->world, daemon, update) < 0) {
                command_error(&command_top, "out of memory");
                p->over = true;
                p->status = EXIT_USAGE;
        } else if (event == FEED_RESET) {
                console_forget(t->console, daemon);
                world_reset(t->world, daemon);
        } else if (event == FEED_STALE || event == FEED_ALIVE) {
                set_silent(t, daemon, event == FEED_STALE);
                if (event == FEED_STALE && t->once && feed_daemons(t->feed) > 1)
                        report_absent(t, daemon, p);
                p->complete = p->complete || feed_complete(t->feed);
        } else if (event == FEED_READY) {
                set_silent(t, daemon, false);
                p->complete = feed_complete(t->feed);
        } else if (event == FEED_END) {
                p->complete = p->over = true;
        } else if (event == FEED_FAILED) {
                command_error(&command_top, "%s", feed_error(t->feed));
                p->complete = p->over = true;
                p->status = EXIT_USAGE;
        }
}

/* Looks for the given targets once the state is complete, and reports missing ones. */
static int find_targets(const struct top *t, int status)
{
        for (size_t i = 0; i < t->from.targets.n; i++)
                if (!world_find(t->world, t->from.targets.items[i]))
                        status = absent_target(&command_top, feed_endpoint(t->feed, 0), t->from.targets.items[i]);
        return status;
}

/* Whether targets were named and the daemon has none of them: waiting for one is no report. */
static bool none_found(const struct top *t)
{
        for (size_t i = 0; i < t->from.targets.n; i++)
                if (world_find(t->world, t->from.targets.items[i]))
                        return false;
        return t->from.targets.n > 0 && feed_is_live(t->feed);
}

static int print_plain(const struct top *t)
{
        uint64_t interval_ns = t->interval_ns ? t->interval_ns : REPORT_NS;
        uint64_t begin_ns = clock_mono_ns(), due_ns = begin_ns + interval_ns;
        struct progress p = { .status = EXIT_OK };
        int r = 0;

        if (t->once && feed_is_live(t->feed) && feed_daemons(t->feed) == 1 &&
            absent_at_once(feed_endpoint(t->feed, 0))) {
                report_absent(t, 0, &p);
                return p.status;
        }
        while (r == 0 && !p.over && !(t->once && p.complete) && !signals_stop()) {
                uint64_t now_ns = clock_mono_ns();

                receive_update(t, now_ns < due_ns ? (int)((due_ns - now_ns) / 1000000) + 1 : 0, &p);
                now_ns = clock_mono_ns();
                if (now_ns < due_ns)
                        continue;
                due_ns = now_ns + interval_ns;
                if (!t->once && p.complete && !p.shown && none_found(t)) {
                        p.over = true;
                        p.complete = false;
                        p.status = find_targets(t, p.status);
                        continue;
                }
                p.shown |= p.complete;
                if (!t->once && p.complete)
                        r = report_end(t);
                else if (feed_is_live(t->feed) && !p.complete &&
                         now_ns - begin_ns > (t->once ? ABSENT_NS : 2 * REPORT_NS)) {
                        if (!p.said)
                                report_absent(t, 0, &p);
                        p.over = t->once;
                }
        }
        if (t->once && p.complete && feed_is_live(t->feed))
                p.status = find_targets(t, p.status);
        if (r == 0 && p.complete && (t->once || p.over) && (p.status == EXIT_OK || world_has_run(t->world)) &&
            !signals_stop())
                r = report_end(t);
        if (r == 0 || r == -EPIPE)
                return p.status;
        return command_error(&command_top, "cannot write: %s", strerror(-r));
}

/* -------------------------------------------------------------------- both */

static int print_once(struct top *t)
{
        int status = EXIT_USAGE;

        t->console = console_new(t->world, feed_is_live(t->feed));
        if (!t->console) {
                command_error(&command_top, "out of memory");
                return status;
        }
        t->console->scene.endpoint = feed_endpoint_of;
        t->console->scene.endpoint_ctx = t->feed;
        t->console->scene.recall = recall_new(feed_requester(t->feed));
        status = print_plain(t);
        console_destroy(&t->console);
        return status;
}

static int show_console(struct top *t)
{
        bool drawn = !t->plain && screen_possible();
        struct own_daemon started;
        struct error error;
        int status;

        /* The user's daemon, if it has died. */
        if (t->from.files.n == 0 && t->from.endpoints.n == 0 && own_daemon_restart(RESTART_MS, &started))
                fprintf(stderr, "heapwatch top: %s\n", started.text);
        if (drawn)
                screen_hold_messages();
        t->feed = selection_open(&t->from, NULL, 0, &error);
        if (!t->feed) {
                screen_release_messages();
                return command_error(&command_top, "%s", error.text);
        }
        if (drawn)
                status = console_run(t->feed, t->world, t->view_name,
                                     t->from.targets.n == 1 ? t->from.targets.items[0] : NULL,
                                     t->interval_ns ? t->interval_ns : PICTURE_NS);
        else
                status = print_once(t);
        feed_close(&t->feed);
        screen_release_messages();
        return status;
}

static int run_top(void *filled)
{
        struct top *t = filled;
        int status = EXIT_USAGE;

        t->world = world_new(&console_past);
        if (t->world)
                status = show_console(t);
        world_destroy(&t->world);
        return status;
}

const struct command command_top = {
        .name = "top",
        .summary = "watch memory, collections and bands on the terminal",
        .usage = TEXTS("[--connect EP]... [TARGET]... [OPTION]...", "FILE... [OPTION]..."),
        .about = "Shows memory, collections, bands, notes and the health of the stream: live from the daemon, or of "
                 "finished eventlogs. An argument with a slash, one that ends in .eventlog or one that names an "
                 "existing file is a FILE.",
        .options = options,
        .notes = "Keys: q quit, ? explains every key and every number of a view. Colours only on a terminal; NO_COLOR "
                 "is respected.",
        .status = "0 all was shown, 2 usage, a daemon does not answer, no such target, or a file cannot be read.",
        .examples = TEXTS("heapwatch top api-1", "heapwatch top --plain --once run.eventlog",
                          "heapwatch top --once --view bands --format json api-1"),
        .size = sizeof(struct top),
        .defaults = &(const struct top){ .format = -1 },
        .check = check_request,
        .run = run_top,
        .stops = true,
};
