/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * feed_loop.c - DESIGN: the feed is read with a budget per turn, and reading continues through a zero-delay timer.
 */
#include "client/world/feed/feed.h"

#include <event2/event.h>
#include <signal.h>

#include "client/cli/signals.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/event.h"

#define UPDATES_PER_TURN 256
#define TURN_MS          20 /* and no longer, for large updates */

static void on_feed(evutil_socket_t fd, short what, void *ctx)
{
        static const struct timeval now = { 0, 0 };
        struct feed_loop *l = ctx;
        uint64_t until_ms = clock_mono_ms() + TURN_MS;
        int budget = UPDATES_PER_TURN;

        while (l->receive(l->ctx)) {
                if (--budget == 0 || clock_mono_ms() >= until_ms) {
                        (void)event_add(l->again, &now);
                        return;
                }
        }
}

static void on_signal(evutil_socket_t number, short what, void *ctx)
{
        struct feed_loop *l = ctx;

        signals_mark((int)number);
        l->signalled(l->ctx);
}

bool feed_loop_open(struct feed_loop *l, struct event_base *base, const struct feed *feed)
{
        static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
        static const struct timeval now = { 0, 0 }, quarter = { 0, 250000 };

        l->readable = event_new(base, feed_fd(feed), EV_READ | EV_PERSIST, on_feed, l);
        l->again = evtimer_new(base, on_feed, l);
        l->beat = event_new(base, -1, EV_PERSIST, on_feed, l);
        if (!l->readable || !l->again || !l->beat || event_add(l->readable, NULL) || event_add(l->again, &now) ||
            event_add(l->beat, &quarter))
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
                l->signals[i] = evsignal_new(base, numbers[i], on_signal, l);
                if (!l->signals[i] || event_add(l->signals[i], NULL))
                        return false;
        }
        return true;
}

void feed_loop_finish(struct feed_loop *l)
{
        (void)event_del(l->beat);
        (void)event_del(l->readable);
}

void feed_loop_close(struct feed_loop *l)
{
        free_event(&l->readable);
        free_event(&l->again);
        free_event(&l->beat);
        for (size_t i = 0; i < ARRAY_SIZE(l->signals); i++)
                free_event(&l->signals[i]);
}
