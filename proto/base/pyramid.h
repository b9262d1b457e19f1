/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pyramid.h - values over time at several widths: a pyramid of rings.
 *
 *      level 0   |.|.|.|.|.|.|.|.|            the last minutes, finely
 *      level 1   |...|...|...|...|...|        the last hours
 *      level 2   |.......|.......|.......|    the last days, coarsely
 *
 * A level is a ring of cells, one for each interval of its width: interval i is [i * width, (i + 1) * width). A sample
 * goes into one cell of every level; late ones find theirs as long as it is still in the ring. A ring begins with a few
 * cells and doubles until it has its capacity; when out of memory it stays as it is and forgets sooner.
 *
 * All bytes 0 is an empty pyramid. The shape is given with every call and is the same each time: a constant of the
 * user's, so that the hot path is compiled for it. Pure: time is an argument. Not for several threads at once.
 */
#ifndef HW_PROTO_BASE_PYRAMID_H
#define HW_PROTO_BASE_PYRAMID_H

#include "proto/base/cell.h"

#define PYRAMID_LEVELS 4u /* at most */

struct pyramid_shape {
        struct cell_type cell;
        unsigned n_levels;
        struct {
                uint64_t width_ns;    /* a multiple of the one before */
                uint32_t first, most; /* cells at first, and of the full ring */
        } levels[PYRAMID_LEVELS];
};

struct pyramid_ring {
        unsigned char *cells; /* capacity of them: interval i is in cell i % capacity; NULL until the first sample */
        uint64_t first, last; /* intervals whose cells are in use; meaningful unless newest is 0 */
        uint64_t complete;    /* no sample was dropped from intervals from here on */
        uint64_t newest_ns;   /* start of the interval of the sample that came last: usually the next one's, too */
        uint32_t newest;      /* number of its cell, from 1; 0: no sample yet */
        uint32_t capacity;
};

struct pyramid {
        struct pyramid_ring levels[PYRAMID_LEVELS];
        size_t held_bytes; /* of all rings; what cells own is their user's to count */
};

/* Frees all; the pyramid is empty and may be used again. */
void pyramid_done(const struct pyramid_shape *shape, struct pyramid *p);

/* Forgets all samples and keeps the memory. */
void pyramid_clear(const struct pyramid_shape *shape, struct pyramid *p);

/* The slow path of pyramid_cell(). */
void *pyramid_reach(const struct pyramid_shape *shape, struct pyramid *p, unsigned level, uint64_t time_ns);

/* The cell that a sample of this time goes into; NULL when its interval has left the ring, or out of memory. */
static inline void *pyramid_cell(const struct pyramid_shape *shape, struct pyramid *p, unsigned level, uint64_t time_ns)
{
        const struct pyramid_ring *r = &p->levels[level];

        if (r->newest && time_ns - r->newest_ns < shape->levels[level].width_ns)
                return r->cells + (r->newest - 1) * shape->cell.size;
        return pyramid_reach(shape, p, level, time_ns);
}

/* ----------------------------------------------------------------- reading */

/* The cell of an interval; NULL when it is empty or not in the ring. */
const void *pyramid_at(const struct pyramid_shape *shape, const struct pyramid *p, unsigned level, uint64_t interval);

/* Narrows intervals *from .. *end - 1 to those that the ring may hold; false when none is left. */
bool pyramid_clip(const struct pyramid *p, unsigned level, uint64_t *from, uint64_t *end);

/* The finest level that is complete from a time on, else the widest. */
unsigned pyramid_level(const struct pyramid_shape *shape, const struct pyramid *p, uint64_t from_ns);

/* Merges intervals from .. end - 1 of a level into *to, from the widest cells that lie in them. */
void pyramid_merge(const struct pyramid_shape *shape, const struct pyramid *p, unsigned level, uint64_t from,
                   uint64_t end, void *to);

/*
 * The cells of a range, oldest first: of the finest level that reaches back to its older end, from the cell that holds
 * this end; a cell across the newer end is replaced by cells of the levels below, down to a whole cell of level 0.
 */
void pyramid_visit(const struct pyramid_shape *shape, const struct pyramid *p, struct time_range range,
                   void (*visit)(void *ctx, const void *cell), void *ctx);

/* Merges the same cells into *to, wider ones where they cover several. */
void pyramid_sum(const struct pyramid_shape *shape, const struct pyramid *p, struct time_range range, void *to);

/* The newest cell with a sample that ends at or before a time, of the finest level that has one; NULL: none. */
const void *pyramid_before(const struct pyramid_shape *shape, const struct pyramid *p, uint64_t time_ns);

#endif
