/* SPDX-License-Identifier: BSD-3-Clause */
/* kept.c - DESIGN: the list and the world are in the same order, of name and daemon, so one pass matches them. */
#include "client/world/state/world.h"

#include <stdlib.h>
#include <string.h>

void *kept_entry(const struct kept *k, size_t index)
{
        return (char *)k->entries + index * k->size;
}

void kept_clear(struct kept *k)
{
        for (size_t i = 0; k->drop && i < k->n; i++)
                k->drop(kept_entry(k, i));
        free(k->entries);
        k->entries = NULL;
        k->n = 0;
}

/* Where the target is against the one of an entry. */
static int order(const struct world_target *t, const struct kept *k, size_t index)
{
        const struct kept_of *of = kept_entry(k, index);

        return world_target_order(t, of->name, of->daemon);
}

bool kept_follow(struct kept *k, const struct world *w)
{
        struct kept now = { .size = k->size, .drop = k->drop, .n = world_targets(w) };
        size_t old = 0;

        now.entries = calloc(now.n ? now.n : 1, now.size);
        if (!now.entries)
                return false;
        for (size_t i = 0; i < now.n; i++) {
                const struct world_target *t = world_target(w, i);
                struct kept_of *of = kept_entry(&now, i);

                while (old < k->n && order(t, k, old) > 0)
                        old++;
                if (old < k->n && order(t, k, old) == 0) {
                        memcpy(of, kept_entry(k, old), k->size);
                        memset(kept_entry(k, old++), 0, k->size); /* it has moved: nothing of it is dropped */
                        continue;
                }
                memcpy(of->name, t->name, sizeof(of->name));
                of->daemon = t->daemon;
        }
        kept_clear(k);
        *k = now;
        return true;
}
