/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.h - for commands that print once everything has been read: a daemon's snapshot, or finished logs to
 * their end.
 */
#pragma once

#include "client/cli/command.h"
#include "client/cli/progress.h"
#include "client/world/feed/feed.h"
#include "client/world/state/world.h"

struct gatherer {
        const struct command *command; /* in whose name errors are reported */
        struct world *world;           /* where resets are applied, and updates if there is no `take`; NULL: files */
        int (*take)(void *ctx, size_t daemon, const Hw__Update *update); /* 0; anything else: out of memory */
        void *ctx;
        const struct progress *progress; /* shown by `take`; its line is erased at the end; NULL: none */
};

enum gather_end {
        GATHERED_FAILED,  /* a signal, or something was wrong and was reported; what was taken before is valid */
        GATHERED_IN_PART, /* of several daemons all snapshots were awaited, and those that were silent reported */
        GATHERED_ALL
};

enum gather_end gather(struct feed *feed, const struct gatherer *g);

/* The exit status of a command that has shown what was gathered: EXIT_USAGE unless that is all. */
int gather_status(enum gather_end end, int status);
