/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fold.h - the whole of a run in a fixed number of cells, however long it lasts.
 *
 * Cells lie side by side in time, all of one width. When a sample does not fit on either side, neighbours are merged
 * in pairs and the width doubles, so between half of the cells and all of them are in use. Times may come in any order.
 *
 * The memory of the cells is the user's; what is in cells that no sample has reached does not matter. A fold whose
 * bytes are all 0 but for `cells` is empty. Pure: time is an argument.
 */
#pragma once

#include "proto/facts/cell.h"

struct fold_shape {
        struct cell_type cell; /* without done: cells own nothing */
        uint32_t capacity;     /* at least 2 */
        uint32_t stride;       /* from one cell to the next, in cells: 1, or more where folds lie interleaved */
        uint64_t first_width_ns;
};

struct fold {
        void *cells;
        uint64_t width_ns;  /* of a cell; 0: no sample yet */
        uint64_t first;     /* interval (time / width) of cell 0 */
        uint64_t newest_ns; /* start of the cell of the sample that came last: usually the next one's, too */
        uint32_t newest;    /* its number */
        uint32_t n;         /* cells up to the last one that was reached; those after it are uninitialised */
};

static inline void *fold_slot(const struct fold_shape *shape, const struct fold *f, uint32_t i)
{
        return (unsigned char *)f->cells + (size_t)i * shape->stride * shape->cell.size;
}

/* The slow path of fold_cell(). */
void *fold_reach(const struct fold_shape *shape, struct fold *f, uint64_t time_ns);

/* The cell that a sample of this time goes into. */
static inline void *fold_cell(const struct fold_shape *shape, struct fold *f, uint64_t time_ns)
{
        bool same = time_ns - f->newest_ns < f->width_ns; /* before the first sample the width is 0 */

        return same ? fold_slot(shape, f, f->newest) : fold_reach(shape, f, time_ns);
}

/* Cell i, NULL when it is empty. */
static inline const void *fold_at(const struct fold_shape *shape, const struct fold *f, uint32_t i)
{
        const void *cell = i < f->n ? fold_slot(shape, f, i) : NULL;

        return cell && !shape->cell.is_empty(cell) ? cell : NULL;
}

/* Start of cell i. */
static inline uint64_t fold_time_ns(const struct fold *f, uint32_t i)
{
        return (f->first + i) * f->width_ns;
}
