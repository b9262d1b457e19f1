/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * history.c - which sample goes where.
 *
 * DESIGN: targets in a hash table by daemon and name. All share the bound of
 * cells evenly, so a thousand targets have coarse pasts and one has a fine one.
 */
#include "client/history/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/limits.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <uthash.h>

#define NAME_MAX_BYTES (LIMIT_TARGET_NAME_BYTES + 24) /* "DAEMON:NAME" */
#define LEAST_CELLS    4096u                          /* of one target, however many there are */

struct entry {
        char key[NAME_MAX_BYTES];
        size_t daemon;
        struct history_target target;
        UT_hash_handle hh;
};

struct history {
        struct history_options options;
        struct entry *entries;
        size_t n;
};

struct history *history_new(const struct history_options *options)
{
        struct history *h = calloc(1, sizeof(*h));

        if (h)
                h->options = *options;
        return h;
}

static void clear(struct history_target *t)
{
        for (size_t i = 0; i < HISTORY_SERIES; i++)
                past_done(&t->series[i]);
        memset(t->samples, 0, sizeof(t->samples));
        collections_done(&t->collections);
        grid_clear(&t->bands);
}

static void forget(struct history *h, struct entry *e)
{
        HASH_DEL(h->entries, e);
        h->n--;
        clear(&e->target);
        free(e);
}

void history_destroy(struct history **h)
{
        struct entry *e, *next;

        if (!*h)
                return;
        HASH_ITER(hh, (*h)->entries, e, next)
        forget(*h, e);
        free(*h);
        *h = NULL;
}

void history_reset(struct history *h, size_t daemon)
{
        struct entry *e, *next;

        HASH_ITER(hh, h->entries, e, next)
        {
                if (e->daemon == daemon)
                        forget(h, e);
        }
}

static struct entry *find(const struct history *h, size_t daemon, const char *target)
{
        char key[NAME_MAX_BYTES];
        struct entry *e;

        (void)snprintf(key, sizeof(key), "%zu:%s", daemon, target);
        HASH_FIND_STR(h->entries, key, e);
        return e;
}

struct history_target *history_find(const struct history *h, size_t daemon, const char *target)
{
        struct entry *e = find(h, daemon, target);

        return e ? &e->target : NULL;
}

/* Each target's share of the cells. */
static void share_cells(struct history *h)
{
        size_t share = h->n ? h->options.max_cells / h->n : h->options.max_cells;
        struct entry *e, *next;

        HASH_ITER(hh, h->entries, e, next)
        e->target.bands.max_cells = share > LEAST_CELLS ? share : LEAST_CELLS;
}

static struct entry *make(struct history *h, size_t daemon, const char *target)
{
        struct entry *e = calloc(1, sizeof(*e));

        if (!e)
                return NULL;
        (void)snprintf(e->key, sizeof(e->key), "%zu:%s", daemon, target);
        e->daemon = daemon;
        e->target.bands.max_columns = h->options.max_columns;
        e->target.bands.keep_recent = h->options.keep_recent;
        HASH_ADD_STR(h->entries, key, e);
        h->n++;
        share_cells(h);
        return e;
}
#pragma GCC diagnostic pop

static int take_samples(struct history *h, struct history_target *t, const Hw__Heap *heap)
{
        for (size_t i = 0; i < heap->n_samples; i++) {
                const Hw__Samples *s = heap->samples[i];

                if (!s->has_series || s->series <= 0 || s->series >= HISTORY_SERIES)
                        continue;
                for (size_t j = 0; j < s->n_times_ns && j < s->n_values; j++) {
                        if (past_insert(&t->series[s->series], h->options.max_points, s->times_ns[j],
                                        (double)s->values[j]) < 0)
                                return -ENOMEM;
                }
                t->samples[s->series] += s->n_times_ns;
        }
        return 0;
}

static bool removes(const Hw__Update *u)
{
        return u->body_case == HW__UPDATE__BODY_TARGET_STATE && u->target_state->has_state &&
               u->target_state->state == HW__TARGET__STATE__STATE_REMOVED;
}

static bool concerns(const struct history *h, const Hw__Update *u)
{
        return u->body_case == HW__UPDATE__BODY_CENSUS ||
               (h->options.series && (u->body_case == HW__UPDATE__BODY_HEAP || u->body_case == HW__UPDATE__BODY_GC));
}

int history_take(struct history *h, size_t daemon, const Hw__Update *u)
{
        struct entry *e;

        if (!u->target || !u->target[0])
                return 0;
        e = find(h, daemon, u->target);
        if (e && removes(u))
                forget(h, e);
        if (!concerns(h, u))
                return 0;
        if (!e)
                e = make(h, daemon, u->target);
        if (!e)
                return -ENOMEM;
        if (u->run < e->target.run)
                return 0;
        if (u->run > e->target.run)
                clear(&e->target);
        e->target.run = u->run;
        if (u->body_case == HW__UPDATE__BODY_HEAP)
                return take_samples(h, &e->target, u->heap);
        if (u->body_case == HW__UPDATE__BODY_GC)
                return collections_take(&e->target.collections, u->gc);
        return grid_take(&e->target.bands, u->census);
}
