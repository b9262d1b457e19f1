/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connections.c - DESIGN: libevent neither counts connections nor limits the
 * time of a request: its timeout starts again with every byte. So we create
 * each connection's bufferevent ourselves and keep a reference to it. A
 * callback on its input notices a request's first byte, connections_on_request
 * its last. One that libevent has released has no callbacks any more, which the
 * next sweep notices.
 *
 * While a request is answered its connection is not read: libevent would take
 * the end of what the client sends (nc -N) for the end of the connection, and
 * cut the answer. A client that is gone is noticed when the answer is written.
 * Since libevent reads again with each part of an answer, this is undone in the
 * same turn of the loop, before it polls.
 *
 * To close one, its socket is shut down: libevent sees an end of file and frees
 * the connection as usual. Until then it keeps its place. There are some more
 * places than connections; when these are used up too, the listeners are off for
 * SWEEP_AGAIN_MS and new connections wait in the kernel. All places together
 * take half of the descriptors at most: libevent calls accept() again and again
 * where there is none left.
 */
#include "client/out/http/connections.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/error.h"
#include "proto/base/event.h"

#define PLACES         (CONNECTIONS_MOST + 64)
#define SWEEP_AGAIN_MS 10

struct connection {
        struct connections *of;
        struct bufferevent *b; /* our reference; NULL: the place is free */
        uint64_t since_ms;     /* when it began to wait for a request, or to answer one */
        uint64_t began_ms;     /* first byte of the request being received; 0: none */
        bool answering;        /* its request is complete and not answered yet */
        bool closing;
        char peer[INET6_ADDRSTRLEN]; /* "": this machine, or unknown yet */
};

struct connections {
        struct event *second, *soon, *written;
        struct evconnlistener **listeners; /* borrowed */
        size_t n_listeners, listeners_capacity;
        size_t most, n_places; /* connections; places in use, of: */
        struct connection places[PLACES];
};

/* ------------------------------------------------------------------- closing */

static void sweep_soon(struct connections *c)
{
        static const struct timeval soon = { 0, SWEEP_AGAIN_MS * 1000 };

        (void)event_add(c->soon, &soon);
}

static void close_one(struct connections *c, struct connection *one)
{
        one->closing = true;
        (void)shutdown(bufferevent_getfd(one->b), SHUT_RDWR);
        sweep_soon(c);
}

static size_t unread_bytes(const struct connection *one)
{
        return one->b ? evbuffer_get_length(bufferevent_get_output(one->b)) : 0;
}

/*
 * Whether `one` is closed before `other` (NULL: none): first those without a complete request, then those that do
 * not read their answer.
 */
static bool evicted_before(const struct connection *one, const struct connection *other)
{
        if (one->answering && !unread_bytes(one))
                return false;
        if (!other || one->answering != other->answering)
                return !other || other->answering;
        return one->since_ms < other->since_ms;
}

/* Which to close for a new connection, of all or of one peer. NULL: all are being answered and read their answers. */
static struct connection *eviction_candidate(struct connections *c, const char *peer)
{
        struct connection *found = NULL;

        for (size_t i = 0; i < PLACES; i++) {
                struct connection *one = &c->places[i];

                if (one->b && !one->closing && (!peer || !strcmp(peer, one->peer)) && evicted_before(one, found))
                        found = one;
        }
        return found;
}

static size_t count_open(const struct connections *c, const char *peer)
{
        size_t n = 0;

        for (size_t i = 0; i < PLACES; i++) {
                const struct connection *one = &c->places[i];

                n += one->b && !one->closing && (!peer || !strcmp(peer, one->peer));
        }
        return n;
}

/* -------------------------------------------------------------------- memory */

bool connections_have_room(struct connections *c)
{
        struct connection *most = NULL;
        size_t all = 0;

        for (size_t i = 0; i < PLACES; i++) {
                struct connection *one = &c->places[i];

                all += unread_bytes(one);
                if (one->b && !one->closing && (!most || unread_bytes(one) > unread_bytes(most)))
                        most = one;
        }
        if (all <= WAITING_MOST_BYTES)
                return true;
        if (most && unread_bytes(most) > 0)
                close_one(c, most);
        return false;
}

/* --------------------------------------------------------------------- sweep */

/* Whether libevent has released this connection. */
static bool is_over(struct bufferevent *b)
{
        bufferevent_data_cb read = NULL, write = NULL;
        bufferevent_event_cb event = NULL;
        void *arg = NULL;

        bufferevent_getcb(b, &read, &write, &event, &arg);
        return !read && !write && !event;
}

static void close_idle(struct connections *c)
{
        for (size_t i = 0; i < PLACES; i++) {
                struct connection *one = &c->places[i];

                if (!one->b || !is_over(one->b))
                        continue;
                (void)bufferevent_decref(one->b);
                memset(one, 0, sizeof(*one));
        }
}

static struct connection *free_place(struct connections *c, size_t *ret_left)
{
        struct connection *found = NULL;

        *ret_left = 0;
        for (size_t i = 0; i < c->n_places; i++) {
                if (c->places[i].b)
                        continue;
                found = found ? found : &c->places[i];
                ++*ret_left;
        }
        return found;
}

/* Each address outside this machine has a limit of its own; a proxy on this machine speaks for many. */
static void bound_peer(struct connections *c, struct connection *one)
{
        struct connection *first;

        if (!one->peer[0])
                listen_address_of_peer(bufferevent_getfd(one->b), one->peer);
        if (!one->peer[0] || count_open(c, one->peer) <= PEER_CONNECTIONS_MOST)
                return;
        first = eviction_candidate(c, one->peer);
        close_one(c, first ? first : one);
}

