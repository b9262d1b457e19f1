/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a named pipe, read for the life of the target. A program that writes
 * to a FIFO without a reader is killed by SIGPIPE or blocks, so the read end
 * stays open while nobody writes. The pipe reports its end when its last writer
 * has closed it, which is a `cut`: so a program that was killed is noticed. From
 * then on a write end of our own keeps the pipe from reporting its end for ever;
 * it is closed again when the next writer's bytes come.
 *
 * Nothing is created here: `heapwatch run` or the user makes the FIFO.
 *
 * If the path comes to name another FIFO, programs may still be writing to the
 * old one, which is read until its last writer has gone. If the path only
 * disappears, nothing changes for those who have it open.
 *
 * While the daemon is started again, the service manager may keep it open (source.h), or `heapwatch run`.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/limits.h"
#include "daemon/source/medium.h"
#include "daemon/source/source.h"
#include "daemon/source/watch.h"
#include "proto/base/descriptors.h"
#include "proto/base/error.h"
#include "proto/base/event.h"

struct fifo {
        struct source source;
        struct watch name;
        struct second_tick tick;
        struct event *readable;
        int reader, writer; /* -1 = not open; the writer is only while nobody else writes */
        bool replaced;      /* the path names another FIFO by now */
        struct stat id;
};

static const char *path_of(const struct fifo *f)
{
        return source_uri_path(&f->source.uri);
}

/* The name under which a FIFO is kept open over a restart of the daemon. */
static void keeper_name(const struct fifo *f, char name[KEEPER_NAME_MAX])
{
        (void)snprintf(name, KEEPER_NAME_MAX, "fifo-%jx-%jx", (uintmax_t)f->id.st_dev, (uintmax_t)f->id.st_ino);
}

static void detach_fifo(struct fifo *f)
{
        char name[KEEPER_NAME_MAX];

        if (f->readable) {
                keeper_name(f, name);
                keeper_forget(name);
        }
        free_event(&f->readable);
        close_fd(&f->reader);
        close_fd(&f->writer);
}

