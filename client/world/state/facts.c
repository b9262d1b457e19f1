/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/world/state/world.h"

#include <math.h>
#include <stdio.h>

#include "heapwatch/text.h"

enum { FACT_NAME_MAX = 64 };

/* ------------------------------------------------- what no message has as it is */

static double collections(const struct world_target *t)
{
        double sum = NAN;

        for (size_t i = 0; t->gc && i < t->gc->n_generations; i++)
                if (t->gc->generations[i]->has_count)
                        sum = (isnan(sum) ? 0 : sum) + (double)t->gc->generations[i]->count;
        return sum;
}

/* Of the oldest generation, which is unknown if the number of generations is. */
static double major_collections(const struct world_target *t)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;

        if (!t->gc || !run || !run->has_generations || run->generations == 0)
                return NAN;
        for (size_t i = 0; i < t->gc->n_generations; i++)
                if (t->gc->generations[i]->has_count && t->gc->generations[i]->generation == run->generations - 1)
                        return (double)t->gc->generations[i]->count;
        return 0;
}

/* By the daemon's clock: how long before it published this bytes last arrived. */
static double quiet(const struct world_target *t)
{
        const uint64_t now = t->published_wall_ns;

        if (!t->health || !t->health->has_last_bytes_wall_ns || t->health->last_bytes_wall_ns == 0)
                return NAN;
        return now > t->health->last_bytes_wall_ns ? (double)(now - t->health->last_bytes_wall_ns) : 0;
}

static double record_paused(const struct world_target *t)
{
        const Hw__Recording *r = t->health ? t->health->recording : NULL;

        return r ? r->has_paused && r->paused : NAN;
}

static double profile_ticks(const struct world_target *t)
{
        return t->n_stacks ? (double)t->ticks : NAN;
}

static double census_bands(const struct world_target *t)
{
        return t->census ? (double)t->census->n_band : NAN;
}

/* By its key, in the heap message. */
static double carried(const struct world_target *t, enum fact id)
{
        const uint32_t key = facts_key(id);

        for (size_t i = 0; t->heap && i < t->heap->n_fact && i < t->heap->n_fact_value; i++)
                if (t->heap->fact[i] == key)
                        return t->heap->fact_value[i];
        return NAN;
}

/* ------------------------------------------------------------------------- all */

#define FIELD(m, f)        (t->m && t->m->has_##f ? (double)t->m->f : NAN)
#define INNER(m, inner, f) (t->m && t->m->inner && t->m->inner->has_##f ? (double)t->m->inner->f : NAN)
#define CALL(function)     function(t)
#define CARRIED            carried(t, id)

double facts_get(const struct world_target *t, enum fact id)
{
        switch (id) {
#define X(fact, stem, unit, kind, place, source, help)                                                                 \
        case FACT_##fact:                                                                                              \
                return place;
#include "proto/facts/facts.def"
#undef X
        case FACT_NONE:
        case FACTS:
                break;
        }
        return NAN;
}

char *facts_text(char *out, const struct world_target *t, enum fact id)
{
        const double value = facts_get(t, id);

        if (isnan(value)) {
                (void)snprintf(out, HW_NUMBER_MAX, "–");
                return out;
        }
        switch (fact_rows[id].unit) {
        case FACT_BYTES:
                return hw_bytes_text(out, HW_NUMBER_MAX, value);
        case FACT_NS:
                return hw_duration_text(out, HW_NUMBER_MAX, value);
        case FACT_SHARE:
                return hw_share_text(out, HW_NUMBER_MAX, value);
        case FACT_RATE:
                return hw_rate_text(out, HW_NUMBER_MAX, value);
        case FACT_WALL:
                return hw_time_text(out, HW_NUMBER_MAX, facts_get_u64(t, id, 0));
        case FACT_COUNT:
                break;
        }
        return hw_count_text(out, HW_NUMBER_MAX, facts_get_u64(t, id, 0));
}

bool facts_is_known(const struct world_target *t, enum fact id)
{
        return !isnan(facts_get(t, id));
}

uint64_t facts_get_u64(const struct world_target *t, enum fact id, uint64_t otherwise)
{
        double value = facts_get(t, id);

        return value >= 0 && value < 0x1p64 ? (uint64_t)value : otherwise;
}

void facts_print(struct json_out *j, const char *key, const struct world_target *t, enum fact id)
{
        const double value = facts_get(t, id);

        if (isnan(value))
                return;
        if (fact_rows[id].unit == FACT_SHARE || fact_rows[id].unit == FACT_RATE)
                json_member_double(j, key, value);
        else
                json_member_u64(j, key, facts_get_u64(t, id, 0));
}
