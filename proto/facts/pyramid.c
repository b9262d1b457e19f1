/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: where cells are packed, a ring is an index of its intervals, two bytes each, and the cells of those that have
 * samples, in two arrays, by size:
 *
 *      interval  first                 last
 *                v                     v
 *      ----------[3][ ][1][2'][ ][1'][open]--------->  time / width
 *      below first: late, made on demand while within the capacity
 *      above last: the ring advances; the cells of at most `capacity` intervals become spare
 *
 * So a jump of any length, from hostile or from forked clocks, costs one pass at most. Most series have a sample every
 * few seconds, for which a cell in each second would be empty memory; and most series of most targets are young: an
 * index grows before it would drop an interval that its full capacity can hold, cells are made as samples come.
 *
 * A range is merged from the widest cells that lie in it, down to the level's own at both ends: 30 to 40 merges instead
 * of up to 384. Rules ask for several ranges in every second of a log: catching up with two days of one target spent
 * 40 % of its time in merges.
 */
#include "proto/facts/pyramid.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- packed cells */

static unsigned char *packed_at(const struct pyramid_shape *shape, const struct pyramid_ring *r, bool small,
                                uint16_t number)
{
        return r->stores[small].cells + (size_t)(number - 1) * shape->packing.sizes[small];
}

/* Makes room for more, but not for more than there are intervals. */
static bool make_cells(const struct pyramid_shape *shape, struct pyramid *p, struct pyramid_ring *r, bool small)
{
        struct pyramid_store *s = &r->stores[small];
        uint32_t room = s->room + (s->room < 8 ? 4 : s->room / 2u);

        room = room < r->capacity ? room : r->capacity;
        unsigned char *cells = room > s->room ? realloc(s->cells, room * shape->packing.sizes[small]) : NULL;
        if (!cells)
                return false;
        p->held_bytes += (room - s->room) * shape->packing.sizes[small];
        s->cells = cells;
        s->room = (uint16_t)room;
        return true;
}

/* Number of a free cell; 0: none. */
static uint16_t allocate_cell(const struct pyramid_shape *shape, struct pyramid *p, struct pyramid_ring *r, bool small)
{
        struct pyramid_store *s = &r->stores[small];
        uint16_t number = s->spare;

        if (number)
                memcpy(&s->spare, packed_at(shape, r, small, number), sizeof(s->spare));
        else if (s->n < s->room || make_cells(shape, p, r, small))
                number = ++s->n;
        return number;
}

/* -------------------------------------------------------------------- rings */

static void *plain_at(const struct pyramid_shape *shape, const struct pyramid_ring *r, uint64_t interval)
{
        return r->cells + interval % r->capacity * shape->cell.size;
}

static uint16_t *place_of(const struct pyramid_ring *r, uint64_t interval)
{
        return &r->places[interval % r->capacity];
}

/* The cell of an interval in use, maybe in `room`; NULL: it has none. */
static const void *slot_of(const struct pyramid_shape *shape, const struct pyramid_ring *r, unsigned level,
                           uint64_t interval, void *room)
{
        uint64_t width_ns = shape->levels[level].width_ns;

        if (!pyramid_packs(shape))
                return plain_at(shape, r, interval);
        uint16_t at = *place_of(r, interval);
        if (!at || at == PYRAMID_OPEN)
                return at ? r->open : NULL;
        shape->packing.unpack(room, packed_at(shape, r, at & 1, at / 2), at & 1, interval * width_ns, width_ns);
        return room;
}

/* Empties an interval. */
static void drop_interval(const struct pyramid_shape *shape, struct pyramid_ring *r, uint64_t interval)
{
        if (!pyramid_packs(shape)) {
                shape->cell.reset(plain_at(shape, r, interval));
                return;
        }
        uint16_t *at = place_of(r, interval);
        if (*at && *at != PYRAMID_OPEN) {
                uint16_t place = *at;
                bool small = place & 1;
                uint16_t number = place / 2;

                memcpy(packed_at(shape, r, small, number), &r->stores[small].spare, sizeof(number));
                r->stores[small].spare = number;
        }
        *at = 0;
}