/* A write end of the pipe that is open for reading, whatever its path names now; -1 with errno. */
static int open_own_writer(const struct fifo *f)
{
        char path[32];

        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", f->reader);
        return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* The last writer has gone. */
static void on_end(struct fifo *f)
{
        if (!f->replaced && (f->writer = open_own_writer(f)) >= 0) {
                source_cut(&f->source, "the program that wrote to %s has closed it", path_of(f));
                return;
        }
        source_cut(&f->source, f->replaced ? "%s was replaced by another FIFO" : "%s is opened again", path_of(f));
        detach_fifo(f);
        source_wake(f);
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
        struct fifo *f = ctx;
        const uint64_t before = f->source.stats.bytes;
        int error = 0;

        const enum turn_end end = source_read_turn(&f->source, fd, &error);
        if (f->source.stats.bytes > before)
                close_fd(&f->writer); /* somebody writes: now its end can be seen */
        switch (end) {
        case TURN_EOF:
                on_end(f);
                break;
        case TURN_ERROR:
                source_cut(&f->source, "%s cannot be read any more: %s", path_of(f), strerror(error));
                source_set_retry(&f->source, SOURCE_WAITING, "%s cannot be read any more: %s; opening it again",
                                 path_of(f), strerror(error));
                detach_fifo(f);
                break;
        default:
                break; /* epoll reports it again if more is there */
        }
}

/* ---------------------------------------------------------------- attaching */

static void report_open_failure(struct fifo *f, int error)
{
        struct source *s = &f->source;

        if (error == ENOENT || error == ENOTDIR)
                source_set_retry(s, SOURCE_WAITING, "%s does not exist yet; waiting for it (mkfifo %s makes it)",
                                 path_of(f), path_of(f));
        else if (error == EACCES)
                source_set_retry(s, SOURCE_FAILED,
                                 "%s needs read and write permission, so that it stays open "
                                 "between programs; trying again every second",
                                 path_of(f));
        else
                source_set_retry(s, SOURCE_FAILED, "%s cannot be opened: %s; trying again every second", path_of(f),
                                 strerror(error));
}

/* Opens one end; -1 with errno. EAGAIN: the path now names another file. */
static int open_end(struct fifo *f, int mode)
{
        struct stat now;
        int fd = open(path_of(f), mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

        if (fd < 0)
                return -1;
        if (fstat(fd, &now) == 0 && now.st_dev == f->id.st_dev && now.st_ino == f->id.st_ino)
                return fd;
        (void)close(fd);
        errno = EAGAIN;
        return -1;
}

static void attach_fifo(struct fifo *f)
{
        char name[KEEPER_NAME_MAX];

        watch_name(f->source.base, &f->name, path_of(f)); /* fails without a directory: the tick looks */
        if (stat(path_of(f), &f->id) < 0) {
                report_open_failure(f, errno);
                return;
        }
        if (!S_ISFIFO(f->id.st_mode)) {
                source_set_retry(&f->source, SOURCE_FAILED,
                                 "%s is not a FIFO; remove it and run mkfifo %s, or name "
                                 "it as file:%s",
                                 path_of(f), path_of(f), path_of(f));
                return;
        }
        f->reader = open_end(f, O_RDONLY);
        if (f->reader >= 0)
                f->writer = open_end(f, O_WRONLY);
        if (f->writer < 0) {
                report_open_failure(f, errno);
                detach_fifo(f);
                return;
        }
        (void)fcntl(f->reader, F_SETPIPE_SZ, LIMIT_PIPE_BYTES); /* above the user's limit it stays as it was */
        f->readable = event_new(f->source.base, f->reader, EV_READ | EV_PERSIST, on_readable, f);
        if (!f->readable || event_add(f->readable, NULL) < 0) {
                report_open_failure(f, ENOMEM);
                detach_fifo(f);
                return;
        }
        close_fd(&f->writer); /* it could be opened; without another writer the pipe reports its end now */
        f->replaced = false;
        keeper_name(f, name);
        keeper_keep(name, f->reader);
        source_set_attached(&f->source, "reading %s", path_of(f));
}

/* ------------------------------------------------------------------ its name */

static void check_name(struct fifo *f)
{
        struct stat now;

        if (stat(path_of(f), &now) < 0) {
                if (errno == ENOENT)
                        source_set_state(&f->source, SOURCE_OPEN,
                                         "%s was removed; still reading from those that have it open", path_of(f));
        } else if (now.st_dev == f->id.st_dev && now.st_ino == f->id.st_ino) {
                if (!f->replaced)
                        source_set_state(&f->source, SOURCE_OPEN, "reading %s", path_of(f));
        } else if (!f->replaced) {
                f->replaced = true;
                close_fd(&f->writer);
                source_set_state(&f->source, SOURCE_OPEN,
                                 "%s was replaced; reading the old one until its last writer leaves", path_of(f));
        }
}

static void fifo_wake(struct source *s)
{
        struct fifo *f = (struct fifo *)s;

        if (f->reader < 0)
                attach_fifo(f);
        else
                check_name(f);
}

/* ------------------------------------------------------------------- medium */

static int fifo_start(struct source *s, struct error *error)
{
        struct fifo *f = (struct fifo *)s;

        f->reader = f->writer = -1;
        s->flowing = s->from.inside; /* then the end of its stream is of interest even if nothing comes any more */
        f->name = (struct watch){ .seen = source_wake, .ctx = s };
        f->tick = (struct second_tick){ .passed = source_wake, .ctx = s };
        return second_tick_start(s->base, &f->tick) == 0 ? 0 : error_code(error, -ENOMEM, "out of memory");
}

static void fifo_stop(struct source *s)
{
        struct fifo *f = (struct fifo *)s;

        detach_fifo(f);
        watch_stop(&f->name);
        second_tick_stop(&f->tick);
}

const struct medium medium_fifo = { sizeof(struct fifo), fifo_start, fifo_wake, fifo_stop, NULL, NULL };
