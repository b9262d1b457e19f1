/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * series.h - one number over time, at four widths: a pyramid (proto/facts/pyramid.h) of 5 min in seconds, 64 min in
 * 10 s, 6 h in minutes, 48 h in 10 min. A young series takes 0.4 kB; one of two days 52 kB with a sample in each
 * second, 21 kB with one a minute.
 *
 * All have 10 s and 10 min; what hardly anybody looks at has no more: of two days 32 and 16 kB. Of seconds it keeps 8
 * then, of minutes 16. proto/facts/series.def says which always have all: minutes explain where memory grows; seconds
 * are those of pauses for the share of collections, and of what has few samples. The heap's size and what was allocated
 * are measured at each collection: of them 40 seconds are kept, for the rate of allocation and for ticks that are late.
 *
 * All bytes 0 is a series without samples.
 */
#pragma once

#include "proto/facts/facts.h"
#include "proto/facts/pyramid.h"

struct series {
        struct pyramid pyramid;  /* of struct trend_cell */
        struct trend_cell total; /* since the run began */
        uint64_t late;           /* samples that came after their finest cell was dropped */
        struct trend_cell fresh; /* samples of one second that the other cells do not have yet: see series_read() */
};

/* The series of which all seconds, and all minutes are kept beyond what their rows say, as bits of their ids. */
struct series_finely {
        uint32_t seconds, minutes;
};

extern const struct pyramid_shape series_shape;

void series_done(struct series *s);

/* Forgets all samples and keeps the memory: for a new run. */
void series_clear(struct series *s);

/*
 * Allocates only when a ring grows. `shape`: series_shape, or the same with rings of other sizes (`most`). -ENOMEM: out
 * of memory for the first ring; nothing was changed.
 */
int series_push(struct series *s, const struct pyramid_shape *shape, uint64_t time_ns, double value);

/*
 * The same of a series that may have few seconds, or few minutes. There may be hundreds of samples in a second, which
 * lies in one cell of each width: they are added to these together, when a sample of another second comes.
 */
int series_push_kept(struct series *s, enum series_seconds seconds, bool minutes, uint64_t time_ns, double value);

struct series_view {
        struct series series;
        struct trend_cell open[PYRAMID_LEVELS];
};

/*
 * The series as all others read it: its cells have the samples of the newest second, too. What is in `room` is valid as
 * long as the series does not change. Who reads when changes no bit of a cell.
 */
const struct series *series_read(const struct series *s, struct series_view *room);

/*
 * Points of a range in order of time, at most `max` of them, each at least step_ns wide (0: as fine as is kept), from
 * the finest level that reaches back to the range's start, else the widest. Empty intervals give no point. Returns how
 * many there are.
 */
size_t series_history(const struct series *s, struct time_range range, uint64_t step_ns, struct point *points,
                      size_t max);

/*
 * Merge of that level's cells that begin in a range, empty when there are none. From 0 to a time past the newest sample
 * it is the whole run.
 */
void series_span(const struct series *s, struct time_range range, struct trend_cell *ret);