/* Drops all intervals in use from one on. */
static void drop_from(const struct pyramid_shape *shape, struct pyramid_ring *r, uint64_t interval)
{
        for (; r->in_use && interval - r->first <= r->last - r->first; interval++)
                drop_interval(shape, r, interval);
}

/* Forgets the intervals before this one. */
static void forget_before(const struct pyramid_shape *shape, struct pyramid_ring *r, uint64_t interval)
{
        while (r->first < interval)
                drop_interval(shape, r, r->first++);
        r->complete = r->complete > interval ? r->complete : interval;
}

/* -------------------------------------------------------------------- life */

void pyramid_done(const struct pyramid_shape *shape, struct pyramid *p)
{
        for (unsigned i = 0; i < shape->n_levels; i++) {
                struct pyramid_ring *r = &p->levels[i];

                for (uint32_t k = 0; shape->cell.done && k < r->capacity; k++)
                        shape->cell.done(plain_at(shape, r, k));
                if (pyramid_packs(shape))
                        free(r->open);
                free(r->cells); /* or places */
                free(r->stores[false].cells);
                free(r->stores[true].cells);
        }
        memset(p, 0, sizeof(*p));
}

void pyramid_clear(const struct pyramid_shape *shape, struct pyramid *p)
{
        for (unsigned i = 0; i < shape->n_levels; i++) {
                drop_from(shape, &p->levels[i], p->levels[i].first);
                p->levels[i].in_use = false;
                p->levels[i].complete = 0;
        }
}

/* ------------------------------------------------------------------ growth */

/* Grows to `capacity` intervals. When out of memory, nothing happens. */
static void resize_level(const struct pyramid_shape *shape, struct pyramid *p, unsigned level, uint32_t capacity)
{
        struct pyramid_ring *r = &p->levels[level];
        size_t size = pyramid_ring_bytes(shape, 1);
        unsigned char *grown = calloc(capacity, size);

        if (!grown)
                return;
        /* Moves places or cells to where they are in a ring of more intervals, empty ones too: they may own memory. */
        for (uint64_t i = r->first; i - r->first < r->capacity; i++)
                memcpy(grown + i % capacity * size, r->cells + i % r->capacity * size, size);
        free(r->cells);
        p->held_bytes += (capacity - r->capacity) * size;
        r->cells = grown;
        r->capacity = capacity;
        if (!pyramid_packs(shape))
                r->open = plain_at(shape, r, r->newest_ns / shape->levels[level].width_ns);
}

/* Whether there is room for the open cell, if cells are packed. */
static bool open_room(const struct pyramid_shape *shape, struct pyramid *p, struct pyramid_ring *r)
{
        if (!pyramid_packs(shape) || r->open)
                return true;
        assert(shape->cell.size <= PYRAMID_CELL && !shape->cell.done);
        r->open = malloc(shape->cell.size);
        p->held_bytes += r->open ? shape->cell.size : 0;
        return r->open;
}

/* Grows a ring when an interval would push out one that a full ring could keep. */
static void make_room(const struct pyramid_shape *shape, struct pyramid *p, unsigned level, uint64_t interval)
{
        struct pyramid_ring *r = &p->levels[level];
        uint64_t most = shape->levels[level].most, capacity = (uint64_t)r->capacity * 2;

        if (!r->capacity) {
                if (open_room(shape, p, r))
                        resize_level(shape, p, level, shape->levels[level].first);
                return;
        }
        if (!r->in_use || r->capacity >= most)
                return;
        uint64_t low = interval < r->first ? interval : r->first, high = interval > r->last ? interval : r->last;
        uint64_t jump = interval > r->last ? interval - r->last : r->last - interval;
        if (high - low < r->capacity || jump >= most)
                return;
        if (capacity <= high - low)
                capacity = high - low + 1;
        resize_level(shape, p, level, (uint32_t)(capacity < most ? capacity : most));
}

