/* SPDX-License-Identifier: BSD-3-Clause */
/* http_server.h - a bad HTTP server in the test's own loop: answers with the test's bytes, or not at all. */
#pragma once

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <stdio.h>

#include "tests/unit/notify/support.h"

struct server {
        struct evconnlistener *listener;
        int port;
        const char *answer;            /* whole answer; NULL: never answers */
        bool endless;                  /* repeats the answer without end */
        unsigned requests;             /* whole ones that came */
        struct bufferevent *open[256]; /* connections */
        char seen[64 * 1024];          /* the newest request */
};

static inline void server_write_again(struct bufferevent *b, void *ctx)
{
        struct server *s = ctx;

        if (s->endless && s->answer)
                for (int i = 0; i < 1000; i++)
                        bufferevent_write(b, s->answer, strlen(s->answer));
}

static inline void server_read(struct bufferevent *b, void *ctx)
{
        struct server *s = ctx;
        struct evbuffer *in = bufferevent_get_input(b);
        size_t n = evbuffer_get_length(in);

        assert_true(n < sizeof(s->seen));
        evbuffer_copyout(in, s->seen, n);
        s->seen[n] = '\0';
        char *body = strstr(s->seen, "\r\n\r\n"), *length = strstr(s->seen, "Content-Length: ");
        if (!body || !length || (size_t)(s->seen + n - (body + 4)) < strtoul(length + 16, NULL, 10))
                return;
        s->requests++;
        evbuffer_drain(in, n);
        if (s->answer)
                bufferevent_write(b, s->answer, strlen(s->answer));
}

static inline void server_event(struct bufferevent *b, short what, void *ctx)
{
        struct server *s = ctx;

        for (size_t i = 0; i < sizeof(s->open) / sizeof(*s->open); i++)
                if (s->open[i] == b)
                        s->open[i] = NULL;
        bufferevent_free(b);
}

static inline void server_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *a, int n, void *ctx)
{
        struct bufferevent *b = bufferevent_socket_new(evconnlistener_get_base(l), fd, BEV_OPT_CLOSE_ON_FREE);
        struct server *s = ctx;
        size_t i = 0;

        while (s->open[i])
                i++;
        assert_true(i < sizeof(s->open) / sizeof(*s->open));
        s->open[i] = b;
        bufferevent_setcb(b, server_read, server_write_again, server_event, ctx);
        bufferevent_enable(b, EV_READ | EV_WRITE);
}

static inline void server_start(struct server *s, struct event_base *base, const char *answer)
{
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t size = sizeof(a);

        memset(s, 0, sizeof(*s));
        s->answer = answer;
        s->listener = evconnlistener_new_bind(base, server_accept, s, LEV_OPT_CLOSE_ON_FREE, 16, (struct sockaddr *)&a,
                                              sizeof(a));
        assert_non_null(s->listener);
        assert_int_equal(getsockname(evconnlistener_get_fd(s->listener), (struct sockaddr *)&a, &size), 0);
        s->port = ntohs(a.sin_port);
}

static inline void server_stop(struct server *s)
{
        evconnlistener_free(s->listener);
        for (size_t i = 0; i < sizeof(s->open) / sizeof(*s->open); i++)
                if (s->open[i])
                        bufferevent_free(s->open[i]);
}

#define HTTP_OK    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
#define HTTP_BUSY  "HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\ntoo\x1b busy"
#define HTTP_WRONG "HTTP/1.1 400 No\r\nContent-Length: 5\r\n\r\nwrong"
