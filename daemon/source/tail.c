/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a growing file. epoll refuses regular files, so this looks: when
 * inotify says that something happened to the file or to its name, and once a
 * second in any case. A look does, in this order:
 *
 *   attach      open the path, if nothing is open
 *   rewritten?  smaller than what was read: truncated. The bytes before our
 *               position differ from those read last: overwritten. Either way
 *               `cut`, and from the start again. But a file that is emptied
 *               (logrotate's copytruncate) waits for what is written next: where
 *               that comes behind a hole, its writer goes on, and so do we
 *   drain       to the end, or one budget, then go on by a zero-delay timer
 *   renamed?    the path now names another inode: drain the old one once more,
 *               `cut`, attach the new one. The path is gone, or what it names is
 *               empty (logrotate's create): stay on the old inode, its writer may
 *               still have it open; give it up when a new file has bytes or when
 *               the old one has not grown for a minute
 *
 * The inode that is open cannot be reused for another file, so equal device and
 * inode do mean the same file.
 *
 * The bytes before our position, not the first ones, distinguish a rewritten file from
 * a grown one: the head of an eventlog is the same in every run of a program,
 * while its events carry times.
 *
 * What cannot be seen: a file truncated and written past our position between
 * the check and the read right after it (microseconds) loses its beginning, and
 * the decoder then finds bytes that are not events and reports it. What a
 * writer wrote and truncated away between two looks is never seen.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/loop/watchdog.h"
#include "daemon/source/limits.h"
#include "daemon/source/medium.h"
#include "daemon/source/watch.h"
#include "proto/base/descriptors.h"
#include "proto/base/error.h"
#include "proto/base/event.h"

#define LAST_BYTES 64 /* of the newest bytes read, kept */

_Static_assert(LAST_BYTES == sizeof(((struct source_position *)0)->last), "a position holds what is kept");

struct tail {
        struct source source;
        struct watch file, name;
        struct second_tick tick;
        int fd;          /* -1 = not attached */
        struct stat id;  /* of fd: device and inode */
        uint64_t offset; /* bytes read of this file */
        uint8_t last[LAST_BYTES];
        size_t last_size;
        bool nameless;       /* the path no longer names the open file */
        unsigned idle_ticks; /* ticks since then without growth */
};

static bool same_file(const struct stat *a, const struct stat *b)
{
        return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static const char *path_of(const struct tail *t)
{
        return source_uri_path(&t->source.uri);
}

static void begin_again(struct tail *t)
{
        t->offset = 0;
        t->last_size = 0;
        t->nameless = false;
        t->idle_ticks = 0;
}

static void detach_file(struct tail *t)
{
        watch_stop(&t->file);
        close_fd(&t->fd); /* opened for reading only */
        begin_again(t);
}

/* ---------------------------------------------------------------- attaching */

static bool report_if_not_regular(struct tail *t, mode_t mode)
{
        struct source *s = &t->source;

        if (S_ISREG(mode))
                return false;
        if (S_ISDIR(mode))
                source_set_retry(s, SOURCE_FAILED,
                                 "%s is a directory, not an eventlog; waiting for a file in its "
                                 "place",
                                 path_of(t));
        else if (S_ISFIFO(mode))
                source_set_retry(s, SOURCE_FAILED,
                                 "%s is a named pipe: name it as fifo:%s; waiting for a file in its "
                                 "place",
                                 path_of(t), path_of(t));
        else
                source_set_retry(s, SOURCE_FAILED, "%s is not a regular file; waiting for one in its place",
                                 path_of(t));
        return true;
}

/* Whether the bytes before our position are others than were read; not those of a hole: no log begins with a zero. */
static bool is_overwritten(const struct tail *t)
{
        uint8_t now[LAST_BYTES], first = 0;
        off_t at = (off_t)(t->offset - t->last_size);

        return t->last_size &&
               (pread(t->fd, now, t->last_size, at) != (ssize_t)t->last_size ||
                memcmp(now, t->last, t->last_size) != 0) &&
               (pread(t->fd, &first, 1, 0) != 1 || first != 0);
}

/* Goes on with the file that was read before a restart, if this is the same one; else cuts that stream. */
static void resume_file(struct tail *t)
{
        struct source_position from = t->source.from;
        const bool is_empty = t->id.st_size == 0; /* emptied, as above */

        t->source.from.known = false;
        if ((uint64_t)t->id.st_dev == from.device && (uint64_t)t->id.st_ino == from.inode &&
            from.last_size <= LAST_BYTES && from.last_size <= from.offset &&
            (is_empty || from.offset <= (uint64_t)t->id.st_size)) {
                t->offset = from.offset;
                t->last_size = from.last_size;
                memcpy(t->last, from.last, from.last_size);
                t->source.flowing = true;
                if ((is_empty || !is_overwritten(t)) && lseek(t->fd, (off_t)from.offset, SEEK_SET) >= 0)
                        return;
                begin_again(t);
        }
        t->source.flowing = true;
        source_cut(&t->source, "%s is not the file that it was before the daemon was restarted", path_of(t));
}

static bool attach_file(struct tail *t)
{
        watch_name(t->source.base, &t->name, path_of(t)); /* fails without a directory: the tick looks */
        t->fd = open(path_of(t), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (t->fd < 0 || fstat(t->fd, &t->id) < 0) {
                struct source *s = &t->source;
                const int error = errno;

                if (s->from.known) {
                        s->from.known = false;
                        s->flowing = true;
                        source_cut(s, "%s was gone when the daemon was restarted", path_of(t));
                }
                if (error == ENOENT || error == ENOTDIR)
                        source_set_retry(s, SOURCE_WAITING, "%s does not exist yet; waiting for it", path_of(t));
                else
                        source_set_retry(s, SOURCE_FAILED, "%s cannot be read: %s; trying again every second",
                                         path_of(t), strerror(error));
                detach_file(t);
                return false;
        }
        if (report_if_not_regular(t, t->id.st_mode)) {
                detach_file(t);
                return false;
        }
        watch_file(t->source.base, &t->file, path_of(t)); /* without it the tick looks */
        begin_again(t);
        if (t->source.from.known)
                resume_file(t);
        source_set_attached(&t->source, "reading %s as it grows", path_of(t));
        return true;
}

/* ------------------------------------------------------------------ reading */

/* Keeps the newest bytes read. */
static void remember_tail(struct tail *t, const uint8_t *data, size_t size)
{
        size_t keep;

        if (size >= LAST_BYTES) {
                memcpy(t->last, data + size - LAST_BYTES, LAST_BYTES);
                t->last_size = LAST_BYTES;
                return;
        }
        keep = t->last_size < LAST_BYTES - size ? t->last_size : LAST_BYTES - size;
        memmove(t->last, t->last + t->last_size - keep, keep);
        memcpy(t->last + keep, data, size);
        t->last_size = keep + size;
}

static enum turn_end drain_file(struct tail *t, int *ret_error)
{
        struct turn turn = turn_begin();
        const uint8_t *data;
        ssize_t n;

        do {
                n = source_read_some(&t->source, t->fd, turn.left, &data);
                if (n == 0)
                        return TURN_DRAINED;
                if (n < 0) {
                        *ret_error = (int)-n;
                        return TURN_ERROR;
                }
                remember_tail(t, data, (size_t)n);
                t->offset += (uint64_t)n;
                t->idle_ticks = 0;
        } while (turn_has_budget(&turn, &t->source, (size_t)n));
        return TURN_BUDGET;
}

static void check_rewritten(struct tail *t)
{
        struct stat now;
        const char *how = NULL;

        if (fstat(t->fd, &now) < 0 || now.st_size == 0)
                return; /* the read that follows reports what is wrong */
        if ((uint64_t)now.st_size < t->offset)
                how = "truncated";
        else if (is_overwritten(t))
                how = "overwritten";
        if (!how)
                return;
        source_cut(&t->source, "%s was %s", path_of(t), how);
        begin_again(t);
        if (lseek(t->fd, 0, SEEK_SET) < 0)
                detach_file(t); /* a regular file seeks; if this one does not, open it again */
        else
                source_set_attached(&t->source, "%s was %s; reading it from the start", path_of(t), how);
}

static void lose_file(struct tail *t, int error)
{
        source_cut(&t->source, "%s cannot be read any more: %s", path_of(t), strerror(error));
        source_set_retry(&t->source, SOURCE_WAITING, "%s cannot be read any more: %s; opening it again every second",
                         path_of(t), strerror(error));
        detach_file(t);
}

/* ------------------------------------------------------------------ its name */

static void check_removed(struct tail *t, const char *how)
{
        t->nameless = true;
        if (t->idle_ticks < LIMIT_NAMELESS_TICKS) {
                source_set_state(&t->source, SOURCE_WAITING,
                                 "%s was %s; waiting for a new one, and still reading what is "
                                 "written to the old one",
                                 path_of(t), how);
                return;
        }
        source_cut(&t->source, "%s was %s", path_of(t), how);
        source_set_state(&t->source, SOURCE_WAITING, "%s was %s; waiting for a new one", path_of(t), how);
        detach_file(t);
}

static void check_name(struct tail *t)
{
        struct stat now;

        if (stat(path_of(t), &now) < 0) {
                if (errno == ENOENT || errno == ENOTDIR)
                        check_removed(t, "removed");
                return; /* any other error: what is open can still be read */
        }
        if (!same_file(&now, &t->id) && S_ISREG(now.st_mode) && now.st_size == 0) {
                check_removed(t, "replaced by an empty file");
        } else if (!same_file(&now, &t->id)) {
                int error = 0;

                switch (drain_file(t, &error)) {
                case TURN_BUDGET:
                        break;
                case TURN_ERROR:
                        lose_file(t, error);
                        break;
                default:
                        source_cut(&t->source, "%s was replaced by another file", path_of(t));
                        detach_file(t);
                        break;
                }
                source_wake(t); /* goes on with the old file, or attaches the new one */
        } else if (t->nameless) {
                t->nameless = false;
                source_set_state(&t->source, SOURCE_OPEN, "reading %s as it grows", path_of(t));
        }
}

static void check_and_read(struct tail *t)
{
        int error = 0;

        if (source_is_busy(&t->source)) {
                source_wake(t);
                return;
        }
        if (t->fd >= 0)
                check_rewritten(t);
        if (t->fd < 0 && !attach_file(t))
                return;
        switch (drain_file(t, &error)) {
        case TURN_BUDGET:
                source_wake(t);
                break;
        case TURN_ERROR:
                lose_file(t, error);
                break;
        default:
                check_name(t);
                break;
        }
}

/* ------------------------------------------------------------------- medium */

static void tail_wake(struct source *s)
{
        watchdog_begin(WATCHDOG_SOURCE);
        check_and_read((struct tail *)s);
        watchdog_end();
}

static void on_second(void *ctx)
{
        struct tail *t = ctx;

        if (t->nameless)
                t->idle_ticks++;
        source_wake(t);
}

static int tail_start(struct source *s, struct error *error)
{
        struct tail *t = (struct tail *)s;

        t->fd = -1;
        t->file = t->name = (struct watch){ .seen = source_wake, .ctx = s };
        t->tick = (struct second_tick){ .passed = on_second, .ctx = t };
        return second_tick_start(s->base, &t->tick) == 0 ? 0 : error_code(error, -ENOMEM, "out of memory");
}

static void tail_stop(struct source *s)
{
        struct tail *t = (struct tail *)s;

        detach_file(t);
        watch_stop(&t->name);
        second_tick_stop(&t->tick);
}

static void tail_position(const struct source *s, struct source_position *ret)
{
        const struct tail *t = (const struct tail *)s;

        if (t->fd < 0)
                return;
        *ret = (struct source_position){
                true, (uint64_t)t->id.st_dev, (uint64_t)t->id.st_ino, t->offset, { 0 }, (uint32_t)t->last_size, false
        };
        memcpy(ret->last, t->last, t->last_size);
}

const struct medium medium_file = { sizeof(struct tail), tail_start, tail_wake, tail_stop, tail_position, NULL };
