/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * limit.h - how much memory the program may use, and when growth meets it.
 *
 * The limit is the least of those that are known: the control group's, -M,
 * physical memory, a given one. -M and the address space that the runtime has
 * reserved (ulimit -v) limit the heap; the others resident memory.
 * For growth of live data the collector's need counts too: a copying collector
 * holds up to -F + 2 times the live bytes (daemon/model/sizing.h), so live bytes are multiplied by the
 * heap/live ratio of this run before they are compared.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/judge/trend/windows.h"
#include "proto/base/process.h"
#include "daemon/model/series.h"

enum limit_source { /* numbers of the wire (hw.TimeToLimit.Source) */
                    LIMIT_SOURCE_UNKNOWN = 0,
                    LIMIT_SOURCE_CGROUP = 1,
                    LIMIT_SOURCE_MAX_HEAP = 2,
                    LIMIT_SOURCE_MEMORY = 3,
                    LIMIT_SOURCE_GIVEN = 4,
                    LIMIT_SOURCE_ADDRESS_SPACE = 5,
                    LIMIT_SOURCE_RESERVED = 6,
                    LIMIT_SOURCE_DATA = 7
};

static inline bool limit_is_of_heap(enum limit_source source)
{
        return source == LIMIT_SOURCE_MAX_HEAP || source == LIMIT_SOURCE_RESERVED;
}

struct memory_limit {
        uint64_t bytes; /* UNKNOWN_U64: none is known */
        enum limit_source source;
};

/* The least of two; on a tie the first. Of two that are not known the source is none. */
struct memory_limit limit_least(struct memory_limit a, struct memory_limit b);

struct limit_time {
        struct memory_limit limit;
        enum series_id series;       /* whose growth is followed */
        double low_s, mid_s, high_s; /* since as_of_ns; NaN: is not reached at that slope. low_s is never NaN */
        double heap_over_live;       /* NaN unless series is SERIES_LIVE */
        uint64_t as_of_ns;
        bool ended; /* the run has ended: so it was then */
};

/*
 * time_to_limit.c: when growth meets the limit, as an interval.
 *
 * The early end assumes the highest level, the steepest slope and, when growth
 * accelerates, that it goes on doing so; the late end the opposite.
 */

/* Running average of the series over about 64 minutes: what fills a limit is the average, not the floor. */
struct recent_average {
        double sum;    /* weighted */
        double weight; /* 0 .. 1: how much of the 64 minutes has been seen */
};

/* Takes in the mean of one closed minute. */
void recent_average_add(struct recent_average *a, double mean);

struct time_to_limit {
        double early_s; /* seconds from the window's end; 0: may be there already; NaN: not foreseeable */
        double late_s;  /* NaN: may never come */
};

/*
 * When the growth of window `index` (with a result) meets `limit` bytes.
 * resolution_s: length of a minute, in seconds.
 */
struct time_to_limit time_to_limit(const struct windows *w, unsigned index, const struct recent_average *average,
                                   double limit, double resolution_s);
