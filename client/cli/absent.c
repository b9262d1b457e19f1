/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * absent.c - DESIGN: whether somebody listens is found out with a plain
 * connect(2), because ZeroMQ waits for a peer that is not there. A directory
 * that others may enter, but not write to, is reported only when nobody listens
 * in it: it may have been opened to them afterwards.
 */
#include "client/cli/absent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "heapwatch/keys.h"
#include "heapwatch/requester.h"
#include "heapwatch/wire.h"
#include "proto/base/descriptors.h"
#include "proto/base/error.h"
#include "proto/base/nearest.h"
#include "proto/base/private_directory.h"

#define ASK_MS   1000
#define PROBE_MS 3000

/* Of a daemon on another machine: how it takes us, and what to do about that. */
static const char *why_not(const char *endpoint)
{
        switch (hw_endpoint_probe(endpoint, PROBE_MS)) {
        case HW_PROBE_REFUSED:
                return "it does not accept your key: there, run `heapwatch keys authorize NAME KEY` with what "
                       "`heapwatch "
                       "keys show` prints here, then `heapwatch ctl reload`";
        case HW_PROBE_ANOTHER:
                return "the daemon there has another key than the one that you know, or none: compare with "
                       "`heapwatch keys show server` there";
        case HW_PROBE_OPEN:
                return "it lets you in and does not answer: look at its log";
        case HW_PROBE_NOBODY:
                break;
        }
        return "nothing listens there, or the network blocks it: is `heapwatchd --listen` running there, are its port "
               "and the one above it open?";
}

char *absent_daemon(char *out, size_t size, const char *endpoint)
{
        if (!strncmp(endpoint, "tcp://", 6)) {
                (void)snprintf(out, size, "no daemon answers at %s: %s", endpoint, why_not(endpoint));
                return out;
        }
        if (!absent_at_once(endpoint)) {
                (void)snprintf(
                        out, size,
                        "the daemon at %s listens, has not answered within %d s: it or the machine is busy; try again",
                        endpoint, ABSENT_MS / 1000);
                return out;
        }
        (void)snprintf(out, size,
                       "no daemon answers at %s; `heapwatch run -- PROGRAM` starts one with the program that it "
                       "watches, `heapwatch attach PROGRAM` one for a program that runs, `heapwatchd FILE` one that "
                       "watches a growing eventlog",
                       endpoint);
        return out;
}

bool absent_at_once(const char *endpoint)
{
        static const char scheme[] = "ipc://";

        return !strncmp(endpoint, scheme, sizeof(scheme) - 1) && unix_nobody_listens(endpoint + sizeof(scheme) - 1);
}

bool absent_request(const char *endpoint, Hw__Request *request, void (*each)(void *ctx, const Hw__Reply *reply),
                    void *ctx, struct error *error)
{
        char text[ABSENT_TEXT];

        if (!request)
                return error_set(error, "out of memory");
        if (absent_for_good(endpoint, error))
                return false;
        const int r = absent_at_once(endpoint) ? -ETIMEDOUT : hw_request(endpoint, request, ABSENT_MS, each, ctx);
        if (r == -ETIMEDOUT)
                return error_set(error, "%s", absent_daemon(text, sizeof(text), endpoint));
        return r == 0 || error_set(error, "the request to %s failed: %s", endpoint, strerror(-r));
}

bool absent_for_good(const char *endpoint, struct error *error)
{
        static const char scheme[] = "ipc://";
        char directory[256], untrusted[ERROR_TEXT_MAX];
        const char *path = endpoint + sizeof(scheme) - 1, *slash, *reason;
        struct stat st;

        if (hw_endpoint_check(endpoint, untrusted, sizeof(untrusted)) < 0) {
                error_set(error, "%s", untrusted);
                return true;
        }
        if (strncmp(endpoint, scheme, sizeof(scheme) - 1) || !(slash = strrchr(path, '/')) || slash == path ||
            (size_t)(slash - path) >= sizeof(directory))
                return false;
        (void)snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
        reason = lstat(directory, &st) == 0 && unix_nobody_listens(path) ? private_directory_objection(&st) : NULL;
        if (!reason)
                return false;
        error_set(error, "%s: %s; HEAPWATCH_DIR can name another directory, which only you can enter", directory,
                  reason);
        return true;
}

/* ----------------------------------------------------------------- targets */

struct names {
        const char *typed;
        char nearest[96];
        bool listed, found; /* the daemon has answered; the target is in its list */
};

static void on_status(void *ctx, const Hw__Reply *reply)
{
        struct names *names = ctx;
        struct nearest near = { .typed = names->typed };

        if (reply->what_case != HW__REPLY__WHAT_STATUS)
                return;
        names->listed = true;
        for (size_t i = 0; i < reply->status->n_targets; i++) {
                const char *target = reply->status->targets[i]->target;
                if (!target)
                        continue;
                names->found |= !strcmp(target, names->typed);
                nearest_try(&near, target);
        }
        (void)snprintf(names->nearest, sizeof(names->nearest), "%s", near.found ? near.found : "");
}

static void request_names(const char *endpoint, struct names *names)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__StatusRequest status = HW__STATUS_REQUEST__INIT;

        request.what_case = HW__REQUEST__WHAT_STATUS;
        request.status = &status;
        (void)hw_request(endpoint, &request, ASK_MS, on_status, names); /* only for a better message */
}

static void report_absent(const struct command *c, const struct names *names)
{
        command_error(c, "the daemon has no target '%s'%s%s%s; `heapwatch status` lists them, `heapwatch add` adds one",
                      names->typed, names->nearest[0] ? " (did you mean '" : "", names->nearest,
                      names->nearest[0] ? "'?)" : "");
}

int absent_target(const struct command *c, const char *endpoint, const char *name)
{
        struct names names = { .typed = name };

        request_names(endpoint, &names);
        report_absent(c, &names);
        return EXIT_USAGE;
}

bool absent_check_target(const struct command *c, const char *endpoint, const char *name)
{
        struct names names = { .typed = name };

        request_names(endpoint, &names);
        if (names.listed && !names.found)
                report_absent(c, &names);
        return names.listed && !names.found;
}
