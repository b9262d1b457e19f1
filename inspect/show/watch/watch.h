/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.h - a program watched from outside until it ends: what is read of it goes out as an eventlog (log.c), or as
 * censuses to the agent in it. It is never stopped, and nothing is written into its memory.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/ghc/census.h"
#include "inspect/ghc/layout.h"
#include "inspect/ghc/stack_profile.h"
#include "inspect/process/stop.h"
#include "proto/base/error.h"

/*
 * Writes to `fd` until the process ends or nobody reads any more: true. False with a sentence: it cannot be watched, or
 * not any more. `memory_bytes`: most that a census may need; without the memory there are none, and the log says so.
 */
bool watch_heap(int fd, pid_t pid, struct ghc *g, uint64_t memory_bytes, struct error *error);

/*
 * The same for a program that its agent serves, on whose socket `fd` is: nothing but censuses, each right after a major
 * collection, which the agent writes into the program's own log. False also for an agent that does not do that. It ends
 * when standard input does: that of a pipe, whose other end its starter has.
 */
bool watch_for_agent(int fd, pid_t pid, struct ghc *g, uint64_t memory_bytes, struct error *error);

/* profile.c: takes samples of a running program's stacks: each of its threads that runs is stopped for a moment. */

struct profiling {
        uint64_t for_ns;
        unsigned hz;          /* of each thread that runs */
        bool by_allocation;   /* weighted by what Haskell threads allocate, in place of CPU time */
        bool with_waiting;    /* also what Haskell threads wait for, which does not stop them */
        uint64_t max_stop_ns; /* a longer stop ends by itself, without a sample */
        void (*report)(void *ctx, const struct stack_profile *so_far); /* each second; NULL: only at the end */
        void *ctx;
};

/*
 * Until the time is over, the program ends, or SIGINT or SIGTERM comes. The program runs then. Unless STOPPED, there is
 * a sentence; with it the profile may be empty, when the program waits.
 */
enum stopped profile_process(struct stack_profile *ret, struct ghc *g, pid_t pid, const struct profiling *how,
                             struct error *error);

/*
 * log.c: an eventlog of what was read from outside, as a runtime would write it, on a descriptor: who the process is,
 * live data, heap size, allocation, censuses, and how often was collected, in events of heapwatch's own, with the
 * numbers of threads. What is not known is not in it: no single collections with their pauses, no single threads.
 *
 * Its time 0 is the start of the process, as in a log of the runtime's own, so that a reader that lost the stream knows
 * that it continues. It has no end marker, which would say that the program has ended well.
 */

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
 * Without a log: the census as a request to the agent in the program, which writes it into its own (agent/given.c). One
 * that is too large is left out. `beside`: the threads, whose bytes are in `bands`; NULL: not known. `age_ns`: since
 * the heap was copied. False: the agent is gone.
 */
bool log_give(int fd, const struct heap_bands *bands, const struct census_threads *beside, double spread,
              uint64_t age_ns);
