/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one writer at a time, since two would mix their bytes; others are
 * closed at once, counted, and logged once per connected writer. One that has
 * not sent a byte a second after it connected gives way to the next: a program
 * writes its log's header at once, and whoever may connect could keep it out.
 *
 * The socket file belongs to its owner alone (0600, set on the socket before it
 * is bound, so there is no moment when others could get in). A socket file that
 * is in the way is removed only if nobody answers there; if ours is removed, it
 * is made again within a second.
 *
 * A loopback TCP port is open to every user of the machine. That is why any
 * other address is refused, and why a Unix socket is the better choice.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/source/limits.h"
#include "daemon/source/medium.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/error.h"
#include "proto/base/event.h"

#define BACKLOG          8
#define ACCEPTS_PER_TURN 16

struct listener {
        struct source source;
        struct event *knock;    /* somebody connects */
        struct event *readable; /* the writer's bytes */
        int fd;                 /* listening; -1 = not bound */
        int writer;             /* -1 = none */
        uint64_t came_ns;       /* when it connected, on the monotonic clock ... */
        uint64_t came_bytes;    /* ... and how many bytes others had sent by then */
        uint64_t turned_away;   /* while this writer was connected */
        struct stat id;         /* of the socket file */
};

static const struct timeval slowly = { 1, 0 };

static const char *name_of(const struct listener *l)
{
        return l->source.uri.text;
}

static const char *path_of(const struct listener *l)
{
        return source_uri_path(&l->source.uri);
}

static bool file_is_ours(const struct listener *l)
{
        struct stat now;

        return stat(path_of(l), &now) == 0 && now.st_dev == l->id.st_dev && now.st_ino == l->id.st_ino;
}

static void unbind_listener(struct listener *l)
{
        free_event(&l->knock);
        if (l->fd >= 0 && path_of(l)[0] && file_is_ours(l))
                (void)unlink(path_of(l)); /* a stale socket file is removed by whoever binds next */
        close_fd(&l->fd);
}

/* ---------------------------------------------------------------- the writer */

static void report_listening(struct listener *l)
{
        source_set_state(&l->source, SOURCE_WAITING, "listening at %s; waiting for a program to connect", name_of(l));
}

static void writer_left(struct listener *l, const char *why)
{
        if (l->turned_away > 1)
                log_warning("source=%s connections=%llu turned away while its writer was connected", name_of(l),
                            (unsigned long long)l->turned_away);
        l->turned_away = 0;
        free_event(&l->readable);
        close_fd(&l->writer);
        source_cut(&l->source, "the program left %s: %s", name_of(l), why);
        report_listening(l);
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
        struct listener *l = ctx;
        int error = 0;

        switch (source_read_turn(&l->source, fd, &error)) {
        case TURN_EOF:
                writer_left(l, "it closed the connection");
                break;
        case TURN_ERROR:
                writer_left(l, strerror(error));
                break;
        default:
                break; /* epoll reports it again if more is there */
        }
}

static void accept_writer(struct listener *l, int fd)
{
        l->writer = fd;
        l->came_ns = clock_mono_ns();
        l->came_bytes = source_stats(&l->source)->bytes;
        l->readable = event_new(l->source.base, fd, EV_READ | EV_PERSIST, on_readable, l);
        if (!l->readable || event_add(l->readable, NULL) < 0) {
                writer_left(l, "out of memory");
                return;
        }
        source_set_attached(&l->source, "a program is connected to %s", name_of(l));
}

/* Nothing has come from the writer, and nothing waits to be read. */
static bool is_silent(const struct listener *l)
{
        char c;

        return source_stats(&l->source)->bytes == l->came_bytes && clock_mono_ns() - l->came_ns >= SILENT_WRITER_NS &&
               recv(l->writer, &c, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
}

static void on_knock(evutil_socket_t fd, short what, void *ctx)
{
        struct listener *l = ctx;

        for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
                int writer = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
                if (writer < 0) {
                        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                                (void)event_del(l->knock); /* it would spin; the tick listens again */
                        return;
                }
                if (l->writer >= 0 && is_silent(l))
                        writer_left(l, "it sent nothing, and another one connects");
                if (l->writer < 0) {
                        accept_writer(l, writer);
                } else {
                        (void)close(writer);
                        if (l->turned_away++ == 0)
                                log_warning(
                                        "source=%s turned a connection away: one writer at a time, and one is "
                                        "connected",
                                        name_of(l));
                }
        }
}

