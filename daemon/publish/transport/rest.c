/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/publish/transport/zloop.h"

#include "daemon/publish/transport/limits.h"
#include "proto/base/clock.h"
#include "proto/base/event.h"

static void on_over(evutil_socket_t fd, short what, void *arg)
{
        struct rest *r = arg;

        rest_end(r);
        r->over(r->ctx);
}

bool rest_init(struct rest *r, struct event_base *base, rest_over *over, void *ctx)
{
        *r = (struct rest){ .over = over, .ctx = ctx };
        r->share = evtimer_new(base, on_over, r);
        r->idle = evtimer_new(base, on_over, r);
        return r->share && r->idle && event_priority_set(r->share, LOOP_FIRST) == 0 &&
               event_priority_set(r->idle, event_base_get_npriorities(base) - 1) == 0;
}

void rest_done(struct rest *r)
{
        free_event(&r->share);
        free_event(&r->idle);
        r->share = r->idle = NULL;
}

void rest_wait(struct rest *r, uint64_t ns)
{
        const uint64_t us = ns / 1000;
        const struct timeval rest = { (time_t)(us / 1000000), (suseconds_t)(us % 1000000) };

        r->until_ns = clock_mono_ns() + us * 1000;
        (void)event_add(r->share, &rest);
        (void)event_del(r->idle);
}

void rest_begin(struct rest *r, uint64_t spent_ns)
{
        static const struct timeval at_once = { 0, 0 };

        rest_wait(r, PUMP_REST * spent_ns);
        (void)event_add(r->idle, &at_once);
}

void rest_end(struct rest *r)
{
        if (r->until_ns == 0)
                return;
        r->until_ns = 0;
        (void)event_del(r->share);
        (void)event_del(r->idle);
}

bool rest_lasts(const struct rest *r)
{
        return clock_mono_ns() < r->until_ns;
}
