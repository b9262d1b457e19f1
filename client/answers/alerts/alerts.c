/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alerts.c - `heapwatch alerts`: what fires, why and since when; and an exit
 * status for scripts that only want to know whether anything does.
 *
 * DESIGN: without --follow it reads the snapshot of every daemon and ends. With
 * it, each change is a line. Finished logs are read to their end, then
 * everything that fired in them is listed.
 */
#include "client/cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/absent.h"
#include "client/answers/alerts/known.h"
#include "proto/base/severity.h"
#include "client/world/feed/selection.h"
#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"

struct alerts {
        struct selection from;
        bool follow, json;
        int fail_on; /* enum severity */
        int clock;   /* of moments: 0 wall, 1 run; -1: wall of a daemon's alerts, run of a log's */
        struct known known;
        bool ready[OPTIONS_MAX]; /* daemons whose snapshot is complete */
        size_t n_ready;
        bool found[OPTIONS_MAX]; /* those of from.targets that a daemon has */
        bool quiet;              /* nothing has come: whether anybody listens is worth a look */
        uint64_t began_ms;       /* waiting for daemons, by the monotonic clock */
        bool started;            /* with --follow: the snapshot has been printed */
};

/* ----------------------------------------------------------------- options */

static const char *const clocks[] = { "wall", "run", NULL };

