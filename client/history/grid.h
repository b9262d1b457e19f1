/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * grid.h - the past of all bands of one run, at the same times for all.
 *
 * A column is an interval of time with one census or several, a row is a band.
 * Both their number and their product are bounded: when a bound is reached,
 * neighbouring columns are merged (minima and maxima kept), all of them or,
 * with keep_recent, older ones more often, so that the past fades and the
 * present stays sharp. Statistics remain exact (stats.h).
 *
 * A census that the log's end cut (unfinished) is not taken: its missing rows
 * are unknown, not 0. Nor is one that goes back in time.
 */
#ifndef HW_CLIENT_HISTORY_GRID_H
#define HW_CLIENT_HISTORY_GRID_H

#include "client/history/past.h"
#include "client/history/stats.h"
#include "heapwatch/wire.h"

struct grid_cell {
        double min, max, mean, last;
};

struct grid_column {
        uint64_t time_ns, width_ns;
        uint64_t censuses;
};

struct grid_band {
        struct grid_cell *cells; /* of columns first .. first + n - 1; elsewhere 0 */
        size_t first, n, capacity;
        uint64_t census; /* newest with a row */
        double bytes;    /* in that one */
        struct band_stats stats;
};

struct grid {
        struct grid_column *columns;
        size_t n, capacity;
        uint64_t per_column;           /* censuses that fill one, the same for all unless keep_recent */
        size_t max_columns, max_cells; /* bounds; set before the first census, may change later */
        bool keep_recent;
        bool thinned;            /* columns were merged */
        struct grid_band total;  /* of the whole censuses */
        size_t cells;            /* in use, of all bands */
        struct grid_band *bands; /* by id - 1 */
        uint32_t n_bands, cap_bands;
        uint64_t censuses, newest;  /* taken; number of the newest */
        uint64_t newest_ns, gap_ns; /* its time, and since the one before */
};

/* Takes one census in; an unfinished or repeated one is ignored. 0 or -ENOMEM (it may be half taken in). */
int grid_take(struct grid *g, const Hw__Census *census);

/* NULL when the band never had a row; band 0 is the total. */
const struct grid_band *grid_band(const struct grid *g, uint32_t id);

/* Its statistics with the newest census held as long as the one before. */
struct band_stats grid_stats(const struct grid *g, const struct grid_band *b);

/* Appends a point for each column, 0 where the band had no row. 0 or -ENOMEM. */
int grid_whole_points(const struct grid *g, const struct grid_band *b, struct past *ret_past);

/* The same without the zeros before its first and after its last cell. */
int grid_points(const struct grid *g, const struct grid_band *b, struct past *ret_past);

/* Merges columns until there are at most `max` (at least 1). */
void grid_limit(struct grid *g, size_t max);

/* A copy of all. 0 or -ENOMEM (*ret is empty). */
int grid_copy(const struct grid *g, struct grid *ret);

/* Forgets all; the bounds stay. */
void grid_clear(struct grid *g);

#endif
