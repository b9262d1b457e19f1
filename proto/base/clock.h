/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - the two clocks, read at the edges of the programs; what is pure gets times as arguments. */
#ifndef HW_PROTO_BASE_CLOCK_H
#define HW_PROTO_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

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

#endif
