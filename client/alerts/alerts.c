/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alerts.c - `heapwatch alerts`: what fires, why and since when; and an exit
 * status for those who only want to know whether.
 *
 * DESIGN: asked once, it takes the snapshot of every daemon and ends. Following,
 * each change is a line. Finished logs are read to their end: then everything
 * that fired in them is listed.
 */
#include "client/cli/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/alerts/known.h"
#include "client/alerts/print.h"
#include "client/alerts/severity.h"
#include "client/feed/feed.h"
#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "proto/base/clock.h"

struct alerts {
        struct text_list endpoints, files, targets;
        struct text_list daemon_args; /* how files are judged: passed on */
        bool follow, json;
        enum severity fail_on;
        struct known known;
        bool ready[OPTIONS_MAX]; /* daemons that have told all they know */
        size_t n_ready;
        bool started; /* following: what was before has been printed */
};

static const char help[] =
        "usage: heapwatch alerts [--follow] [--target NAME]... [--connect EP]... [FILE]...\n"
        "\n"
        "Shows which alerts fire or are pending: the rule, the target, the value, since\n"
        "when, and why; whether they are silenced, and what became of their actions.\n"
        "With finished eventlogs: every alert that fired in them, by the built-in rules and\n"
        "those of --rules; nothing is done about them.\n"
        "\n"
        "  --follow, -f              then a line for each change, until interrupted\n"
        "  --format text|json        json: one alert a line, with its target\n"
        "  --fail-on SEVERITY        info (default), warning or critical: end with 1 only\n"
        "                            if an alert of at least this severity fires\n"
        "  --target NAME, -t         only this target; may be repeated\n"
        "  --connect EP              a daemon's publish endpoint; may be repeated\n"
        "  --rules RULES             with files: a rule file; may be repeated\n"
        "  --resolution TIME, --leak-after TIME, --limit BYTES\n"
        "                            with files: how to judge growth, as for heapwatch check\n"
        "\n"
        "Exit status: 0 nothing fires, 1 something fires (silenced or not),\n"
        "2 usage, a daemon does not answer, a file cannot be read.\n"
        "\n"
        "Examples:\n"
        "  heapwatch alerts --fail-on critical || page-somebody\n"
        "  heapwatch alerts --follow --format json | jq .alert.sentence\n";

static int run(int argc, char **argv);

const struct command command_alerts = {
        .name = "alerts",
        .summary = "what fires, why and since when; the exit status tells too",
        .help = help,
        .run = run,
};

/* ----------------------------------------------------------------- options */

static int parse_option(struct alerts *a, int o)
{
        switch (o) {
        case 'f':
                a->follow = true;
                return 0;
        case 'o':
                a->json = !strcmp(optarg, "json");
                if (a->json || !strcmp(optarg, "text"))
                        return 0;
                return command_usage_error(&command_alerts, "unknown format '%s'; expected text or json", optarg);
        case 's':
                return severity_option(&command_alerts, optarg, &a->fail_on);
        case 't':
                return options_add(&command_alerts, &a->targets, optarg);
        case 'c':
                return options_add(&command_alerts, &a->endpoints, optarg);
        case 'r':
                return options_pass_on(&command_alerts, &a->daemon_args, "--rules", optarg);
        case 'R':
        case 'L':
        case 'M':
                return options_of_trend(&command_alerts, &a->daemon_args, o, optarg);
        default:
                return command_usage_error(&command_alerts, "unknown option or missing value");
        }
}

static int parse(struct alerts *a, int argc, char **argv)
{
        static const struct option options[] = {
                { "follow", no_argument, NULL, 'f' },
                { "format", required_argument, NULL, 'o' },
                { "fail-on", required_argument, NULL, 's' },
                { "target", required_argument, NULL, 't' },
                { "connect", required_argument, NULL, 'c' },
                { "rules", required_argument, NULL, 'r' },
                OPTIONS_OF_TREND,
                { NULL, 0, NULL, 0 },
        };
        int o, bad = 0;

        optind = 1;
        while (!bad && (o = getopt_long(argc, argv, "ft:c:", options, NULL)) != -1)
                bad = parse_option(a, o);
        for (int i = optind; !bad && i < argc; i++)
                bad = options_add(&command_alerts, &a->files, argv[i]);
        if (!bad && a->files.n && a->endpoints.n)
                bad = command_usage_error(&command_alerts, "give files or --connect, not both");
        if (!bad && a->daemon_args.n && !a->files.n)
                bad = command_usage_error(&command_alerts, "%s is for files; a daemon has its own",
                                          a->daemon_args.items[0]);
        return bad;
}

/* ------------------------------------------------------------------ output */

static void print_change(void *ctx, const struct known_alert *k)
{
        struct alerts *a = ctx;

        if (!a->started)
                return;
        if (a->json)
                alert_print_json(k);
        else
                alert_print_change(k);
}

static bool is_shown(const struct alerts *a, const struct known_alert *k)
{
        return known_fires(k->alert) || k->alert->state == HW__ALERT__STATE__STATE_PENDING || (a->files.n && k->fired);
}

