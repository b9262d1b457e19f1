/* SPDX-License-Identifier: BSD-3-Clause */
/* done.c - an array, searched from its newest end: alerts are few, and asked about when they change only. */
#include "daemon/act/done.h"

#include <string.h>

static struct desk_done *find(struct done_list *l, const struct notice *n)
{
        for (size_t i = l->n; i-- > 0;)
                if (l->items[i].fingerprint == n->fingerprint && l->items[i].fired_wall_ns == n->fired_wall_ns)
                        return &l->items[i];
        return NULL;
}

const struct desk_done *done_find(const struct done_list *l, const struct notice *n)
{
        return find((struct done_list *)l, n);
}

void done_add(struct done_list *l, const struct desk_done *done)
{
        if (l->n == DESK_DONE_MAX) {
                memmove(l->items, l->items + 1, (DESK_DONE_MAX - 1) * sizeof(*l->items));
                l->n--;
        }
        l->items[l->n++] = *done;
}

/* Told apart by a time that a file can hold: others (none, or a log's nonsense) are not remembered. */
static bool can_be_remembered(const struct notice *n)
{
        return n->fired_wall_ns > 0 && n->fired_wall_ns <= INT64_MAX;
}

void done_note(struct done_list *l, const struct notice *n)
{
        const struct desk_done fresh = { n->fingerprint, n->fired_wall_ns, false };
        struct desk_done *done = find(l, n);

        if (!can_be_remembered(n))
                return;
        if (done && n->state == NOTICE_RESOLVED)
                done->resolved = true;
        else if (!done)
                done_add(l, &fresh);
        l->changes++;
}
