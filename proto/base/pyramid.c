/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: in a ring, cells are in use from interval `first` to `last`; one is reset when its interval enters that
 * range:
 *
 *      interval  first             last
 *                v                 v
 *      ----------[#][ ][#][#][ ][#]--------->  time / width
 *      below first: late, made on demand while within the capacity
 *      above last: the ring advances; at most `capacity` cells are reset
 *
 * So a jump of any length, from hostile or from forked clocks, costs one pass at most. A ring grows before it would
 * drop a cell that its full capacity can hold: most series of most targets are young, and fifty targets with ten series
 * each must fit into a few megabytes, which whole rings would not.
 *
 * A range is merged from the widest cells that lie in it, down to the level's own at both ends: 30 to 40 merges instead
 * of up to 384. Rules ask for several ranges in every second of a log: catching up with two days of one target spent
 * 40 % of its time in merges.
 */
#include "proto/base/pyramid.h"

#include <stdlib.h>
#include <string.h>

static void *slot(const struct pyramid_shape *shape, const struct pyramid_ring *r, uint64_t interval)
{
        return r->cells + interval % r->capacity * shape->cell.size;
}

static bool in_use(const struct pyramid_ring *r)
{
        return r->newest > 0;
}

/* -------------------------------------------------------------------- life */

static void free_cells(const struct pyramid_shape *shape, unsigned char *cells, uint32_t n)
{
        for (uint32_t i = 0; shape->cell.done && i < n; i++)
                shape->cell.done(cells + i * shape->cell.size);
        free(cells);
}

void pyramid_done(const struct pyramid_shape *shape, struct pyramid *p)
{
        for (unsigned i = 0; i < shape->n_levels; i++)
                free_cells(shape, p->levels[i].cells, p->levels[i].capacity);
        memset(p, 0, sizeof(*p));
}

void pyramid_clear(const struct pyramid_shape *shape, struct pyramid *p)
{
        for (unsigned i = 0; i < shape->n_levels; i++) {
                p->levels[i].newest = 0;
                p->levels[i].complete = 0;
        }
}

/* ------------------------------------------------------------------ growth */

/* Moves to a ring of `capacity` cells: those in use are kept, the others freed. When out of memory, nothing happens. */
static void resize(const struct pyramid_shape *shape, struct pyramid *p, unsigned level, uint32_t capacity)
{
        struct pyramid_ring *r = &p->levels[level];
        size_t size = shape->cell.size;
        unsigned char *cells = calloc(capacity, size), *old = r->cells;

        if (!cells)
                return;
        for (uint64_t i = r->first; in_use(r) && i - r->first <= r->last - r->first; i++) {
                memcpy(cells + i % capacity * size, slot(shape, r, i), size);
                memset(slot(shape, r, i), 0, size);
        }
        free_cells(shape, old, r->capacity);
        p->held_bytes += (capacity - r->capacity) * size;
        r->cells = cells;
        r->capacity = capacity;
        if (in_use(r))
                r->newest = (uint32_t)(r->newest_ns / shape->levels[level].width_ns % capacity) + 1;
}

/* Grows a ring when an interval would push out one that a full ring could keep. */
static void make_room(const struct pyramid_shape *shape, struct pyramid *p, unsigned level, uint64_t interval)
{
        struct pyramid_ring *r = &p->levels[level];
        uint64_t most = shape->levels[level].most, capacity = (uint64_t)r->capacity * 2;

        if (!r->cells) {
                resize(shape, p, level, shape->levels[level].first);
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
        resize(shape, p, level, (uint32_t)(capacity < most ? capacity : most));
}

/* ----------------------------------------------------------------- samples */

static void reset(const struct pyramid_shape *shape, const struct pyramid_ring *r, uint64_t interval)
{
        shape->cell.reset(slot(shape, r, interval));
}

static void advance(const struct pyramid_shape *shape, struct pyramid_ring *r, uint64_t interval)
{
        uint64_t oldest = interval < r->capacity ? 0 : interval - r->capacity + 1;

        if (r->first < oldest)
                r->complete = oldest;
        if (interval - r->last >= r->capacity) {
                r->first = interval;
                reset(shape, r, interval);
        } else {
                while (r->last < interval)
                        reset(shape, r, ++r->last);
                if (r->first < oldest)
                        r->first = oldest;
        }
        r->last = interval;
}

void *pyramid_reach(const struct pyramid_shape *shape, struct pyramid *p, unsigned level, uint64_t time_ns)
{
        struct pyramid_ring *r = &p->levels[level];
        uint64_t width_ns = shape->levels[level].width_ns, interval = time_ns / width_ns;

        make_room(shape, p, level, interval);
        if (!r->cells)
                return NULL;
        if (!in_use(r)) {
                r->first = r->last = interval;
                reset(shape, r, interval);
        } else if (interval > r->last) {
                advance(shape, r, interval);
        } else if (r->last - interval >= r->capacity) {
                return NULL;
        }
        while (r->first > interval)
                reset(shape, r, --r->first);
        r->newest = (uint32_t)(interval % r->capacity) + 1;
        r->newest_ns = interval * width_ns;
        return slot(shape, r, interval);
}

/* ----------------------------------------------------------------- reading */

const void *pyramid_at(const struct pyramid_shape *shape, const struct pyramid *p, unsigned level, uint64_t interval)
{
        const struct pyramid_ring *r = &p->levels[level];

        if (!in_use(r) || interval < r->first || interval > r->last)
                return NULL;
        const void *cell = slot(shape, r, interval);
        return shape->cell.is_empty(cell) ? NULL : cell;
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
        if (!pyramid_clip(p, level, &from, &end))
                return;
        for (uint64_t i = from; i < end; i++)
                shape->cell.merge(to, slot(shape, &p->levels[level], i));
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
        const struct walk *w = ctx;

        if (!pyramid_clip(w->pyramid, level, &from, &end))
                return;
        for (uint64_t i = from; i < end; i++) {
                const void *cell = pyramid_at(w->shape, w->pyramid, level, i);
                if (cell)
                        w->visit(w->ctx, cell);
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

const void *pyramid_before(const struct pyramid_shape *shape, const struct pyramid *p, uint64_t time_ns)
{
        for (unsigned level = 0; level < shape->n_levels; level++) {
                uint64_t from = 0, end = time_ns / shape->levels[level].width_ns;

                if (!pyramid_clip(p, level, &from, &end))
                        continue;
                for (uint64_t i = end; i > from; i--) {
                        const void *cell = pyramid_at(shape, p, level, i - 1);
                        if (cell)
                                return cell;
                }
        }
        return NULL;
}