/* ----------------------------------------------------------------- samples */

static void advance_ring(const struct pyramid_shape *shape, struct pyramid_ring *r, uint64_t interval)
{
        uint64_t oldest = interval < r->capacity ? 0 : interval - r->capacity + 1;

        if (interval - r->last >= r->capacity) {
                drop_from(shape, r, r->first);
                r->complete = r->first < oldest ? oldest : r->complete;
                r->first = interval;
        } else if (r->first < oldest) {
                forget_before(shape, r, oldest);
        }
        r->last = interval;
}

/* Packs the open cell; for its sake the oldest ones are dropped if need be. */
static void close_cell(const struct pyramid_shape *shape, struct pyramid *p, struct pyramid_ring *r, uint64_t width_ns)
{
        alignas(max_align_t) unsigned char packed[PYRAMID_CELL];
        uint64_t interval = r->newest_ns / width_ns;

        if (!pyramid_packs(shape) || !r->in_use)
                return;
        bool small = shape->packing.pack(packed, r->open, r->newest_ns, width_ns);
        uint16_t number = allocate_cell(shape, p, r, small);
        while (!number && r->first < interval) {
                forget_before(shape, r, r->first + 1);
                number = allocate_cell(shape, p, r, small);
        }
        if (number)
                memcpy(packed_at(shape, r, small, number), packed, shape->packing.sizes[small]);
        else
                r->complete = interval + 1;
        *place_of(r, interval) = (uint16_t)(number ? 2 * number + small : 0);
}

/* Makes the cell of an interval the open one. */
static void open_cell(const struct pyramid_shape *shape, struct pyramid_ring *r, unsigned level, uint64_t interval)
{
        if (!pyramid_packs(shape)) {
                r->open = plain_at(shape, r, interval);
                return;
        }
        if (!slot_of(shape, r, level, interval, r->open))
                memset(r->open, 0, shape->cell.size);
        drop_interval(shape, r, interval);
        *place_of(r, interval) = PYRAMID_OPEN;
}

void *pyramid_reach(const struct pyramid_shape *shape, struct pyramid *p, unsigned level, uint64_t time_ns)
{
        struct pyramid_ring *r = &p->levels[level];
        uint64_t width_ns = shape->levels[level].width_ns, interval = time_ns / width_ns;

        make_room(shape, p, level, interval);
        if (!r->capacity)
                return NULL;
        if (r->in_use && interval <= r->last && r->last - interval >= r->capacity)
                return NULL;
        close_cell(shape, p, r, width_ns);
        if (!r->in_use)
                r->first = r->last = interval;
        else if (interval > r->last)
                advance_ring(shape, r, interval);
        if (r->first > interval)
                r->first = interval;
        open_cell(shape, r, level, interval);
        r->newest_ns = interval * width_ns;
        r->in_use = true;
        return r->open;
}

/* ----------------------------------------------------------------- reading */

const void *pyramid_at(const struct pyramid_shape *shape, const struct pyramid *p, unsigned level, uint64_t interval,
                       void *room)
{
        const struct pyramid_ring *r = &p->levels[level];

        if (!r->in_use || interval < r->first || interval > r->last)
                return NULL;
        const void *found = slot_of(shape, r, level, interval, room);
        return found && !shape->cell.is_empty(found) ? found : NULL;
}

bool pyramid_clip(const struct pyramid *p, unsigned level, uint64_t *from, uint64_t *end)
{
        const struct pyramid_ring *r = &p->levels[level];

        if (!r->in_use)
                return false;
        if (*from < r->first)
                *from = r->first;
        if (*end > r->last && *end - r->last > 1)
                *end = r->last + 1; /* an interval is below 2^64 - 1 unless the width is 1 ns */
        return *from < *end;
}

unsigned pyramid_level(const struct pyramid_shape *shape, const struct pyramid *p, uint64_t from_ns)
{
        unsigned level = 0;

        while (level + 1 < shape->n_levels && p->levels[level].complete > from_ns / shape->levels[level].width_ns)
                level++;
        return level;
}

