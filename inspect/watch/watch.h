/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.h - a program watched from outside until it ends: what is read of it goes out as an eventlog (log.h). It is
 * never stopped, and nothing is written into it.
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
bool watch(int fd, pid_t pid, struct ghc *g, uint64_t memory_bytes, struct error *error);

#endif
