/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * worker.h - the thread in which everything happens that may have to wait.
 *
 *      main loop ──orders, files──▶ worker: actor, exec, HTTP, disk
 *                ◀──reports───────
 *
 * The daemon's loop must never wait for a disk, a name server, a TLS handshake
 * or a fork: so none of them is done in it. The worker has an event loop of its
 * own; between the two go messages only (mailbox.h).
 */
#ifndef HW_DAEMON_ACT_WORKER_H
#define HW_DAEMON_ACT_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/act/report.h"

#define WORKER_ORDERS_MAX  2000u  /* on the way to it: beyond, they are refused */
#define WORKER_REPORTS_MAX 20000u /* on the way back: beyond, they are lost and counted */
#define WORKER_STOP_S      4      /* that the daemon waits for it when it ends */

struct event_base;
struct worker;

struct worker_options {
        struct event_base *base; /* of the main loop: where reports arrive */
        act_report_fn *report;
        /* What became of a file given to worker_write(): NULL, or why it could not be written. */
        void (*written)(void *ctx, const char *error);
        void *ctx;
        uint64_t retry_ns; /* as in actor_options */
};

/* Starts the thread. NULL when threads, memory or descriptors are short. */
struct worker *worker_new(const struct worker_options *options);

/*
 * Ends all actions and the thread; what was given to worker_write() before is
 * written. Should the thread hang in the kernel, it is left behind after WORKER_STOP_S.
 */
void worker_destroy(struct worker **w);

/* See actor_take(). The notice is copied. Returns 0, -ENOMEM or -ENOBUFS (counted by the caller). */
int worker_act(struct worker *w, const struct notice *notice, struct act_plan *plan, bool known);

/* Writes a whole file, mode 0600, so that either the old or the new one is there. Takes `text`; same returns. */
int worker_write(struct worker *w, const char *path, char *text);

#endif
