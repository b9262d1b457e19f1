/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service.h - tells the service manager that started us how we are: systemd's
 * protocol, datagrams of KEY=VALUE lines to the socket of $NOTIFY_SOCKET. Without
 * that variable nothing is told.
 *
 * READY=1 once all is set up; STATUS= how many targets there are; WATCHDOG=1
 * twice in each $WATCHDOG_USEC, from the event loop itself: one that does not
 * turn does not tell, and is started again. STOPPING=1 at the end.
 */
#ifndef HW_DAEMON_CONTROL_SERVICE_H
#define HW_DAEMON_CONTROL_SERVICE_H

#include <stddef.h>

struct event_base;
struct service;

/* How many targets there are now. */
typedef size_t service_count(const void *ctx);

/* Before others are started, who must not tell in our name. NULL: nobody wants to know, or it cannot be told. */
struct service *service_new(struct event_base *base, service_count *count, const void *ctx);

/* All is set up. NULL is allowed here and below. */
void service_ready(struct service *s);

/* Tells that it ends. */
void service_destroy(struct service **s);

#endif
