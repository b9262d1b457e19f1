/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_freeze.c - copy on write: a target that two worlds share is cloned
 * before it changes. Only points and tables are copied, messages get one more
 * reference.
 *
 * DESIGN: field by field into a new target, never the struct as a whole: a
 * field that is forgotten here is unknown in the clone, not freed twice.
 */
#include "client/world/state/internal.h"
#include "proto/base/array.h"

#include <stdlib.h>
#include <string.h>

static struct world_band *copy_band(const struct world_band *from)
{
        struct world_band *to = calloc(1, sizeof(*to));

        if (!to)
                return NULL;
        to->id = from->id;
        to->bytes = from->bytes;
        to->closures = from->closures;
        to->contents = from->contents; /* the clone keeps the census, too */
        to->first_bytes = from->first_bytes;
        to->max_bytes = from->max_bytes;
        to->census = from->census;
        to->seen = from->seen;
        KEEP(to->def, from->def);
        KEEP(to->trend, from->trend);
        return to;
}

static bool copy_bands(struct target_state *to, const struct world_target *from)
{
        if (!ARRAY_RESERVE_ZEROED(to->t.bands, to->cap_bands, from->n_bands))
                return false;
        for (uint32_t i = 0; i < from->n_bands; i++) {
                if (!from->bands[i])
                        continue;
                to->t.bands[i] = copy_band(from->bands[i]);
                if (!to->t.bands[i])
                        return false;
                to->t.n_bands = i + 1;
        }
        to->t.n_bands = from->n_bands;
        return true;
}

/* Of the time profile and ticky. */
static bool copy_rows(struct target_state *to, const struct world_target *from)
{
        to->t.ticks = from->ticks;
        to->t.is_sampled = from->is_sampled;
        if (!ARRAY_RESERVE_ZEROED(to->t.stacks, to->cap_stacks, from->n_stacks) ||
            !ARRAY_RESERVE_ZEROED(to->t.ticky, to->cap_ticky, from->n_ticky))
                return false;
        for (; to->t.n_stacks < from->n_stacks; to->t.n_stacks++)
                KEEP(to->t.stacks[to->t.n_stacks], from->stacks[to->t.n_stacks]);
        for (; to->t.n_ticky < from->n_ticky; to->t.n_ticky++) {
                if (idtable_add(&to->ticky_ids, ticky_hash(from->ticky[to->t.n_ticky]->id), to->t.n_ticky + 1) < 0)
                        return false;
                KEEP(to->t.ticky[to->t.n_ticky], from->ticky[to->t.n_ticky]);
        }
        return true;
}

struct target_state *target_clone(const struct target_state *from)
{
        struct target_state *to = target_new(from->t.daemon, from->t.name, NULL);

        if (!to)
                return NULL;
        to->focus = from->focus;
        to->t.run = from->t.run;
        to->t.event_time_ns = from->t.event_time_ns;
        to->t.published_wall_ns = from->t.published_wall_ns;
        target_show_state(to, from->whole.target);
        to->target.run_info = from->target.run_info;
        target_show_heap(to, from->whole.heap);
        target_show_gc(to, from->whole.gc);
        trends_show(to, from->whole.trend_state);
        KEEP(to->t.census, from->t.census);
        KEEP(to->t.sched, from->t.sched);
        KEEP(to->t.health, from->t.health);
        KEEP(to->t.alerts, from->t.alerts);
        for (size_t i = 0; i < SERIES_COUNT; i++)
                KEEP(to->t.trends[i], from->t.trends[i]);
        for (size_t i = 0; i < WORLD_NOTES; i++) {
                to->t.notes[i] = from->t.notes[i];
                if (to->t.notes[i])
                        to->t.notes[i]->shares++;
        }
        to->t.notes_first = from->t.notes_first;
        to->t.notes_last = from->t.notes_last;
        to->history = from->history ? history_copy(from->history) : NULL;
        to->t.history = to->history;
        if ((from->history && !to->history) || !copy_bands(to, &from->t) || !copy_rows(to, &from->t))
                target_leave(&to);
        return to;
}
