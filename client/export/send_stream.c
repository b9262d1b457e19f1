/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * send_stream.c - lines over a connection that stays open: TCP or a Unix socket.
 *
 * DESIGN: a batch is done when the kernel has its last byte. A batch that finds no connection makes one, and if the
 * connection breaks, the owner sends the whole batch again: receivers keep one value per series and time. What the
 * other side sends is read and dropped, to notice when it disconnects.
 */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/dns.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "client/export/sender.h"
#include "proto/base/event.h"

struct stream_sender {
        struct sender base;
        struct bufferevent *connection; /* NULL: there is none */
        const struct batch *batch;      /* being sent; NULL: none */
        struct event *later;            /* reports an immediate failure from the loop */
        char detail[160];
};

static void disconnect(struct stream_sender *t)
{
        if (t->connection)
                bufferevent_free(t->connection);
        t->connection = NULL;
}

static void finish(struct stream_sender *t, bool ok)
{
        struct sent sent = { .ok = ok, .again = !ok, .detail = t->detail };

        t->batch = NULL;
        if (!ok)
                disconnect(t);
        t->base.options.done(t->base.options.ctx, &sent);
}

static void on_failed(evutil_socket_t fd, short what, void *ctx)
{
        (void)fd;
        (void)what;
        finish(ctx, false);
}

static void on_written(struct bufferevent *b, void *ctx)
{
        struct stream_sender *t = ctx;

        (void)b;
        if (!t->batch)
                return;
        (void)snprintf(t->detail, sizeof(t->detail), "sent");
        finish(t, true);
}

static void on_read(struct bufferevent *b, void *ctx)
{
        struct evbuffer *in = bufferevent_get_input(b);

        (void)ctx;
        (void)evbuffer_drain(in, evbuffer_get_length(in));
}

static void on_event(struct bufferevent *b, short what, void *ctx)
{
        struct stream_sender *t = ctx;
        int dns = bufferevent_socket_get_dns_error(b);

        if (what & BEV_EVENT_CONNECTED)
                return;
        if (what & BEV_EVENT_TIMEOUT)
                (void)snprintf(t->detail, sizeof(t->detail), "it takes nothing");
        else if (what & BEV_EVENT_EOF)
                (void)snprintf(t->detail, sizeof(t->detail), "the other side closed the connection");
        else
                (void)snprintf(t->detail, sizeof(t->detail), "%s", dns ? evutil_gai_strerror(dns) : strerror(errno));
        if (t->batch)
                finish(t, false);
        else
                disconnect(t);
}

static bool connect_to(struct stream_sender *t)
{
        const struct sender_options *o = &t->base.options;
        struct timeval wait = { .tv_sec = (time_t)(o->timeout_ns / 1000000000u),
                                .tv_usec = (suseconds_t)(o->timeout_ns / 1000u % 1000000u) };
        char host[256];
        uint16_t port;

        t->connection = bufferevent_socket_new(o->base, -1, BEV_OPT_CLOSE_ON_FREE);
        if (!t->connection)
                return false;
        bufferevent_setcb(t->connection, on_read, on_written, on_event, t);
        bufferevent_set_timeouts(t->connection, NULL, &wait);
        if (address_kind(o->address) == ADDRESS_TCP) {
                if (!address_host(o->address, host, sizeof(host), &port))
                        return false;
                if (bufferevent_socket_connect_hostname(t->connection, o->names, AF_UNSPEC, host, port) < 0)
                        return false;
        } else {
                struct sockaddr_un to = { .sun_family = AF_UNIX };

                (void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", strchr(o->address, ':') + 1);
                if (bufferevent_socket_connect(t->connection, (struct sockaddr *)&to, sizeof(to)) < 0)
                        return false;
        }
        return bufferevent_enable(t->connection, EV_READ | EV_WRITE) == 0;
}

static void send_batch(struct sender *s, const struct batch *batch)
{
        static const struct timeval now = { 0, 0 };
        struct stream_sender *t = (struct stream_sender *)s;

        errno = 0;
        if ((t->connection || connect_to(t)) && t->connection &&
            bufferevent_write(t->connection, batch->bytes, batch->size) == 0) {
                t->batch = batch;
                return;
        }
        (void)snprintf(t->detail, sizeof(t->detail), "%s", errno ? strerror(errno) : "cannot connect");
        disconnect(t);
        t->batch = NULL;
        (void)event_add(t->later, &now);
}

static void destroy(struct sender *s)
{
        struct stream_sender *t = (struct stream_sender *)s;

        disconnect(t);
        free_event(&t->later);
        free(t);
}

static struct sender *make(const struct sender_options *o)
{
        struct stream_sender *t = calloc(1, sizeof(*t));

        if (!t)
                return NULL;
        t->later = evtimer_new(o->base, on_failed, t);
        if (t->later)
                return &t->base;
        free(t);
        return NULL;
}

const struct sender_kind sender_stream = { .make = make, .send = send_batch, .destroy = destroy };
