/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - the two clocks, read at the edges of the programs; what is pure gets times as arguments. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "proto/base/time.h"

static inline uint64_t clock_read_ns(clockid_t clock)
{
        struct timespec t = { 0 };

        (void)clock_gettime(clock, &t);
        return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Unix time. */
static inline uint64_t clock_wall_ns(void)
{
        return clock_read_ns(CLOCK_REALTIME);
}

/* For intervals. */
static inline uint64_t clock_mono_ns(void)
{
        return clock_read_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_mono_ms(void)
{
        return clock_mono_ns() / 1000000u;
}

/* Since when, by the other clock, the wall clock has not been set, as far as its reader has seen; begins with zeros. */
struct clock_steady {
        uint64_t offset_ns, since_mono_ns; /* modulo 2^64 */
};

/*
 * Whether what is older than that by the wall clock may be removed. A machine may boot with a wrong clock, and has it
 * set a little later: after the first call, and after a step, an hour must pass, or that age where it is less.
 */
static inline bool clock_tells_age(struct clock_steady *s, uint64_t age_ns, uint64_t wall_ns, uint64_t mono_ns)
{
        const uint64_t offset_ns = wall_ns - mono_ns, wait_ns = age_ns < NS_PER_HOUR ? age_ns : NS_PER_HOUR;
        const int64_t step_ns = (int64_t)(offset_ns - s->offset_ns), most_ns = (int64_t)NS_PER_MINUTE;

        if (s->since_mono_ns == 0 || step_ns > most_ns || step_ns < -most_ns)
                s->since_mono_ns = mono_ns;
        s->offset_ns = offset_ns;
        return mono_ns - s->since_mono_ns >= wait_ns;
}
