/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service.h - notifies the service manager that started the daemon of its
 * state: systemd's protocol, datagrams of KEY=VALUE lines to the socket of
 * $NOTIFY_SOCKET. Without that variable nothing is sent.
 *
 * READY=1 once setup is complete and the sources are open; STATUS= the number
 * of targets; WATCHDOG=1 twice in each $WATCHDOG_USEC, from the event loop
 * itself: a loop that hangs sends nothing, and the manager restarts the daemon.
 * STOPPING=1 at the end.
 * What is to stay open over a restart: fd_store.h.
 */
#ifndef HW_DAEMON_CONTROL_SERVICE_H
#define HW_DAEMON_CONTROL_SERVICE_H

#include <stddef.h>

struct event_base;
struct service;

/* How many targets there are now. */
typedef size_t service_count(const void *ctx);

/* Call it before child processes start: it removes the variables. NULL: no manager, or an unreachable one. */
struct service *service_new(struct event_base *base, service_count *count, const void *ctx);

/* Setup is complete, the loop is about to run. NULL is allowed here and below. */
void service_ready(struct service *s);

/* Sends STOPPING=1. */
void service_destroy(struct service **s);

#endif
