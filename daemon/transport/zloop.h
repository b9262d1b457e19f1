/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zloop.h - a ZeroMQ socket inside libevent.
 *
 * ZeroMQ's descriptor is edge-triggered and only a hint: it says that
 * ZMQ_EVENTS may have changed, not that a message waits. All handling is in one
 * place, zloop_pump: read ZMQ_EVENTS; while readable and within budget receive
 * whole messages; read ZMQ_EVENTS again; if still ready, come back later, so
 * that a flood on one socket gets at most a quarter of a busy loop. It runs
 * when the descriptor fires, once after registration, and must be called after
 * every send or receive made elsewhere on the socket: an XPUB that publishes
 * would otherwise sleep on a pending subscription.
 */
#ifndef HW_DAEMON_TRANSPORT_ZLOOP_H
#define HW_DAEMON_TRANSPORT_ZLOOP_H

#include <stdint.h>

struct event_base;
struct zloop;

/* Receives a message, or a bounded number (all parts, with ZMQ_DONTWAIT). Returns 1 if there was one, else 0. */
typedef int zloop_receive(void *ctx, void *socket);

/* Registers `socket` (borrowed). NULL when out of memory. */
struct zloop *zloop_new(struct event_base *base, void *socket, zloop_receive *receive, void *ctx);
void zloop_destroy(struct zloop **z);

/* From now on so long passes between two pumps that receive something; a message then waits no longer than that. */
void zloop_set_spacing(struct zloop *z, uint64_t ns);

/* Handles what is pending; safe at any time except inside `receive`. */
void zloop_pump(struct zloop *z);

#endif
