/* SPDX-License-Identifier: BSD-3-Clause */
/* random.h - the same random numbers on every machine. */
#pragma once

#include <math.h>
#include <stdint.h>

struct random {
        uint64_t state; /* not 0 */
};

/* xorshift64* (Vigna 2016). */
static inline uint64_t random_next(struct random *r)
{
        r->state ^= r->state >> 12;
        r->state ^= r->state << 25;
        r->state ^= r->state >> 27;
        return r->state * 0x2545F4914F6CDD1Du;
}

/* [0, 1) */
static inline double random_unit(struct random *r)
{
        return (double)(random_next(r) >> 11) / 9007199254740992.0;
}

static inline unsigned random_below(struct random *r, unsigned n)
{
        return (unsigned)(random_next(r) % n);
}

/* Standard normal, good enough for noise: the sum of twelve. */
static inline double random_normal(struct random *r)
{
        double sum = -6;

        for (int i = 0; i < 12; i++)
                sum += random_unit(r);
        return sum;
}
