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
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct zloop;

/*
 * Receives a message, or a bounded number (all parts, with ZMQ_DONTWAIT). Returns 1 if there was one, 0 if there was
 * none, -1 if it is to be called again later.
 */
typedef int zloop_receive(void *ctx, void *socket);

/* Registers `socket` (borrowed). NULL when out of memory. */
struct zloop *zloop_new(struct event_base *base, void *socket, zloop_receive *receive, void *ctx);
void zloop_destroy(struct zloop **z);

/* From now on so long passes between two pumps that receive something; a message then waits no longer than that. */
void zloop_set_spacing(struct zloop *z, uint64_t ns);

/* Handles what is pending; safe at any time except inside `receive`. */
void zloop_pump(struct zloop *z);

/*
 * rest.c: the pause between two turns of a work that could keep the loop busy.
 *
 * After a turn it lasts PUMP_REST times as long as the turn took, so such a work has at most a quarter of a busy loop.
 * In a loop with nothing else to do it ends at once: `idle` has the last priority, so it runs only when no source and
 * no timer is active.
 *
 * Both are timers and no event_active(): libevent runs active events until there are none, so a work that is never done
 * would keep all timers from firing.
 */

struct event;

typedef void rest_over(void *ctx);

struct rest {
        struct event *share; /* ends it after its time, before all others */
        struct event *idle;  /* ends it as soon as nobody else has work */
        uint64_t until_ns;   /* monotonic */
        rest_over *over;
        void *ctx;
};

/* `over` is called at the end of each rest, and may begin the next. False when out of memory; rest_done then, too. */
bool rest_init(struct rest *r, struct event_base *base, rest_over *over, void *ctx);
void rest_done(struct rest *r);

/* After a turn that took `spent_ns`. Out of memory it does not end by itself. */
void rest_begin(struct rest *r, uint64_t spent_ns);

/* Until this time has passed, also in an idle loop: there is nothing to do before. */
void rest_wait(struct rest *r, uint64_t ns);

/* Without calling `over`. */
void rest_end(struct rest *r);

/* Whether it is still to end. */
bool rest_lasts(const struct rest *r);
