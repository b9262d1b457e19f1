/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one persistent EV_READ event on ZeroMQ's descriptor, and a rest
 * (rest.c) for what is left when a turn ends.
 *
 * The descriptor only says "look at ZMQ_EVENTS again", and says it once. So
 * each pump ends in one of two ways: ZMQ_EVENTS no longer shows ZMQ_POLLIN, or
 * a rest begins. Any third way would lose a wake-up.
 *
 * A flood of messages must not starve the sources. A pump ends after
 * LIMIT_PUMP_NS (or one message, if that takes longer) and then rests. While it
 * rests its descriptor is not watched: with the first priority it would keep
 * the loop from all others, and busy, until a pump reads ZMQ_EVENTS again.
 *
 * To wake a thread costs more than to relay a small message. So a pump may be
 * spaced: the first message is received at once, those that follow it closely
 * together, and a pump that found none rests no more.
 *
 * A receiver may send on its own socket (a reply), and the code that sends
 * pumps: `pumping` ends that circle. Nothing is lost by it, because the outer
 * pump reads ZMQ_EVENTS again before it ends.
 */
#include "daemon/publish/transport/zloop.h"

#include <stdlib.h>
#include <zmq.h>

#include "daemon/publish/transport/limits.h"
#include "proto/base/clock.h"
#include "proto/base/event.h"
#include "proto/base/time.h"

#define LATER_NS NS_PER_MS

struct zloop {
        struct event *readable;
        struct rest rest;
        void *socket;
        zloop_receive *receive;
        void *ctx;
        bool pumping;
        uint64_t spacing_ns; /* of two pumps, while there is something to receive; 0: none */
};

static bool can_receive(const struct zloop *z)
{
        int events = 0;
        size_t size = sizeof(events);

        return zmq_getsockopt(z->socket, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLIN);
}

/* The callback of the rest. */
static void pump(void *arg)
{
        const uint64_t begin_ns = clock_mono_ns();
        struct zloop *z = arg;
        bool any = false;

        z->pumping = true;
        while (can_receive(z)) {
                const uint64_t spent_ns = clock_mono_ns() - begin_ns;
                if (spent_ns >= LIMIT_PUMP_NS) {
                        rest_begin(&z->rest, spent_ns);
                        break;
                }
                const int n = z->receive(z->ctx, z->socket);
                any |= n > 0; /* 0: ZMQ_EVENTS will show that too */
                if (n < 0) {
                        rest_wait(&z->rest, LATER_NS);
                        break;
                }
        }
        z->pumping = false;
        if (any && z->spacing_ns > 0 && !rest_lasts(&z->rest))
                rest_wait(&z->rest, z->spacing_ns);
        if (rest_lasts(&z->rest))
                (void)event_del(z->readable);
        else
                (void)event_add(z->readable, NULL);
}

void zloop_pump(struct zloop *z)
{
        if (z->pumping || rest_lasts(&z->rest))
                return;
        rest_end(&z->rest);
        pump(z);
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
        zloop_pump(arg);
}

/* Registers the events; the first pump comes from the loop, when the caller has the zloop. */
static bool add_events(struct zloop *z, struct event_base *base)
{
        evutil_socket_t fd = -1;
        size_t size = sizeof(fd);

        if (zmq_getsockopt(z->socket, ZMQ_FD, &fd, &size))
                return false;
        z->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_event, z);
        if (!rest_init(&z->rest, base, pump, z) || !z->readable || event_priority_set(z->readable, LOOP_FIRST) != 0 ||
            event_add(z->readable, NULL) != 0)
                return false;
        rest_wait(&z->rest, 0);
        return true;
}

void zloop_set_spacing(struct zloop *z, uint64_t ns)
{
        z->spacing_ns = ns;
}

struct zloop *zloop_new(struct event_base *base, void *socket, zloop_receive *receive, void *ctx)
{
        struct zloop *z = calloc(1, sizeof(*z));

        if (!z)
                return NULL;
        z->socket = socket;
        z->receive = receive;
        z->ctx = ctx;
        if (!add_events(z, base))
                zloop_destroy(&z);
        return z;
}

void zloop_destroy(struct zloop **z)
{
        if (!*z)
                return;
        free_event(&(*z)->readable);
        rest_done(&(*z)->rest);
        free(*z);
        *z = NULL;
}
