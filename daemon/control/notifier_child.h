/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notifier_child.h - `heapwatch notify` as a child of the daemon; restarted
 * with backoff whenever it ends.
 *
 *      heapwatchd ──socket pair: its standard input──▶ heapwatch notify --attached
 *
 * The child ends by itself when the other end of its standard input is closed,
 * which the kernel does however the daemon dies. It is started with
 * posix_spawn, which shares the daemon's memory until the new program runs and
 * so copies nothing and does not affect ZeroMQ's threads; it inherits standard
 * error and nothing else. Only notifier_child_destroy blocks.
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
        const char *publish_endpoint; /* borrowed, like log_level */
        const char *log_level;
        void (*ended)(void *ctx); /* called when it has ended and its key is no longer valid; or NULL */
        void *ctx;
};

/* Does not start the child yet. NULL when out of memory. */
struct notifier_child *notifier_child_new(const struct notifier_child_options *options);

/* Ends the child: SIGTERM, and after NOTIFIER_STOP_S SIGKILL; waits for it. */
#define NOTIFIER_STOP_S 4
void notifier_child_destroy(struct notifier_child **c);

/* Starts the child, and keeps one running from now on. Later calls do nothing. */
void notifier_child_start(struct notifier_child *c);

bool notifier_child_is_wanted(const struct notifier_child *c); /* notifier_child_start was called */
pid_t notifier_child_pid(const struct notifier_child *c);      /* 0: none is running */
uint64_t notifier_child_key(const struct notifier_child *c);   /* it identifies itself with this; 0: none is running */
uint32_t notifier_child_restarts(const struct notifier_child *c);
const char *notifier_child_detail(const struct notifier_child *c); /* why the last one ended; "" */

#endif
