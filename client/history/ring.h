/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.h - the newest points of one number, in order of arrival. It grows to its bound, then forgets the oldest. */
#ifndef HW_CLIENT_HISTORY_RING_H
#define HW_CLIENT_HISTORY_RING_H

#include <stddef.h>
#include <stdint.h>

struct point {
        uint64_t time_ns;
        double value;
};

struct ring {
        struct point *points;
        size_t capacity, count, next;
};

/* Adds a point; at most `max` are kept. 0 or -ENOMEM. */
int ring_push(struct ring *r, size_t max, uint64_t time_ns, double value);
void ring_done(struct ring *r);

/* The i-th newest, from 0; NULL after the oldest. */
const struct point *ring_newest(const struct ring *r, size_t i);

#endif
