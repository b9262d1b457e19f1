/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: standard input, once, to its end. Others may share its open file
 * description, and O_NONBLOCK with it: so pipes, FIFOs and terminals are opened
 * again through /proc, which gives a description of our own; a socket cannot
 * be, so there the flag is set and restored on close.
 *
 * Regular files and /dev/null cannot be polled (epoll: EPERM). They never block
 * either, and are read turn by turn with a zero-delay timer.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/medium.h"
#include "proto/base/error.h"
#include "proto/base/event.h"

struct standard_input {
        struct source source;
        struct event *readable; /* NULL: it cannot be polled */
        int fd;
        int flags; /* to restore; -1 = untouched */
};

static bool taken; /* two readers would each get half of the bytes */

static void stdin_wake(struct source *s)
{
        struct standard_input *in = (struct standard_input *)s;
        int error = 0;

        if (!s->stats.attaches)
                source_set_attached(s, "reading standard input");
        const enum turn_end end = source_read_turn(s, in->fd, &error);
        if (end == TURN_EOF || end == TURN_ERROR)
                free_event(&in->readable);
        if (end == TURN_EOF)
                source_set_state(s, SOURCE_ENDED, "standard input has ended");
        else if (end == TURN_ERROR)
                source_set_state(s, SOURCE_ENDED, "standard input cannot be read: %s; giving up", strerror(error));
        else if (!in->readable)
                source_wake(s);
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
        stdin_wake(ctx);
}

/* A nonblocking descriptor for standard input; -1 with errno. */
static int open_own(struct standard_input *in)
{
        struct stat st;

        if (fstat(STDIN_FILENO, &st) < 0)
                return -1;
        if (S_ISFIFO(st.st_mode) || isatty(STDIN_FILENO)) {
                int fd = open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
                if (fd >= 0)
                        return fd;
        }
        int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        if (fd < 0 || S_ISREG(st.st_mode))
                return fd;
        int flags = fcntl(fd, F_GETFL);
        if (flags >= 0 && !(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0)
                in->flags = flags;
        return fd;
}

/* Checked first: libevent would log a warning for what epoll refuses. */
static bool can_poll(int fd)
{
        struct stat st;

        return fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) && (!S_ISCHR(st.st_mode) || isatty(fd));
}

static int stdin_start(struct source *s, struct error *error)
{
        struct standard_input *in = (struct standard_input *)s;

        in->fd = in->flags = -1;
        if (taken) {
                return error_code(error, -EBUSY, "standard input is already read by another target");
        }
        in->fd = open_own(in);
        if (in->fd < 0) {
                int r = -errno;
                error_set(error, "standard input cannot be read: %s", strerror(errno));
                return r;
        }
        taken = true;
        if (can_poll(in->fd))
                in->readable = event_new(s->base, in->fd, EV_READ | EV_PERSIST, on_readable, in);
        if (in->readable && event_add(in->readable, NULL) != 0)
                free_event(&in->readable);
        return 0;
}

static void stdin_stop(struct source *s)
{
        struct standard_input *in = (struct standard_input *)s;

        free_event(&in->readable);
        if (in->fd < 0)
                return;
        if (in->flags >= 0)
                (void)fcntl(in->fd, F_SETFL, in->flags); /* best effort */
        (void)close(in->fd);
        taken = false;
}

const struct medium medium_stdin = { sizeof(struct standard_input), stdin_start, stdin_wake, stdin_stop, NULL, NULL };
