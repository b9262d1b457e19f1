/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rise.h - whether live data rises right now, by the newest collections alone.
 *
 * They do when the lowest live data of each of the last few spans of time are above the highest of the span before,
 * and all together by a twentieth; and when they are above all that has ever been by half, for where they rise fast
 * the collections that tell become rare. Between two of these what is promoted out of the nursery tells: when that,
 * less what was usually garbage by the next collection, makes them a tenth more within 40 s (what rises more slowly,
 * collections show, and a server promotes more when it has more to do). What goes up and down does not rise; how long
 * it has lasted, and whether it is a leak, is the daemon's to say. Pure.
 */
#ifndef HW_AGENT_RISE_H
#define HW_AGENT_RISE_H

#include <stdbool.h>
#include <stdint.h>

#define RISE_SPAN_NS        INT64_C(5000000000) /* longer where collections are rarer: each has one at least */
#define RISE_SPANS          5                   /* that are over */
#define RISE_LEAST          1.05
#define RISE_RECORD         1.5
#define RISE_NEXT           2.5 /* gaps: an even rise doubles the heap, and so is collected, in twice the gap before */
#define RISE_PROMOTED       0.1 /* of live data */
#define RISE_PROMOTED_NS    INT64_C(40000000000)
#define RISE_PROMOTED_LEAST (UINT64_C(1) << 20) /* bytes */
#define RISE_USUAL_NS       INT64_C(5000000000) /* after so long what was usual before does not count */

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
        uint64_t live;       /* the newest */
        double garbage_rate; /* promoted, and garbage at the next collection that told live data: bytes a second */
        bool is_promoting;   /* by what was promoted since, they have grown */
};

/* Live data after a collection, and what was promoted since the one before; in bytes. */
void rise_add(struct rise *r, int64_t now, uint64_t live, uint64_t promoted);

/* What was promoted since the newest live data, in bytes. */
void rise_promoted(struct rise *r, int64_t now, uint64_t bytes);

/*
 * Until when they rise, as far as is known: while what is promoted tells so, without end; else not after the next
 * collection of a steady rise would have come.
 */
int64_t rise_until(const struct rise *r);

#endif
