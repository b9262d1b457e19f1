/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the daemon writes to the socket pair only once: the key, with which
 * the child proves in its requests that it is the one that was started. The
 * child is in its own process group, so that Ctrl-C in a terminal ends only the
 * daemon, and the daemon ends the child.
 *
 * A child that lived for GOOD_LIFE_NS resets the backoff.
 */
#include "daemon/control/notifier_child.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/source/backoff.h"
#include "proto/base/child.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/event.h"

#define GOOD_LIFE_NS (UINT64_C(30) * 1000000000)

struct notifier_child {
        struct notifier_child_options options;
        struct event *child_event, *again;
        struct backoff backoff;
        pid_t pid; /* 0: none */
        int lifeline;
        uint64_t key, started_ns;
        uint32_t restarts;
        bool wanted;
        char detail[160];
};

/* -------------------------------------------------------------------- start */

/* Standard input is the socket, standard error the daemon's. Returns 0 or an errno. */
static int spawn(struct notifier_child *c, int end)
{
        char *argv[] = { "heapwatch",
                         "notify",
                         "--attached",
                         "--connect",
                         (char *)c->options.publish_endpoint,
                         "--log-level",
                         (char *)c->options.log_level,
                         NULL };

        return child_spawn(argv, (const int[]){ end, CHILD_NULL, STDERR_FILENO }, CHILD_APART, &c->pid);
}

static int send_key(struct notifier_child *c)
{
        char line[20];

        if (getrandom(&c->key, sizeof(c->key), 0) != sizeof(c->key) || c->key == 0)
                return EAGAIN;
        int n = snprintf(line, sizeof(line), "%016" PRIx64 "\n", c->key);
        return send(c->lifeline, line, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) == n ? 0 : EIO;
}

static int start(struct notifier_child *c)
{
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return errno;
        c->lifeline = ends[0];
        int err = send_key(c);
        if (!err)
                err = spawn(c, ends[1]);
        (void)close(ends[1]);
        return err;
}

static void close_lifeline(struct notifier_child *c)
{
        close_fd(&c->lifeline);
        c->key = 0;
}

static void try_later(struct notifier_child *c)
{
        struct timeval pause = backoff_next(&c->backoff);

        close_lifeline(c);
        if (event_add(c->again, &pause) != 0)
                log_error("notifier: out of memory; it will not be restarted");
        if (c->options.ended)
                c->options.ended(c->options.ctx);
}

static void try_to_start(struct notifier_child *c)
{
        int err = start(c);

        if (!err) {
                c->started_ns = clock_mono_ns();
                log_info("notifier: heapwatch notify started, pid=%d", (int)c->pid);
                return;
        }
        bool said = c->backoff.attempts > 0;
        snprintf(c->detail, sizeof(c->detail), "heapwatch notify cannot be started: %s", strerror(err));
        if (!said)
                log_error("notifier: %s; until it starts, alerts are published but not acted on", c->detail);
        try_later(c);
}

static void on_again(evutil_socket_t fd, short what, void *ctx)
{
        struct notifier_child *c = ctx;

        (void)fd;
        (void)what;
        c->restarts++;
        try_to_start(c);
}

void notifier_child_start(struct notifier_child *c)
{
        if (c->wanted)
                return;
        c->wanted = true;
        try_to_start(c);
}

/* ---------------------------------------------------------------------- end */

static void on_ended(struct notifier_child *c, int status)
{
        if (WIFSIGNALED(status))
                snprintf(c->detail, sizeof(c->detail), "it was ended by signal %d", WTERMSIG(status));
        else
                snprintf(c->detail, sizeof(c->detail), "it ended with exit status %d", WEXITSTATUS(status));
        log_warning("notifier: pid=%d: %s; restarting it", (int)c->pid, c->detail);
        c->pid = 0;
        if (clock_mono_ns() - c->started_ns > GOOD_LIFE_NS)
                backoff_reset(&c->backoff);
        try_later(c);
}

static void on_child(evutil_socket_t signal_number, short what, void *ctx)
{
        struct notifier_child *c = ctx;
        int status;

        (void)signal_number;
        (void)what;
        if (c->pid && waitpid(c->pid, &status, WNOHANG) == c->pid)
                on_ended(c, status);
}

/* The daemon has stopped reading, so blocking is harmless now. */
static void stop(struct notifier_child *c)
{
        const struct timespec pause = { .tv_nsec = 10000000 };

        (void)kill(c->pid, SIGTERM);
        for (int i = 0; i < NOTIFIER_STOP_S * 100; i++) {
                if (waitpid(c->pid, NULL, WNOHANG) != 0)
                        return;
                (void)nanosleep(&pause, NULL);
        }
        log_warning("notifier: pid=%d does not end; killing it", (int)c->pid);
        (void)kill(c->pid, SIGKILL);
        (void)waitpid(c->pid, NULL, WNOHANG); /* WNOHANG: it may be stuck in the kernel */
}

/* --------------------------------------------------------------------- life */

struct notifier_child *notifier_child_new(const struct notifier_child_options *options)
{
        struct notifier_child *c = calloc(1, sizeof(*c));

        if (!c)
                return NULL;
        c->options = *options;
        c->lifeline = -1;
        c->child_event = evsignal_new(options->base, SIGCHLD, on_child, c);
        c->again = evtimer_new(options->base, on_again, c);
        if (!c->child_event || !c->again || event_add(c->child_event, NULL) != 0)
                notifier_child_destroy(&c);
        return c;
}

void notifier_child_destroy(struct notifier_child **cp)
{
        struct notifier_child *c = *cp;

        *cp = NULL;
        if (!c)
                return;
        close_lifeline(c);
        if (c->pid)
                stop(c);
        free_event(&c->child_event);
        free_event(&c->again);
        free(c);
}

bool notifier_child_is_wanted(const struct notifier_child *c)
{
        return c->wanted;
}

pid_t notifier_child_pid(const struct notifier_child *c)
{
        return c->pid;
}

uint64_t notifier_child_key(const struct notifier_child *c)
{
        return c->pid ? c->key : 0;
}

uint32_t notifier_child_restarts(const struct notifier_child *c)
{
        return c->restarts;
}

const char *notifier_child_detail(const struct notifier_child *c)
{
        return c->detail;
}
