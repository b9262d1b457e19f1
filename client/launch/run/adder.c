/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/run/session.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/launch/program/process_uri.h"
#include "client/launch/run/inside.h"
#include "proto/base/limits.h"

#define AGAIN_MS 1000
#define START_MS 2000 /* for a daemon that is started again */

_Static_assert(sizeof(struct adder_answer) <= PIPE_BUF, "an answer is written in one piece");

static void remove_if(const struct adder_task *t, const char *uri, bool with_run)
{
        struct daemon_target there;

        if (daemon_find(t->link, uri, &there) && there.name[0] && (with_run || !there.has_run))
                (void)daemon_remove(t->link, there.name);
}

/* The agent's directory was removed, as by a logout: who has connected before goes on, for another the way is gone. */
static bool replace_agent(const struct adder_task *t, char uri[PROCESS_URI_SIZE])
{
        struct daemon_target there;
        struct error error;
        char process[PROCESS_URI_SIZE];

        if (t->unreachable == 0 || (daemon_find(t->link, t->uri, &there) && there.has_run) ||
            !process_uri(t->unreachable, process) || !outside_try(t->unreachable, false, &error))
                return false;
        process_uri_outside(process, uri);
        return true;
}

/* Chooses between outside and the process alone. Returns the source; the reason for the latter is in `reason`. */
static const char *choose(const struct adder_task *t, struct adder_answer *answer, char uri[PROCESS_URI_SIZE],
                          char *reason, size_t size)
{
        struct error error = { "" };

        if (replace_agent(t, uri)) {
                answer->from_outside = true;
                return uri;
        }
        if (t->outside && outside_try(t->outside, t->is_new, &error)) {
                answer->from_outside = true;
                process_uri_outside(t->uri, uri);
                return uri;
        }
        (void)snprintf(answer->not_outside, sizeof(answer->not_outside), "%.250s", error.text);
        (void)snprintf(reason, size, "%.450s%s%s", t->wish.process_only_reason ? t->wish.process_only_reason : "",
                       error.text[0] ? "; from outside: " : "", answer->not_outside);
        return t->uri;
}

static _Noreturn void add(const struct adder_task *t, int fd)
{
        struct adder_answer answer = { .name = "" };
        char started[OWN_DAEMON_TEXT], process[PROCESS_URI_SIZE], reason[PROCESS_REASON_SIZE] = "";
        struct daemon_wish wish = t->wish;

        (void)sigprocmask(SIG_SETMASK, t->mask, NULL);
        if (!daemon_reachable(t->link))
                (void)daemon_ensure(t->link, START_MS, started, &answer.reason);
        answer.daemon_started_ns =
                daemon_started_ns(t->link); /* before: if the next one takes its place meanwhile, that shows later */
        const char *uri = choose(t, &answer, process, reason, sizeof(reason));
        wish.process_only_reason = reason;
        if (t->former_uri[0] && strcmp(t->former_uri, uri) != 0)
                remove_if(t, t->former_uri, true);
        if (t->reopen)
                remove_if(t, uri, false); /* one with a run goes on, e.g. from a checkpoint */
        (void)snprintf(answer.uri, sizeof(answer.uri), "%s", uri);
        answer.outcome = daemon_add(t->link, t->name, t->exact, uri, &wish, answer.name, &answer.reason);
        _exit(write(fd, &answer, sizeof(answer)) == (ssize_t)sizeof(answer) ? 0 : 1);
}

void adder_start(struct adder *a, const struct adder_task *task, uint64_t now_ms)
{
        int fds[2];

        if (a->pid > 0 || now_ms - a->tried_ms < AGAIN_MS || pipe2(fds, O_CLOEXEC) < 0)
                return;
        a->tried_ms = now_ms;
        a->pid = fork();
        if (a->pid == 0)
                add(task, fds[1]);
        (void)close(fds[1]);
        a->answer = fds[0];
        if (a->pid < 0) {
                a->pid = 0; /* the next call tries again */
                (void)close(fds[0]);
        }
}

void adder_ended(struct adder *a, struct adder_answer *ret)
{
        if (read(a->answer, ret, sizeof(*ret)) != (ssize_t)sizeof(*ret))
                *ret = (struct adder_answer){ .outcome = DAEMON_SILENT }; /* it was killed */
        (void)close(a->answer);
        a->pid = 0;
}
