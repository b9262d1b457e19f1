/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * targets.h - all targets of one daemon and their common heartbeat.
 *
 * Once a second the daemon sends its heartbeat, and every target repeats its
 * state and health, so that losing one of these messages does no harm.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/source/loop/watchdog.h"
#include "heapwatch/wire.h"
#include "daemon/watch/alerting/alerting.h"
#include "daemon/publish/transport/bus.h"
#include "daemon/source/uri.h"
#include "daemon/judge/trend/tracker.h"
#include "proto/base/error.h"

struct event_base;
struct pipeline;
struct targets;

/* How long targets of one run are kept after their end. */
struct keep_ended {
        uint32_t most; /* at most this many; the oldest are removed first */
        uint64_t for_ns;
};

/* Options of all targets. */
struct targets_options {
        bool show_arguments;
        struct tracker_config trend;
        const struct ruleset *rules; /* borrowed until targets_reload or _destroy */
        struct alert_hooks alert_hooks;
        struct keep_ended keep;
        struct recorder *recorder;            /* borrowed; NULL: nothing is recorded */
        struct checkpoint_store *checkpoints; /* borrowed; NULL: nothing is kept across restarts */
        Hw__DaemonBefore *before;             /* in the daemon's state; borrowed; NULL: it has nothing to tell */
        void (*fill_state)(void *ctx, Hw__DaemonState *state); /* adds to the daemon's state; NULL: nothing to add */
        void *fill_ctx;
};

/* The bus is borrowed. NULL when out of memory. */
struct targets *targets_new(struct event_base *base, struct bus *bus, const struct targets_options *options);

/* Removes all targets; subscribers forget them. */
void targets_destroy(struct targets **t);

/* Options of one target. */
struct target_wish {
        uint64_t resolution_ns; /* the step in which its growth is judged, valid; 0: as for all targets */
        bool one_run;           /* see pipeline.h */
        bool no_record;
        const char *labels;              /* of its runs (proto/base/labels.h), copied; NULL: none */
        const char *process_only_reason; /* see pipeline.h */
};

/*
 * A target of one run that has this name and has ended makes room: it is renamed to NAME~1, what had that to NAME~2 and
 * so on. ret_before, if not NULL: its name now; "": there was none, or it was not worth keeping. Returns 0, or a
 * negative errno (such as -EEXIST, -ENOSPC, -EINVAL) with a sentence in `error`.
 */
int targets_add(struct targets *t, const char *name, const struct source_uri *uri, const struct target_wish *wish,
                char ret_before[TARGET_NAME_MAX + 1], struct error *error);

/* Returns 0 or -ENOENT. */
int targets_remove(struct targets *t, const char *name);

/* What happens once a second; for tests with a clock of their own. */
void targets_heartbeat(struct targets *t);

/* Replaces the rules; the old ones may be destroyed afterwards. */
void targets_reload(struct targets *t, const struct ruleset *rules);

/* NULL when there is none. */
struct pipeline *targets_find(const struct targets *t, const char *name);

size_t targets_count(const struct targets *t);
struct pipeline *targets_get(const struct targets *t, size_t index); /* in order of adding */

uint64_t targets_epoch(const struct targets *t);

/* The daemon's own state as an update; valid until the next call. */
const Hw__Update *targets_daemon_state(struct targets *t);

/* daemon_state.c: the daemon's state: its loop, descriptors and memory. */

/* Messages that the state borrows. */
struct daemon_loop {
        Hw__LoopTurn longest, recent;
        Hw__LoopShare shares[WATCHDOG_KINDS];
        Hw__LoopShare *list[WATCHDOG_KINDS];
};

/* `state` is valid as long as *loop and until the loop's next turn ends. */
void daemon_loop_fill(struct daemon_loop *loop, Hw__DaemonState *state);

/*
 * checkpoints.c: writes the state of every target to the disk, periodically.
 *
 * A target whose state has changed gets a checkpoint when its newest is
 * `every_ns` old; at shutdown all get one, as far as time suffices (daemon/source/loop/shutdown.h).
 */

struct checkpoint_store;
struct checkpoints;
struct recorder;

/* All are borrowed until the store is destroyed; `recorder` may be NULL. NULL when out of memory. */
struct checkpoints *checkpoints_new(struct event_base *base, struct targets *targets, struct checkpoint_store *store,
                                    struct recorder *recorder, uint64_t every_ns);

/* Makes the last ones: nothing must be read afterwards. */
void checkpoints_destroy(struct checkpoints **c);

/* Adds the targets that have a checkpoint and do not exist yet: those that requests had added. */
void checkpoints_add_targets(struct targets *targets, const struct checkpoint_store *store);