/* ------------------------------------------------------------------- binding */

/* Whether somebody accepts connections at the path. */
static bool somebody_answers(const struct address *a)
{
        int fd = address_socket(a);

        if (fd < 0)
                return true; /* unknown: leave it alone */
        bool refused = connect(fd, (const struct sockaddr *)&a->storage, a->size) < 0 && errno == ECONNREFUSED;
        (void)close(fd);
        return !refused;
}

/* Removes a socket file that nobody answers at. Returns 0 or -Exxx: what prevents it. */
static int clear_path(struct listener *l, const struct address *a)
{
        struct stat st;

        if (lstat(path_of(l), &st) < 0)
                return errno == ENOENT ? 0 : -errno;
        if (!S_ISSOCK(st.st_mode))
                return -EEXIST;
        if (somebody_answers(a))
                return -EADDRINUSE;
        return unlink(path_of(l)) < 0 ? -errno : 0;
}

static int bind_to(struct listener *l, const struct address *a)
{
        int on = 1;

        if (path_of(l)[0]) {
                int r = clear_path(l, a);
                if (r < 0)
                        return r;
                if (fchmod(l->fd, 0600) < 0)
                        return -errno;
        } else if (setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0) {
                return -errno;
        }
        if (bind(l->fd, (const struct sockaddr *)&a->storage, a->size) < 0 || listen(l->fd, BACKLOG) < 0)
                return -errno;
        if (path_of(l)[0] && stat(path_of(l), &l->id) < 0)
                return -errno;
        return 0;
}

static void bind_again(struct listener *l)
{
        struct address a;
        int r;

        address_of(&l->source.uri, false, &a);
        l->fd = address_socket(&a);
        r = l->fd < 0 ? -errno : bind_to(l, &a);
        if (r == 0) {
                l->knock = event_new(l->source.base, l->fd, EV_READ | EV_PERSIST, on_knock, l);
                r = l->knock && event_add(l->knock, NULL) == 0 ? 0 : -ENOMEM;
        }
        if (r < 0) {
                int error = -r;
                struct source *s = &l->source;

                if (error == EEXIST)
                        source_set_retry(s, SOURCE_FAILED,
                                         "%s exists and is not a socket; remove it or name another path", path_of(l));
                else if (error == EADDRINUSE)
                        source_set_retry(s, SOURCE_FAILED, "another program listens at %s; trying again every second",
                                         name_of(l));
                else
                        source_set_retry(s, SOURCE_FAILED, "cannot listen at %s: %s; trying again every second",
                                         name_of(l), strerror(error));
                free_event(&l->knock);
                close_fd(&l->fd);
        } else if (l->writer < 0) {
                report_listening(l);
        }
}

/* Slowly: binds what is not bound. */
static void listen_wake(struct source *s)
{
        struct listener *l = (struct listener *)s;

        if (l->fd >= 0 && path_of(l)[0] && !file_is_ours(l))
                unbind_listener(l); /* somebody removed the socket file: nobody can find us */
        if (l->fd < 0)
                bind_again(l);
        else
                (void)event_add(l->knock, NULL); /* in case on_knock had to stop */
        source_wake_after(s, &slowly);
}

/* ------------------------------------------------------------------- medium */

static int listen_start(struct source *s, struct error *error)
{
        struct listener *l = (struct listener *)s;

        l->fd = l->writer = -1;
        if (s->uri.kind == SOURCE_TCP_LISTEN && !source_uri_is_loopback(&s->uri))
                return error_code(error, -EPERM, "tcp-listen: takes only loopback addresses");
        return 0;
}

static void listen_stop(struct source *s)
{
        struct listener *l = (struct listener *)s;

        free_event(&l->readable);
        close_fd(&l->writer);
        unbind_listener(l);
}

const struct medium medium_listen = { sizeof(struct listener), listen_start, listen_wake, listen_stop, NULL, NULL };
