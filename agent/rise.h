/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rise.h - whether live data rise right now, by the newest collections alone.
 *
 * They do when the lowest live data of each of the last few spans of time are above the highest of the span before,
 * and all together by a twentieth; and when they are above all that has ever been by half, for where they rise fast
 * the collections that tell become rare. What goes up and down does not rise; how long it has lasted, and whether it is
 * a leak, is the daemon's to say. Pure.
 */
#ifndef HW_AGENT_RISE_H
#define HW_AGENT_RISE_H

#include <stdbool.h>
#include <stdint.h>

#define RISE_SPAN_NS INT64_C(5000000000) /* longer where collections are rarer: each has one at least */
#define RISE_SPANS   5                   /* that are over */
#define RISE_LEAST   1.05
#define RISE_RECORD  1.5

struct rise_span {
        uint64_t low, high; /* live data, bytes */
};

struct rise {
        struct rise_span spans[RISE_SPANS]; /* oldest first */
        unsigned n;
        struct rise_span open;   /* high 0: nothing yet */
        int64_t open_ns;         /* its beginning */
        uint64_t record;         /* most of all spans that are over */
        int64_t last_ns, gap_ns; /* of the newest live data, and since those before */
        bool rises;
};

/* Live data after a collection, in bytes. */
void rise_add(struct rise *r, int64_t now, uint64_t live);

/* Until when they rise, as far as is known: without a new collection not for longer than there was between the last. */
int64_t rise_until(const struct rise *r);

#endif
