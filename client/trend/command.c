/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command.c - `heapwatch trend`: does it leak, where, since when, until when.
 *
 * DESIGN: from a daemon the snapshot is all that is needed: it is printed when
 * all of it is there. Of files each run is printed when the next one begins.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/cli/command.h"
#include "client/feed/feed.h"
#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "client/trend/trend.h"

#define WAIT_MS 5000 /* for a daemon's snapshot */

static const char help[] =
        "usage: heapwatch trend [TARGET]... [--connect ENDPOINT]... [OPTIONS]\n"
        "       heapwatch trend FILE... [OPTIONS]\n"
        "\n"
        "Says of each target, or of each run in finished eventlogs, whether memory leaks, where\n"
        "it grows, since when, and when it meets the limit; then a row for each series and for\n"
        "the bands of the heap profile: verdict (unknown, steady, growing, leak), size now,\n"
        "robust slope with its interval, what it gained at least over the window that decided,\n"
        "the length of that window, and the time in the run at which growth began.\n"
        "docs/VERDICT.md tells how a verdict is found. An argument that names a file is one.\n"
        "\n"
        "  --format text|json    text (default), or one object a line with all numbers\n"
        "  --sort KEY            order of bands: gained (default), slope, size, name\n"
        "  --bands N             bands shown (default 10)\n"
        "  --windows             statistics over 10 m, 1 h, 6 h, 24 h and the run under each row\n"
        "  --fail-on VERDICT     end with 1 when something is growing, or a leak\n"
        "  --connect ENDPOINT    a daemon's publish endpoint; may be repeated\n"
        "  --resolution TIME, --leak-after TIME, --limit BYTES\n"
        "                        with FILE: how to judge, see heapwatchd(8)\n"
        "\n"
        "Ends with 0, 1 as --fail-on says, 2 when there is nothing to read.\n"
        "\n"
        "Examples:\n"
        "  heapwatch trend api-1\n"
        "  heapwatch trend run.eventlog --resolution 1s --fail-on leak\n"
        "  heapwatch trend --format json run.eventlog | jq .trends.growth.where\n";

enum { DAEMON_ARGS = 6 };

struct request {
        struct text_list endpoints, targets, files;
        struct trend_show show;
        bool json;
        Hw__Verdict fail_on; /* UNKNOWN: never */
        struct text_list daemon_args;
};

struct reading {
        const struct request *request;
        struct world *view;
        size_t printed;
        Hw__Verdict worst;
};

static int run(int argc, char **argv);

const struct command command_trend = {
        .name = "trend",
        .summary = "does it leak, where, since when, until when",
        .help = help,
        .run = run,
};

/* -------------------------------------------------------------- options */

static int choose(const char *option, const char *text, const char *const *words, int n, int *ret)
{
        for (int i = 0; i < n; i++) {
                if (strcmp(text, words[i]))
                        continue;
                *ret = i;
                return 0;
        }
        return command_usage_error(&command_trend, "%s: '%s' is none of %s, %s%s%s%s%s", option, text, words[0],
                                   words[1], n > 2 ? ", " : "", n > 2 ? words[2] : "", n > 3 ? ", " : "",
                                   n > 3 ? words[3] : "");
}

static int set_bands(struct request *r, const char *text)
{
        char *end;
        unsigned long n = strtoul(text, &end, 10);

        if (text[0] < '0' || text[0] > '9' || *end || n > 100000)
                return command_usage_error(&command_trend, "--bands: '%s'; expected a number from 0 to 100000", text);
        r->show.bands = n;
        return 0;
}

static int take_option(struct request *r, int o)
{
        static const char *const formats[] = { "text", "json" };
        static const char *const orders[] = { "gained", "slope", "size", "name" };
        static const char *const verdicts[] = { "growing", "leak" };
        int choice = 0, bad = 0;

        switch (o) {
        case 'f':
                bad = choose("--format", optarg, formats, 2, &choice);
                r->json = choice == 1;
                return bad;
        case 's':
                bad = choose("--sort", optarg, orders, 4, &choice);
                r->show.order = (enum trend_order)choice;
                return bad;
        case 'x':
                bad = choose("--fail-on", optarg, verdicts, 2, &choice);
                r->fail_on = choice ? HW__VERDICT__VERDICT_LEAK : HW__VERDICT__VERDICT_GROWING;
                return bad;
        case 'b':
                return set_bands(r, optarg);
        case 'w':
                r->show.windows = true;
                return 0;
        case 'c':
                return options_add(&command_trend, &r->endpoints, optarg);
        case 'R':
        case 'L':
        case 'M':
                return options_of_trend(&command_trend, &r->daemon_args, o, optarg);
        default:
                return command_usage_error(&command_trend, "unknown option or missing value");
        }
}

static int take_argument(struct request *r, const char *text)
{
        struct stat st;
        bool is_file = strchr(text, '/') || stat(text, &st) == 0;

        return options_add(&command_trend, is_file ? &r->files : &r->targets, text);
}

