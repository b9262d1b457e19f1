/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify.c - `heapwatch notify`: does what rules say when alerts fire.
 *
 * DESIGN: a loop with the connection to the daemon (acting.c) and what ends it:
 * signals, and if the daemon started it, the end of its standard input, whose
 * other side the kernel closes however the daemon dies.
 */
#include "client/cli/command.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "client/cli/signals.h"
#include "client/notify/acting.h"
#include "client/cli/report.h"
#include "heapwatch/wire.h"
#include "proto/base/error.h"
#include "proto/base/event.h"
#include "client/cli/options.h"
#include "proto/cli/options.h"
#include "proto/wire/state_path.h"

struct notify {
        const char *endpoint;
        bool attached;
        enum log_level level;
        struct event_base *base;
        struct event *signals[3], *lifeline;
};

static const struct option options[] = {
        OPTION_CONNECT_ONE(struct notify, endpoint, "the daemon's publish endpoint"),
        OPTION_CHOICE("log-level", 0, "LEVEL", enum log_level, struct notify, level, log_level_names,
                      "error, warning, info (default) or debug"),
        OPTION_FLAG("attached", 0, struct notify, attached,
                    "as a daemon starts it: takes its key from standard input, and ends when that ends"),
        OPTIONS_END,
};

/* The number that identifies us: from the daemon that started us, or our own. 0: none. */
static uint64_t lock_id(const struct notify *n)
{
        char line[32];
        uint64_t id = 0;

        if (!n->attached)
                return getrandom(&id, sizeof(id), 0) == sizeof(id) ? id : 0;
        if (!fgets(line, sizeof(line), stdin) || sscanf(line, "%16" SCNx64, &id) != 1)
                return 0;
        return id;
}

/* ---------------------------------------------------------------------- ends */

static void on_signal(evutil_socket_t number, short what, void *ctx)
{
        (void)what;
        signals_mark((int)number);
        (void)event_base_loopbreak(((struct notify *)ctx)->base);
}

static void on_lifeline(evutil_socket_t fd, short what, void *ctx)
{
        char ignored[64];
        ssize_t n = read(fd, ignored, sizeof(ignored));

        (void)what;
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
                (void)event_base_loopbreak(((struct notify *)ctx)->base);
}

static bool watch_for_the_end(struct notify *n)
{
        static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

        for (size_t i = 0; i < 3; i++) {
                n->signals[i] = evsignal_new(n->base, numbers[i], on_signal, n);
                if (!n->signals[i] || event_add(n->signals[i], NULL) != 0)
                        return false;
        }
        if (!n->attached)
                return true;
        n->lifeline = event_new(n->base, STDIN_FILENO, EV_READ | EV_PERSIST, on_lifeline, n);
        return n->lifeline && event_add(n->lifeline, NULL) == 0;
}

/* ----------------------------------------------------------------------- run */

static int act(struct notify *n, uint64_t id)
{
        char record[STATE_PATH_MAX], before[STATE_PATH_MAX];
        struct acting_options how = { .base = n->base, .endpoint = n->endpoint, .id = id, .attached = n->attached };

        if (state_path(record, sizeof(record), "notify", n->endpoint) == 0 &&
            state_path(before, sizeof(before), "state", n->endpoint) == 0) {
                how.record_path = record;
                how.record_before = before;
        } else {
                report_warning("there is no directory for what has to be kept over a restart; set XDG_STATE_HOME");
        }
        char reason[ERROR_TEXT_MAX];
        if (hw_endpoint_check(n->endpoint, reason, sizeof(reason)) < 0)
                return command_error(&command_notify, "%s", reason);
        struct acting *acting = acting_new(&how);
        if (!acting)
                return command_usage_error(&command_notify, "%s: %s", n->endpoint,
                                           errno == EINVAL
                                                   ? "malformed endpoint; expected ipc://PATH or tcp://HOST:PORT"
                                                   : strerror(errno));
        (void)event_base_dispatch(n->base);
        acting_destroy(&acting);
        return EXIT_OK;
}

static int run(void *filled)
{
        struct notify *n = filled;
        char publish[256], request[256];
        int status;

        report_set_level(n->level);
        if (!n->endpoint && hw_default_endpoints(publish, request, sizeof(publish)) == 0)
                n->endpoint = publish;
        if (!n->endpoint)
                return command_usage_error(&command_notify, "the default socket's path is too long; give --connect");
        uint64_t id = lock_id(n);
        if (!id)
                return command_usage_error(&command_notify, "--attached is for a daemon that starts this program");
        n->base = event_base_new();
        if (n->base && watch_for_the_end(n)) {
                status = act(n, id);
        } else {
                command_error(&command_notify, "out of memory");
                status = EXIT_USAGE;
        }
        for (size_t i = 0; i < 3; i++)
                free_event(&n->signals[i]);
        free_event(&n->lifeline);
        if (n->base)
                event_base_free(n->base);
        return status;
}

const struct command command_notify = {
        .name = "notify",
        .summary = "act on alerts: run programs, post webhooks, feed Alertmanager",
        .usage = (const char *const[]){ "[--connect EP] [OPTION]...", NULL },
        .about =
                "Acts on the alerts of a daemon as its rules say with `do:`, and reports the outcome, which alerts "
                "show. The daemon starts this by itself when a rule has actions. Start it yourself, as another user or "
                "on another machine, for a daemon with --notify=off: one of several acts, the others wait to take "
                "over. It does what the daemon says: connect only to one that you trust with your account.",
        .options = options,
        .notes = "It ends on SIGINT, SIGTERM and SIGHUP, and kills the programs that it has started. What was done is "
                 "kept in heapwatch/notify.json below $XDG_STATE_HOME, by default /var/lib for root or ~/.local/state.",
        .status = "0 stopped by a signal or the daemon, 2 bad usage.",
        .examples =
                (const char *const[]){
                        "heapwatchd --notify=off --rules leaks.yaml api=/var/log/api.eventlog &",
                        "heapwatch notify",
                        NULL,
                },
        .size = sizeof(struct notify),
        .defaults = &(const struct notify){ .level = LOG_INFO },
        .run = run,
};
