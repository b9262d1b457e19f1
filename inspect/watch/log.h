/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.h - an eventlog of what was read from outside, as a runtime would write it, on a descriptor: who the process is,
 * live data, heap size, allocation, censuses, and how often was collected, in events of heapwatch's own, with the
 * numbers of threads. What is not known is not in it: no single collections with their pauses, no single threads.
 *
 * Its time 0 is the start of the process, as in a log of the runtime's own, so that a reader that lost the stream knows
 * that it continues. It has no end marker, which would say that the program has ended well.
 */
#ifndef HW_INSPECT_WATCH_LOG_H
#define HW_INSPECT_WATCH_LOG_H

#include <stdbool.h>
#include <sys/types.h>

#include "inspect/ghc/bands.h"
#include "proto/base/error.h"

/* Writes the header and who the process is. False with a sentence: it is not known when it began, or nobody reads. */
bool log_begin(int fd, pid_t pid, struct error *error);

/* These gather; log_send() writes them. */
void log_live(uint64_t bytes);
void log_heap_size(uint64_t bytes);
void log_message(const char *text);

/* Sums since the process began; UINT64_MAX: not known. */
void log_allocated(uint64_t bytes);
void log_generation(unsigned number, unsigned generations, uint64_t collections, uint64_t parallel);
void log_collections(uint64_t copied_bytes, uint64_t collecting_ns);

/*
 * `spread`: of a sample (proto/base/outside_census.h); 0: of all of the heap. With the number of all threads;
 * UNKNOWN_U64: not known. False: it is too large for one block.
 */
bool log_census(const struct heap_bands *bands, double spread, uint64_t threads);

/* False: nobody reads any more. */
bool log_send(void);

struct census_threads {
        uint64_t all;
        struct heap_bands groups; /* by what they wait for */
};

/*
 * Without a log: the census as a request to the agent in the program, which writes it into its own (agent/given.h). One
 * that is too large is left out. `beside`: the threads, whose bytes are in `bands`; NULL: not known. False: the agent
 * is gone.
 */
bool log_give(int fd, const struct heap_bands *bands, const struct census_threads *beside, double spread);

#endif
