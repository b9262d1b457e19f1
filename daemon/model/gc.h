/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gc.h - collections, as `+RTS -s` counts them.
 *
 * A pause is the leading capability's GC_END minus its GC_START, and belongs to
 * the generation of the GC_STATS_GHC between them (rts/Stats.c). The leader is
 * the capability whose block holds GC_STATS_GHC. Pairs are matched per
 * capability, because blocks of different capabilities come out of time order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/process.h"
#include "proto/base/sketch.h"

/*
 * histogram.c: counts of durations: a quantile sketch (proto/base/sketch.h) of 5 bits, so that a quantile is within
 * 1/32 of the true value. Pauses of a program lie close together: a few dozen of its cells are filled.
 *
 * Values up to 2^42 ns (73 min); larger ones count in the last cell. docs/PROTOCOL.md publishes the cells.
 *
 * All bytes 0 is an empty one.
 */

#define HISTOGRAM_BITS  5u
#define HISTOGRAM_CELLS SKETCH_CELLS(HISTOGRAM_BITS, 42u)

struct histogram {
        uint64_t count;
        uint64_t max;
        struct sketch cells; /* `lost`, out of memory: they are not all there, and no quantile is known */
};

void histogram_add(struct histogram *h, uint64_t value);

/* Takes back a value that was added; false: none of its cell was. The maximum of the others is then within 1/32. */
bool histogram_remove(struct histogram *h, uint64_t value);
void histogram_done(struct histogram *h);

static inline bool histogram_is_known(const struct histogram *h)
{
        return h->count > 0 && !h->cells.lost;
}

/* The quantile `q` (0..1): the cell's upper end, at most the maximum. 0 unless it is known. */
uint64_t histogram_quantile(const struct histogram *h, double q);

#define GC_MAX_GENERATIONS 16 /* higher ones count in the last entry */

/* One collection. */
struct collection {
        uint64_t end_time_ns;
        uint64_t pause_ns; /* UNKNOWN_U64 when its start was not seen */
        uint64_t sync_ns;  /* from the request to the start; UNKNOWN_U64 */
        uint32_t generation;
        uint32_t capability; /* leader */
        bool major;          /* generation == generations - 1, or generation >= 1 while that is unknown */
        bool for_watching;   /* heapwatch caused it, for a heap census */
        uint64_t copied_bytes, slop_bytes, fragmentation_bytes;
        uint32_t parallel_threads;
        uint64_t parallel_max_copied_bytes;
        uint64_t parallel_balanced_copied_bytes; /* UNKNOWN_U64 before GHC 8.4 */
};

/* The program's own collections. */
struct generation {
        uint64_t count;
        uint64_t parallel_count; /* UNKNOWN_U64 */
        uint64_t pause_total_ns;
        uint64_t pause_max_ns;
        struct histogram pauses;
};

struct nonmoving_segments {
        uint32_t block_bytes;
        uint64_t active, filled, live_blocks;
};

/* A pause at a glance. */
struct gc_pause {
        uint64_t end_time_ns, pause_ns;
        uint32_t generation;
        bool major, for_watching;
};

#define GC_LAST 5 /* pauses */

#define NONMOVING_SIZES 24 /* block sizes kept of one census */

struct nonmoving {
        bool seen; /* any event of the nonmoving collector was seen */
        uint64_t cycles;
        uint64_t mark_total_ns, sync_total_ns, sync_max_ns, sweep_total_ns;
        uint64_t marked_objects;                 /* UNKNOWN_U64 before the first mark ends */
        uint64_t pruned_segments, free_segments; /* UNKNOWN_U64 before the first pruning */
        struct nonmoving_segments census[NONMOVING_SIZES];
        uint32_t n_census;
};

struct gc {
        struct generation *generations; /* GC_MAX_GENERATIONS */
        uint32_t n_generations;         /* highest seen + 1 */
        bool counted; /* by the runtime's own counters, from outside: no collection is timed, sums may be UNKNOWN_U64 */
        uint64_t collections;
        uint64_t copied_bytes;
        uint64_t major_copied_bytes;              /* by the newest major collection; UNKNOWN_U64 before it */
        uint64_t max_slop_bytes;                  /* over major collections; UNKNOWN_U64 before the first */
        uint64_t slop_bytes, fragmentation_bytes; /* last; UNKNOWN_U64 */
        uint64_t pause_total_ns, sync_total_ns;
        uint64_t census_pause_ns; /* part of pause_total_ns: collections with a heap census, whoever asked for it */
        uint64_t parallel_copied_bytes, parallel_balanced_bytes; /* over collections with more than one thread */
        double share;     /* the program's own, of elapsed time over the last 10 s; negative = not known */
        double share_run; /* since the run began; negative = not known */
        uint64_t unmatched;
        struct gc_pause last[GC_LAST]; /* the newest, oldest first */
        uint32_t n_last;
        struct nonmoving nonmoving;
};
