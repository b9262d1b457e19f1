/* SPDX-License-Identifier: BSD-3-Clause */
/* collections.c - an array that is halved when it is full. */
#include "client/world/history/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool stays(const Hw__Collection *a, const Hw__Collection *b)
{
        if (a->major != b->major)
                return a->major;
        return a->pause_ns >= b->pause_ns;
}

static void halve(struct collections *c)
{
        size_t n = 0;

        for (size_t i = 0; i + 1 < c->n; i += 2)
                c->list[n++] = stays(&c->list[i], &c->list[i + 1]) ? c->list[i] : c->list[i + 1];
        if (c->n % 2)
                c->list[n++] = c->list[c->n - 1];
        c->left_out += c->n - n;
        c->n = n;
}

int collections_add(struct collections *c, const Hw__Gc *gc)
{
        if (!c->list && gc->n_collections)
                c->list = calloc(COLLECTIONS_MOST, sizeof(*c->list));
        if (!c->list && gc->n_collections)
                return -ENOMEM;
        for (size_t i = 0; i < gc->n_collections; i++) {
                if (c->n == COLLECTIONS_MOST)
                        halve(c);
                c->list[c->n] = *gc->collections[i];
                c->list[c->n].base.n_unknown_fields = 0; /* not ours */
                c->list[c->n].base.unknown_fields = NULL;
                c->n++;
        }
        c->left_out += gc->has_collections_dropped ? gc->collections_dropped : 0;
        return 0;
}

void collections_done(struct collections *c)
{
        free(c->list);
        memset(c, 0, sizeof(*c));
}
