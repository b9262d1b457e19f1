/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rings.h - rings of cells in one piece of memory, each as long as it had to be so far.
 *
 * A ring has places 0 .. most - 1, and memory for the first `room` of them. Verdicts of a young series need few of
 * their places: of a thousand programs, each with dozens of bands, most are young.
 *
 *      ring 0         ring 1   ring 2
 *      [.][.][.][.]   [.][.]   [.]           `room` of each; growth moves the cells
 *
 * A place without memory reads as one that was never written, so being out of memory is the same as having no sample.
 * All bytes 0 is empty rings; the shape is given with every call and is the same each time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RINGS_MAX 8u

struct rings_shape {
        uint8_t n;               /* rings */
        uint8_t most;            /* places of each */
        uint8_t grain;           /* a ring grows by so many places; divides `most` */
        uint8_t fill;            /* byte of new memory; 0xff makes floating-point cells NaN */
        uint8_t size[RINGS_MAX]; /* of a cell, in bytes; most strictly aligned first. All rings: below 64 KiB */
};

struct rings {
        unsigned char *cells;     /* owned; NULL: none */
        uint16_t ends[RINGS_MAX]; /* where each ring ends in `cells`; rings beyond the shape's are empty */
};

void rings_done(struct rings *r);

/* Bytes held beside the struct. */
static inline size_t rings_held(const struct rings *r)
{
        return r->ends[RINGS_MAX - 1];
}

static inline unsigned rings_begin(const struct rings *r, unsigned ring)
{
        return ring ? r->ends[ring - 1] : 0;
}

/* Places of a ring that have memory. */
static inline unsigned rings_room(const struct rings_shape *shape, const struct rings *r, unsigned ring)
{
        return (r->ends[ring] - rings_begin(r, ring)) / shape->size[ring];
}

/* The cell at a place, until the next growth; NULL: no memory for it. */
static inline void *rings_at(const struct rings_shape *shape, const struct rings *r, unsigned ring, unsigned place)
{
        unsigned at = rings_begin(r, ring) + place * shape->size[ring];

        return at < r->ends[ring] ? r->cells + at : NULL;
}

/* The slow path of rings_reach(). */
void *rings_grow(const struct rings_shape *shape, struct rings *r, unsigned ring, unsigned place);

/* The same, with memory if need be; NULL: out of memory. place < shape->most. */
static inline void *rings_reach(const struct rings_shape *shape, struct rings *r, unsigned ring, unsigned place)
{
        void *cell = rings_at(shape, r, ring, place);

        return cell ? cell : rings_grow(shape, r, ring, place);
}

/* Whether the ends can be those of such rings: for those from a file. */
bool rings_are_sound(const struct rings_shape *shape, const struct rings *r);
