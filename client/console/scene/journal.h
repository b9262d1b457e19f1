/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.h - what happened to the streams while this console was open: states,
 * reconnections, losses, daemons that stopped and came back. The newest
 * JOURNAL_ENTRIES are kept.
 */
#ifndef HW_CLIENT_CONSOLE_SCENE_JOURNAL_H
#define HW_CLIENT_CONSOLE_SCENE_JOURNAL_H

#include "client/state/world.h"

enum { JOURNAL_ENTRIES = 256, JOURNAL_TEXT = 200 };

struct journal_entry {
        char target[WORLD_NAME_MAX + 1]; /* "": about the daemon, so about all its targets */
        size_t daemon;
        uint64_t time_ns; /* event time of the target then; 0 when unknown */
        char text[JOURNAL_TEXT];
};

struct journal {
        struct journal_entry entries[JOURNAL_ENTRIES];
        size_t count, next;
};

/* Records what an update changes; call it before the world applies the update. */
void journal_watch(struct journal *j, const struct world *before, size_t daemon, const Hw__Update *update);

/* The daemon stopped or came back. */
void journal_daemon(struct journal *j, const struct world *world, size_t daemon, const char *text);

/* The i-th, oldest first; NULL after the last. */
const struct journal_entry *journal_entry(const struct journal *j, size_t i);
bool journal_is_about(const struct journal_entry *e, const struct world_target *t);

#endif