static void set_accepting(struct connections *c, bool accepting)
{
        for (size_t i = 0; i < c->n_listeners; i++)
                (void)(accepting ? evconnlistener_enable(c->listeners[i]) : evconnlistener_disable(c->listeners[i]));
}

static void on_soon(evutil_socket_t fd, short what, void *arg)
{
        struct connections *c = arg;
        size_t left;

        close_idle(c);
        if (free_place(c, &left))
                set_accepting(c, true);
}

static void on_second(evutil_socket_t fd, short what, void *arg)
{
        struct connections *c = arg;
        uint64_t now_ms = clock_mono_ms();

        on_soon(fd, what, arg);
        for (size_t i = 0; i < PLACES; i++) {
                struct connection *one = &c->places[i];

                if (!one->b || one->closing)
                        continue;
                if (!one->answering && one->began_ms && now_ms - one->began_ms > REQUEST_SECONDS * UINT64_C(1000))
                        close_one(c, one);
                else
                        bound_peer(c, one);
        }
        (void)connections_have_room(c);
}

/* ------------------------------------------------------------------ requests */

static void on_input(struct evbuffer *input, const struct evbuffer_cb_info *info, void *arg)
{
        struct connection *one = arg;

        if (info->n_added > 0 && !one->answering && !one->began_ms)
                one->began_ms = clock_mono_ms();
}

static void on_output(struct evbuffer *output, const struct evbuffer_cb_info *info, void *arg)
{
        struct connection *one = arg;

        if (info->n_added > 0 && one->answering)
                event_active(one->of->written, EV_TIMEOUT, 0);
}

static void stop_reading(evutil_socket_t fd, short what, void *arg)
{
        struct connections *c = arg;

        for (size_t i = 0; i < PLACES; i++)
                if (c->places[i].b && c->places[i].answering)
                        (void)bufferevent_disable(c->places[i].b, EV_READ);
}

static struct connection *find_connection(struct connections *c, struct evhttp_request *req)
{
        struct evhttp_connection *e = evhttp_request_get_connection(req);
        struct bufferevent *b = e ? evhttp_connection_get_bufferevent(e) : NULL;

        for (size_t i = 0; b && i < PLACES; i++) {
                if (c->places[i].b == b)
                        return &c->places[i];
        }
        return NULL;
}

static void on_answered(struct evhttp_request *req, void *arg)
{
        struct connection *one = find_connection(arg, req);

        if (!one)
                return;
        one->answering = false;
        one->since_ms = clock_mono_ms();
        if (evbuffer_get_length(bufferevent_get_input(one->b)) > 0)
                one->began_ms = one->since_ms; /* the next request is already there */
}

void connections_on_request(struct connections *c, struct evhttp_request *req)
{
        struct connection *one = find_connection(c, req);

        if (!one)
                return;
        one->answering = true;
        one->since_ms = clock_mono_ms();
        one->began_ms = 0;
        (void)bufferevent_disable(one->b, EV_READ);
        evhttp_request_set_on_complete_cb(req, on_answered, c);
        bound_peer(c, one);
}

/* ------------------------------------------------------------ new connections */

static struct bufferevent *on_connection(struct event_base *base, void *arg)
{
        struct connections *c = arg;
        struct connection *one, *first;
        size_t left;

        close_idle(c);
        if (count_open(c, NULL) >= c->most && (first = eviction_candidate(c, NULL)))
                close_one(c, first);
        one = free_place(c, &left);
        if (left <= 1) { /* this is the last one */
                set_accepting(c, false);
                sweep_soon(c);
        }
        struct bufferevent *b = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
        if (!b || !one)
                return b;
        bufferevent_incref(b);
        bufferevent_setwatermark(b, EV_READ, 0, INPUT_MOST_BYTES);
        (void)evbuffer_add_cb(bufferevent_get_input(b), on_input, one);
        (void)evbuffer_add_cb(bufferevent_get_output(b), on_output, one);
        *one = (struct connection){ .of = c, .b = b, .since_ms = clock_mono_ms() };
        return b;
}

/* ------------------------------------------------------------------- its life */

struct connections *connections_new(struct event_base *base)
{
        static const struct timeval second = { 1, 0 };
        struct connections *c = calloc(1, sizeof(*c));

        if (!c)
                return NULL;
        c->n_places = descriptors_limit() / 2 < PLACES ? descriptors_limit() / 2 : PLACES;
        c->most = c->n_places * CONNECTIONS_MOST / PLACES;
        c->second = event_new(base, -1, EV_PERSIST, on_second, c);
        c->soon = evtimer_new(base, on_soon, c);
        c->written = evtimer_new(base, stop_reading, c);
        if (!c->second || !c->soon || !c->written || event_add(c->second, &second))
                connections_destroy(&c);
        return c;
}

bool connections_listen(struct connections *c, struct evhttp *http, struct listen_address *address,
                        struct event_base *base, struct error *error)
{
        struct evconnlistener *listener = listen_address_listen(address, base, error);

        if (!listener)
                return false;
        if (!ARRAY_RESERVE(c->listeners, c->listeners_capacity, c->n_listeners + 1) ||
            !evhttp_bind_listener(http, listener)) {
                evconnlistener_free(listener);
                listen_address_leave(address);
                return error_set(error, "out of memory");
        }
        c->listeners[c->n_listeners++] = listener;
        evhttp_set_bevcb(http, on_connection, c);
        return true;
}

void connections_destroy(struct connections **c)
{
        if (!*c)
                return;
        free_event(&(*c)->second);
        free_event(&(*c)->soon);
        free_event(&(*c)->written);
        for (size_t i = 0; i < PLACES; i++) {
                if ((*c)->places[i].b)
                        (void)bufferevent_decref((*c)->places[i].b);
        }
        free((*c)->listeners);
        free(*c);
        *c = NULL;
}
