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
 * What is to stay open over a restart: fd_store.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/watch/config/config.h"
#include "daemon/source/source.h"
#include "heapwatch/wire.h"
#include "proto/base/daemon_life.h"

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

/*
 * fd_store.c: the service manager's store of file descriptors: what was given
 * to it stays open while the daemon is stopped and started again.
 *
 *     FDSTORE=1 with the descriptor ─▶ systemd ─ one daemon ends, another begins ─▶ LISTEN_FDS
 *
 * A daemon that begins holds what it gets back until its own sources have had
 * time to open theirs, then closes it, and has the manager forget what no
 * source has given again: its target is gone. Needs FileDescriptorStoreMax= in
 * the unit.
 */

#define FD_STORE_MAX 2048u /* as FileDescriptorStoreMax= of the unit: further ones are not kept */

struct fd_store;

/* Takes back what the manager passes; removes its variables. `socket`: to the manager, borrowed. NULL: no memory. */
struct fd_store *fd_store_new(int socket);

/* Closes what it holds. What the manager keeps stays so. NULL is allowed. */
void fd_store_destroy(struct fd_store **s);

/* For the sources; valid as long as the store. */
const struct keeper *fd_store_keeper(struct fd_store *s);

/* Now and then: sends what the manager could not take, and after SETTLED_S closes what was taken back. */
void fd_store_update(struct fd_store *s, uint64_t mono_ns);

/*
 * own_life.c: this daemon's life (proto/base/daemon_life.h), where it has a place for it: --state, else --checkpoint;
 * and how the daemon before it ended, for the log and the daemon's state.
 */

struct own_life {
        int fd; /* -1: it has no place */
        const char *place;
        bool records;
        struct event *check;     /* whether the place is still there */
        Hw__DaemonBefore before; /* its text is NULL: that one ended as asked, or is not known */
        char text[DAEMON_LIFE_TEXT_MAX];
};

/*
 * Begins it; from now on a crash is logged, and recorded where there is a place. False after reporting that another
 * daemon has the place.
 */
bool own_life_begin(struct own_life *own, const struct config *config);

/* From now on, a place that is removed is made again. */
void own_life_watch(struct own_life *own, struct event_base *base);

/* This daemon ends as it was asked to; before its event base does. */
void own_life_end(struct own_life *own);
