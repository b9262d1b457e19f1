/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * grid.h - the past of all bands of one run, at the same times for all.
 *
 * A column is an interval of time with one census or several, a row is a band.
 * Both their number and their product are bounded: when a bound is reached,
 * neighbouring columns are merged (minima and maxima kept), all of them or,
 * where the past fades, older ones more often, so that the
 * present stays sharp. Statistics of the whole run remain exact, however much is thinned.
 *
 * A census that the log's end cut (unfinished) is not taken: its missing rows
 * are unknown, not 0. Nor is one that goes back in time.
 */
#ifndef HW_CLIENT_HISTORY_GRID_H
#define HW_CLIENT_HISTORY_GRID_H

#include "client/history/past.h"
#include "heapwatch/wire.h"

/*
 * What eventlog2html's users know of a band, over a whole run. A census without a row of the band counts as 0 in mean
 * and deviation, and not at all in the line: that is eventlog2html's definition (its Eventlog.Total). docs/WEB.md has
 * the formulas.
 */
struct band_stats {
        struct trend_cell rows; /* censuses with one: s, bytes */
        double integrated;      /* B s, up to the newest census */
};

struct grid_band {
        struct cell *cells; /* of columns first .. first + n - 1, as many censuses in each; elsewhere 0 */
        size_t first, n, capacity;
        uint64_t census; /* newest with a row */
        double bytes;    /* in that one */
        struct band_stats stats;
};

struct grid {
        struct past columns;     /* the total of the whole censuses, a point of one or several each; its bounds, too */
        size_t max_cells;        /* set before the first census, may change later */
        bool thinned;            /* columns were merged */
        struct grid_band total;  /* its cells are those of the columns */
        size_t cells;            /* in use, of all bands */
        struct grid_band *bands; /* by id - 1 */
        uint32_t n_bands, cap_bands;
        uint64_t censuses, newest;  /* taken; number of the newest */
        uint64_t newest_ns, gap_ns; /* its time, and since the one before */
};

/* Takes one census in; an unfinished or repeated one is ignored. 0 or -ENOMEM (it may be half taken in). */
int grid_add(struct grid *g, const Hw__Census *census);

/* NULL when the band never had a row; band 0 is the total. */
const struct grid_band *grid_band(const struct grid *g, uint32_t id);

/* What a band had in a column: with a count of censuses, even where it had no row. */
struct cell grid_cell(const struct grid *g, const struct grid_band *b, size_t column);

/* Its statistics with the newest census held as long as the one before. */
struct band_stats grid_stats(const struct grid *g, const struct grid_band *b);

/* Bytes in all rows; per census, and its deviation, over `censuses` of the run. */
double stats_sum(const struct band_stats *s);
double stats_mean(const struct band_stats *s, uint64_t censuses);
double stats_deviation(const struct band_stats *s, uint64_t censuses);

/* A line through the band's own samples. False when there is none: fewer than two samples, or all equal. */
struct stats_line {
        double intercept, slope, fit;      /* of v / v_max on t / t_max; fit is R² */
        double intercept_bytes, slope_bps; /* the same line in bytes and seconds */
};
bool stats_line(const struct band_stats *s, struct stats_line *ret_line);

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
