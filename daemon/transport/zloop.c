/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one persistent EV_READ event on ZeroMQ's descriptor and one timer.
 *
 * The descriptor only says "look at ZMQ_EVENTS again", and says it once. So
 * each pump ends in one of two ways: ZMQ_EVENTS no longer shows ZMQ_POLLIN, or
 * the timer is armed. Any third way would lose a wake-up.
 *
 * The timer has zero delay and is no event_active(): libevent runs active
 * events until there are none, so one socket that is always ready would keep
 * all timers from firing.
 *
 * A receiver may send on its own socket (a reply), and the code that sends
 * pumps: `pumping` ends that circle. Nothing is lost by it, because the outer
 * pump reads ZMQ_EVENTS again before it ends.
 */
#include "daemon/transport/zloop.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zmq.h>

#include "daemon/transport/limits.h"

struct zloop {
        struct event *readable;
        struct event *again;
        void *socket;
        zloop_receive *receive;
        void *ctx;
        bool pumping;
};

static bool can_receive(const struct zloop *z)
{
        int events = 0;
        size_t size = sizeof(events);

        return zmq_getsockopt(z->socket, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLIN);
}

void zloop_pump(struct zloop *z)
{
        static const struct timeval now = { 0, 0 };
        unsigned budget = LIMIT_MESSAGES_PER_TURN;

        if (z->pumping)
                return;
        z->pumping = true;
        while (can_receive(z)) {
                if (budget-- == 0) {
                        (void)event_add(z->again, &now); /* fails only when out of memory: the next pump goes on */
                        break;
                }
                (void)z->receive(z->ctx, z->socket); /* 0: ZMQ_EVENTS will say so as well */
        }
        z->pumping = false;
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
        (void)fd;
        (void)what;
        zloop_pump(arg);
}

/* Registers both events and lets the first pump come from the loop, when the caller holds the zloop. */
static bool add_events(struct zloop *z, struct event_base *base)
{
        static const struct timeval now = { 0, 0 };
        evutil_socket_t fd = -1;
        size_t size = sizeof(fd);

        if (zmq_getsockopt(z->socket, ZMQ_FD, &fd, &size))
                return false;
        z->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_event, z);
        z->again = evtimer_new(base, on_event, z);
        return z->readable && z->again && event_priority_set(z->readable, LOOP_FIRST) == 0 &&
               event_priority_set(z->again, LOOP_FIRST) == 0 && event_add(z->readable, NULL) == 0 &&
               event_add(z->again, &now) == 0;
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
        if ((*z)->readable)
                event_free((*z)->readable);
        if ((*z)->again)
                event_free((*z)->again);
        free(*z);
        *z = NULL;
}
