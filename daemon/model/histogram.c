/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/model/gc.h"

static uint16_t cell_of(uint64_t value)
{
        const unsigned cell = sketch_cell(HISTOGRAM_BITS, value);

        return (uint16_t)(cell < HISTOGRAM_CELLS ? cell : HISTOGRAM_CELLS - 1);
}

void histogram_add(struct histogram *h, uint64_t value)
{
        h->count++;
        if (value > h->max)
                h->max = value;
        (void)sketch_add(&h->cells, cell_of(value));
}

bool histogram_remove(struct histogram *h, uint64_t value)
{
        if (!sketch_remove(&h->cells, cell_of(value)))
                return false;
        h->count--;
        if (value < h->max)
                return true;
        const unsigned top = h->cells.n ? h->cells.counts[h->cells.n - 1].cell : 0;
        const uint64_t end = sketch_low(HISTOGRAM_BITS, top) + sketch_width(HISTOGRAM_BITS, top) - 1;
        h->max = h->cells.n == 0 ? 0 : end < value ? end : value;
        return true;
}

void histogram_done(struct histogram *h)
{
        sketch_done(&h->cells);
        *h = (struct histogram){ 0 };
}

uint64_t histogram_quantile(const struct histogram *h, double q)
{
        uint64_t seen = 0;
        double wanted = q * (double)h->count;

        if (!histogram_is_known(h))
                return 0;
        for (unsigned i = 0; i < h->cells.n; i++) {
                unsigned cell = h->cells.counts[i].cell;
                seen += h->cells.counts[i].count;
                if (cell < HISTOGRAM_CELLS - 1 && (double)seen >= wanted) {
                        uint64_t upper = sketch_low(HISTOGRAM_BITS, cell) + sketch_width(HISTOGRAM_BITS, cell) - 1;
                        return upper < h->max ? upper : h->max;
                }
        }
        return h->max;
}
