/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * second_tick.h - once a second, for all sources that look now and then: the daemon wakes once for them together.
 */
#ifndef HW_DAEMON_SOURCE_SECOND_TICK_H
#define HW_DAEMON_SOURCE_SECOND_TICK_H

struct event_base;

struct second_tick {
        void (*passed)(void *ctx); /* does little, or arms a timer; must not start or stop ticks */
        void *ctx;
        struct second_tick *next, **at; /* in the list of all; at == NULL: it does not tick */
};

/* 0 or -Exxx. All of a process tick in one loop. */
int second_tick_start(struct event_base *base, struct second_tick *t);

/* Stops; allowed when it does not tick. */
void second_tick_stop(struct second_tick *t);

#endif
