/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: values of memory repeat and lie close together, so a sketch of a minute has a handful of filled cells out of
 * two thousand. They are a sorted array; the place of the value before is tried first.
 */
#include "proto/base/sketch.h"

#include <stdlib.h>

#define ROOM_MORE 4u /* at least: there are fifty of each series */

static bool make_room(struct sketch *s)
{
        uint16_t room = (uint16_t)(s->room + (s->room / 4 > ROOM_MORE ? s->room / 4 : ROOM_MORE));

        if (s->n < s->room)
                return true;
        struct sketch_count *counts = room > s->room ? realloc(s->counts, room * sizeof(*counts)) : NULL;
        if (!counts)
                return false;
        s->counts = counts;
        s->room = room;
        return true;
}

/* The place of a cell, or the one where it belongs. */
static uint16_t find(const struct sketch *s, uint16_t cell)
{
        uint16_t low = 0, high = s->n;

        if (s->newest < s->n && s->counts[s->newest].cell == cell)
                return s->newest;
        while (low < high) {
                uint16_t middle = (uint16_t)((low + high) / 2);
                if (s->counts[middle].cell < cell)
                        low = (uint16_t)(middle + 1);
                else
                        high = middle;
        }
        return low;
}

static size_t add_count(struct sketch *s, uint16_t cell, uint32_t count)
{
        uint16_t at = find(s, cell), room = s->room;

        if (at == s->n || s->counts[at].cell != cell) {
                if (!make_room(s)) {
                        s->lost = true;
                        return 0;
                }
                memmove(&s->counts[at + 1], &s->counts[at], (size_t)(s->n - at) * sizeof(*s->counts));
                s->counts[at] = (struct sketch_count){ .cell = cell };
                s->n++;
        }
        s->newest = at;
        s->counts[at].count += count < UINT32_MAX - s->counts[at].count ? count : UINT32_MAX - s->counts[at].count;
        return (size_t)(s->room - room) * sizeof(*s->counts);
}

size_t sketch_add(struct sketch *s, uint16_t cell)
{
        return add_count(s, cell, 1);
}

size_t sketch_merge(struct sketch *to, const struct sketch *from)
{
        size_t grown = 0;

        for (uint16_t i = 0; i < from->n; i++)
                grown += add_count(to, from->counts[i].cell, from->counts[i].count);
        to->lost |= from->lost;
        return grown;
}

bool sketch_remove(struct sketch *s, uint16_t cell)
{
        const uint16_t at = find(s, cell);

        if (at == s->n || s->counts[at].cell != cell)
                return false;
        if (--s->counts[at].count > 0)
                return true;
        s->n--;
        s->newest = 0;
        memmove(&s->counts[at], &s->counts[at + 1], (size_t)(s->n - at) * sizeof(*s->counts));
        return true;
}

void sketch_clear(struct sketch *s)
{
        s->n = s->newest = 0;
        s->lost = false;
}

void sketch_done(struct sketch *s)
{
        free(s->counts);
        *s = (struct sketch){ 0 };
}

void sketch_sum_add(struct sketch_sum *sum, const struct sketch *s)
{
        for (uint16_t i = 0; i < s->n; i++) {
                if (s->counts[i].cell >= sum->n_cells)
                        continue; /* of another precision: not the caller's to mix */
                sum->counts[s->counts[i].cell] += s->counts[i].count;
                sum->n += s->counts[i].count;
        }
        sum->lost |= s->lost;
}

double sketch_sum_quantile(const struct sketch_sum *sum, unsigned bits, double q)
{
        uint64_t seen = 0;

        if (!sum->n || sum->lost || !(q >= 0 && q <= 1))
                return (double)NAN;
        uint64_t rank = (uint64_t)ceil(q * (double)sum->n);
        for (unsigned i = 0; i < sum->n_cells; i++) {
                seen += sum->counts[i];
                if (seen >= rank && sum->counts[i])
                        return sketch_middle(bits, i);
        }
        return (double)NAN;
}
