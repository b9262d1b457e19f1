/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/model/packed_bucket.h"

#include <float.h>
#include <string.h>

_Static_assert(sizeof(struct packed_bucket) == 44 && sizeof(struct packed_sample) == 12, "as large as they have to be");

/* Nanoseconds per unit of time: 2^this, so that the interval has less than 2^32 units. */
static unsigned shift_of(uint64_t width_ns)
{
        unsigned bits = 64u - (unsigned)__builtin_clzll(width_ns | 1);

        return bits > 32 ? bits - 32 : 0;
}

/* Numbers that only a hostile log has are cut to what fits. */
static inline float fitting(double v)
{
        const double most = (double)FLT_MAX;

        return (float)(v > most ? most : v < -most ? -most : v);
}

/* A time since the interval began, in units of 2^shift ns. */
static inline uint32_t since(double ns, uint64_t width_ns, unsigned shift)
{
        uint64_t most = width_ns - 1, whole = ns > 0 ? (uint64_t)ns : 0;

        return (uint32_t)((whole < most ? whole : most) >> shift);
}

bool packed_bucket_pack(void *packed, const void *bucket, uint64_t start_ns, uint64_t width_ns)
{
        const struct bucket *b = bucket;
        unsigned shift = shift_of(width_ns);
        struct packed_bucket p = { .n = b->moments.n < UINT32_MAX ? (uint32_t)b->moments.n : UINT32_MAX };

        if (p.n) {
                p.last.t = (uint32_t)((b->last_time_ns - start_ns) >> shift);
                memcpy(p.last.last, &b->last, sizeof(p.last.last));
        }
        if (p.n == 1) {
                memcpy(packed, &p.last, sizeof(p.last));
                return true;
        }
        if (p.n) {
                p.t_mean = since(b->moments.t_mean * 1e9 - (double)start_ns, width_ns, shift);
                p.v_mean = fitting(b->moments.v_mean - b->last);
                p.min = fitting(b->min - b->last);
                p.max = fitting(b->max - b->last);
                p.m_tt = fitting(b->moments.m_tt);
                p.m_tv = fitting(b->moments.m_tv);
                p.m_vv = fitting(b->moments.m_vv);
        }
        memcpy(packed, &p, sizeof(p));
        return false;
}

void packed_bucket_unpack(void *bucket, const void *packed, bool single, uint64_t start_ns, uint64_t width_ns)
{
        struct packed_bucket p = { .n = 1 };
        unsigned shift = shift_of(width_ns);
        struct bucket *b = bucket;

        memcpy(&p, packed, single ? sizeof(p.last) : sizeof(p));
        *b = (struct bucket){ .moments = { .n = p.n } };
        if (!p.n)
                return;
        memcpy(&b->last, p.last.last, sizeof(b->last));
        b->last_time_ns = start_ns + ((uint64_t)p.last.t << shift);
        b->min = b->last + (double)p.min;
        b->max = b->last + (double)p.max;
        b->moments.v_mean = b->last + (double)p.v_mean;
        b->moments.t_mean = ((double)start_ns + (double)((uint64_t)(single ? p.last.t : p.t_mean) << shift)) / 1e9;
        b->moments.m_tt = (double)p.m_tt;
        b->moments.m_tv = (double)p.m_tv;
        b->moments.m_vv = (double)p.m_vv;
}
