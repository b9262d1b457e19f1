/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the child exits with the errno of its failure, collected on SIGCHLD. The daemon has other children: only this
 * one is waited for.
 */
#include "daemon/watch/alerting/silence_store.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/source/loop/shutdown.h"
#include "proto/base/child.h"
#include "proto/base/descriptors.h"
#include "proto/base/event.h"
#include "proto/base/whole_file.h"

struct file_writer {
        struct file_writer_options options;
        char *path;
        struct event *child_event;
        pid_t child; /* 0: none */
};

static void report(struct file_writer *w, int status)
{
        int err = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;

        w->child = 0;
        w->options.written(w->options.ctx, err ? strerror(err) : NULL);
}

static void on_child(evutil_socket_t signal_number, short what, void *ctx)
{
        struct file_writer *w = ctx;
        int status;

        (void)signal_number;
        (void)what;
        if (w->child && waitpid(w->child, &status, WNOHANG) == w->child)
                report(w, status);
}

/* In the child: all signals are blocked, so no handler of the daemon runs. */
static void write_and_end(const char *path, const char *text)
{
        descriptors_close(STDERR_FILENO + 1);
        _exit(-whole_file_write(path, text, strlen(text)) & 0xff);
}

bool file_writer_start(struct file_writer *w, const char *text)
{
        sigset_t all, before;

        if (w->child)
                return false;
        (void)sigfillset(&all);
        (void)sigprocmask(SIG_SETMASK, &all, &before);
        pid_t child = _Fork();
        if (child == 0)
                write_and_end(w->path, text);
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        if (child > 0)
                w->child = child;
        return child > 0;
}

bool file_writer_is_busy(const struct file_writer *w)
{
        return w->child != 0;
}

struct file_writer *file_writer_new(const struct file_writer_options *options)
{
        struct file_writer *w = calloc(1, sizeof(*w));

        if (!w)
                return NULL;
        w->options = *options;
        w->path = strdup(options->path);
        w->child_event = evsignal_new(options->base, SIGCHLD, on_child, w);
        if (!w->path || !w->child_event || event_add(w->child_event, NULL) != 0)
                file_writer_destroy(&w);
        return w;
}

/* The daemon has stopped reading, so waiting is harmless. A child that hangs is abandoned. */
void file_writer_wait(struct file_writer *w)
{
        int status;

        if (w->child && shutdown_reap(w->child, &status, STOP_SILENCES))
                report(w, status);
}

void file_writer_destroy(struct file_writer **wp)
{
        struct file_writer *w = *wp;

        *wp = NULL;
        if (!w)
                return;
        file_writer_wait(w);
        free_event(&w->child_event);
        free(w->path);
        free(w);
}
