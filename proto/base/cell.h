/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cell.h - what a store of values over time keeps of one interval, and a range of time.
 *
 * The stores (pyramid.h, fold.h) know when a cell begins and which two are merged; what a cell holds is up to its user:
 * count and extremes, co-moments, a quantile sketch. A cell whose bytes are all 0 is empty. The table of functions is
 * for the slow paths; a sample goes into its cell by the user's own inline code.
 */
#ifndef HW_PROTO_BASE_CELL_H
#define HW_PROTO_BASE_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell_type {
        size_t size;
        bool (*is_empty)(const void *cell);
        void (*reset)(void *cell); /* makes it empty; it may keep the memory it owns */
        void (*merge)(void *to,
                      const void *from); /* adds a later one; either may be empty; NULL: its user never merges */
        void (*done)(void *cell);        /* frees what it owns; NULL: it owns nothing */
};

/* Event times from from_ns on and before to_ns; empty unless from_ns < to_ns. */
struct time_range {
        uint64_t from_ns, to_ns;
};

#endif
