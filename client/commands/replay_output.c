/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: every descriptor is nonblocking, and every wait is one ppoll that
 * unblocks the two signals, so that no signal is missed and none interrupts
 * anything but waiting.
 */
#include "client/commands/replay_output.h"
#include "proto/base/array.h"
#include "proto/base/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/unix_socket.h"

#define FIFO_LOOK_S 0.05 /* how often a FIFO without a reader is tried, since there is nothing to poll */

static volatile sig_atomic_t stopped;
static sigset_t while_waiting;

static void on_signal(int number)
{
        (void)number;
        stopped = 1;
}

void output_catch_signals(void)
{
        struct sigaction stop = { .sa_handler = on_signal }, ignore = { .sa_handler = SIG_IGN };
        sigset_t both;

        sigemptyset(&both);
        sigaddset(&both, SIGINT);
        sigaddset(&both, SIGTERM);
        sigprocmask(SIG_BLOCK, &both, &while_waiting);
        sigdelset(&while_waiting, SIGINT);
        sigdelset(&while_waiting, SIGTERM);
        sigaction(SIGINT, &stop, NULL);
        sigaction(SIGTERM, &stop, NULL);
        sigaction(SIGPIPE, &ignore, NULL);
        stopped = 0;
}

int output_wait(int fd, short events, double seconds)
{
        struct pollfd p = { .fd = fd, .events = events };
        struct timespec t = { 0, 0 };

        if (seconds > 0) {
                double bounded = seconds < 3600 ? seconds : 3600; /* callers check again */
                t.tv_sec = (time_t)bounded;
                t.tv_nsec = (long)((bounded - (double)t.tv_sec) * 1e9);
        }
        int r = ppoll(&p, 1, seconds < 0 ? NULL : &t, &while_waiting);
        if (stopped)
                return -EINTR;
        return r < 0 && errno != EINTR ? -errno : 0;
}

bool output_parse(struct output *o, const char *text)
{
        static const struct {
                const char *scheme;
                enum output_kind kind;
        } kinds[] = { { "fifo:", OUTPUT_FIFO }, { "file:", OUTPUT_FILE }, { "unix-listen:", OUTPUT_LISTEN } };

        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
                size_t size = strlen(kinds[i].scheme);
                if (strncmp(text, kinds[i].scheme, size) != 0 || !text[size])
                        continue;
                *o = (struct output){ .kind = kinds[i].kind, .path = text + size, .fd = -1, .listener = -1 };
                return true;
        }
        return false;
}

/* -------------------------------------------------------------------- begin */

static int begin_fifo(struct output *o)
{
        struct stat st;

        if (o->fd >= 0)
                return 0;
        if (mkfifo(o->path, 0600) == 0)
                o->made = true;
        else if (errno != EEXIST)
                return -errno;
        if (stat(o->path, &st) < 0)
                return -errno;
        if (!S_ISFIFO(st.st_mode))
                return -EEXIST;
        while ((o->fd = open(o->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0) {
                if (errno != ENXIO) /* no reader yet */
                        return -errno;
                int r = output_wait(-1, 0, FIFO_LOOK_S);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int begin_file(struct output *o, const struct stat *log)
{
        struct stat st;

        if (stat(o->path, &st) == 0 && st.st_dev == log->st_dev && st.st_ino == log->st_ino)
                return -EDEADLK;
        o->fd = open(o->path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0666);
        return o->fd < 0 ? -errno : 0;
}

static int bind_listener(struct output *o)
{
        struct sockaddr_un un = { .sun_family = AF_UNIX };

        if (strlen(o->path) >= sizeof(un.sun_path))
                return -ENAMETOOLONG;
        memcpy(un.sun_path, o->path, strlen(o->path));
        o->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (o->listener < 0)
                return -errno;
        if (unix_is_left_over(o->path))
                (void)unlink(o->path); /* if that fails, bind reports why */
        if (fchmod(o->listener, 0600) < 0 || bind(o->listener, (struct sockaddr *)&un, sizeof(un)) < 0)
                return -errno;
        o->made = true;
        return listen(o->listener, 1) < 0 ? -errno : 0;
}

static int begin_listen(struct output *o)
{
        int r = o->listener < 0 ? bind_listener(o) : 0;

        while (r == 0 && o->fd < 0) {
                o->fd = accept4(o->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
                if (o->fd < 0)
                        r = errno == EAGAIN || errno == ECONNABORTED ? output_wait(o->listener, POLLIN, -1) : -errno;
        }
        return r;
}

int output_begin(struct output *o, const struct stat *log)
{
        switch (o->kind) {
        case OUTPUT_FIFO:
                return begin_fifo(o);
        case OUTPUT_FILE:
                return begin_file(o, log);
        default:
                return begin_listen(o);
        }
}

/* -------------------------------------------------------------- write and end */

int output_write(struct output *o, const void *data, size_t size)
{
        const char *p = data;
        int r = output_wait(-1, 0, 0); /* a file never makes us wait: let signals in now and then */

        while (r == 0 && size) {
                ssize_t n = write(o->fd, p, size);
                if (n >= 0) {
                        p += n;
                        size -= (size_t)n;
                } else if (errno == ECONNRESET) {
                        return -EPIPE;
                } else if (errno == EAGAIN) {
                        r = output_wait(o->fd, POLLOUT, -1);
                } else if (errno != EINTR) {
                        return -errno;
                }
        }
        return r;
}

int output_end(struct output *o)
{
        int fd = o->fd;

        if (o->kind == OUTPUT_FIFO || fd < 0)
                return 0;
        o->fd = -1;
        return close(fd) < 0 ? -errno : 0;
}

void output_close(struct output *o)
{
        close_fd(&o->fd); /* output_end has reported errors */
        close_fd(&o->listener);
        if (o->made)
                (void)unlink(o->path); /* best effort */
        o->made = false;
}
