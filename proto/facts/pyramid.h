/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pyramid.h - values over time at several widths: a pyramid of rings.
 *
 *      level 0   |.|.|.|.|.|.|.|.|            the last minutes, finely
 *      level 1   |...|...|...|...|...|        the last hours
 *      level 2   |.......|.......|.......|    the last days, coarsely
 *
 * A level is a ring of intervals of its width: interval i is [i * width, (i + 1) * width). A sample goes into one cell
 * of every level; late ones find theirs as long as it is still in the ring. A ring begins with a few intervals and
 * doubles until it has its capacity; when out of memory it forgets sooner.
 *
 * Nearly all cells are only kept. A shape may give them smaller forms for that, of two sizes: then only intervals with
 * a sample have a cell, and only that of the sample that came last is whole, in `open`; it is packed when another takes
 * its place, and readers get copies.
 *
 * All bytes 0 is an empty pyramid. The shape is given with every call and is the same each time: a constant of the
 * user's, so that the hot path is compiled for it. Pure: time is an argument. Not for several threads at once.
 */
#pragma once

#include "proto/facts/cell.h"

#define PYRAMID_LEVELS 4u     /* at most */
#define PYRAMID_RING   16383u /* the same */
#define PYRAMID_CELL   128u   /* bytes of a cell that is packed; the same */
#define PYRAMID_OPEN   65535u /* the place of an interval whose cell is open */

/* Of cells that own nothing. */
struct pyramid_packing {
        size_t sizes[2]; /* bytes of a packed cell, at least 2, and of a small one; 0: cells are kept as they are */
        bool (*pack)(void *packed, const void *cell, uint64_t start_ns, uint64_t width_ns); /* whether it is small */
        void (*unpack)(void *cell, const void *packed, bool small, uint64_t start_ns, uint64_t width_ns);
};

struct pyramid_shape {
        struct cell_type cell;
        unsigned n_levels;
        struct {
                uint64_t width_ns;    /* a multiple of the one before */
                uint32_t first, most; /* intervals at first, and of the full ring; at most PYRAMID_RING */
        } levels[PYRAMID_LEVELS];
        struct pyramid_packing packing;
};

/* Packed cells of one size, numbered from 1. */
struct pyramid_store {
        unsigned char *cells; /* room for `room`, of which n have been used */
        uint16_t n, room;
        uint16_t spare; /* one of these that is free: it begins with the number of the next one; 0: none */
};

struct pyramid_ring {
        union {                       /* `capacity` of them, of interval i at i % capacity; NULL at first */
                unsigned char *cells; /* kept as they are */
                uint16_t *places;     /* with packing: 2 * number + small, 0 (none) or PYRAMID_OPEN */
        };
        struct pyramid_store stores[2]; /* with packing: by `small` */
        void *open;                     /* cell of the sample that came last: in `cells`, or owned */
        uint64_t first, last;           /* intervals that may have cells; meaningful while in use */
        uint64_t complete;              /* no sample was dropped from intervals from here on */
        uint64_t newest_ns; /* start of the interval of the sample that came last: usually the next one's, too */
        uint32_t capacity;
        bool in_use; /* there was a sample */
};

struct pyramid {
        struct pyramid_ring levels[PYRAMID_LEVELS];
        size_t held_bytes; /* by all rings; what cells own is their user's to count */
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

        if (r->in_use && time_ns - r->newest_ns < shape->levels[level].width_ns)
                return r->open;
        return pyramid_reach(shape, p, level, time_ns);
}

static inline bool pyramid_packs(const struct pyramid_shape *shape)
{
        return shape->packing.sizes[0] > 0;
}

/* What a ring of so many intervals holds for their index, or for all of their cells. */
static inline size_t pyramid_ring_bytes(const struct pyramid_shape *shape, uint32_t capacity)
{
        return capacity * (pyramid_packs(shape) ? sizeof(uint16_t) : shape->cell.size);
}

/* ----------------------------------------------------------------- reading */

/* The cell of an interval, maybe copied to `room`; NULL when it is empty or not in the ring. */
const void *pyramid_at(const struct pyramid_shape *shape, const struct pyramid *p, unsigned level, uint64_t interval,
                       void *room);

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

/* The newest cell with a sample that ends at or before a time, of the finest level that has one, as pyramid_at(). */
const void *pyramid_before(const struct pyramid_shape *shape, const struct pyramid *p, uint64_t time_ns, void *room);

/*
 * packed_cell.c: a cell with co-moments (cell.h) in 44 bytes instead of 80, and in 12 when it has one sample, for
 * those that are only kept.
 *
 * Times are fixed-point numbers of 32 bits within the interval: exact in one of up to 4 s, to 256 ns in one of 10 min.
 * The last value is kept as it is. Mean, least and largest are single-precision distances from it, moments are single
 * precision: to 2^-24, which is exact for whole values that lie within 16 million of each other.
 */

struct packed_sample {
        uint32_t t;       /* since the interval began */
        uint32_t last[2]; /* a double, which would make the struct larger */
};

struct packed_cell {
        struct packed_sample last;
        uint32_t n;             /* stays at its largest value; 0: empty */
        uint32_t t_mean;        /* since the interval began */
        float v_mean, min, max; /* less `last` */
        float m_tt, m_tv, m_vv;
};

/* Of the interval [start_ns, start_ns + width_ns). */
struct packed_cell packed_cell_of(const struct trend_cell *cell, uint64_t start_ns, uint64_t width_ns);
struct trend_cell packed_cell_unpack(const struct packed_cell *packed, uint64_t start_ns, uint64_t width_ns);

/* As the packing of a pyramid (pyramid.h). */
bool any_packed_cell_pack(void *packed, const void *cell, uint64_t start_ns, uint64_t width_ns);
void any_packed_cell_unpack(void *cell, const void *packed, bool single, uint64_t start_ns, uint64_t width_ns);

#define PACKED_CELL                                                                                                    \
        {                                                                                                              \
                { sizeof(struct packed_cell), sizeof(struct packed_sample) }, any_packed_cell_pack,                    \
                        any_packed_cell_unpack                                                                         \
        }
