/* SPDX-License-Identifier: BSD-3-Clause */
/* set_eventlog_live.c - the names of eventlog-live, which reads the same log. Over OTLP a target is its job. */
#include "client/metrics/tables.h"
#include "client/metrics/several.h"
#include "client/metrics/values.h"

const struct metric eventlog_live_of_target[] = {
        NUMBER("ghc_eventlog_HeapAllocated", COUNTER, BYTES, of_allocated, "Bytes allocated, of all capabilities.",
               "HEAP_ALLOCATED"),
        NUMBER("ghc_eventlog_HeapSize", GAUGE, BYTES, of_heap_size, "Memory held in megablocks.", "HEAP_SIZE"),
        NUMBER("ghc_eventlog_BlocksSize", GAUGE, BYTES, of_blocks_size, "Memory in blocks in use.", "BLOCKS_SIZE"),
        NUMBER("ghc_eventlog_HeapLive", GAUGE, BYTES, of_live, "Live data after the last major collection.",
               "HEAP_LIVE"),
        NUMBER("ghc_eventlog_MemCurrent", GAUGE, MEGABLOCKS, of_megablocks_held, "Megablocks held.", "MEM_RETURN"),
        NUMBER("ghc_eventlog_MemNeeded", GAUGE, MEGABLOCKS, of_megablocks_needed, "Megablocks needed.", "MEM_RETURN"),
        NUMBER("ghc_eventlog_MemReturned", GAUGE, MEGABLOCKS, of_megablocks_returned, "Megablocks given back.",
               "MEM_RETURN"),
        SEVERAL("ghc_eventlog_CapabilityUsageDuration", COUNTER, NANOSECONDS, put_capability_ns, "evCap",
                "Time that a capability ran Haskell threads.", "RUN_THREAD, STOP_THREAD"),
        SEVERAL("ghc_eventlog_HeapProfSample", GAUGE, BYTES, put_heap_samples,
                "heapProfBreakdown, heapProfId, heapProfLabel, ipName, ipModule, ipSrcLoc",
                "The largest bands of the newest heap profile sample, and one that is the sum of the others.",
                "HEAP_PROF_SAMPLE_STRING, HEAP_PROF_SAMPLE_COST_CENTRE"),
        ABSENT("ghc_eventlog_HeapAllocated{evCap}", "allocation is kept as the sum of all capabilities"),
        ABSENT("ghc_eventlog_*{heapCapset}", "there is one heap, so the label would say nothing"),
        ABSENT("ghc_eventlog_CallStackProfile", "a profile, no metric"),
        ABSENT("ghc_eventlog_CostCentreStackProfile", "a profile, no metric"),
        METRICS_END,
};
