/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exec.h - runs one program for one event, whatever it does.
 *
 * No shell. Standard input is the event as JSON (a memory file, which need not be
 * read), the environment has only HEAPWATCH_..., the working directory is /. Its
 * output is kept up to EXEC_OUTPUT_BYTES; beyond EXEC_FLOOD_BYTES it is killed. On
 * timeout, and also when it ends, all processes that it started are killed
 * (exec_child.h).
 *
 * Belongs to one event loop.
 */
#ifndef HW_CLIENT_NOTIFY_EXEC_H
#define HW_CLIENT_NOTIFY_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/notify/alert_event.h"

#define EXEC_OUTPUT_BYTES 4096u      /* of its output that are kept */
#define EXEC_FLOOD_BYTES  (1u << 20) /* of its output; beyond that it is killed */

struct error;
struct event_base;
struct exec;

struct exec_result {
        bool ok; /* it exited by itself with status 0 */
        bool timed_out;
        char detail[128];                   /* "exit status 3", "killed: no end within 10.0 s", "cannot start: ..." */
        char output[EXEC_OUTPUT_BYTES + 1]; /* unchanged, NUL-terminated: escape before showing */
        size_t output_size;
        uint64_t output_total; /* bytes of its output that were read */
};

typedef void exec_done_fn(void *ctx, const struct exec_result *result);

/*
 * Starts argv[0] (an absolute path). `done` is called once from the loop, when
 * the program and all that it started are gone; the exec is freed then. NULL
 * with a message in `error` when no process could be created.
 */
struct exec *exec_start(struct event_base *base, const char *const *argv, const struct alert_event *event,
                        uint64_t timeout_ns, exec_done_fn *done, void *ctx, struct error *error);

/* Kills it without calling `done`; clears the pointer. NULL allowed. */
void exec_cancel(struct exec **exec);

#endif
