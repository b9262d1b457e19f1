/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one persistent EV_READ event on ZeroMQ's descriptor, and two timers
 * for what is left when a turn ends.
 *
 * The descriptor only says "look at ZMQ_EVENTS again", and says it once. So
 * each pump ends in one of two ways: ZMQ_EVENTS no longer shows ZMQ_POLLIN, or
 * the timers are armed. Any third way would lose a wake-up.
 *
 * A flood of messages must not starve the sources. A pump ends after
 * LIMIT_PUMP_NS (or one message, if that takes longer) and then rests for
 * PUMP_REST times as long as it took: a socket has at most a quarter of a busy
 * loop. A loop with nothing else to do ends the rest at once: `idle` has the
 * last priority, so it runs only when no source and no timer is active.
 *
 * The timers are timers and no event_active(): libevent runs active events
 * until there are none, so one socket that is always ready would keep all
 * timers from firing.
 *
 * A receiver may send on its own socket (a reply), and the code that sends
 * pumps: `pumping` ends that circle. Nothing is lost by it, because the outer
 * pump reads ZMQ_EVENTS again before it ends.
 */
#include "daemon/transport/zloop.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <zmq.h>

#include "daemon/loop/watchdog.h"
#include "daemon/transport/limits.h"
#include "proto/base/clock.h"

struct zloop {
        struct event *readable;
        struct event *share;    /* ends a rest after its time, before all others */
        struct event *idle;     /* ends a rest as soon as nobody else has work */
        uint64_t rest_until_ns; /* monotonic */
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

/* Fails only when out of memory; then the next pump continues. */
static void begin_rest(struct zloop *z, uint64_t now_ns, uint64_t spent_ns)
{
        static const struct timeval at_once = { 0, 0 };
        const uint64_t rest_us = PUMP_REST * spent_ns / 1000;
        const struct timeval rest = { (time_t)(rest_us / 1000000), (suseconds_t)(rest_us % 1000000) };

        z->rest_until_ns = now_ns + rest_us * 1000;
        (void)event_add(z->share, &rest);
        (void)event_add(z->idle, &at_once);
}

static void end_rest(struct zloop *z)
{
        z->rest_until_ns = 0;
        (void)event_del(z->share);
        (void)event_del(z->idle);
}

static void pump(struct zloop *z)
{
        const uint64_t begin_ns = clock_mono_ns();

        z->pumping = true;
        watchdog_begin(WATCHDOG_REQUEST);
        while (can_receive(z)) {
                const uint64_t now_ns = clock_mono_ns();
                if (now_ns - begin_ns >= LIMIT_PUMP_NS) {
                        begin_rest(z, now_ns, now_ns - begin_ns);
                        break;
                }
                (void)z->receive(z->ctx, z->socket); /* 0: ZMQ_EVENTS will show that too */
        }
        watchdog_end();
        z->pumping = false;
}

void zloop_pump(struct zloop *z)
{
        if (z->pumping || clock_mono_ns() < z->rest_until_ns)
                return;
        if (z->rest_until_ns)
                end_rest(z);
        pump(z);
}

/* The callback of both timers. */
static void on_rest_over(evutil_socket_t fd, short what, void *arg)
{
        (void)fd;
        (void)what;
        end_rest(arg);
        pump(arg);
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
        (void)fd;
        (void)what;
        zloop_pump(arg);
}

/* Registers the events; the first pump comes from the loop, when the caller has the zloop. */
static bool add_events(struct zloop *z, struct event_base *base)
{
        static const struct timeval now = { 0, 0 };
        evutil_socket_t fd = -1;
        size_t size = sizeof(fd);

        if (zmq_getsockopt(z->socket, ZMQ_FD, &fd, &size))
                return false;
        z->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_event, z);
        z->share = evtimer_new(base, on_rest_over, z);
        z->idle = evtimer_new(base, on_rest_over, z);
        return z->readable && z->share && z->idle && event_priority_set(z->readable, LOOP_FIRST) == 0 &&
               event_priority_set(z->share, LOOP_FIRST) == 0 &&
               event_priority_set(z->idle, event_base_get_npriorities(base) - 1) == 0 &&
               event_add(z->readable, NULL) == 0 && event_add(z->share, &now) == 0;
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
        if ((*z)->share)
                event_free((*z)->share);
        if ((*z)->idle)
                event_free((*z)->idle);
        free(*z);
        *z = NULL;
}
