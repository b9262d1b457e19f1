/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * synthetic.h - a log for a runtime that has none: before GHC 9.4 a program
 * that was linked without -eventlog.
 *
 * Such a runtime has two sources: RtsConfig.gcDoneHook, called with the figures
 * of each collection, and the text of a heap profile (PROGRAM.hp), which is read
 * as it is written. From these come the events that a runtime with a log would
 * write: collections, live data, heap size, allocation, censuses. There are no
 * scheduler and user events.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* rts/include/RtsAPI.h of GHC 9.0: GCDetails as far as it is read here. */
struct gc_details {
        uint32_t generation, threads;
        uint64_t allocated_bytes, live_bytes, large_bytes, compact_bytes, slop_bytes, memory_bytes, copied_bytes;
        uint64_t parallel_max_copied_bytes, parallel_balanced_copied_bytes;
        int64_t sync_elapsed_ns, cpu_ns, elapsed_ns;
};

/*
 * Begins a log, with what is known of the process. `version` of GHC; any thread. now_ns: since the program's start,
 * as in a log of the runtime's own, so that a reader knows the process by its start.
 */
void synthetic_begin(const char *version, bool threaded, uint64_t now_ns);
bool synthetic_runs(void);

/*
 * Adds what is known of the process to the runtime's own log that was started late: before 9.2 such a log lacks it.
 * now_ns: the log's time.
 */
void synthetic_introduce(const char *version, bool threaded, uint64_t now_ns);

/* A heap profile by 'T' begins: what the runtime prints into the stream becomes censuses. NULL: out of memory. */
FILE *synthetic_profile(void);

void synthetic_collection(const struct gc_details *gc);

/* Sends what has been collected. */
void synthetic_flush(void);

/* Sends the rest and the end mark; if the program exits, as a runtime ends its own log: without its capability set. */
void synthetic_end(bool exits);

void synthetic_fork_child(void);
void synthetic_resume_in_child(void); /* before synthetic_begin there */
