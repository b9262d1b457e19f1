/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/model/series.h"

#include <assert.h>
#include <errno.h>

#define SHAPE(seconds, minutes)                                                                                        \
        {                                                                                                              \
                TREND_CELL_TYPE, 4,                                                                                    \
                        { { NS_PER_S, 4, seconds },                                                                    \
                          { 10 * NS_PER_S, 4, 384 },                                                                   \
                          { 60 * NS_PER_S, 2, minutes },                                                               \
                          { 600 * NS_PER_S, 2, 288 } },                                                                \
                        PACKED_CELL,                                                                                   \
        }
#define FEW_SECONDS  8
#define SOME_SECONDS 40 /* those of a rate, and half a minute for ticks that are late */
#define FEW_MINUTES  16

static_assert(SERIES_COUNT <= 32, "struct series_finely has a bit for each");

const struct pyramid_shape series_shape = SHAPE(300, 360);

/* By how many seconds are kept, and whether all minutes are. */
static const struct pyramid_shape shapes[SERIES_ALL_SECONDS + 1][2] = {
        [SERIES_FEW_SECONDS] = { SHAPE(FEW_SECONDS, FEW_MINUTES), SHAPE(FEW_SECONDS, 360) },
        [SERIES_SOME_SECONDS] = { SHAPE(SOME_SECONDS, FEW_MINUTES), SHAPE(SOME_SECONDS, 360) },
        [SERIES_ALL_SECONDS] = { SHAPE(300, FEW_MINUTES), SHAPE(300, 360) },
};

void series_done(struct series *s)
{
        pyramid_done(&series_shape, &s->pyramid);
        *s = (struct series){ 0 };
}

void series_clear(struct series *s)
{
        pyramid_clear(&series_shape, &s->pyramid);
        any_cell_reset(&s->total);
        any_cell_reset(&s->fresh);
        s->late = 0;
}

/* Adds what a cell has, all of it of one second, to the cells of all widths. */
static int add_cell(struct series *s, const struct pyramid_shape *shape, uint64_t time_ns,
                    const struct trend_cell *cell)
{
        for (unsigned level = 0; level < shape->n_levels; level++) {
                struct trend_cell *c = pyramid_cell(shape, &s->pyramid, level, time_ns);

                if (!s->pyramid.levels[0].in_use)
                        return -ENOMEM;
                if (c)
                        trend_cell_merge(c, cell);
                else if (level == 0)
                        s->late += cell->cell.n;
        }
        trend_cell_merge(&s->total, cell);
        return 0;
}

int series_push(struct series *s, const struct pyramid_shape *shape, uint64_t time_ns, double value)
{
        struct trend_cell one = { .cell.n = 0 };

        trend_cell_add(&one, time_ns, value);
        return add_cell(s, shape, time_ns, &one);
}

int series_push_kept(struct series *s, enum series_seconds seconds, bool minutes, uint64_t time_ns, double value)
{
        const struct pyramid_shape *shape = &shapes[seconds][minutes];
        bool opened = true;

        /* the second that is open in the finest ring is that of `fresh`, while there is one */
        if (!s->fresh.cell.n || time_ns - s->pyramid.levels[0].newest_ns >= NS_PER_S) {
                if (s->fresh.cell.n)
                        (void)add_cell(s, shape, s->fresh.cell.last_ns, &s->fresh); /* to cells that are open */
                s->fresh.cell.n = 0;
                for (unsigned level = 0; level < shape->n_levels; level++)
                        opened &= pyramid_cell(shape, &s->pyramid, level, time_ns) != NULL;
                if (!opened)
                        return series_push(s, shape, time_ns, value);
        }
        trend_cell_add(&s->fresh, time_ns, value);
        return 0;
}

const struct series *series_read(const struct series *s, struct series_view *room)
{
        if (!s->fresh.cell.n)
                return s;
        room->series = *s;
        for (unsigned level = 0; level < series_shape.n_levels; level++) {
                struct pyramid_ring *r = &room->series.pyramid.levels[level];

                room->open[level] = *(const struct trend_cell *)r->open;
                trend_cell_merge(&room->open[level], &s->fresh);
                r->open = &room->open[level];
        }
        trend_cell_merge(&room->series.total, &s->fresh);
        return &room->series;
}

size_t series_history(const struct series *s, struct time_range range, uint64_t step_ns, struct point *points,
                      size_t max)
{
        unsigned level = pyramid_level(&series_shape, &s->pyramid, range.from_ns);
        uint64_t width = series_shape.levels[level].width_ns;
        uint64_t group = step_ns ? (step_ns - 1) / width + 1 : 1, group_now = 0;
        uint64_t from = range.from_ns / width, end = range.to_ns ? (range.to_ns - 1) / width + 1 : 0;
        size_t n = 0;

        if (range.from_ns >= range.to_ns || !pyramid_clip(&s->pyramid, level, &from, &end))
                return 0;
        for (uint64_t i = from; i < end; i++) {
                struct trend_cell room;
                const struct trend_cell *c = pyramid_at(&series_shape, &s->pyramid, level, i, &room);
                if (!c)
                        continue;
                if (n && group_now == i / group) {
                        cell_merge(&points[n - 1].cell, &c->cell);
                        continue;
                }
                if (n == max)
                        break;
                group_now = i / group;
                points[n++] = (struct point){ group_now * group * width, group * width, c->cell };
        }
        return n;
}

/* The first interval that begins at or after a time. */
static uint64_t first_of(unsigned level, uint64_t time_ns)
{
        uint64_t width = series_shape.levels[level].width_ns;

        return time_ns / width + (time_ns % width != 0);
}

void series_span(const struct series *s, struct time_range range, struct trend_cell *ret)
{
        *ret = (struct trend_cell){ .cell.n = 0 };
        if (!s->total.cell.n)
                return;
        if (range.from_ns == 0 && range.to_ns > s->total.cell.last_ns) {
                *ret = s->total;
        } else if (range.from_ns < range.to_ns) {
                unsigned level = pyramid_level(&series_shape, &s->pyramid, range.from_ns);
                pyramid_merge(&series_shape, &s->pyramid, level, first_of(level, range.from_ns),
                              first_of(level, range.to_ns), ret);
        }
}
