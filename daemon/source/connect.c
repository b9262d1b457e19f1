/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: connects to a program that serves its eventlog (eventlog-socket), and
 * reconnects for as long as the target lives, with backoff. The backoff is
 * reset only when bytes came: a peer that accepts and hangs up at once is not
 * hammered.
 *
 * The sending direction is never shut down, though nothing is sent but the
 * commands of people: the program takes an end of file as a reader that left.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/backoff.h"
#include "daemon/source/census_reader.h"
#include "daemon/source/medium.h"
#include "daemon/source/procfs.h"
#include "proto/base/agent_peer.h"
#include "proto/base/descriptors.h"
#include "proto/base/error.h"
#include "proto/base/event.h"

struct connection {
        struct source source;
        struct backoff backoff;
        struct event *ready;   /* connecting: writable; connected: readable */
        int fd;                /* -1 = none */
        uint64_t bytes_before; /* source.stats.bytes when it was connected */
        struct census_reader censuses;
        bool second; /* localhost: which of its two addresses is next */
};

static const struct timeval patience = { 5, 0 }; /* for a host that does not answer */

static const char *name_of(const struct connection *c)
{
        return c->source.uri.text;
}

static void hang_up(struct connection *c)
{
        free_event(&c->ready);
        census_reader_end(&c->censuses);
        close_fd(&c->fd);
}

static void retry_later(struct connection *c)
{
        struct timeval pause = backoff_next(&c->backoff);

        hang_up(c);
        source_wake_after(&c->source, &pause);
}

/* --------------------------------------------------------------- connecting */

static bool names_a_socket(const struct connection *c)
{
        struct stat st;

        return !c->source.uri.path_at || stat(source_uri_path(&c->source.uri), &st) < 0 || S_ISSOCK(st.st_mode);
}

static void report_connect_failure(struct connection *c, int error)
{
        struct source *s = &c->source;

        if (!names_a_socket(c))
                source_set_retry(s, SOURCE_FAILED, "%s is not a socket; trying again, at most every 5 s",
                                 source_uri_path(&s->uri));
        else if (error == ENOENT || error == ENOTDIR)
                source_set_retry(s, SOURCE_WAITING, "%s does not exist yet; trying again, at most every 5 s",
                                 source_uri_path(&s->uri));
        else if (error == ECONNREFUSED)
                source_set_retry(s, SOURCE_WAITING, "nothing listens at %s; trying again, at most every 5 s",
                                 name_of(c));
        else
                source_set_retry(s, error == EACCES ? SOURCE_FAILED : SOURCE_WAITING,
                                 "cannot connect to %s: %s; trying again, at most every 5 s", name_of(c),
                                 strerror(error));
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
        struct connection *c = ctx;
        int error = 0;

        enum turn_end end = source_read_turn(&c->source, fd, &error);
        if (c->source.stats.bytes > c->bytes_before)
                backoff_reset(&c->backoff);
        if (end != TURN_EOF && end != TURN_ERROR)
                return; /* epoll reports it again if more is there */
        const char *why = end == TURN_EOF ? "the other side closed it" : strerror(error);
        source_cut(&c->source, "the connection to %s ended: %s", name_of(c), why);
        source_set_state(&c->source, SOURCE_WAITING, "the connection to %s ended: %s; connecting again", name_of(c),
                         why);
        retry_later(c);
}

static void finish_connecting(struct connection *c)
{
        if (!agent_peer_listens(source_uri_path(&c->source.uri), c->fd)) {
                /* Another process is where an agent was to be: nothing is read of it. */
                source_set_retry(&c->source, SOURCE_FAILED, "it is not process %ld that listens at %s; trying again",
                                 (long)agent_peer_process(source_uri_path(&c->source.uri)),
                                 source_uri_path(&c->source.uri));
                retry_later(c);
                return;
        }
        struct ucred peer = { .pid = 0 };
        socklen_t size = sizeof(peer);

        (void)getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size); /* 0 over TCP, and where it is not seen */
        c->source.peer = (uint32_t)peer.pid;
        c->source.peer_stack = peer.pid ? procfs_stack_start("", c->source.peer) : 0;
        free_event(&c->ready);
        c->ready = event_new(c->source.base, c->fd, EV_READ | EV_PERSIST, on_readable, c);
        if (!c->ready || event_add(c->ready, NULL) < 0) {
                report_connect_failure(c, ENOMEM);
                retry_later(c);
                return;
        }
        if (c->source.uri.kind == SOURCE_TCP) {
                /* A peer that vanished silently is detected after about a minute. */
                int on = 1, idle_s = 30, interval_s = 10, probes = 3;
                (void)setsockopt(c->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)); /* all four are optional */
                (void)setsockopt(c->fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
                (void)setsockopt(c->fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
                (void)setsockopt(c->fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
        } else if (agent_peer_is_uri(name_of(c))) {
                census_reader_begin(&c->censuses, c->source.base, c->fd);
        }
        c->bytes_before = c->source.stats.bytes;
        source_set_attached(&c->source, "connected to %s", name_of(c));
}

static void fail_connecting(struct connection *c, int error)
{
        c->second = !c->second;
        report_connect_failure(c, error);
        retry_later(c);
}

static void on_connected(evutil_socket_t fd, short what, void *ctx)
{
        struct connection *c = ctx;
        int error = 0;
        socklen_t size = sizeof(error);

        if (what & EV_TIMEOUT)
                error = ETIMEDOUT;
        else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
                error = errno;
        if (error)
                fail_connecting(c, error);
        else
                finish_connecting(c);
}

static void connect_wake(struct source *s)
{
        struct connection *c = (struct connection *)s;
        struct address a;

        address_of(&c->source.uri, c->second, &a);
        c->fd = address_socket(&a);
        if (c->fd < 0) {
                fail_connecting(c, errno);
        } else if (connect(c->fd, (struct sockaddr *)&a.storage, a.size) == 0) {
                finish_connecting(c);
        } else if (errno == EINPROGRESS) {
                c->ready = event_new(c->source.base, c->fd, EV_WRITE, on_connected, c);
                if (!c->ready || event_add(c->ready, &patience) < 0)
                        fail_connecting(c, ENOMEM);
        } else {
                fail_connecting(c, errno);
        }
}

/* ------------------------------------------------------------------- medium */

static int connect_start(struct source *s, struct error *error)
{
        ((struct connection *)s)->fd = -1;
        return 0;
}

static void connect_stop(struct source *s)
{
        hang_up((struct connection *)s);
}

/* A part of a message would make the program misread the next one, so what does not fit breaks the connection. */
static bool connect_send(struct source *s, const void *bytes, size_t n, struct error *error)
{
        struct connection *c = (struct connection *)s;

        if (s->state != SOURCE_OPEN || c->fd < 0)
                return error_set(error,
                                 "%s is not connected: its program has ended, or is not there yet; send it once the "
                                 "target runs",
                                 name_of(c));
        const ssize_t sent = send(c->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent == (ssize_t)n)
                return true;
        if (sent > 0)
                (void)shutdown(c->fd, SHUT_RDWR);
        return error_set(error, "cannot send to %s: %s", name_of(c),
                         sent > 0 ? "it takes only a part, and is connected again" : strerror(errno));
}

const struct medium medium_connect = {
        sizeof(struct connection), connect_start, connect_wake, connect_stop, NULL, connect_send
};
