/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept.h - what a part of the client keeps of each target, while the world's targets come and go: a list of entries
 * that can be brought in line with the world.
 */
#ifndef HW_CLIENT_STATE_KEPT_H
#define HW_CLIENT_STATE_KEPT_H

#include "client/state/world.h"

/* An entry begins with this. */
struct kept_of {
        char name[WORLD_NAME_MAX + 1];
        size_t daemon;
        uint32_t run; /* the owner's: of the run that it is about; 0 in a new entry */
};

struct kept {
        size_t size;               /* of an entry */
        void (*drop)(void *entry); /* frees what an entry has; NULL: nothing */
        void *entries;             /* in the world's order */
        size_t n;
};

/*
 * One entry for each target of the world, at its index: those of targets that are still there move, those of new ones
 * are zeroed but for name and daemon, the others are dropped. False: out of memory, and nothing has changed.
 */
bool kept_follow(struct kept *k, const struct world *w);

void *kept_entry(const struct kept *k, size_t index);

/* Drops all; it can be used again. */
void kept_clear(struct kept *k);

#endif
