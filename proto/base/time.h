/* SPDX-License-Identifier: BSD-3-Clause */
/* time.h - times and spans of time in nanoseconds, the unit of all times here. For a double, cast: (double)NS_PER_S. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NS_PER_US     UINT64_C(1000)
#define NS_PER_MS     UINT64_C(1000000)
#define NS_PER_S      UINT64_C(1000000000)
#define NS_PER_MINUTE (60 * NS_PER_S)
#define NS_PER_HOUR   (60 * NS_PER_MINUTE)
#define NS_PER_DAY    (24 * NS_PER_HOUR)

/* A number that was measured longer ago than this is said with its age; */
#define OLD_NUMBER_NS (30 * NS_PER_S)

/* so is one that rises, once it may have become more by as much as a reader would not think. `rate`: per second. */
static inline bool number_is_old(uint64_t age_ns, double value, double rate)
{
        return age_ns > OLD_NUMBER_NS || rate * ((double)age_ns / 1e9) > 0.05 * value;
}

/* Event times from from_ns on and before to_ns; empty unless from_ns < to_ns. */
struct time_range {
        uint64_t from_ns, to_ns;
};
