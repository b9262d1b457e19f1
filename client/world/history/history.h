/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * history.h - the past of one run of a target: the one store that console, browser page and reports draw from.
 *
 * It is filled from two sides: by updates as they come (history_add), and by what a daemon remembers of the time
 * before (history_recall_series, history_recall_band). Where both have data, the updates count: each sample is in one
 * point only. It returns points with least, mean and greatest value, at the times of their samples (past.h).
 *
 * It handles samples and censuses that come late or twice, a census cut by the log's end, and a series that the
 * daemon does not sample itself (it is then derived from collections and censuses).
 *
 * Memory is bounded by the options; what does not fit is thinned, never dropped.
 */
#pragma once

#include "client/world/history/past.h"
#include "heapwatch/wire.h"
#include "proto/base/json_out.h"
#include "proto/facts/facts.h"

/*
 * grid.c: the past of all bands of one run, at the same times for all.
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
        double *cells; /* of columns first .. first + n - 1; elsewhere 0. Read them with grid_cell() */
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

/* Forgets all; the bounds stay. */
void grid_clear(struct grid *g);

/*
 * Single collections of one run, a bounded number of them. When
 * there are more, the longer of two neighbours is kept, and a major one before
 * any other: what a chart of pauses must not lose.
 */

#define COLLECTIONS_MOST 4096

struct collections {
        Hw__Collection *list; /* owned; in order of arrival */
        size_t n;
        uint64_t left_out;
};

/* Copies those of `gc`. 0 or -ENOMEM. */
int collections_add(struct collections *c, const Hw__Gc *gc);
void collections_done(struct collections *c);

struct history_options {
        size_t points;    /* of a series; 0: no series */
        size_t columns;   /* censuses or intervals of them */
        size_t cells;     /* bands times columns */
        bool collections; /* keep single ones, too */
        bool keep_recent; /* the past fades, instead of being thinned evenly */
        bool brief;       /* live data alone, and no notes ... */
        bool keeps_notes; /* ... but for these: nobody has them recalled */
};

struct history {
        struct history_options options;
        struct past series[SERIES_COUNT];
        uint64_t samples[SERIES_COUNT]; /* taken in, before thinning */
        uint64_t own_ns[SERIES_COUNT];  /* since when a series has come in updates; UINT64_MAX: not yet */
        bool sampled[SERIES_COUNT];     /* by the daemon: nothing is derived */
        bool recalled[SERIES_COUNT];
        struct collections collections;
        struct grid bands;
        struct past *recalled_bands; /* by id, 0 the total; as the daemon keeps them */
        uint32_t n_recalled;
};

/* NULL when out of memory. */
struct history *history_new(const struct history_options *options);
void history_destroy(struct history **h);

/* Forgets everything: another run begins. */
void history_clear(struct history *h);

/* New bounds of points and cells, and whether it is brief: one target's share depends on how many there are. */
void history_bound(struct history *h, const struct history_options *share);

/* ------------------------------------------------------------------ filling */

/* Takes a body of the run: heap, gc, census. Borrowed. 0 or -ENOMEM. */
int history_add(struct history *h, const Hw__Update *update);

/* Appends the points of a daemon's answer; those without time or value are skipped. 0 or -ENOMEM. */
int history_points_of(const Hw__History *answer, struct past *to);

/* What a daemon remembers of a series, put before what came in updates. The newest answer counts. 0 or -ENOMEM. */
int history_recall_series(struct history *h, Hw__Series series, const struct past *points);

/* What it remembers of a band, or of the total (0), in place of what it did before; `points` is empty afterwards. */
int history_recall_band(struct history *h, uint32_t band, struct past *points);

/* ------------------------------------------------------------------ reading */

/* A series; valid until the next change. Without points if nothing is known. */
const struct past *history_series(const struct history *h, Hw__Series series);

/*
 * A band (0: the total) at censuses: as recalled up to the first census that came in an update, then those; all bands
 * and the total are known at the same times, so they can be added. `recalled`: points of band and total to use instead
 * of those of history_recall_band; NULL: those. Appended to *ret. 0, -ENOMEM, or -EAGAIN: the two do not match,
 * because they are of different times (*ret has what came in updates). `h` may be NULL if `recalled` is not.
 */
struct history_recalled {
        const struct past *band, *total;
};
int history_band(const struct history *h, uint32_t band, const struct history_recalled *recalled, struct past *ret);

/*
 * What a band holds now minus what it held at the newest known census before from_ns; 0: at the first. The daemon's
 * points take precedence where they are not wider than widest_ns, so that all faces show the same number. NAN:
 * unknown.
 */
double history_change(const struct history *h, uint32_t band, double now, uint64_t from_ns, uint64_t widest_ns);

/* Event time of the first point of any series; UINT64_MAX: there is none. */
uint64_t history_first_ns(const struct history *h);

/*
 * past_json.c: one past as JSON, in the form of docs/WEB.md ("History"): the same
 * for the page's API and for reports.
 */

/* Whose past it is. Borrowed. */
struct past_owner {
        size_t daemon;
        const char *target;
        uint32_t run;
        Hw__Series series; /* SERIES_NONE: a band */
        uint32_t band;     /* 0: the total of all */
        const char *label; /* of a band; NULL: unknown */
};

/* {"daemon":...,"target":...,"unit":"B" - without the closing brace: columns, statistics or an error follow. */
void past_json_open(struct json_out *j, const struct past_owner *owner);

/* "width":...,"times":[...],"last":[...] and more. */
void past_json_columns(struct json_out *j, const struct past *past);

/* The same with "grid" and "start" in place of the times: `b` of `g`, whose times are the answer's grid `number`. */
void past_json_grid_columns(struct json_out *j, const struct grid *g, const struct grid_band *b, size_t number);

/* "stats":{...} */
void past_json_stats(struct json_out *j, const struct grid *g, const struct grid_band *b);

/* The times of a grid, [0,1,2.5]: where its columns begin, or those of their last censuses. */
void past_json_grid_times(struct json_out *j, const struct grid *g, bool ends);
