/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notifier_child.h - `heapwatch notify` as a child of the daemon: started, and
 * started again with growing pauses whenever it ends.
 *
 *      heapwatchd ──socket pair: its standard input──▶ heapwatch notify --attached
 *
 * The child ends by itself when the other end of its standard input is closed,
 * which the kernel does for a daemon that dies in any way. It is started with
 * posix_spawn, which shares the daemon's memory until the new program runs and
 * so copies nothing and disturbs no thread of ZeroMQ's; it inherits standard
 * error and nothing else. Nothing here waits, but notifier_child_destroy.
 */
#ifndef HW_DAEMON_CONTROL_NOTIFIER_CHILD_H
#define HW_DAEMON_CONTROL_NOTIFIER_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct notifier_child;

struct notifier_child_options {
        struct event_base *base;
        const char *publish_endpoint; /* borrowed, as log_level */
        const char *log_level;
        void (*ended)(void *ctx); /* its key is worth nothing any more; NULL: nobody */
        void *ctx;
};

/* Starts nothing yet. NULL when out of memory. */
struct notifier_child *notifier_child_new(const struct notifier_child_options *options);

/* Ends the child: SIGTERM, and after NOTIFIER_STOP_S SIGKILL; waits for it. */
#define NOTIFIER_STOP_S 4
void notifier_child_destroy(struct notifier_child **c);

/* From now on there is one. Does nothing the second time. */
void notifier_child_start(struct notifier_child *c);

bool notifier_child_is_wanted(const struct notifier_child *c); /* notifier_child_start was called */
pid_t notifier_child_pid(const struct notifier_child *c);      /* 0: none runs now */
uint64_t notifier_child_key(const struct notifier_child *c);   /* what it identifies itself by; 0: none runs */
uint32_t notifier_child_restarts(const struct notifier_child *c);
const char *notifier_child_detail(const struct notifier_child *c); /* why the last one ended; "" */

#endif
