/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: every value is counted at each level, so no level has to be made from another and late values find their
 * slices. A minute lies in one slice of each level, so its values are counted in all of these when the next sample is
 * of another minute, or when somebody reads. A slice that replaces another reuses the memory of its sketch.
 */
#include "daemon/judge/trend/series_sketch.h"

#include "proto/base/time.h"

#include "daemon/judge/trend/series_sketch_layouts.inc"

#define BITS  5u
#define CELLS SKETCH_CELLS(BITS, 64u)

#define MINUTE_NS (60 * NS_PER_S) /* all widths are multiples of it */

static bool sketch_is_empty(const struct sketch *s)
{
        return s->n == 0 && !s->lost;
}

static bool slice_is_empty(const void *cell)
{
        return sketch_is_empty(&((const struct sketch_slice *)cell)->sketch);
}

static void slice_reset(void *cell)
{
        struct sketch_slice *s = cell;

        sketch_clear(&s->sketch);
        s->area = 0;
}

static void slice_done(void *cell)
{
        sketch_done(&((struct sketch_slice *)cell)->sketch);
}

/* Slices are never merged: a quantile is read from all of a range at once. */
static const struct pyramid_shape shape = {
        { sizeof(struct sketch_slice), slice_is_empty, slice_reset, NULL, slice_done },
        4,
        { { MINUTE_NS, 4, 11 }, { 300 * NS_PER_S, 4, 13 }, { 1800 * NS_PER_S, 4, 13 }, { 7200 * NS_PER_S, 4, 13 } },
        { { 0 }, NULL, NULL },
};

void series_sketch_done(struct series_sketch *s)
{
        pyramid_done(&shape, &s->slices);
        slice_done(&s->total);
        sketch_done(&s->minute);
        *s = (struct series_sketch){ 0 };
}

static void slice_image(struct image *im, void *cell)
{
        image_sketch(im, &((struct sketch_slice *)cell)->sketch, CELLS);
}

void series_sketch_image(struct image *im, struct series_sketch *s)
{
        image_pyramid(im, &s->slices, &shape, IMAGE_TYPE(sketch_slice), slice_image);
        slice_image(im, &s->total);
        if (s->minute.room) /* never in images of 0.9.0, which have nothing here */
                image_sketch(im, &s->minute, CELLS);
        else if (im->reads)
                s->minute = (struct sketch){ 0 };
}

size_t series_sketch_held(const struct series_sketch *s)
{
        return s->slices.held_bytes + s->cells_bytes;
}

/* Counts the minute's values in all cells that it lies in. */
static void count_minute(struct series_sketch *s)
{
        if (sketch_is_empty(&s->minute))
                return;
        s->cells_bytes += sketch_merge(&s->total.sketch, &s->minute);
        for (unsigned level = 0; level < shape.n_levels; level++) {
                struct sketch_slice *slice = pyramid_cell(&shape, &s->slices, level, s->minute_ns);
                if (slice)
                        s->cells_bytes += sketch_merge(&slice->sketch, &s->minute);
        }
        sketch_clear(&s->minute);
}

/* The same of its area, once: sums of other parts would have other last bits. */
static void add_minute_area(struct series_sketch *s)
{
        s->total.area += s->minute_area;
        for (unsigned level = 0; level < shape.n_levels; level++) {
                struct sketch_slice *slice = pyramid_cell(&shape, &s->slices, level, s->minute_ns);
                if (slice)
                        slice->area += s->minute_area;
        }
        s->minute_area = 0;
}

void series_sketch_push(struct series_sketch *s, uint64_t time_ns, uint64_t value)
{
        if (time_ns / MINUTE_NS != s->minute_ns / MINUTE_NS) {
                count_minute(s);
                if (s->minute_area > 0)
                        add_minute_area(s);
        }
        const bool any = !sketch_is_empty(&s->minute) || !slice_is_empty(&s->total);

        if (any && time_ns > s->last_ns)
                s->minute_area += (s->last + (double)value) / 2 * ((double)(time_ns - s->last_ns) / 1e9);
        if (!any || time_ns >= s->last_ns) {
                s->last_ns = time_ns;
                s->last = (double)value;
        }
        (void)sketch_add(&s->minute, (uint16_t)sketch_cell(BITS, value));
        s->minute_ns = time_ns;
}

/* ----------------------------------------------------------------- reading */

/* Calls `each` for the slices of a range. */
static void each_slice(struct series_sketch *s, struct time_range range,
                       void (*each)(void *ctx, const struct sketch_slice *slice), void *ctx)
{
        count_minute(s);
        if (slice_is_empty(&s->total) || range.from_ns >= range.to_ns)
                return;
        if (range.from_ns == 0 && range.to_ns > s->last_ns) {
                each(ctx, &s->total);
                return;
        }
        unsigned level = pyramid_level(&shape, &s->slices, range.from_ns);
        uint64_t width = shape.levels[level].width_ns, end = (range.to_ns - 1) / width + 1;
        uint64_t from = range.from_ns / width + (range.from_ns % width != 0);
        if (from >= end)
                from = end - 1;
        if (!pyramid_clip(&s->slices, level, &from, &end))
                return;
        for (uint64_t i = from; i < end; i++) {
                const struct sketch_slice *slice = pyramid_at(&shape, &s->slices, level, i, NULL);
                if (slice)
                        each(ctx, slice);
        }
}

static void add_sketch(void *ctx, const struct sketch_slice *slice)
{
        sketch_sum_add(ctx, &slice->sketch);
}

double series_sketch_quantile(struct series_sketch *s, struct time_range range, double q)
{
        uint64_t counts[CELLS] = { 0 };
        struct sketch_sum sum = { .counts = counts, .n_cells = CELLS };

        each_slice(s, range, add_sketch, &sum);
        return sketch_sum_quantile(&sum, BITS, q);
}

struct area {
        struct series_sketch *of;
        double sum;
        bool any;
};

/* With that of the minute in the slice that it lies in. */
static void sum_area(void *ctx, const struct sketch_slice *slice)
{
        struct area *a = ctx;
        bool has_minute = slice == &a->of->total;

        for (unsigned level = 0; level < shape.n_levels && !has_minute; level++)
                has_minute = pyramid_cell(&shape, &a->of->slices, level, a->of->minute_ns) == slice;
        a->sum += has_minute ? slice->area + a->of->minute_area : slice->area;
        a->any = true;
}

double series_sketch_area(struct series_sketch *s, struct time_range range)
{
        struct area a = { .of = s };

        each_slice(s, range, sum_area, &a);
        return a.any ? a.sum : (double)NAN;
}
