/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exec.h - runs one program for one event, and survives whatever it does.
 *
 * No shell. Standard input is the event as JSON (a file in memory: nobody has
 * to read it), the environment is clean but for HEAPWATCH_..., the working
 * directory is /. What it prints is kept up to EXEC_OUTPUT_BYTES; more than
 * EXEC_FLOOD_BYTES is a reason to kill it. On time-out, and also when it ends, all
 * processes that it started are killed (exec_child.h).
 *
 * Belongs to one event loop.
 */
#ifndef HW_CLIENT_NOTIFY_EXEC_H
#define HW_CLIENT_NOTIFY_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/notify/alert_event.h"

#define EXEC_OUTPUT_BYTES 4096u      /* of its output: kept */
#define EXEC_FLOOD_BYTES  (1u << 20) /* of its output: then it is killed */

struct error;
struct event_base;
struct exec;

struct exec_result {
        bool ok; /* it ended by itself with status 0 */
        bool timed_out;
        char detail[128];                   /* "exit status 3", "killed: no end within 10.0 s", "cannot start: ..." */
        char output[EXEC_OUTPUT_BYTES + 1]; /* as it came, NUL-terminated: escape before showing */
        size_t output_size;
        uint64_t output_total; /* bytes it wrote that were read */
};

typedef void exec_done_fn(void *ctx, const struct exec_result *result);

/*
 * Starts argv[0] (an absolute path). `done` is called once from the loop, when
 * the program and all that it started are gone; the exec is freed then. NULL
 * with a sentence in `error` when not even a process could be made.
 */
struct exec *exec_start(struct event_base *base, const char *const *argv, const struct alert_event *event,
                        uint64_t timeout_ns, exec_done_fn *done, void *ctx, struct error *error);

/* Kills it and forgets it without a call of `done`; clears the pointer. NULL allowed. */
void exec_cancel(struct exec **exec);

#endif