static const struct option options[] = {
        OPERAND_LIST("TARGET|FILE...", 0, struct alerts, from.operands, COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_FLAG("follow", 'f', struct alerts, follow, "then a line for each change, until interrupted"),
        OPTION_CHOICE("format", 0, "text|json", bool, struct alerts, json, option_formats,
                      "json: one alert a line, with its target"),
        OPTION_CHOICE("fail-on", 0, "SEVERITY", int, struct alerts, fail_on, severity_names,
                      "info (default), warning or critical: end with 1 only if an alert of at least this severity "
                      "fires"),
        OPTION_LIST("target", 't', "NAME", struct alerts, from.targets, COMPLETE_TARGET,
                    "only this target, as TARGET itself; may be repeated"),
        OPTION_CHOICE("clock", 0, "wall|run", int, struct alerts, clock, clocks,
                      "moments as the time of day (default, of a daemon) or as the time of the run (of finished logs)"),
        OPTION_CONNECT(struct alerts, from.endpoints),
        OPTION_RULES(struct alerts, from.judging),
        OPTIONS_OF_TREND(struct alerts, from.judging),
        OPTIONS_END,
};

static int check_request(void *filled)
{
        struct alerts *a = filled;

        return selection_check(&command_alerts, &a->from);
}

/* ------------------------------------------------------------------ output */

static struct alert_clock clock_of(const struct alerts *a)
{
        return (struct alert_clock){
                .wall = a->clock < 0 ? !a->from.files.n : !a->clock,
                .now_wall_ns = a->from.files.n ? 0 : clock_wall_ns(),
        };
}

static void print_change(void *ctx, const struct known_alert *k)
{
        struct alerts *a = ctx;

        if (!a->started || (!a->json && known_is_part(&a->known, k)))
                return;
        if (a->json)
                alert_print_json(k);
        else
                alert_print_change(k, clock_of(a));
}

static bool is_shown(const struct alerts *a, const struct known_alert *k)
{
        if (k->removed_ns)
                return false;
        return known_fires(k->alert) || k->alert->state == HW__ALERT__STATE__STATE_PENDING ||
               (a->from.files.n && k->fired);
}

/* A part is printed below its whole, whatever the filters. */
static void print_whole(const struct alerts *a, const struct known_alert *k, struct alert_clock clock)
{
        if (known_is_part(&a->known, k))
                return;
        alert_print_text(k, clock);
        alert_print_parts(&a->known, k, clock);
}

static void print_all(struct alerts *a)
{
        const struct alert_clock clock = clock_of(a);
        size_t shown = 0;

        known_sort(&a->known);
        for (size_t i = 0; i < a->known.n; i++) {
                if (!is_shown(a, a->known.alerts[i]))
                        continue;
                shown++;
                if (a->json)
                        alert_print_json(a->known.alerts[i]);
                else
                        print_whole(a, a->known.alerts[i], clock);
        }
        if (!shown && !a->json)
                (void)printf(a->from.files.n ? "nothing fired\n" : "nothing fires\n");
        if (a->known.left_out)
                command_error(&command_alerts, "%llu alerts are not shown: there are too many",
                              (unsigned long long)a->known.left_out);
}

static int exit_status(const struct alerts *a)
{
        for (size_t i = 0; i < a->known.n; i++) {
                const struct known_alert *k = a->known.alerts[i];
                bool counts = a->from.files.n ? k->fired : known_fires(k->alert);

                if (counts && !k->removed_ns && (int)severity_of(k->alert->severity) >= a->fail_on)
                        return EXIT_FINDING;
        }
        return EXIT_OK;
}

/* -------------------------------------------------------------------- feed */

static int apply_update(struct alerts *a, size_t daemon, const Hw__Update *u)
{
        if (!u->target || !selection_has_target(&a->from, u->target))
                return 0;
        for (size_t i = 0; i < a->from.targets.n; i++)
                a->found[i] |= !strcmp(a->from.targets.items[i], u->target);
        if (u->body_case == HW__UPDATE__BODY_ALERTS)
                return known_add(&a->known, daemon, u->target, u->alerts, clock_mono_ns());
        if (u->body_case == HW__UPDATE__BODY_TARGET_STATE && u->target_state->has_state &&
            u->target_state->state == HW__TARGET__STATE__STATE_REMOVED)
                known_remove_target(&a->known, daemon, u->target, clock_mono_ns());
        return 0;
}

/* That nothing fires must not be printed of a target that no daemon has, such as a misspelled one. */
static bool all_found(const struct alerts *a, const struct feed *feed)
{
        bool all = true;

        for (size_t i = 0; i < a->from.targets.n; i++) {
                if (!a->found[i])
                        (void)absent_target(&command_alerts, feed_endpoint(feed, 0), a->from.targets.items[i]);
                all &= a->found[i];
        }
        return all;
}

/* The snapshots of all daemons are complete: prints it. Returns false when that was all, with the exit status. */
static bool all_ready(struct alerts *a, const struct feed *feed, int *ret_status)
{
        if (!a->started && !all_found(a, feed)) {
                *ret_status = EXIT_USAGE;
                return false;
        }
        if (!a->started)
                print_all(a);
        a->started = true;
        *ret_status = exit_status(a);
        return a->follow;
}

static bool finish_reading(struct alerts *a, const struct feed *feed, int *ret_status)
{
        const size_t daemons = a->from.endpoints.n ? a->from.endpoints.n : 1, daemon = feed_daemon(feed);

        if (daemon < OPTIONS_MAX && !a->ready[daemon]) {
                a->ready[daemon] = true;
                a->n_ready++;
        }
        return a->n_ready < daemons || all_ready(a, feed, ret_status);
}

/* Reports a daemon that has not answered, without --follow. True: all have, or there is time left. */
static bool is_answered(const struct alerts *a, const struct feed *feed, int *ret_status)
{
        const size_t daemons = feed_is_live(feed) && !a->follow ? feed_daemons(feed) : 0;
        const bool late = clock_mono_ms() - a->began_ms >= ABSENT_MS;
        char text[ABSENT_TEXT];

        for (size_t i = 0; i < daemons && i < OPTIONS_MAX; i++) {
                const char *endpoint = feed_endpoint(feed, i);
                if (a->ready[i] || (!late && !(a->quiet && absent_at_once(endpoint))))
                        continue;
                *ret_status = EXIT_USAGE;
                command_error(&command_alerts, "%s", absent_daemon(text, sizeof(text), endpoint));
                return false;
        }
        return true;
}

/* One event. Returns false at the end, with the exit status. */
static bool handle_feed(struct alerts *a, struct feed *feed, int *ret_status)
{
        const Hw__Update *update = NULL;
        int r = 0;

        *ret_status = EXIT_OK;
        const enum feed_event event = feed_next(feed, 500, &update);
        a->quiet = event == FEED_NOTHING;
        switch (event) {
        case FEED_UPDATE:
                r = apply_update(a, feed_daemon(feed), update);
                break;
        case FEED_RESET:
                known_begin_resync(&a->known, feed_daemon(feed));
                break;
        case FEED_READY:
                known_end_resync(&a->known, feed_daemon(feed));
                if (feed_is_live(feed) && !finish_reading(a, feed, ret_status))
                        return false;
                break;
        case FEED_STALE:
                if (a->follow)
                        command_error(&command_alerts, "no daemon answers at %s; waiting for it",
                                      feed_endpoint(feed, feed_daemon(feed)));
                break;
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

static struct feed *open_feed(const struct alerts *a, struct error *error)
{
        static const Hw__Kind kinds[] = { HW__KIND__KIND_ALERT };
        return selection_open(&a->from, kinds, 1, error);
}

static int watch_alerts(struct alerts *a)
{
        struct error error;
        struct feed *feed = open_feed(a, &error);
        int status = EXIT_OK;

        if (!feed)
                return command_error(&command_alerts, "%s", error.text);
        a->known.keep = a->from.files.n > 0;
        a->started = a->from.files.n > 0 && a->follow;
        a->known.changed = a->follow ? print_change : NULL;
        a->known.ctx = a;
        a->began_ms = clock_mono_ms();
        a->quiet = true;
        while (!signals_stop() && is_answered(a, feed, &status) && handle_feed(a, feed, &status))
                continue;
        feed_close(&feed);
        return status;
}

static int run_alerts(void *filled)
{
        struct alerts *a = filled;
        const int status = watch_alerts(a);

        known_done(&a->known);
        return status;
}

const struct command command_alerts = {
        .name = "alerts",
        .summary = "what fires, why and since when, and an exit status",
        .usage = TEXTS("[OPTION]... [TARGET|FILE]..."),
        .about =
                "Shows which alerts fire or are pending: the rule, the target, the value, since when, and why; whether "
                "they are silenced, and what became of their actions. With finished eventlogs: every alert that fired "
                "in them, by the built-in rules and those of --rules; nothing is done about them.",
        .options = options,
        .status =
                "0 nothing fires, 1 something fires (silenced or not), 2 usage, a daemon does not answer or has no "
                "such target, a file "
                "cannot be read.",
        .examples = TEXTS("heapwatch alerts --fail-on critical || page-somebody",
                          "heapwatch alerts --follow --format json | jq .alert.sentence"),
        .size = sizeof(struct alerts),
        .defaults = &(const struct alerts){ .clock = -1 },
        .check = check_request,
        .run = run_alerts,
        .stops = true,
        .offline = true,
};
