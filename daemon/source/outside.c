/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a program without a log, read from outside. A process of its own, `heapwatch-inspect watch`, reads the memory
 * of the program while that runs and writes what it finds as an eventlog into a pipe; whatever the memory holds,
 * happens to that process alone. It ends when the program ends, and when nobody reads the pipe any more: also when the
 * daemon is killed. When it ends first, it is started again, with backoff; the program's own end is what /proc says.
 *
 * Its standard error is a pipe, too: one sentence says why it cannot go on. It is reaped here by its pid; nothing waits
 * for all children.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/source/backoff.h"
#include "daemon/source/census_reader.h"
#include "daemon/source/medium.h"
#include "daemon/source/procfs.h"
#include "proto/base/child.h"
#include "proto/base/descriptors.h"
#include "proto/base/event.h"
#include "proto/base/sibling.h"

#define REAP_MS       10
#define REAPS_PATIENT 100 /* then it is killed: it has closed its pipe, but does not end */

struct outside_source {
        struct source source;
        struct event *readable;
        struct backoff backoff;
        pid_t child; /* 0: none */
        int out, err;
        bool attached;  /* it has written something */
        unsigned reaps; /* tries so far; 0: its output has not ended */
};

static const struct timeval reap_pause = { 0, REAP_MS * 1000 };

/* ------------------------------------------------------------------------- its process */

static void close_pipes(struct outside_source *o)
{
        free_event(&o->readable);
        close_fd(&o->out);
        close_fd(&o->err);
}

/* ------------------------------------------------------------------------------ states */

/* False: the program is gone, which has been reported. */
static bool is_there(struct outside_source *o)
{
        struct source *s = &o->source;
        struct process_identity id;

        if (procfs_identity("", s->uri.pid, &id) == 0 &&
            (s->uri.start_ticks == 0 || s->uri.start_ticks == id.start_ticks)) {
                source_uri_set_start(&s->uri, id.start_ticks);
                return true;
        }
        source_set_state(s, SOURCE_ENDED, "process %" PRIu32 " is gone", s->uri.pid);
        return false;
}

static void try_later(struct outside_source *o, enum source_state state, const char *why)
{
        const struct timeval pause = backoff_next(&o->backoff);

        close_pipes(o);
        source_cut(&o->source, "%s", why);
        source_set_retry(&o->source, state, "%s", why);
        source_wake_after(&o->source, &pause);
}

static void report_end(struct outside_source *o, int status)
{
        char said[INSPECTOR_SENTENCE], why[INSPECTOR_SENTENCE + 128];

        o->child = 0;
        inspector_sentence(o->err, said);
        if (!is_there(o)) {
                close_pipes(o);
                return;
        }
        if (WIFSIGNALED(status))
                (void)snprintf(why, sizeof(why),
                               "what reads the program from outside was ended by signal %d; it is started again",
                               WTERMSIG(status));
        else
                (void)snprintf(why, sizeof(why), "the program cannot be read from outside: %s",
                               said[0] ? said : "heapwatch-inspect ended without saying why");
        const bool is_refused = WIFEXITED(status) && WEXITSTATUS(status) == INSPECT_REFUSED;
        try_later(o, is_refused ? SOURCE_FAILED : SOURCE_WAITING, why);
}

static void reap_inspector(struct outside_source *o)
{
        int status = 0;

        if (source_is_busy(&o->source)) { /* its last bytes are still to be taken */
                source_wake_after(&o->source, &reap_pause);
                return;
        }
        const pid_t r = waitpid(o->child, &status, WNOHANG);
        if (r == 0) {
                if (++o->reaps == REAPS_PATIENT)
                        (void)kill(o->child, SIGKILL);
                source_wake_after(&o->source, &reap_pause);
                return;
        }
        report_end(o, r == o->child ? status : 0);
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
        struct outside_source *o = ctx;
        int error = 0, n = 0;

        if (!o->attached && ioctl(fd, FIONREAD, &n) == 0 && n > 0) {
                o->attached = true;
                backoff_reset(&o->backoff);
                source_set_attached(&o->source, "process %" PRIu32 " is read from outside", o->source.uri.pid);
        }
        const enum turn_end end = source_read_turn(&o->source, fd, &error);
        if (end != TURN_EOF && end != TURN_ERROR)
                return;
        (void)event_del(o->readable);
        o->reaps = 1;
        source_wake(o);
}

static bool start_child(struct outside_source *o, char *why, size_t size)
{
        int out[2], err[2], r;

        if ((r = child_pipes(out, O_NONBLOCK, err, O_NONBLOCK)) < 0) {
                (void)snprintf(why, size, "no pipe to read from: %s", strerror(-r));
                return false;
        }
        o->out = out[0];
        o->err = err[0];
        (void)fcntl(out[1], F_SETFL, 0); /* it waits until there is room */
        char pid[16], memory[INSPECTOR_MEMORY];
        char *argv[] = { "heapwatch-inspect", "watch", "--pid", pid, "--memory", memory, NULL };
        (void)snprintf(pid, sizeof(pid), "%" PRIu32, o->source.uri.pid);
        inspector_print_memory(memory);
        r = child_spawn(argv, (const int[]){ CHILD_NULL, out[1], err[1] }, CHILD_APART, &o->child);
        (void)close(out[1]);
        (void)close(err[1]);
        if (r) {
                (void)snprintf(why, size, "heapwatch-inspect, which reads the program, cannot be started: %s",
                               strerror(r));
                return false;
        }
        o->reaps = 0;
        o->attached = false;
        o->readable = event_new(o->source.base, o->out, EV_READ | EV_PERSIST, on_readable, o);
        if (o->readable && event_add(o->readable, NULL) == 0)
                return true;
        (void)snprintf(why, size, "out of memory");
        inspector_end(&o->child);
        return false;
}

/* Starts it; after its output has ended, reaps it. */
static void outside_wake(struct source *s)
{
        struct outside_source *o = (struct outside_source *)s;
        char why[160];

        if (o->child > 0)
                reap_inspector(o);
        else if (is_there(o) && !start_child(o, why, sizeof(why)))
                try_later(o, SOURCE_WAITING, why);
}

static int outside_start(struct source *s, struct error *error)
{
        struct outside_source *o = (struct outside_source *)s;

        o->out = o->err = -1;
        return 0;
}

static void outside_stop(struct source *s)
{
        struct outside_source *o = (struct outside_source *)s;

        close_pipes(o);
        inspector_end(&o->child);
}

const struct medium medium_outside = {
        sizeof(struct outside_source), outside_start, outside_wake, outside_stop, NULL, NULL
};
