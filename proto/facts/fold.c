/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: cell 0 is interval `first`, so cells move when an older time comes. With 64 cells of 1 s at first, a run of
 * ten minutes has cells of 16 s, a run of a month cells of 18 h. Doubling touches each cell once, and happens once in
 * each doubling of the run's age.
 */
#include "proto/facts/fold.h"

#include <string.h>

/* Makes the cells up to `i`. */
static void extend(const struct fold_shape *shape, struct fold *f, uint32_t i)
{
        while (f->n <= i)
                shape->cell.reset(fold_slot(shape, f, f->n++));
}

/* The cell of a time, widening if need be. The width stays below 2^63: times have 64 bits. */
static uint32_t find(const struct fold_shape *shape, struct fold *f, uint64_t time_ns)
{
        for (;;) {
                uint64_t interval = time_ns / f->width_ns;
                if (interval >= f->first && interval - f->first < shape->capacity) {
                        extend(shape, f, (uint32_t)(interval - f->first));
                        return (uint32_t)(interval - f->first);
                }
                if (interval < f->first && f->first - interval <= shape->capacity - f->n) {
                        /* Moves all cells up, so that cell 0 becomes interval `first`. */
                        uint32_t by = (uint32_t)(f->first - interval), n = f->n;

                        extend(shape, f, n - 1 + by);
                        for (uint32_t i = n; i-- > 0;)
                                memcpy(fold_slot(shape, f, i + by), fold_slot(shape, f, i), shape->cell.size);
                        for (uint32_t i = 0; i < by; i++)
                                shape->cell.reset(fold_slot(shape, f, i));
                        f->first = interval;
                        return 0;
                }
                uint32_t odd = f->first % 2, n = f->n;

                for (uint32_t i = 0; i < n; i++) {
                        uint32_t to = (i + odd) / 2;
                        if (to == i)
                                continue;
                        shape->cell.merge(fold_slot(shape, f, to), fold_slot(shape, f, i));
                        shape->cell.reset(fold_slot(shape, f, i));
                }
                f->n = (n - 1 + odd) / 2 + 1;
                f->first /= 2;
                f->width_ns *= 2;
        }
}

void *fold_reach(const struct fold_shape *shape, struct fold *f, uint64_t time_ns)
{
        if (!f->width_ns) {
                f->width_ns = shape->first_width_ns;
                f->first = time_ns / f->width_ns;
        }
        f->newest = find(shape, f, time_ns);
        f->newest_ns = fold_time_ns(f, f->newest);
        return fold_slot(shape, f, f->newest);
}
