/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rest.h - the pause between two turns of a work that could keep the loop busy.
 *
 * After a turn it lasts PUMP_REST times as long as the turn took, so such a work has at most a quarter of a busy loop.
 * In a loop with nothing else to do it ends at once: `idle` has the last priority, so it runs only when no source and
 * no timer is active.
 *
 * Both are timers and no event_active(): libevent runs active events until there are none, so a work that is never done
 * would keep all timers from firing.
 */
#ifndef HW_DAEMON_TRANSPORT_REST_H
#define HW_DAEMON_TRANSPORT_REST_H

#include <stdbool.h>
#include <stdint.h>

struct event;
struct event_base;

typedef void rest_over(void *ctx);

struct rest {
        struct event *share; /* ends it after its time, before all others */
        struct event *idle;  /* ends it as soon as nobody else has work */
        uint64_t until_ns;   /* monotonic */
        rest_over *over;
        void *ctx;
};

/* `over` is called at the end of each rest, and may begin the next. False when out of memory; rest_done then, too. */
bool rest_init(struct rest *r, struct event_base *base, rest_over *over, void *ctx);
void rest_done(struct rest *r);

/* After a turn that took `spent_ns`. Out of memory it does not end by itself. */
void rest_begin(struct rest *r, uint64_t spent_ns);

/* Until this time has passed, also in an idle loop: there is nothing to do before. */
void rest_wait(struct rest *r, uint64_t ns);

/* Without calling `over`. */
void rest_end(struct rest *r);

/* Whether it is still to end. */
bool rest_lasts(const struct rest *r);

#endif
