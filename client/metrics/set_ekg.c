/* SPDX-License-Identifier: BSD-3-Clause */
/* set_ekg.c - the names that ekg-core registers for the collector. */
#include "client/metrics/tables.h"

#define MIB (1.0 / (1 << 20))

const struct metric ekg_of_target[] = {
        SAME("rts.gc.bytes_allocated", COUNTER, BYTES, ALLOCATED),
        SAME("rts.gc.num_gcs", COUNTER, NONE, COLLECTIONS),
        SAME("rts.gc.num_bytes_usage_samples", COUNTER, NONE, LIVE_SAMPLES),
        SAME("rts.gc.bytes_copied", COUNTER, BYTES, GC_COPIED),
        SCALED("rts.gc.mutator_wall_ms", COUNTER, MILLISECONDS, MUTATOR, 1e3),
        SCALED("rts.gc.gc_wall_ms", COUNTER, MILLISECONDS, GC_PAUSES, 1e3),
        SCALED("rts.gc.cpu_ms", COUNTER, MILLISECONDS, CPU, 1e3),
        SCALED("rts.gc.wall_ms", COUNTER, MILLISECONDS, ELAPSED, 1e3),
        SAME("rts.gc.max_bytes_used", GAUGE, BYTES, LIVE_MAX),
        SAME("rts.gc.current_bytes_used", GAUGE, BYTES, LIVE),
        SAME("rts.gc.current_bytes_slop", GAUGE, BYTES, GC_SLOP),
        SAME("rts.gc.max_bytes_slop", GAUGE, BYTES, GC_SLOP_MAX),
        SCALED("rts.gc.peak_megabytes_allocated", GAUGE, MEGABYTES, HEAP_SIZE_MAX, MIB),
        SCALED("rts.gc.nm.sync_wall_ms", COUNTER, MILLISECONDS, NONMOVING_SYNC, 1e3),
        SCALED("rts.gc.nm.sync_max_wall_ms", GAUGE, MILLISECONDS, NONMOVING_SYNC_MAX, 1e3),
        SCALED("rts.gc.nm.wall_ms", COUNTER, MILLISECONDS, NONMOVING_MARK, 1e3),
        SAME("rts.gc.cumulative_bytes_used", COUNTER, BYTES, LIVE_SUM),
        ABSENT("rts.gc.init_cpu_ms", "the eventlog does not split CPU time"),
        ABSENT("rts.gc.init_wall_ms", "the eventlog begins after it"),
        ABSENT("rts.gc.mutator_cpu_ms", "the eventlog does not split CPU time"),
        ABSENT("rts.gc.gc_cpu_ms", "the eventlog does not split CPU time"),
        SAME("rts.gc.par_tot_bytes_copied", COUNTER, BYTES, GC_PARALLEL_COPIED),
        SAME("rts.gc.par_avg_bytes_copied", COUNTER, BYTES, GC_PARALLEL_COPIED),
        SAME("rts.gc.par_max_bytes_copied", COUNTER, BYTES, GC_PARALLEL_MAX_COPIED),
        ABSENT("rts.gc.nm.sync_cpu_ms", "the eventlog does not split CPU time"),
        ABSENT("rts.gc.nm.cpu_ms", "the eventlog does not split CPU time"),
        ABSENT("rts.gc.nm.max_cpu_ms", "the eventlog does not split CPU time"),
        METRICS_END,
};