static void add_up(const struct pyramid_shape *shape, const struct pyramid *p, unsigned level, uint64_t from,
                   uint64_t end, void *to)
{
        alignas(max_align_t) unsigned char room[PYRAMID_CELL];

        if (!pyramid_clip(p, level, &from, &end))
                return;
        for (uint64_t i = from; i < end; i++) {
                const void *found = slot_of(shape, &p->levels[level], level, i, room);
                if (found)
                        shape->cell.merge(to, found);
        }
}

void pyramid_merge(const struct pyramid_shape *shape, const struct pyramid *p, unsigned level, uint64_t from,
                   uint64_t end, void *to)
{
        if (!pyramid_clip(p, level, &from, &end))
                return;
        if (level + 1 == shape->n_levels) {
                add_up(shape, p, level, from, end, to);
                return;
        }
        uint64_t fan = shape->levels[level + 1].width_ns / shape->levels[level].width_ns;
        uint64_t first = from / fan + (from % fan != 0), behind = end / fan;
        if (first >= behind || p->levels[level + 1].complete > first) {
                add_up(shape, p, level, from, end, to);
                return;
        }
        add_up(shape, p, level, from, first * fan, to);
        pyramid_merge(shape, p, level + 1, first, behind, to);
        add_up(shape, p, level, behind * fan, end, to);
}

/* A range level by level: calls `part` for the whole intervals from .. end - 1 of each, widest first. */
static void each_level(const struct pyramid_shape *shape, const struct pyramid *p, struct time_range range,
                       void (*part)(void *ctx, unsigned level, uint64_t from, uint64_t end), void *ctx)
{
        for (unsigned level = pyramid_level(shape, p, range.from_ns);; level--) {
                uint64_t width = shape->levels[level].width_ns, end = range.to_ns / width;

                part(ctx, level, range.from_ns / width, end);
                if (level == 0)
                        return;
                if (end * width > range.from_ns)
                        range.from_ns = end * width;
        }
}

struct walk {
        const struct pyramid_shape *shape;
        const struct pyramid *pyramid;
        void (*visit)(void *ctx, const void *cell);
        void *ctx; /* of visit; to merge into */
};

static void visit_part(void *ctx, unsigned level, uint64_t from, uint64_t end)
{
        alignas(max_align_t) unsigned char room[PYRAMID_CELL];
        const struct walk *w = ctx;

        if (!pyramid_clip(w->pyramid, level, &from, &end))
                return;
        for (uint64_t i = from; i < end; i++) {
                const void *found = pyramid_at(w->shape, w->pyramid, level, i, room);
                if (found)
                        w->visit(w->ctx, found);
        }
}

void pyramid_visit(const struct pyramid_shape *shape, const struct pyramid *p, struct time_range range,
                   void (*visit)(void *ctx, const void *cell), void *ctx)
{
        struct walk w = { .shape = shape, .pyramid = p, .visit = visit, .ctx = ctx };

        each_level(shape, p, range, visit_part, &w);
}

static void merge_part(void *ctx, unsigned level, uint64_t from, uint64_t end)
{
        const struct walk *w = ctx;

        pyramid_merge(w->shape, w->pyramid, level, from, end, w->ctx);
}

void pyramid_sum(const struct pyramid_shape *shape, const struct pyramid *p, struct time_range range, void *to)
{
        struct walk w = { .shape = shape, .pyramid = p, .ctx = to };

        each_level(shape, p, range, merge_part, &w);
}

const void *pyramid_before(const struct pyramid_shape *shape, const struct pyramid *p, uint64_t time_ns, void *room)
{
        for (unsigned level = 0; level < shape->n_levels; level++) {
                uint64_t from = 0, end = time_ns / shape->levels[level].width_ns;

                if (!pyramid_clip(p, level, &from, &end))
                        continue;
                for (uint64_t i = end; i > from; i--) {
                        const void *found = pyramid_at(shape, p, level, i - 1, room);
                        if (found)
                                return found;
                }
        }
        return NULL;
}
