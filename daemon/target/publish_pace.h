/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * publish_pace.h - when a live target is published next.
 *
 * DESIGN: at most every PACE_INTERVAL_NS, so that a flood of small writes does
 * not become a flood of messages, and an event is still at the subscribers
 * within that time of its arrival. While catching up with days of a log every
 * flush has much to publish: publishing takes at most a fifth of the time, but
 * is never delayed by more than PACE_REST_MOST_NS. Times are of one steady
 * clock.
 */
#ifndef HW_DAEMON_TARGET_PUBLISH_PACE_H
#define HW_DAEMON_TARGET_PUBLISH_PACE_H

#include <stdint.h>

#define PACE_INTERVAL_NS  10000000u   /* 10 ms */
#define PACE_REST         4u          /* after a flush, none for this many times its duration, ... */
#define PACE_REST_MOST_NS 1000000000u /* ... but not more than this */

struct publish_pace {
        uint64_t flushed_ns; /* the end of the last flush */
        uint64_t rest_ns;    /* from then until the next one */
};

void publish_pace_flushed(struct publish_pace *p, uint64_t began_ns, uint64_t ended_ns);

/* How long until the next flush is allowed; 0: now. */
uint64_t publish_pace_wait_ns(const struct publish_pace *p, uint64_t now_ns);

#endif
