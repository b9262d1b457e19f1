/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_freeze.c - a copy of one target, so that a picture can stand still while
 * the view goes on.
 *
 * DESIGN: field by field into a fresh target, never the struct as a whole: a
 * field that is forgotten here is unknown in the copy, not freed twice.
 */
#include "client/state/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Copies a kept message, NULL included. False when out of memory. */
#define COPY(to, from) (!(from) || ((to) = message_copy(&(from)->base)) != NULL)

static bool copy_ring(struct ring *to, const struct ring *from)
{
        if (!from->capacity)
                return true;
        to->points = malloc(from->capacity * sizeof(*to->points));
        if (!to->points)
                return false;
        memcpy(to->points, from->points, from->count * sizeof(*to->points));
        to->capacity = from->capacity;
        to->count = from->count;
        to->next = from->next;
        return true;
}

static struct world_band *copy_band(const struct world_band *from)
{
        struct world_band *to = calloc(1, sizeof(*to));

        if (!to)
                return NULL;
        to->id = from->id;
        to->bytes = from->bytes;
        to->first_bytes = from->first_bytes;
        to->max_bytes = from->max_bytes;
        to->census = from->census;
        if (COPY(to->def, from->def) && COPY(to->trend, from->trend) && copy_ring(&to->history, &from->history))
                return to;
        hw__band__free_unpacked(to->def, NULL);
        hw__trend__free_unpacked(to->trend, NULL);
        ring_done(&to->history);
        free(to);
        return NULL;
}

static bool copy_bands(struct target_state *to, const struct world_target *from)
{
        if (!from->n_bands)
                return true;
        to->t.bands = array_grow(NULL, &to->cap_bands, from->n_bands, sizeof(struct world_band *));
        if (!to->t.bands)
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

static bool copy_notes(struct world_target *to, const struct world_target *from)
{
        for (size_t i = 0; i < WORLD_NOTES; i++) {
                if (!COPY(to->notes[i], from->notes[i]))
                        return false;
        }
        to->notes_first = from->notes_first;
        to->notes_last = from->notes_last;
        return true;
}

static bool copy_profile(struct target_state *to, const struct world_target *from)
{
        to->t.ticks = from->ticks;
        if (from->n_stacks) {
                to->t.stacks = array_grow(NULL, &to->cap_stacks, from->n_stacks, sizeof(Hw__Stack *));
                if (!to->t.stacks)
                        return false;
                to->t.n_stacks = from->n_stacks;
        }
        for (uint32_t i = 0; i < from->n_stacks; i++) {
                if (!COPY(to->t.stacks[i], from->stacks[i]))
                        return false;
        }
        if (from->n_ticky) {
                to->t.ticky = array_grow(NULL, &to->cap_ticky, from->n_ticky, sizeof(Hw__TickyCounter *));
                if (!to->t.ticky)
                        return false;
        }
        for (; to->t.n_ticky < from->n_ticky; to->t.n_ticky++) {
                if (!COPY(to->t.ticky[to->t.n_ticky], from->ticky[to->t.n_ticky]))
                        return false;
        }
        return true;
}

static bool copy_messages(struct world_target *to, const struct world_target *from)
{
        return COPY(to->target, from->target) && COPY(to->heap, from->heap) && COPY(to->gc, from->gc) &&
               COPY(to->census, from->census) && COPY(to->sched, from->sched) && COPY(to->health, from->health) &&
               COPY(to->trend_state, from->trend_state) && COPY(to->alerts, from->alerts);
}

struct target_state *target_copy(const struct world_target *from)
{
        struct target_state *to = target_new(from->daemon, from->name);
        bool ok = to != NULL;

        if (!to)
                return NULL;
        to->t.run = from->run;
        to->t.event_time_ns = from->event_time_ns;
        to->t.published_wall_ns = from->published_wall_ns;
        for (size_t i = 0; ok && i < WORLD_SERIES; i++)
                ok = copy_ring(&to->t.series[i], &from->series[i]) && COPY(to->t.trends[i], from->trends[i]);
        if (!ok || !copy_messages(&to->t, from) || !copy_bands(to, from) || !copy_notes(&to->t, from) ||
            !copy_profile(to, from))
                target_destroy(&to);
        return to;
}
