/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a process alone, for programs whose log cannot be read. This source has no bytes: it says who the process is
 * when it has found it, and ends when the process is gone. What is known of it in between is read from /proc by
 * whoever reads that of any local program (process_watch.h). A way to read its heap from outside would deliver what it
 * finds from here.
 *
 * A process is its pid and its start. The kernel says when it ends through a pidfd; where there is none (an old kernel,
 * no descriptor left) it is looked for once a second.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/source/medium.h"
#include "daemon/source/procfs.h"
#include "proto/base/descriptors.h"
#include "proto/base/event.h"

struct process_source {
        struct source source;
        struct event *ends; /* NULL: the kernel does not tell */
        int pidfd;          /* -1: none */
        bool found, over;
};

static const struct timeval second = { 1, 0 };

static void stop_watching(struct process_source *p)
{
        free_event(&p->ends);
        close_fd(&p->pidfd);
}

static void end(struct process_source *p, const char *why)
{
        struct source *s = &p->source;

        p->over = true;
        stop_watching(p);
        (void)event_del(s->timer);
        source_set_state(s, SOURCE_ENDED, "%s", why);
}

static void report_gone(struct process_source *p)
{
        char why[96];

        (void)snprintf(why, sizeof(why), "process %" PRIu32 " is gone", p->source.uri.pid);
        end(p, why);
}

static void on_end(evutil_socket_t fd, short what, void *ctx)
{
        report_gone(ctx);
}

static bool is_same(const struct process_source *p, const struct process_identity *id)
{
        return p->source.uri.start_ticks == 0 || p->source.uri.start_ticks == id->start_ticks;
}

static void report_missing(struct process_source *p, int error, bool other)
{
        struct source *s = &p->source;
        const uint32_t pid = s->uri.pid;
        char why[160];

        if (error == -ENOTSUP)
                (void)snprintf(why, sizeof(why), "process %" PRIu32 " is a thread of the kernel", pid);
        else if (other)
                (void)snprintf(why, sizeof(why),
                               "the process is gone: its number %" PRIu32 " belongs to one that started later", pid);
        else if (s->uri.start_ticks)
                (void)snprintf(why, sizeof(why), "process %" PRIu32 " is gone", pid);
        else
                (void)snprintf(why, sizeof(why), "there is no process %" PRIu32 " on this machine", pid);
        end(p, why);
}

static void find(struct process_source *p)
{
        struct source *s = &p->source;
        struct process_identity id;

        /* Before it is looked at in /proc, so that what is found there is of the process that the descriptor is of. */
        p->pidfd = (int)syscall(SYS_pidfd_open, p->source.uri.pid, 0);
        if (p->pidfd >= 0) {
                p->ends = event_new(p->source.base, p->pidfd, EV_READ, on_end, p);
                if (!p->ends || event_add(p->ends, NULL) != 0)
                        stop_watching(p);
        }
        const int r = procfs_identity("", s->uri.pid, &id);
        if (r < 0 || !is_same(p, &id)) {
                report_missing(p, r, r == 0);
                return;
        }
        p->found = true;
        source_uri_set_start(&s->uri, id.start_ticks);
        source_set_attached(s, "process %" PRIu32 " is there", s->uri.pid);
        s->sink.process(s->sink.ctx, &id);
}

static void process_wake(struct source *s)
{
        struct process_source *p = (struct process_source *)s;
        struct process_identity id;

        if (!p->found)
                find(p);
        else if (!p->ends && (procfs_identity("", s->uri.pid, &id) != 0 || !is_same(p, &id)))
                report_gone(p);
        if (!p->over && !p->ends)
                source_wake_after(s, &second);
}

static int process_start(struct source *s, struct error *error)
{
        ((struct process_source *)s)->pidfd = -1;
        return 0;
}

static void process_stop(struct source *s)
{
        stop_watching((struct process_source *)s);
}

const struct medium medium_process = {
        sizeof(struct process_source), process_start, process_wake, process_stop, NULL, NULL
};
