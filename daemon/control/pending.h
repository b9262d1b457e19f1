/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending.h - requests whose answer is not complete, each answered as fast as its client takes it.
 *
 * What a client may have waiting is limited (daemon/transport/quotas.h), and a snapshot may be larger than all the
 * memory for replies. So what is not taken at once is made later, when most of what was sent is gone: one that reads
 * slowly gets all of it, and costs no more memory than one that reads fast. Likewise any other answer for which there
 * was no room, because others do not read theirs: its request is handled again.
 *
 * One snapshot of a client at a time: a new request ends the one before, with an error as its last reply. A request of
 * whose answer nothing was taken for PENDING_PATIENCE_NS is given up.
 *
 * Called by the loop's thread only.
 */
#ifndef HW_DAEMON_CONTROL_PENDING_H
#define HW_DAEMON_CONTROL_PENDING_H

#include "daemon/transport/bus.h"
#include "heapwatch/wire.h"

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

#endif
