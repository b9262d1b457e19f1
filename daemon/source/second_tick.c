/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: one timer while anybody is in the list. With timers of their own each would wake the daemon by itself. */
#include "daemon/source/watch.h"

#include <errno.h>
#include <stddef.h>

#include "proto/base/event.h"

static struct {
        struct event_base *base;
        struct event *timer;
        struct second_tick *first;
} ticker;

static void on_second(evutil_socket_t fd, short what, void *ctx)
{
        for (struct second_tick *t = ticker.first; t; t = t->next)
                t->passed(t->ctx);
}

static int ticker_open(struct event_base *base)
{
        static const struct timeval second = { 1, 0 };

        if (ticker.timer)
                return ticker.base == base ? 0 : -EBUSY;
        ticker.base = base;
        ticker.timer = event_new(base, -1, EV_PERSIST, on_second, NULL);
        if (ticker.timer && event_add(ticker.timer, &second) == 0)
                return 0;
        free_event(&ticker.timer);
        return -ENOMEM;
}

int second_tick_start(struct event_base *base, struct second_tick *t)
{
        const int r = t->at ? 0 : ticker_open(base);

        if (r < 0 || t->at)
                return r;
        t->next = ticker.first;
        if (t->next)
                t->next->at = &t->next;
        t->at = &ticker.first;
        ticker.first = t;
        return 0;
}

void second_tick_stop(struct second_tick *t)
{
        if (!t->at)
                return;
        *t->at = t->next;
        if (t->next)
                t->next->at = t->at;
        t->at = NULL;
        if (!ticker.first)
                free_event(&ticker.timer);
}
