/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sizing.h - how large a heap the runtime itself holds for a given amount of
 * live data.
 *
 * A heap several times its live data is not the program's fault: the copying
 * collector lets the old generation fill to -F times the live data and copies
 * into as much again. After a major collection the runtime gives back what
 * exceeds (rts/sm/GC.c, GarbageCollect; resizeGenerations for -F)
 *
 *      P + (F + U) * max(live, -o)         and never below -H, never above -M
 *
 * P: allocation areas (-A for each capability) and as much for large objects
 * (-AL). U, what a collection itself needs: 2; since GHC 9.2 1.2 when
 * compacting (-c) or nonmoving (-xn). With one generation (-G1) the allocation
 * area is itself F times the live data (rts/sm/Storage.c, resizeNursery).
 *
 * Since 9.2 each major collection logs that sum, in blocks (MEM_RETURN): it
 * gives the actual F + U of the run, whatever set it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/rts_options.h"
#include "proto/eventlog/advice.h"

struct heap;
struct model;
struct run;

struct sizing {
        struct rts_collector collector;
        bool one_generation;
        bool measured;       /* by MEM_RETURN, not by the flags in the log or their defaults */
        double factor;       /* F + U, or as measured */
        uint64_t areas;      /* P */
        uint64_t least_live; /* -O */
        uint64_t suggested;  /* -H; 0: none */
        uint64_t most;       /* -M; UNKNOWN_U64: none, or not known */
};

/* From the run's flags, as far as they are in the log, its release's defaults, and what its collections logged. */
struct sizing sizing_of(const struct run *run, const struct heap *heap);

/* By the flags in the log, and by the events of the nonmoving one. */
struct rts_collector collector_of(const struct model *m);

/* Whether live data of the oldest generation are surely copied at each of its collections. */
bool sizing_copies(const struct sizing *s);

/* Heap that the runtime may hold for this much live data. */
uint64_t sizing_heap(const struct sizing *s, uint64_t live_bytes);

/*
 * Most live data that -M allows. Once they are 30 % (-c) of it the old generation is compacted in place, so the
 * heap may be as large as its data (GarbageCollect and resizeGenerations in rts/sm/GC.c): all of -M but the
 * allocation areas, or 1.5 % of it if that is more. UNKNOWN_U64: no -M, or a collector that does not go over to
 * compacting (nonmoving, -G1).
 */
uint64_t sizing_most_live(const struct sizing *s);

/* Heap beyond that; UNKNOWN_U64 when either argument is. */
uint64_t sizing_beyond(const struct sizing *s, uint64_t live_bytes, uint64_t heap_bytes);

/* advice.c: what this stream lacks, from what has and has not been seen. Texts: proto/eventlog/advice.h. Pure. */

struct model;

/*
 * Fills `codes` with at most `max` codes that hold now; returns their number.
 * Checks that need time use event time, which does not advance when nothing
 * arrives: `silent_ns` is how long, by the clock, nothing has come from a
 * running program; 0 when it has ended or is not known to run.
 */
size_t model_advice(const struct model *m, uint64_t silent_ns, enum hw_advice *codes, size_t max);
