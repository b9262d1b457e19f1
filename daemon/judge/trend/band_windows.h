/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * band_windows.h - plain statistics of one band over 10 min, 1 h, 6 h, 24 h:
 * four rings of seven slices, a sixth of the window wide each, in 0.6 kB after
 * ten minutes and 1.6 kB after a day.
 *
 * Not a pyramid (proto/facts/pyramid.h): its rings have memory of their own and whole
 * cells that are open, which a thousand bands of 8 kB each have no room for. Slices
 * hold their own index, so a ring has hardly any other state.
 */
#pragma once

#include "daemon/judge/trend/rings.h"
#include "daemon/judge/trend/statistics.h"
#include "proto/facts/pyramid.h"

#define BAND_RINGS    4u
#define BAND_SLICES   7u
#define BAND_SLICE_NS UINT64_C(100000000000) /* width of the finest ring's slices; the others' are multiples of it */

/* Widths of all rings' slices, in finest slices: a sixth of each window, the shortest first. */
extern const uint32_t band_ring_fans[BAND_RINGS];

/* The place of a slice in its ring. *phase is of the ring, and set by the first slice, which so gets place 0. */
static inline unsigned band_ring_place(const struct rings_shape *shape, const struct rings *rings, unsigned ring,
                                       uint8_t *phase, uint32_t index)
{
        if (rings_room(shape, rings, ring) == 0)
                *phase = (uint8_t)(BAND_SLICES - index % BAND_SLICES);
        return (index + *phase) % BAND_SLICES;
}

/* Slices from .. last of a ring. */
struct band_reach {
        unsigned ring;
        uint64_t width_ns, from, last;
};

/*
 * Which slices represent a range that is not empty: those that begin in it, at least the newest before its end, of the
 * finest ring that reaches back to its start. `newest`: index of the newest slice kept in the finest ring.
 */
struct band_reach band_reach(struct time_range range, uint64_t newest);

/* Samples and the area under the lines between them, in unit x s. */
struct band_samples {
        struct trend_cell cell;
        double area;
};

struct band_slice {
        uint32_t index; /* time / width; valid unless the cell is empty */
        float area;
        struct packed_cell cell;
};

struct band_windows {
        struct rings slices; /* struct band_slice, by ring; one that finds no memory is not kept */
        uint8_t phases[BAND_RINGS];
        double area;      /* since the band was first seen */
        uint64_t last_ns; /* of the newest sample */
};

extern const struct rings_shape band_windows_shape;

void band_windows_done(struct band_windows *w);

/* Adds samples of one slice of the finest ring. */
void band_windows_add(struct band_windows *w, const struct band_samples *samples);

/* Whether the slices go back as far as from_ns. */
bool band_windows_reach(const struct band_windows *w, uint64_t from_ns);

/*
 * The functions below also count `waiting`, samples not added yet: NULL, or samples of one slice of the finest ring.
 *
 * band_windows_span merges the slices that represent a range (band_reach). False when there is no sample.
 */
bool band_windows_span(const struct band_windows *w, const struct band_samples *waiting, struct time_range range,
                       struct range_samples *ret);

/*
 * A lower bound, in ns, on how long all answers here, and quantiles of a sketch with the same samples, about an
 * interval and about what is before either of its ends, stay the same while both ends advance and nothing is added.
 * UINT64_MAX: forever.
 */
uint64_t band_windows_still(const struct band_windows *w, const struct band_samples *waiting, struct time_range range);

/* The newest slice that ends at or before time_ns. False: none is kept. */
bool band_windows_before(const struct band_windows *w, const struct band_samples *waiting, uint64_t time_ns,
                         struct trend_cell *ret);
