/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_origin.h - whether the times of a finished log count from the boot of its machine: those of a process that
 * forkProcess made do. Its runtime forgets when the parent began, and logs raw times of the monotonic clock.
 */
#ifndef HW_DAEMON_TARGET_LOG_ORIGIN_H
#define HW_DAEMON_TARGET_LOG_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwatch/eventlog.h"

/* A log that begins earlier than this is no such one: forkProcess and boot are farther apart. */
#define LOG_ORIGIN_LEAST_NS UINT64_C(1000000000)

struct log_origin {
        struct hw_eventlog *decoder; /* owned; NULL: nothing is looked for */
        uint64_t first_ns;           /* begin of the earliest block */
        uint64_t task_ns, task;      /* the first OS thread that the runtime met, and when; task_ns UINT64_MAX: none */
        uint32_t pid;                /* 0: not in the log */
};

/* `first_ns`: the begin of the log's earliest block. Out of memory: nothing will be found. */
void log_origin_begin(struct log_origin *o, uint64_t first_ns);

/* The next bytes of the log, from its start on. False: it is decided. */
bool log_origin_bytes(struct log_origin *o, const uint8_t *bytes, size_t n);

/* Ends it: the event time at which the process began, ns; 0: the log's clock is that of a process. */
uint64_t log_origin_end(struct log_origin *o);

#endif
