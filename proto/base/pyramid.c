/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a ring is an index of its intervals, two bytes each, and the cells of those that have samples:
 *
 *      interval  first             last
 *                v                 v
 *      ----------[3][ ][1][4][ ][2]--------->  time / width
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
#include "proto/base/pyramid.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

static uint16_t *place(const struct pyramid_ring *r, uint64_t interval)
{
        return &r->places[interval % r->capacity];
}

/* A cell as it is kept. */
static void *kept(const struct pyramid_shape *shape, const struct pyramid_ring *r, uint32_t number)
{
        return r->cells + (size_t)(number - 1) * pyramid_kept_bytes(shape);
}

/* The cell of an interval in use, maybe in `room`; NULL: it has none. */
static const void *slot(const struct pyramid_shape *shape, const struct pyramid_ring *r, unsigned level,
                        uint64_t interval, void *room)
{
        uint64_t width_ns = shape->levels[level].width_ns;
        uint16_t number = *place(r, interval);

        if (!number || !shape->packing.size)
                return number ? kept(shape, r, number) : NULL;
        if (number == r->newest)
                return r->open;
        shape->packing.unpack(room, kept(shape, r, number), interval * width_ns, width_ns);
        return room;
}

static bool in_use(const struct pyramid_ring *r)
{
        return r->newest > 0;
}

/* -------------------------------------------------------------------- life */

void pyramid_done(const struct pyramid_shape *shape, struct pyramid *p)
{
        for (unsigned i = 0; i < shape->n_levels; i++) {
                struct pyramid_ring *r = &p->levels[i];

                for (uint32_t number = 1; shape->cell.done && number <= r->n_cells; number++)
                        shape->cell.done(kept(shape, r, number));
                free(r->places);
                free(r->cells);
                free(r->open);
                free(r->spare);
        }
        memset(p, 0, sizeof(*p));
}

/* The cell of an interval becomes spare. */
static void drop(const struct pyramid_shape *shape, struct pyramid_ring *r, uint64_t interval)
{
        uint16_t *number = place(r, interval);

        if (!*number)
                return;
        if (shape->packing.size)
                memset(kept(shape, r, *number), 0, shape->packing.size);
        else
                shape->cell.reset(kept(shape, r, *number));
        r->spare[r->n_spare++] = *number;
        *number = 0;
}

/* Drops all intervals in use from one on. */
static void drop_from(const struct pyramid_shape *shape, struct pyramid_ring *r, uint64_t interval)
{
        for (; in_use(r) && interval - r->first <= r->last - r->first; interval++)
                drop(shape, r, interval);
}

void pyramid_clear(const struct pyramid_shape *shape, struct pyramid *p)
{
        for (unsigned i = 0; i < shape->n_levels; i++) {
                drop_from(shape, &p->levels[i], p->levels[i].first);
                p->levels[i].newest = 0;
                p->levels[i].complete = 0;
        }
}

/* ------------------------------------------------------------------ growth */

/* Moves to an index of `capacity` intervals. When out of memory, nothing happens. */
static void resize(struct pyramid *p, unsigned level, uint32_t capacity)
{
        struct pyramid_ring *r = &p->levels[level];
        uint16_t *places = calloc(capacity, sizeof(*places));

        if (!places)
                return;
        for (uint64_t i = r->first; in_use(r) && i - r->first <= r->last - r->first; i++)
                places[i % capacity] = *place(r, i);
        free(r->places);
        p->held_bytes += (capacity - r->capacity) * sizeof(*places);
        r->places = places;
        r->capacity = capacity;
}

/* Whether there is room for the open cell, if cells are packed. */
static bool open_room(const struct pyramid_shape *shape, struct pyramid *p, struct pyramid_ring *r)
{
        if (!shape->packing.size || r->open)
                return true;
        assert(shape->cell.size <= PYRAMID_CELL && !shape->cell.done);
        r->open = malloc(shape->cell.size);
        p->held_bytes += r->open ? shape->cell.size : 0;
        return r->open;
}

/* Grows an index when an interval would push out one that a full ring could keep. */
static void make_room(const struct pyramid_shape *shape, struct pyramid *p, unsigned level, uint64_t interval)
{
        struct pyramid_ring *r = &p->levels[level];
        uint64_t most = shape->levels[level].most, capacity = (uint64_t)r->capacity * 2;

        if (!r->places) {
                if (open_room(shape, p, r))
                        resize(p, level, shape->levels[level].first);
                return;
        }
        if (!in_use(r) || r->capacity >= most)
                return;
        uint64_t low = interval < r->first ? interval : r->first, high = interval > r->last ? interval : r->last;
        uint64_t jump = interval > r->last ? interval - r->last : r->last - interval;
        if (high - low < r->capacity || jump >= most)
                return;
        if (capacity <= high - low)
                capacity = high - low + 1;
        resize(p, level, (uint32_t)(capacity < most ? capacity : most));
}

