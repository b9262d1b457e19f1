/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * growth.h - where memory grows: from the verdicts of live bytes, heap and RSS.
 *
 *      live    heap, blocks    foreign where
 *      rises   any             any     live data: the program retains more and more
 *      small   flat or small   rises   foreign: growth outside is certainly eight times as fast
 *      flat    rises           any     retention: the runtime holds memory whose data is gone
 *      flat    flat            rises   foreign: C, FFI, malloc
 *      flat    flat            flat    nowhere, if RSS is flat too
 *
 * RSS is judged without what the runtime has given back and without pages of files. It stands for foreign memory where
 * the kernel does not tell them apart.
 *
 * Of a process without a log the first columns are not known: flat resident memory is "nowhere", all else unknown.
 *
 * "Flat" is a verdict of steady, and no rise over the interval in which the other series rises: a
 * verdict of steady may not have had the time yet to see what the other has seen. While a verdict
 * is unknown, the rows that need it are not chosen: the answer is unknown rather than wrong. So are
 * "retention" and "nowhere" while bands that carry much of live data grows: it may be measured too rarely, or too
 * unsteady.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/judge/trend/trend.h"

enum growth_where { /* numbers of the wire (hw.Growth.Where) */
                    GROWTH_UNKNOWN = 0,
                    GROWTH_NOWHERE = 1,
                    GROWTH_LIVE = 2,
                    GROWTH_RETENTION = 3,
                    GROWTH_FOREIGN = 4
};

#define GROWTH_BANDS 10u

struct growing_band {
        uint32_t band;
        enum trend_verdict verdict;
        double slope;                          /* bytes per s */
        double gained_bytes, gained_low_bytes; /* over span_ns; the second is a lower bound */
        uint64_t span_ns;
        uint64_t onset_ns;                                        /* UINT64_MAX: not known */
        uint64_t bytes;                                           /* now */
        uint32_t threads;                                         /* the same, of a band of threads; else 0 */
        double thread_slope, thread_slope_low, thread_slope_high; /* per s, with its interval; NaN: not known */
};

struct growth_series {
        bool known; /* has samples: the rest is valid */
        struct trend_result trend;
};

struct growth {
        enum growth_where where;
        struct growth_series live, heap, blocks, rss, foreign; /* live knows whether it is doubted */
        bool live_in_doubt; /* the heap rises, and live data is not known to be flat over the same interval */
        bool heap_in_doubt; /* the same for resident memory and the heap */
        bool bands_rise;    /* growing bands have gained, for certain, an eighth of live data or more */
        bool over;          /* the run has ended */
        bool process_only;  /* there is no log: of the heap nothing is known */
        uint64_t as_of_ns;
        uint64_t start_wall_ns; /* Unix time of event time 0; UNKNOWN_U64: not known */
        /* UNKNOWN_U64 when not known, all as of now */
        uint64_t foreign_bytes, slop_bytes, fragmentation_bytes;
        uint64_t megablocks_held, megablocks_needed, megablocks_returned;
        uint64_t nonmoving_bytes, nonmoving_live_bytes;
        uint64_t outside_bytes; /* resident beside the heap: foreign, or at most, where not told apart */
        uint32_t n_bands;
        struct growing_band bands[GROWTH_BANDS]; /* growing ones, by gained_low_bytes, largest first */
};

/* Puts a band into a list of *n, at most `most`, by gained_low_bytes, largest first; a full list loses its last. */
void growing_bands_insert(struct growing_band *list, uint32_t *n, uint32_t most, const struct growing_band *band);

/* Known, and growing or a leak. */
bool growth_rises(const struct growth_series *s);

/* The series that tells whether memory grows outside of the heap. */
const struct growth_series *growth_outside(const struct growth *g);

/* The table above. */
enum growth_where growth_decide(const struct growth *g);
