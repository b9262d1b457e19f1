/* SPDX-License-Identifier: BSD-3-Clause */
/* words.h - what sentences of the daemon and of the client call memory and its limits. */
#pragma once

#include <stdbool.h>

#include "heapwatch/wire.h"

/* "live data", "foreign memory", "resident memory"; "the heap" for all others. */
const char *series_words(Hw__Series series);

/* "the limit of its control group"; "the limit" when its source is not known. */
const char *limit_words(Hw__TimeToLimit__Source source);
const char *limit_name(Hw__TimeToLimit__Source source); /* "cgroup", "-M" */
bool limit_counts_heap(Hw__TimeToLimit__Source source); /* it counts the heap alone */

/* How a run is said to have ended begins so where a shell or the like is meant. */
#define END_OF_COMMAND "the command that started it "

/*
 * Why a program ended so: ", heap exhausted at -M96m", ", out of processor time (ulimit -t)"; "" where neither its
 * status nor a limit tells. status: 0 for a signal; limit_bytes: of its heap, 0 where none is known; is_reserved: that
 * is its address space, not -M. Returns `out`.
 */
#define END_REASON_SIZE 64u
const char *end_reason(char out[END_REASON_SIZE], uint32_t status, bool out_of_cpu, uint64_t limit_bytes,
                       bool is_reserved);
