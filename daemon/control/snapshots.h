/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * snapshots.h - answers requests for snapshots, each as fast as its client takes it.
 *
 * What a client may have waiting is limited (daemon/transport/waiting.h), and a snapshot may be larger than all the
 * memory for replies. So what is not taken at once is made later, when most of what was sent is gone: one that reads
 * slowly gets all of it, and costs no more memory than one that reads fast.
 *
 * One snapshot of a client at a time: a new request ends the one before, with an error as its last reply. One of which
 * nothing was taken for SNAPSHOT_PATIENCE_NS is given up.
 *
 * Called by the loop's thread only.
 */
#ifndef HW_DAEMON_CONTROL_SNAPSHOTS_H
#define HW_DAEMON_CONTROL_SNAPSHOTS_H

#include "heapwatch/wire.h"

#define SNAPSHOTS_MOST       64u /* under way; a further one takes the place of the least active */
#define SNAPSHOT_PATIENCE_NS UINT64_C(60000000000)

struct bus;
struct bus_client;
struct event_base;
struct snapshots;
struct targets;

/* All are borrowed. NULL when out of memory. */
struct snapshots *snapshots_new(struct event_base *base, struct targets *targets, struct bus *bus);

/* Before its bus. */
void snapshots_destroy(struct snapshots **s);

/* `request` is borrowed for the call. */
void snapshots_answer(struct snapshots *s, const Hw__SnapshotRequest *request, struct bus_client *client);

/* How many are under way. */
unsigned snapshots_count(const struct snapshots *s);

#endif
