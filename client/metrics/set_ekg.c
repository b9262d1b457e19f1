/* SPDX-License-Identifier: BSD-3-Clause */
/* set_ekg.c - the names that ekg-core registers for the collector. */
#include "client/metrics/tables.h"
#include "client/metrics/values.h"

#define MIB (1.0 / (1 << 20))

const struct metric ekg_of_target[] = {
        NUMBER("rts.gc.bytes_allocated", COUNTER, BYTES, of_allocated, "Bytes allocated.", "HEAP_ALLOCATED"),
        NUMBER("rts.gc.num_gcs", COUNTER, NONE, of_gc_count, "Collections.", "GC_START, GC_END"),
        NUMBER("rts.gc.num_bytes_usage_samples", COUNTER, NONE, of_live_samples,
               "Major collections that reported live data.", "HEAP_LIVE"),
        NUMBER("rts.gc.bytes_copied", COUNTER, BYTES, of_copied, "Bytes copied by collections.", "GC_STATS_GHC"),
        SCALED("rts.gc.mutator_wall_ms", COUNTER, MILLISECONDS, of_mutator, 1e3, "Elapsed time outside of pauses.",
               "event time, GC_START, GC_END"),
        SCALED("rts.gc.gc_wall_ms", COUNTER, MILLISECONDS, of_gc_pauses, 1e3, "Elapsed time in pauses.",
               "GC_START, GC_END"),
        SCALED("rts.gc.cpu_ms", COUNTER, MILLISECONDS, of_cpu, 1e3, "User and system time of the process.",
               "/proc/PID/stat"),
        SCALED("rts.gc.wall_ms", COUNTER, MILLISECONDS, of_elapsed, 1e3, "Since the runtime started.", "event time"),
        NUMBER("rts.gc.max_bytes_used", GAUGE, BYTES, of_live_most, "Maximum residency.", "HEAP_LIVE"),
        NUMBER("rts.gc.current_bytes_used", GAUGE, BYTES, of_live, "Live data after the last major collection.",
               "HEAP_LIVE"),
        NUMBER("rts.gc.current_bytes_slop", GAUGE, BYTES, of_slop, "Slop at the last collection.", "GC_STATS_GHC"),
        NUMBER("rts.gc.max_bytes_slop", GAUGE, BYTES, of_slop_most, "Maximum slop of a major collection.",
               "GC_STATS_GHC"),
        SCALED("rts.gc.peak_megabytes_allocated", GAUGE, MEGABYTES, of_heap_size_most, MIB,
               "Most memory held in megablocks.", "HEAP_SIZE"),
        SCALED("rts.gc.nm.sync_wall_ms", COUNTER, MILLISECONDS, of_nm_sync, 1e3,
               "Second pause of the nonmoving collector.", "CONC_SYNC_BEGIN, CONC_SYNC_END"),
        SCALED("rts.gc.nm.sync_max_wall_ms", GAUGE, MILLISECONDS, of_nm_sync_most, 1e3, "The longest of these.",
               "CONC_SYNC_BEGIN, CONC_SYNC_END"),
        SCALED("rts.gc.nm.wall_ms", COUNTER, MILLISECONDS, of_nm_mark, 1e3, "Concurrent marking.",
               "CONC_MARK_BEGIN, CONC_MARK_END"),
        ABSENT("rts.gc.cumulative_bytes_used", "a sum over major collections that no message has"),
        ABSENT("rts.gc.init_cpu_ms", "the eventlog does not split CPU time"),
        ABSENT("rts.gc.init_wall_ms", "the eventlog begins after it"),
        ABSENT("rts.gc.mutator_cpu_ms", "the eventlog does not split CPU time"),
        ABSENT("rts.gc.gc_cpu_ms", "the eventlog does not split CPU time"),
        ABSENT("rts.gc.par_tot_bytes_copied", "a sum over parallel collections that no message has"),
        ABSENT("rts.gc.par_avg_bytes_copied", "a sum over parallel collections that no message has"),
        ABSENT("rts.gc.par_max_bytes_copied", "a sum over parallel collections that no message has"),
        ABSENT("rts.gc.nm.sync_cpu_ms", "the eventlog does not split CPU time"),
        ABSENT("rts.gc.nm.cpu_ms", "the eventlog does not split CPU time"),
        ABSENT("rts.gc.nm.max_cpu_ms", "the eventlog does not split CPU time"),
        METRICS_END,
};
