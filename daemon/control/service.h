/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service.h - notifies the service manager that started us of our state: systemd's
 * protocol, datagrams of KEY=VALUE lines to the socket of $NOTIFY_SOCKET. Without
 * that variable nothing is sent.
 *
 * READY=1 once all is set up; STATUS= how many targets there are; WATCHDOG=1
 * twice in each $WATCHDOG_USEC, from the event loop itself: one that does not
 * turn sends nothing, and is started again. STOPPING=1 at the end.
 */
#ifndef HW_DAEMON_CONTROL_SERVICE_H
#define HW_DAEMON_CONTROL_SERVICE_H

#include <stddef.h>

struct event_base;
struct service;

/* How many targets there are now. */
typedef size_t service_count(const void *ctx);

/* Before others are started, who must not notify in our name. NULL: there is no manager, or it cannot be reached. */
struct service *service_new(struct event_base *base, service_count *count, const void *ctx);

/* All is set up. NULL is allowed here and below. */
void service_ready(struct service *s);

/* Sends STOPPING=1. */
void service_destroy(struct service **s);

#endif