static void print_all(struct alerts *a)
{
        uint64_t now = a->files.n ? 0 : clock_wall_ns();
        size_t shown = 0;

        known_sort(&a->known);
        for (size_t i = 0; i < a->known.n; i++) {
                if (!is_shown(a, a->known.alerts[i]))
                        continue;
                shown++;
                if (a->json)
                        alert_print_json(a->known.alerts[i]);
                else
                        alert_print_text(a->known.alerts[i], now);
        }
        if (!shown && !a->json)
                (void)printf(a->files.n ? "nothing fired\n" : "nothing fires\n");
        if (a->known.left_out)
                command_error(&command_alerts, "%llu alerts are not shown: there are too many",
                              (unsigned long long)a->known.left_out);
}

static int exit_status(const struct alerts *a)
{
        for (size_t i = 0; i < a->known.n; i++) {
                const struct known_alert *k = a->known.alerts[i];
                bool counts = a->files.n ? k->fired : known_fires(k->alert);

                if (counts && severity_of(k->alert->severity) >= a->fail_on)
                        return EXIT_FINDING;
        }
        return EXIT_OK;
}

/* -------------------------------------------------------------------- feed */

static bool wanted(const struct alerts *a, const char *target)
{
        for (size_t i = 0; i < a->targets.n; i++)
                if (!strcmp(a->targets.items[i], target))
                        return true;
        return a->targets.n == 0;
}

static int take(struct alerts *a, size_t daemon, const Hw__Update *u)
{
        if (!u->target || !wanted(a, u->target))
                return 0;
        if (u->body_case == HW__UPDATE__BODY_ALERTS)
                return known_take(&a->known, daemon, u->target, u->alerts);
        if (u->body_case == HW__UPDATE__BODY_TARGET_STATE && u->target_state->has_state &&
            u->target_state->state == HW__TARGET__STATE__STATE_REMOVED)
                known_forget(&a->known, daemon, u->target);
        return 0;
}

/* All daemons have told what they know: prints it. Returns false when that was all that was asked. */
static bool all_ready(struct alerts *a)
{
        if (!a->started)
                print_all(a);
        a->started = true;
        return a->follow;
}

static bool ready(struct alerts *a, size_t daemon)
{
        size_t daemons = a->endpoints.n ? a->endpoints.n : 1;

        if (daemon < OPTIONS_MAX && !a->ready[daemon]) {
                a->ready[daemon] = true;
                a->n_ready++;
        }
        return a->n_ready < daemons || all_ready(a);
}

static bool silent(struct alerts *a, const struct feed *feed, int *ret_status)
{
        command_error(&command_alerts, "no daemon answers at %s%s", feed_endpoint(feed, feed_daemon(feed)),
                      a->follow ? "; waiting for it" : "; start one with: heapwatchd FILE");
        if (!a->follow)
                *ret_status = EXIT_USAGE;
        return a->follow;
}

/* One event. Returns false at the end, with the exit status. */
static bool handle(struct alerts *a, struct feed *feed, int *ret_status)
{
        const Hw__Update *update = NULL;
        int r = 0;

        *ret_status = EXIT_OK;
        switch (feed_next(feed, 500, &update)) {
        case FEED_UPDATE:
                r = take(a, feed_daemon(feed), update);
                break;
        case FEED_RESET:
                known_forget(&a->known, feed_daemon(feed), NULL);
                break;
        case FEED_READY:
                if (feed_is_live(feed) && !ready(a, feed_daemon(feed))) {
                        *ret_status = exit_status(a);
                        return false;
                }
                break;
        case FEED_STALE:
                return silent(a, feed, ret_status);
        case FEED_END:
                print_all(a);
                *ret_status = exit_status(a);
                return false;
        case FEED_FAILED:
                command_error(&command_alerts, "%s", feed_error(feed));
                *ret_status = EXIT_USAGE;
                return false;
        case FEED_ALIVE:
        case FEED_NOTHING:
                break;
        }
        if (r == 0 && fflush(stdout) == 0)
                return true;
        if (r < 0)
                command_error(&command_alerts, "%s", strerror(-r));
        *ret_status = EXIT_USAGE;
        return false;
}

static struct feed *open_feed(const struct alerts *a, char *error, size_t size)
{
        static const Hw__Kind kinds[] = { HW__KIND__KIND_ALERT };
        const struct hw_subscriber_options o = {
                .endpoints = a->endpoints.n ? a->endpoints.items : NULL,
                .n_endpoints = a->endpoints.n,
                .targets = a->targets.n ? a->targets.items : NULL,
                .n_targets = a->targets.n,
                .kinds = kinds,
                .n_kinds = 1,
        };

        if (!a->files.n)
                return feed_connect(&o, error, size);
        return feed_files(a->files.items, a->files.n, a->daemon_args.items, error, size);
}

static int watch(struct alerts *a)
{
        char error[512];
        struct feed *feed = open_feed(a, error, sizeof(error));
        int status = EXIT_OK;

        if (!feed) {
                command_error(&command_alerts, "%s", error);
                return EXIT_USAGE;
        }
        a->known.keep = a->files.n > 0;
        a->started = a->files.n > 0 && a->follow;
        a->known.changed = a->follow ? print_change : NULL;
        a->known.ctx = a;
        while (!signals_stop() && handle(a, feed, &status))
                continue;
        feed_close(&feed);
        return status;
}

static int run(int argc, char **argv)
{
        struct alerts *a = calloc(1, sizeof(*a));
        int status = EXIT_USAGE;

        if (a && !parse(a, argc, argv)) {
                signals_catch();
                status = watch(a);
                known_done(&a->known);
        }
        free(a);
        signals_die();
        return status;
}
