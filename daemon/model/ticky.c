/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: a batch holds counts since the previous batch, so they are added up; definitions come after them, at exit. */
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/hash.h"
#include "daemon/model/state.h"

void ticky_init(struct ticky *t)
{
        *t = (struct ticky){ .seed = hash_seed(t) };
        pool_init(&t->counters, sizeof(struct ticky_counter), 5);
}

void ticky_done(struct ticky *t)
{
        pool_done(&t->counters);
        idtable_done(&t->by_id);
}

size_t ticky_held(const struct ticky *t)
{
        return pool_held(&t->counters) + idtable_held(&t->by_id);
}

/* The counter of an id, made when it is new; NULL when it is left out. */
static struct ticky_counter *counter_of(struct ticky *t, uint64_t id)
{
        uint64_t hash = hash_u64(id, t->seed);
        uint32_t at = idtable_start(&t->by_id, hash), i;
        struct ticky_counter *counter;

        while ((i = idtable_next(&t->by_id, hash, &at))) {
                counter = pool_at(&t->counters, i);
                if (counter->id == id)
                        return counter;
        }
        if (t->counters.count >= LIMIT_TICKY || !(counter = pool_add(&t->counters))) {
                t->left_out++;
                return NULL;
        }
        if (idtable_add(&t->by_id, hash, t->counters.count) < 0) {
                pool_undo(&t->counters);
                t->left_out++;
                return NULL;
        }
        counter->id = id;
        return counter;
}

void ticky_define(struct model *m, const struct hw_event *e)
{
        struct ticky *t = &m->ticky;
        struct ticky_counter *counter = counter_of(t, hw_event_u64(e, 0));
        size_t at = 10;

        if (!counter)
                return;
        const char *kinds = bands_string(&m->bands, e, &at), *name = bands_string(&m->bands, e, &at);
        counter->arity = hw_event_u16(e, 8);
        counter->argument_kinds = kinds;
        t->defined += !counter->name && name;
        counter->name = name;
        counter->changed = ++t->events;
        m->changes |= MODEL_TICKY;
}

void ticky_sample(struct model *m, const struct hw_event *e)
{
        struct ticky *t = &m->ticky;
        struct ticky_counter *counter = counter_of(t, hw_event_u64(e, 0));

        if (!counter)
                return;
        counter->entries += hw_event_u64(e, 8);
        counter->allocs += hw_event_u64(e, 16);
        counter->allocd_unknown |= hw_event_u64(e, 24) == UINT64_MAX; /* from JSON: proto/eventlog/texts/prof.c */
        counter->allocd += hw_event_u64(e, 24);
        counter->changed = ++t->events;
        m->changes |= MODEL_TICKY;
}

uint32_t ticky_count(const struct ticky *t)
{
        return t->counters.count;
}

const struct ticky_counter *ticky_get(const struct ticky *t, uint32_t index)
{
        return index < t->counters.count ? pool_at(&t->counters, index + 1) : NULL;
}

uint64_t ticky_events(const struct ticky *t)
{
        return t->events;
}
