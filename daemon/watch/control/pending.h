/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending.h - requests whose answer is not complete, each answered as fast as its client takes it.
 *
 * What a client may have waiting is limited (daemon/publish/transport/quotas.h), and a snapshot may be larger than
 * all the memory for replies. So what is not taken at once is made later, when most of what was sent is gone: one
 * that reads slowly gets all of it, and costs no more memory than one that reads fast. Likewise any other answer for
 * which there was no room, because others do not read theirs: its request is handled again.
 *
 * One snapshot of a client at a time: a new request ends the one before, with an error as its last reply. A request of
 * whose answer nothing was taken for PENDING_PATIENCE_NS is given up.
 *
 * Called by the loop's thread only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/publish/publisher.h"
#include "daemon/publish/transport/bus.h"
#include "heapwatch/wire.h"
#include "proto/wire/limits.h"

#define PENDING_MOST        64u /* beyond, the oldest of the client that has the most gives way */
#define PENDING_PATIENCE_NS UINT64_C(60000000000)

struct event_base;
struct pending;
struct targets;

/* All are borrowed; `again` handles a request other than for a snapshot once more. NULL when out of memory. */
struct pending *pending_new(struct event_base *base, struct targets *targets, struct bus *bus,
                            const struct bus_handler *again);

/* Before its bus. */
void pending_destroy(struct pending **p);

/* Answers a request for a snapshot, now or later. The request is borrowed for the call. */
void pending_snapshot(struct pending *p, const Hw__Request *request, struct bus_client *client);

/* Keeps any other request, whose answer found no room. Likewise borrowed. */
void pending_keep(struct pending *p, const Hw__Request *request, struct bus_client *client);

/* How many are under way. */
unsigned pending_count(const struct pending *p);

/*
 * snapshots.c: the answer to one request for a snapshot, as far as its client takes it: the daemon's state, target by
 * target, the end.
 *
 * A target is found again by its name: others may have been removed meanwhile. Between two targets there is no name to
 * go by, and the late joiner may miss one: that one's heartbeat shows it the gap within a second.
 */

struct bus_client;

/* How far it has come. All bytes 0: not begun. */
struct snapshot_answer {
        bool begun;                             /* the daemon's state was taken */
        size_t at;                              /* which target is next ... */
        char name[LIMIT_TARGET_NAME_BYTES + 1]; /* ... and its name; "": not begun */
        struct snapshot target;                 /* how far it has come */
};

/*
 * Until the client takes no more or LIMIT_PUMP_NS are over; at least one message if it takes any. True: that was all.
 * *moved_ns is set when something was taken.
 */
bool snapshot_answer(struct snapshot_answer *a, const Hw__SnapshotRequest *wanted, struct targets *targets,
                     struct bus_client *client, uint64_t *moved_ns);
