/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.h - for commands that print once everything has been read: a daemon's snapshot, or finished logs to
 * their end.
 */
#ifndef HW_CLIENT_FEED_GATHER_H
#define HW_CLIENT_FEED_GATHER_H

#include "client/feed/feed.h"
#include "client/cli/command.h"

struct gatherer {
        const struct command *command;                                   /* in whose name errors are reported */
        int (*take)(void *ctx, size_t daemon, const Hw__Update *update); /* 0; anything else: out of memory */
        void (*reset)(void *ctx, size_t daemon);                         /* forget the targets of that daemon */
        void *ctx;
};

/*
 * False after a signal, or after reporting what went wrong; what was taken before is valid either way. Of several
 * daemons all snapshots are awaited, and one that is silent is reported.
 */
bool gather(struct feed *feed, const struct gatherer *g);

#endif
