/* SPDX-License-Identifier: BSD-3-Clause */
/* set_eventlog_live.c - the names of eventlog-live, which reads the same log. Over OTLP a target is its job. */
#include "client/metrics/tables.h"
#include "client/metrics/several.h"

const struct metric eventlog_live_of_target[] = {
        SAME("ghc_eventlog_HeapAllocated", COUNTER, BYTES, ALLOCATED),
        SAME("ghc_eventlog_HeapSize", GAUGE, BYTES, HEAP_SIZE),
        SAME("ghc_eventlog_BlocksSize", GAUGE, BYTES, BLOCKS_SIZE),
        SAME("ghc_eventlog_HeapLive", GAUGE, BYTES, LIVE),
        SAME("ghc_eventlog_MemCurrent", GAUGE, MEGABLOCKS, MEGABLOCKS_HELD),
        SAME("ghc_eventlog_MemNeeded", GAUGE, MEGABLOCKS, MEGABLOCKS_NEEDED),
        SAME("ghc_eventlog_MemReturned", GAUGE, MEGABLOCKS, MEGABLOCKS_RETURNED),
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
