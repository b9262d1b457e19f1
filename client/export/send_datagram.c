/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * send_datagram.c - whole lines in datagrams of at most DATAGRAM_BYTES_MAX: UDP or a Unix socket.
 *
 * DESIGN: a socket is made and connected for each batch, so that the name is resolved again, and an error from the
 * other machine (nobody listens there) fails a later datagram. If the kernel's buffer is full, the rest is retried in
 * a moment; a failed batch is sent again from its beginning.
 */
#include <errno.h>
#include <event2/dns.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/export/limits.h"
#include "client/export/sender.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/event.h"

#define AGAIN_US 2000
#define PER_TURN 64 /* datagrams per turn of the loop */

struct datagram_sender {
        struct sender base;
        struct evdns_getaddrinfo_request *lookup; /* of the address */
        struct event *turn;
        const struct batch *batch;
        size_t at;         /* bytes of it that are sent */
        uint64_t until_ns; /* when it counts as failed */
        int fd;
        bool failed;
        char detail[160];
};

static void finish(struct datagram_sender *d, bool ok)
{
        struct sent sent = { .ok = ok, .again = !ok, .detail = d->detail };

        close_fd(&d->fd);
        d->batch = NULL;
        d->base.options.done(d->base.options.ctx, &sent);
}

static void schedule_turn(struct datagram_sender *d, long after_us)
{
        struct timeval after = { 0, after_us };

        (void)event_add(d->turn, &after);
}

/* Reports from the loop, since a failure may be known before sender_send has returned. */
static void fail(struct datagram_sender *d, const char *why)
{
        (void)snprintf(d->detail, sizeof(d->detail), "%s", why);
        d->failed = true;
        schedule_turn(d, 0);
}

/* Bytes of whole lines from `at` that fit in a datagram; a longer line is sent alone. */
static size_t next_lines(const struct batch *b, size_t at)
{
        const char *text = b->bytes;
        size_t n = 0;

        while (at + n < b->size) {
                const char *end = memchr(text + at + n, '\n', b->size - at - n);
                size_t line = end ? (size_t)(end - (text + at + n)) + 1 : b->size - at - n;

                if (n > 0 && n + line > DATAGRAM_BYTES_MAX)
                        break;
                n += line;
        }
        return n;
}

static void on_turn(evutil_socket_t fd, short what, void *ctx)
{
        struct datagram_sender *d = ctx;

        (void)fd;
        (void)what;
        if (d->failed) {
                finish(d, false);
                return;
        }
        for (int i = 0; i < PER_TURN && d->at < d->batch->size; i++) {
                size_t n = next_lines(d->batch, d->at);

                if (send(d->fd, (const char *)d->batch->bytes + d->at, n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
                        bool full = errno == EAGAIN || errno == ENOBUFS;

                        if (full && clock_mono_ns() < d->until_ns) {
                                schedule_turn(d, AGAIN_US);
                                return;
                        }
                        (void)snprintf(d->detail, sizeof(d->detail), "%s", full ? "it takes nothing" : strerror(errno));
                        finish(d, false);
                        return;
                }
                d->at += n;
        }
        if (d->at < d->batch->size) {
                schedule_turn(d, 0);
                return;
        }
        (void)snprintf(d->detail, sizeof(d->detail), "sent");
        finish(d, true);
}

static void connect_to(struct datagram_sender *d, const struct sockaddr *to, socklen_t length)
{
        d->fd = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (d->fd < 0 || connect(d->fd, to, length) < 0)
                fail(d, strerror(errno));
        else
                schedule_turn(d, 0);
}

static void on_address(int result, struct evutil_addrinfo *found, void *ctx)
{
        struct datagram_sender *d = ctx;

        d->lookup = NULL;
        if (result == EVUTIL_EAI_CANCEL)
                return;
        if (result || !found)
                fail(d, evutil_gai_strerror(result));
        else
                connect_to(d, found->ai_addr, found->ai_addrlen);
        if (found)
                evutil_freeaddrinfo(found);
}

static void send_batch(struct sender *s, const struct batch *batch)
{
        struct datagram_sender *d = (struct datagram_sender *)s;
        const struct sender_options *o = &s->options;
        struct evutil_addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_protocol = IPPROTO_UDP };
        char host[256], number[8];
        uint16_t port;

        d->batch = batch;
        d->at = 0;
        d->until_ns = clock_mono_ns() + o->timeout_ns;
        d->failed = false;
        if (address_kind(o->address) == ADDRESS_UNIXGRAM) {
                struct sockaddr_un to = { .sun_family = AF_UNIX };

                (void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", strchr(o->address, ':') + 1);
                connect_to(d, (struct sockaddr *)&to, sizeof(to));
                return;
        }
        if (!address_host(o->address, host, sizeof(host), &port)) {
                fail(d, "expected udp://HOST:PORT");
                return;
        }
        (void)snprintf(number, sizeof(number), "%u", port);
        struct evdns_getaddrinfo_request *lookup = evdns_getaddrinfo(o->names, host, number, &hints, on_address, d);
        if (d->fd < 0 && !d->failed) /* otherwise it was already reported */
                d->lookup = lookup;
}

static void destroy(struct sender *s)
{
        struct datagram_sender *d = (struct datagram_sender *)s;

        if (d->lookup)
                evdns_getaddrinfo_cancel(d->lookup);
        free_event(&d->turn);
        close_fd(&d->fd);
        free(d);
}

static struct sender *make(const struct sender_options *o)
{
        struct datagram_sender *d = calloc(1, sizeof(*d));

        if (!d)
                return NULL;
        d->fd = -1;
        d->turn = evtimer_new(o->base, on_turn, d);
        if (d->turn)
                return &d->base;
        free(d);
        return NULL;
}

const struct sender_kind sender_datagram = { .make = make, .send = send_batch, .destroy = destroy };
