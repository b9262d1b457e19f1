/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: arrays start at FIRST_CAPACITY and double up to the cap of one message. Most series have a few samples per
 * second and never grow further, so a target costs some KiB, not the sum of all caps.
 */
#include "daemon/publish/send.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/publish/limits.h"

#define FIRST_CAPACITY 16u
#define SLIM_CAPACITY  64u /* larger arrays come from a burst */

void gathered_init(struct gathered *g)
{
        memset(g, 0, sizeof(*g));
}

void gathered_done(struct gathered *g)
{
        for (size_t i = 0; i < SERIES_COUNT; i++) {
                free(g->samples[i].times_ns);
                free(g->samples[i].values);
        }
        free(g->collections.rows);
        gathered_init(g);
}

void gathered_clear(struct gathered *g)
{
        gathered_samples_sent(g);
        gathered_collections_sent(g);
        g->n_bands = 0;
        g->notes_sent = g->notes_last = 0;
}

static uint32_t next_capacity(uint32_t capacity, uint32_t limit)
{
        if (capacity == 0)
                return FIRST_CAPACITY;
        return capacity > limit / 2 ? limit : capacity * 2;
}

/* Makes room for one more in both arrays; on failure both keep their content. */
static bool grow_samples(struct gathered_samples *s)
{
        uint32_t capacity = next_capacity(s->capacity, LIMIT_SAMPLES_PER_UPDATE);
        uint64_t *times_ns = realloc(s->times_ns, capacity * sizeof(*times_ns));

        if (!times_ns)
                return false;
        s->times_ns = times_ns;
        uint64_t *values = realloc(s->values, capacity * sizeof(*values));
        if (!values)
                return false;
        s->values = values;
        s->capacity = capacity;
        return true;
}

bool gather_sample(struct gathered *g, enum series_id series, uint64_t time_ns, uint64_t value)
{
        struct gathered_samples *s = &g->samples[series];

        if (s->n == LIMIT_SAMPLES_PER_UPDATE)
                return false;
        g->any_samples = true;
        if (s->n == s->capacity && !grow_samples(s)) {
                s->dropped++;
                return true;
        }
        s->times_ns[s->n] = time_ns;
        s->values[s->n] = value;
        s->n++;
        return true;
}

static bool grow_collections(struct gathered_collections *c)
{
        uint32_t capacity = next_capacity(c->capacity, LIMIT_COLLECTIONS_PER_UPDATE);
        struct collection *rows = realloc(c->rows, capacity * sizeof(*rows));

        if (!rows)
                return false;
        c->rows = rows;
        c->capacity = capacity;
        return true;
}

bool gather_collection(struct gathered *g, const struct collection *collection)
{
        struct gathered_collections *c = &g->collections;

        if (c->n == LIMIT_COLLECTIONS_PER_UPDATE)
                return false;
        if (c->n == c->capacity && !grow_collections(c))
                c->dropped++;
        else
                c->rows[c->n++] = *collection;
        return true;
}

bool gather_band(struct gathered *g, uint32_t id)
{
        if (g->n_bands == LIMIT_BANDS_PER_UPDATE)
                return false;
        g->bands[g->n_bands++] = id;
        return true;
}

void gathered_shrink(struct gathered *g)
{
        for (size_t i = 0; i < SERIES_COUNT; i++) {
                struct gathered_samples *s = &g->samples[i];

                if (s->n > 0 || s->dropped > 0 || s->capacity <= SLIM_CAPACITY)
                        continue;
                free(s->times_ns);
                free(s->values);
                *s = (struct gathered_samples){ 0 };
        }
        if (g->collections.n == 0 && g->collections.dropped == 0 && g->collections.capacity > SLIM_CAPACITY) {
                free(g->collections.rows);
                g->collections = (struct gathered_collections){ 0 };
        }
}

void gathered_samples_sent(struct gathered *g)
{
        for (size_t i = 0; i < SERIES_COUNT; i++)
                g->samples[i].n = 0, g->samples[i].dropped = 0;
        g->any_samples = false;
}

void gathered_collections_sent(struct gathered *g)
{
        g->collections.n = 0;
        g->collections.dropped = 0;
}
