/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * asker.c - a DEALER in the loop.
 *
 * DESIGN: ZeroMQ's descriptor is edge-triggered and only a hint: so after
 * every wake-up, every send and every turn that met its budget, `pump` looks
 * at ZMQ_EVENTS until nothing is left or a zero-delay timer is armed.
 *
 * Requests are numbered, found again in a ring by number: at most
 * ASKER_WAITING are under way, so their slots never collide. Once a second
 * those that are too old are given up.
 */
#include "client/web/asker.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "proto/wire/limits.h"
#include "proto/base/clock.h"
#include "proto/wire/endpoints.h"
#include "proto/follow/zparts.h"

#define SLOTS            4096u /* a power of two above ASKER_WAITING */
#define REPLIES_PER_TURN 64

struct waiting {
        uint64_t id;       /* 0: free */
        uint64_t since_ms; /* by the monotonic clock */
        asker_done *done;
        void *ctx;
};

struct asker {
        void *context, *socket;
        struct event *readable, *again, *second;
        struct waiting slots[SLOTS];
        uint64_t next, oldest; /* ids: below `oldest` none is under way */
        size_t n;
        bool pumping;
};

/* --------------------------------------------------------------- bookkeeping */

/* Takes a request out and calls its function. */
static void finish(struct asker *a, struct waiting *w, const Hw__Reply *reply, const char *error)
{
        struct waiting done = *w;

        w->id = 0;
        a->n--;
        done.done(done.ctx, reply, error);
}

static struct waiting *find(struct asker *a, uint64_t id)
{
        struct waiting *w = &a->slots[id % SLOTS];

        return id && w->id == id ? w : NULL;
}

/* Gives up what has waited for `age_ms` or longer. */
static void expire(struct asker *a, uint64_t age_ms, const char *error)
{
        uint64_t now_ms = clock_mono_ms();

        for (; a->oldest < a->next; a->oldest++) {
                struct waiting *w = find(a, a->oldest);

                if (w && now_ms - w->since_ms < age_ms)
                        return;
                if (w)
                        finish(a, w, NULL, error);
        }
}

static void on_second(evutil_socket_t fd, short what, void *arg)
{
        (void)fd;
        (void)what;
        expire(arg, ASKER_SECONDS * 1000, "the daemon did not answer");
}

/* ---------------------------------------------------------------- messages */

static void take(struct asker *a, zmq_msg_t *frame)
{
        const char *reason;
        Hw__Reply *reply = hw_reply_unpack(zmq_msg_data(frame), zmq_msg_size(frame), &reason);
        struct waiting *w = reply ? find(a, reply->id) : NULL;

        if (w)
                finish(a, w, reply, NULL);
        if (reply)
                hw__reply__free_unpacked(reply, NULL);
}

static bool can_receive(const struct asker *a)
{
        int events = 0;
        size_t size = sizeof(events);

        return zmq_getsockopt(a->socket, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLIN);
}

static void pump(struct asker *a)
{
        static const struct timeval now = { 0, 0 };
        int budget = REPLIES_PER_TURN;

        if (a->pumping)
                return;
        a->pumping = true;
        while (can_receive(a)) {
                zmq_msg_t parts[2];

                if (budget-- == 0) {
                        (void)event_add(a->again, &now);
                        break;
                }
                if (zparts_receive(a->socket, parts) == 1)
                        take(a, &parts[0]);
                zparts_close(parts);
        }
        a->pumping = false;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
        (void)fd;
        (void)what;
        pump(arg);
}

void asker_ask(struct asker *a, Hw__Request *request, asker_done *done, void *ctx)
{
        struct waiting *w = &a->slots[a->next % SLOTS];

        if (a->n >= ASKER_WAITING || w->id) {
                done(ctx, NULL, "too many requests are waiting for the daemon");
                return;
        }
        request->has_id = true;
        request->id = a->next;
        int r = zparts_send(a->socket, &request->base);
        if (r < 0) {
                done(ctx, NULL, r == -EAGAIN ? "no daemon is connected" : "the request could not be sent");
                return;
        }
        *w = (struct waiting){ .id = a->next++, .since_ms = clock_mono_ms(), .done = done, .ctx = ctx };
        a->n++;
        pump(a); /* a send may swallow the descriptor's hint */
}

/* ---------------------------------------------------------------- its life */

static bool open_socket(struct asker *a, const char *publish_endpoint)
{
        static const int options[][2] = { { ZMQ_LINGER, 0 },
                                          { ZMQ_IMMEDIATE, 1 },
                                          { ZMQ_RECONNECT_IVL, 100 },
                                          { ZMQ_RECONNECT_IVL_MAX, 2000 },
                                          { ZMQ_RCVHWM, ASKER_WAITING },
                                          { ZMQ_SNDHWM, ASKER_WAITING },
                                          { ZMQ_IPV6, 1 } };
        char endpoint[ENDPOINT_MAX];
        int64_t max = LIMIT_MESSAGE_BYTES;

        if (endpoint_request(endpoint, sizeof(endpoint), publish_endpoint) < 0)
                return false;
        a->context = zmq_ctx_new();
        a->socket = a->context ? zmq_socket(a->context, ZMQ_DEALER) : NULL;
        if (!a->socket)
                return false;
        for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
                (void)zmq_setsockopt(a->socket, options[i][0], &options[i][1], sizeof(int)); /* known, in range */
        (void)zmq_setsockopt(a->socket, ZMQ_MAXMSGSIZE, &max, sizeof(max));
        return zmq_connect(a->socket, endpoint) == 0;
}

static bool add_events(struct asker *a, struct event_base *base)
{
        static const struct timeval now = { 0, 0 }, second = { 1, 0 };
        evutil_socket_t fd = -1;
        size_t size = sizeof(fd);

        if (zmq_getsockopt(a->socket, ZMQ_FD, &fd, &size))
                return false;
        a->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, a);
        a->again = evtimer_new(base, on_readable, a);
        a->second = event_new(base, -1, EV_PERSIST, on_second, a);
        return a->readable && a->again && a->second && event_add(a->readable, NULL) == 0 &&
               event_add(a->again, &now) == 0 && event_add(a->second, &second) == 0;
}

struct asker *asker_new(struct event_base *base, const char *publish_endpoint)
{
        struct asker *a = calloc(1, sizeof(*a));

        if (!a)
                return NULL;
        a->next = a->oldest = 1;
        if (!open_socket(a, publish_endpoint) || !add_events(a, base))
                asker_destroy(&a);
        return a;
}

static void free_event(struct event *e)
{
        if (e)
                event_free(e);
}

void asker_destroy(struct asker **a)
{
        struct asker *b = *a;

        if (!b)
                return;
        expire(b, 0, "the server is closing");
        free_event(b->readable);
        free_event(b->again);
        free_event(b->second);
        if (b->socket)
                (void)zmq_close(b->socket);
        if (b->context)
                (void)zmq_ctx_term(b->context);
        free(b);
        *a = NULL;
}
