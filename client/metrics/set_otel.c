/* SPDX-License-Identifier: BSD-3-Clause */
/* set_otel.c - the names of hs-opentelemetry's instrumentation of the runtime. */
#include "client/metrics/tables.h"

const struct metric otel_of_target[] = {
        SAME("process.runtime.ghc.allocated_bytes", COUNTER, BYTES, ALLOCATED),
        SAME("process.runtime.ghc.capability.count", GAUGE, NONE, CAPABILITIES),
        SAME("process.runtime.ghc.memory.live_bytes", GAUGE, BYTES, LIVE),
        SAME("process.runtime.ghc.memory.heap_size", GAUGE, BYTES, HEAP_SIZE),
        SAME("process.runtime.ghc.memory.max_live_bytes", GAUGE, BYTES, LIVE_MAX),
        SAME("process.runtime.ghc.memory.max_slop_bytes", GAUGE, BYTES, GC_SLOP_MAX),
        SAME("process.runtime.ghc.memory.max_mem_in_use_bytes", GAUGE, BYTES, HEAP_SIZE_MAX),
        SAME("process.runtime.ghc.gc.count", COUNTER, NONE, COLLECTIONS),
        SAME("process.runtime.ghc.gc.major_count", COUNTER, NONE, MAJOR_COLLECTIONS),
        SAME("process.runtime.ghc.gc.copied_bytes", COUNTER, BYTES, GC_COPIED),
        SAME("process.runtime.ghc.gc.elapsed_time", COUNTER, SECONDS, GC_PAUSES),
        SAME("process.runtime.ghc.mutator.elapsed_time", COUNTER, SECONDS, MUTATOR),
        SAME("process.runtime.ghc.nonmoving_gc.sync_elapsed_time", COUNTER, SECONDS, NONMOVING_SYNC),
        SAME("process.runtime.ghc.nonmoving_gc.sync_max_elapsed_time", GAUGE, SECONDS, NONMOVING_SYNC_MAX),
        ABSENT("process.runtime.ghc.memory.max_large_objects_bytes", "large objects are not in the eventlog"),
        ABSENT("process.runtime.ghc.memory.max_compact_bytes", "compact regions are not in the eventlog"),
        ABSENT("process.runtime.ghc.gc.cpu_time", "the eventlog does not split CPU time"),
        ABSENT("process.runtime.ghc.mutator.cpu_time", "the eventlog does not split CPU time"),
        ABSENT("process.runtime.ghc.nonmoving_gc.cpu_time", "the eventlog does not split CPU time"),
        ABSENT("process.runtime.ghc.gc.last.*", "of one collection: use heapwatch_gc_pause_duration_seconds"),
        METRICS_END,
};