/* Makes room for more cells, but not for more than there are intervals. */
static bool make_cells(const struct pyramid_shape *shape, struct pyramid *p, struct pyramid_ring *r)
{
        uint32_t room = r->room < 4 ? 4 : r->room + r->room / 2;

        room = room < r->capacity ? room : r->capacity;
        uint16_t *spare = realloc(r->spare, room * sizeof(*spare));
        if (!spare)
                return false;
        r->spare = spare;
        unsigned char *cells = realloc(r->cells, room * pyramid_kept_bytes(shape));
        if (!cells)
                return false;
        r->cells = cells;
        p->held_bytes += pyramid_ring_bytes(shape, 0, room - r->room);
        r->room = room;
        return true;
}

/* ----------------------------------------------------------------- samples */

/* Number of an empty cell, for the sake of which the oldest ones are dropped if need be; 0: none. */
static uint16_t take_cell(const struct pyramid_shape *shape, struct pyramid *p, struct pyramid_ring *r)
{
        if (!r->n_spare && r->n_cells == r->room && !make_cells(shape, p, r))
                while (!r->n_spare && r->first < r->last) {
                        drop(shape, r, r->first++);
                        r->complete = r->first;
                }
        if (r->n_spare)
                return r->spare[--r->n_spare];
        if (r->n_cells == r->room)
                return 0;
        memset(kept(shape, r, ++r->n_cells), 0, pyramid_kept_bytes(shape));
        return (uint16_t)r->n_cells;
}

static void advance(const struct pyramid_shape *shape, struct pyramid_ring *r, uint64_t interval)
{
        uint64_t oldest = interval < r->capacity ? 0 : interval - r->capacity + 1;

        if (r->first < oldest)
                r->complete = oldest;
        if (interval - r->last >= r->capacity) {
                drop_from(shape, r, r->first);
                r->first = interval;
        } else {
                while (r->first < oldest)
                        drop(shape, r, r->first++);
        }
        r->last = interval;
}

/* Packs the open cell, before another may take its place. */
static void close_cell(const struct pyramid_shape *shape, struct pyramid_ring *r, uint64_t width_ns)
{
        if (shape->packing.size && r->newest)
                shape->packing.pack(kept(shape, r, r->newest), r->open, r->newest_ns, width_ns);
}

static void open_cell(const struct pyramid_shape *shape, struct pyramid_ring *r, uint64_t width_ns)
{
        if (shape->packing.size && r->newest)
                shape->packing.unpack(r->open, kept(shape, r, r->newest), r->newest_ns, width_ns);
}

void *pyramid_reach(const struct pyramid_shape *shape, struct pyramid *p, unsigned level, uint64_t time_ns)
{
        struct pyramid_ring *r = &p->levels[level];
        uint64_t width_ns = shape->levels[level].width_ns, interval = time_ns / width_ns;

        make_room(shape, p, level, interval);
        if (!r->places)
                return NULL;
        if (in_use(r) && interval <= r->last && r->last - interval >= r->capacity)
                return NULL;
        close_cell(shape, r, width_ns);
        if (!in_use(r))
                r->first = r->last = interval;
        else if (interval > r->last)
                advance(shape, r, interval);
        if (r->first > interval)
                r->first = interval;
        uint16_t number = *place(r, interval);
        if (!number)
                number = take_cell(shape, p, r);
        bool fits = number && interval >= r->first; /* else out of memory */
        if (fits)
                *place(r, interval) = number;
        else if (number)
                r->spare[r->n_spare++] = number;
        uint64_t newest = fits ? interval : r->last; /* that one is never dropped for the sake of another */
        r->newest = *place(r, newest);
        r->newest_ns = newest * width_ns;
        open_cell(shape, r, width_ns);
        if (!fits)
                return NULL;
        return shape->packing.size ? r->open : kept(shape, r, number);
}

/* ----------------------------------------------------------------- reading */

const void *pyramid_at(const struct pyramid_shape *shape, const struct pyramid *p, unsigned level, uint64_t interval,
                       void *room)
{
        const struct pyramid_ring *r = &p->levels[level];

        if (!in_use(r) || interval < r->first || interval > r->last)
                return NULL;
        const void *found = slot(shape, r, level, interval, room);
        return found && !shape->cell.is_empty(found) ? found : NULL;
}

bool pyramid_clip(const struct pyramid *p, unsigned level, uint64_t *from, uint64_t *end)
{
        const struct pyramid_ring *r = &p->levels[level];

        if (!in_use(r))
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
                const void *found = slot(shape, &p->levels[level], level, i, room);
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
