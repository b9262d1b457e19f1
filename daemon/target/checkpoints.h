/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoints.h - writes the state of every target to the disk, periodically.
 *
 * A target whose state has changed gets a checkpoint when its newest is
 * `every_ns` old; at shutdown all get one, as far as time suffices (loop/stop.h).
 */
#ifndef HW_DAEMON_TARGET_CHECKPOINTS_H
#define HW_DAEMON_TARGET_CHECKPOINTS_H

#include <stdint.h>

struct checkpoint_store;
struct checkpoints;
struct event_base;
struct recorder;
struct targets;

/* All are borrowed until the store is destroyed; `recorder` may be NULL. NULL when out of memory. */
struct checkpoints *checkpoints_new(struct event_base *base, struct targets *targets, struct checkpoint_store *store,
                                    struct recorder *recorder, uint64_t every_ns);

/* Makes the last ones: nothing must be read afterwards. */
void checkpoints_destroy(struct checkpoints **c);

/* Adds the targets that have a checkpoint and do not exist yet: those that requests had added. */
void checkpoints_add_targets(struct targets *targets, const struct checkpoint_store *store);

#endif
