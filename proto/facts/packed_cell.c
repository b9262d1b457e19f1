/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/facts/pyramid.h"

#include <float.h>
#include <string.h>

_Static_assert(sizeof(struct packed_cell) == 44 && sizeof(struct packed_sample) == 12, "as large as they have to be");

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

struct packed_cell packed_cell_of(const struct trend_cell *c, uint64_t start_ns, uint64_t width_ns)
{
        unsigned shift = shift_of(width_ns);
        struct packed_cell p = { .n = c->cell.n < UINT32_MAX ? (uint32_t)c->cell.n : UINT32_MAX };

        if (!p.n)
                return p;
        p.last.t = (uint32_t)((c->cell.last_ns - start_ns) >> shift);
        memcpy(p.last.last, &c->cell.last, sizeof(p.last.last));
        p.t_mean = p.n == 1 ? p.last.t : since(c->t_mean * 1e9 - (double)start_ns, width_ns, shift);
        p.v_mean = fitting(c->cell.mean - c->cell.last);
        p.min = fitting(c->cell.min - c->cell.last);
        p.max = fitting(c->cell.max - c->cell.last);
        p.m_tt = fitting(c->m_tt);
        p.m_tv = fitting(c->m_tv);
        p.m_vv = fitting(c->m_vv);
        return p;
}

struct trend_cell packed_cell_unpack(const struct packed_cell *p, uint64_t start_ns, uint64_t width_ns)
{
        unsigned shift = shift_of(width_ns);
        struct trend_cell c = { .cell.n = p->n };

        if (!p->n)
                return c;
        memcpy(&c.cell.last, p->last.last, sizeof(c.cell.last));
        c.cell.last_ns = start_ns + ((uint64_t)p->last.t << shift);
        c.cell.min = c.cell.last + (double)p->min;
        c.cell.max = c.cell.last + (double)p->max;
        c.cell.mean = c.cell.last + (double)p->v_mean;
        c.t_mean = ((double)start_ns + (double)((uint64_t)p->t_mean << shift)) / 1e9;
        c.m_tt = (double)p->m_tt;
        c.m_tv = (double)p->m_tv;
        c.m_vv = (double)p->m_vv;
        return c;
}

bool any_packed_cell_pack(void *packed, const void *cell, uint64_t start_ns, uint64_t width_ns)
{
        const struct packed_cell p = packed_cell_of(cell, start_ns, width_ns);

        memcpy(packed, &p, p.n == 1 ? sizeof(p.last) : sizeof(p));
        return p.n == 1;
}

void any_packed_cell_unpack(void *cell, const void *packed, bool single, uint64_t start_ns, uint64_t width_ns)
{
        struct packed_cell p = { .n = 1 };

        memcpy(&p, packed, single ? sizeof(p.last) : sizeof(p));
        if (single)
                p.t_mean = p.last.t;
        *(struct trend_cell *)cell = packed_cell_unpack(&p, start_ns, width_ns);
}
