/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * band_windows.h - plain statistics of one band over 10 min, 1 h, 6 h, 24 h, in
 * 1.6 kB: four rings of seven slices, a sixth of the window wide each.
 *
 * A slice keeps co-moments about its own start, so single precision is enough
 * for their sums; means and levels are kept or restored in double.
 */
#ifndef HW_TREND_BAND_WINDOWS_H
#define HW_TREND_BAND_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/window.h"

#define BAND_RINGS 4u
#define BAND_SLICES 7u

struct band_slice {
        uint32_t index;                 /* time / width; meaningful when n > 0 */
        uint32_t n;
        double v_mean;
        float t_mean;                   /* s since the slice's start */
        float m_tt, m_tv, m_vv;
        float min, max, last;
        float last_t;                   /* as t_mean */
        float area;
};

struct band_windows {
        struct band_slice slices[BAND_RINGS][BAND_SLICES];
        struct band_slice now;          /* samples of the newest 100 s that are in no ring yet */
        double area;                    /* since it was first seen */
        double last;
        uint64_t last_ns;
        bool any;
};

void band_windows_push(struct band_windows *w, uint64_t time_ns, double value);

/* Merges the slices that begin in [from_ns, to_ns); false when there is no sample. *ret_area in unit x s. */
bool band_windows_span(const struct band_windows *windows, uint64_t from_ns, uint64_t to_ns, struct bucket *ret,
                       double *ret_area);

#endif
