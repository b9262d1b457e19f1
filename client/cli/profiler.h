/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profiler.h - a profile of the CPU time of a process here, taken by heapwatch-inspect, for who cannot wait for it: a
 * thread does. What there is of it is known each second. What it may do to the process is what `heapwatch profile` of
 * the same user may.
 */
#ifndef HW_CLIENT_CLI_PROFILER_H
#define HW_CLIENT_CLI_PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/error.h"

#define PROFILER_LEAST_NS   UINT64_C(1000000000)
#define PROFILER_MOST_NS    UINT64_C(60000000000)
#define PROFILER_DEFAULT_NS UINT64_C(10000000000)

struct profiler;

struct profiler_options {
        pid_t pid;
        uint64_t for_ns;
        size_t most_bytes; /* of one profile */
};

/* Starts. NULL with a sentence. */
struct profiler *profiler_new(const struct profiler_options *what, struct error *error);

bool profiler_is_done(struct profiler *p);

/* No more samples: it is done soon, with those that it has. */
void profiler_finish(struct profiler *p);

/* The newest that heapwatch-inspect has printed (client/state/cpu_tree.h), for free(). NULL: none since last time. */
char *profiler_detach_text(struct profiler *p);

/* Of one that is done. False with a sentence: it has failed. */
bool profiler_is_good(const struct profiler *p, struct error *error);

/* Ends the inspection if it goes on. */
void profiler_destroy(struct profiler **p);

#endif
