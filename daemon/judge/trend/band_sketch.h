/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * band_sketch.h - quantile sketches of the bytes of one band: over 10 min, 1 h,
 * 6 h, 24 h and the run, in 0.6 kB after ten minutes and 1.4 kB after a day.
 *
 * Slices like those of band_windows.h: four rings of seven, and one for the run.
 * A slice counts samples in 20 adjacent cells, of BAND_SKETCH_BITS bits at
 * first (proto/base/sketch.h). When values do not fit, its cells become twice
 * as wide, as often as needed. So the error of a quantile depends on the range
 * of the values in one slice:
 *
 *      largest / smallest      1.08    1.17    1.4     2.2     4.9     25      680
 *      within                  1/256   1/128   1/64    1/32    1/16    1/8     1/4
 *
 * of an actual value. 0 has a cell of its own. A slice with more than 65534
 * samples in one cell counts in units of 2^shift samples: ranks are within 0.1
 * %.
 *
 * Not a struct sketch: there are 30 in each of a thousand bands, so each may
 * take only 48 bytes, and one sample must cost only one increment.
 *
 * All bytes 0 is the empty state. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/sketch.h"
#include "daemon/judge/trend/band_windows.h"

#define BAND_SKETCH_BITS 10u
#define BAND_CELLS       20u

struct band_cells {
        uint16_t counts[BAND_CELLS];
        uint16_t zeros; /* samples of 0 bytes */
        uint16_t base;  /* number of the first cell */
        uint8_t scale;  /* a cell is 2^scale finest cells wide */
        uint8_t shift;  /* a count means 2^shift samples */
};

struct band_sketch {
        struct band_cells now;       /* the finest slice in progress, not in the rings yet; shift 0 */
        uint32_t index;              /* its number */
        uint32_t dither;             /* random state for rounding */
        uint32_t newest[BAND_RINGS]; /* slice numbers: a ring holds newest - 6 .. newest */
        uint8_t phases[BAND_RINGS];
        struct rings slices;     /* struct band_cells, by ring; one that finds no memory is not kept */
        struct band_cells total; /* of the run, without samples of 0 bytes */
};

extern const struct rings_shape band_sketch_shape;

void band_sketch_done(struct band_sketch *s);

/* The slice of a time: the same for all bands of a census. */
static inline uint32_t band_sketch_index(uint64_t time_ns)
{
        return (uint32_t)(time_ns / BAND_SLICE_NS);
}

/* Number of the finest cell. 1 <= bytes <= 2^64. */
static inline unsigned band_cell(double bytes)
{
        return sketch_real_cell(BAND_SKETCH_BITS, bytes);
}

/* The slow path of band_sketch_push(). */
void band_sketch_push_slowly(struct band_sketch *s, uint32_t index, double bytes);

/* Adds a sample, 0 <= bytes < 2^64, of slice `index`. Late ones go into their slices where these are still kept. */
static inline void band_sketch_push(struct band_sketch *s, uint32_t index, double bytes)
{
        unsigned at = (band_cell(bytes) >> s->now.scale) - s->now.base;

        if (index == s->index && at < BAND_CELLS && s->now.counts[at] < UINT16_MAX - 1)
                s->now.counts[at]++;
        else
                band_sketch_push_slowly(s, index, bytes);
}

/*
 * The quantiles q[0..n) (each 0..1) of the samples in the slices that begin in
 * [from_ns, to_ns), at least the newest of these, of the finest ring that
 * reaches back to from_ns. from_ns 0: of all samples above 0 of the run. False,
 * ret unchanged, when there are none.
 */
bool band_sketch_quantiles(const struct band_sketch *s, struct time_range range, const double *q, unsigned n,
                           double *ret);