static int parse(struct request *r, int argc, char **argv)
{
        static const struct option options[] = {
                { "connect", required_argument, NULL, 'c' },
                { "format", required_argument, NULL, 'f' },
                { "sort", required_argument, NULL, 's' },
                { "bands", required_argument, NULL, 'b' },
                { "windows", no_argument, NULL, 'w' },
                { "fail-on", required_argument, NULL, 'x' },
                OPTIONS_OF_TREND,
                { NULL, 0, NULL, 0 },
        };
        int o, bad = 0;

        optind = 1;
        while (!bad && (o = getopt_long(argc, argv, "c:f:s:b:w", options, NULL)) != -1)
                bad = take_option(r, o);
        for (int i = optind; !bad && i < argc; i++)
                bad = take_argument(r, argv[i]);
        if (!bad && r->files.n && (r->targets.n || r->endpoints.n))
                bad = command_usage_error(&command_trend, "%s is not a file; files and targets exclude each other",
                                          r->targets.n ? r->targets.items[0] : "--connect");
        if (!bad && !r->files.n && r->daemon_args.n)
                bad = command_usage_error(&command_trend, "%s belongs to files; a daemon has its own",
                                          r->daemon_args.items[0]);
        return bad;
}

/* --------------------------------------------------------------- output */

static void print(struct reading *r, const struct world_target *t)
{
        Hw__Verdict worst = trend_worst(t);

        if (!t->run)
                return;
        if (r->printed++ && !r->request->json)
                fputc('\n', stdout);
        if (r->request->json)
                trend_json(stdout, t);
        else
                trend_text(stdout, t, &r->request->show);
        if (worst > r->worst)
                r->worst = worst;
}

static bool wanted(const struct request *r, const char *name)
{
        for (size_t i = 0; i < r->targets.n; i++)
                if (!strcmp(r->targets.items[i], name))
                        return true;
        return r->targets.n == 0;
}

static void print_all(struct reading *r)
{
        for (size_t i = 0; i < world_targets(r->view); i++)
                if (wanted(r->request, world_target(r->view, i)->name))
                        print(r, world_target(r->view, i));
}

/* ------------------------------------------------------------- messages */

static int take(struct reading *r, size_t daemon, const Hw__Update *u)
{
        if (r->request->files.n && u->has_run && u->target) {
                const struct world_target *t = world_find(r->view, u->target);
                if (t && t->run && u->run > t->run)
                        print(r, t);
        }
        return world_apply(r->view, daemon, u);
}

static struct feed *open_feed(const struct request *r, char *error, size_t size)
{
        static const Hw__Kind kinds[] = { HW__KIND__KIND_TARGET, HW__KIND__KIND_BAND, HW__KIND__KIND_CENSUS,
                                          HW__KIND__KIND_TREND };
        struct hw_subscriber_options o = {
                .endpoints = r->endpoints.n ? r->endpoints.items : NULL,
                .n_endpoints = r->endpoints.n,
                .targets = r->targets.n ? r->targets.items : NULL,
                .n_targets = r->targets.n,
                .kinds = kinds,
                .n_kinds = sizeof(kinds) / sizeof(kinds[0]),
        };

        if (r->files.n)
                return feed_files(r->files.items, r->files.n, r->daemon_args.items, error, size);
        return feed_connect(&o, error, size);
}

/* Until all is there. False after reporting what went wrong. */
static bool read_all(struct reading *r, struct feed *feed)
{
        const Hw__Update *update = NULL;

        while (!signals_stop()) {
                switch (feed_next(feed, feed_is_live(feed) ? WAIT_MS : 500, &update)) {
                case FEED_UPDATE:
                        if (take(r, feed_daemon(feed), update) == 0)
                                break;
                        command_error(&command_trend, "out of memory");
                        return false;
                case FEED_RESET:
                        world_reset(r->view, feed_daemon(feed));
                        break;
                case FEED_READY:
                case FEED_END:
                        return true;
                case FEED_NOTHING:
                        if (!feed_is_live(feed))
                                break;
                        command_error(&command_trend, "%s does not answer; is heapwatchd running?",
                                      feed_endpoint(feed, 0));
                        return false;
                case FEED_FAILED:
                        command_error(&command_trend, "%s", feed_error(feed));
                        return false;
                default:
                        break;
                }
        }
        return false;
}

static int show(const struct request *request)
{
        struct reading r = { .request = request, .view = world_new() };
        char error[512] = "out of memory";
        struct feed *feed = r.view ? open_feed(request, error, sizeof(error)) : NULL;
        int status = EXIT_USAGE;

        if (!feed) {
                command_error(&command_trend, "%s", error);
                world_destroy(&r.view);
                return EXIT_USAGE;
        }
        bool good = read_all(&r, feed);
        print_all(&r);
        if (fflush(stdout) || ferror(stdout))
                good = errno == EPIPE;
        if (good && !r.printed)
                command_error(&command_trend, "there is no such target, or no run of it yet");
        else if (good)
                status = request->fail_on && r.worst >= request->fail_on ? EXIT_FINDING : EXIT_OK;
        feed_close(&feed);
        world_destroy(&r.view);
        return status;
}

static int run(int argc, char **argv)
{
        struct request r = { .show = { .bands = 10 } };
        int status = EXIT_USAGE;

        if (!parse(&r, argc, argv)) {
                signals_catch();
                status = show(&r);
        }
        signals_die();
        return status;
}
