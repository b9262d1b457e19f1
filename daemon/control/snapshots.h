/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * snapshots.h - the answer to one request for a snapshot, as far as its client takes it: the daemon's state, target by
 * target, the end.
 *
 * A target is found again by its name: others may have been removed meanwhile. Between two targets there is no name to
 * go by, and the late joiner may miss one: that one's heartbeat shows it the gap within a second.
 */
#ifndef HW_DAEMON_CONTROL_SNAPSHOTS_H
#define HW_DAEMON_CONTROL_SNAPSHOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/publish/publisher.h"
#include "proto/wire/limits.h"

struct bus_client;
struct targets;

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

#endif
