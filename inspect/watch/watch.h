/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.h - a program watched from outside until it ends: what is read of it goes out as an eventlog (log.h), or as
 * censuses to the agent in it. It is never stopped, and nothing is written into its memory.
 */
#ifndef HW_INSPECT_WATCH_WATCH_H
#define HW_INSPECT_WATCH_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/ghc/layout.h"
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

#endif
