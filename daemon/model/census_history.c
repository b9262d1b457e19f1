/* SPDX-License-Identifier: BSD-3-Clause */
/* census_history.c - a fold of totals. */
#include "daemon/model/census_history.h"

#include "daemon/model/bands_private.h"

static bool is_empty(const void *cell)
{
        return ((const struct census_cell *)cell)->n == 0;
}

static void reset(void *cell)
{
        *(struct census_cell *)cell = (struct census_cell){ 0 };
}

static void merge(void *to, const void *from)
{
        struct census_cell *a = to;
        const struct census_cell *b = from;

        if (!b->n)
                return;
        if (!a->n) {
                *a = *b;
                return;
        }
        a->n += b->n;
        a->sum += b->sum;
        a->min = b->min < a->min ? b->min : a->min;
        a->max = b->max > a->max ? b->max : a->max;
        a->first_ns = b->first_ns < a->first_ns ? b->first_ns : a->first_ns;
        if (b->last_ns >= a->last_ns) {
                a->last = b->last;
                a->last_ns = b->last_ns;
        }
}

static const struct fold_shape shape = {
        .cell = { .size = sizeof(struct census_cell), .is_empty = is_empty, .reset = reset, .merge = merge },
        .capacity = BAND_POINTS,
        .stride = 1,
        .first_width_ns = BAND_FIRST_WIDTH_NS,
};

void census_history_add(struct census_history *h, uint64_t time_ns, double total)
{
        struct census_cell one = { 1, time_ns, time_ns, total, total, total, total };

        h->fold.cells = h->cells;
        merge(fold_cell(&shape, &h->fold, time_ns), &one);
}

const struct census_cell *census_history_at(const struct census_history *h, uint32_t i, uint64_t *ret_time_ns)
{
        *ret_time_ns = fold_time_ns(&h->fold, i);
        return fold_at(&shape, &h->fold, i);
}
