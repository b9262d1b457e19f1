/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/model/histogram.h"

void histogram_add(struct histogram *h, uint64_t value)
{
        unsigned cell = sketch_cell(HISTOGRAM_BITS, value);
        uint32_t *count = &h->counts[cell < HISTOGRAM_CELLS ? cell : HISTOGRAM_CELLS - 1];

        h->count++;
        if (value > h->max)
                h->max = value;
        if (*count < UINT32_MAX)
                ++*count;
}

uint64_t histogram_quantile(const struct histogram *h, double q)
{
        uint64_t seen = 0;
        double wanted = q * (double)h->count;

        if (!h->count)
                return 0;
        for (unsigned i = 0; i < HISTOGRAM_CELLS - 1; i++) {
                seen += h->counts[i];
                if (seen && (double)seen >= wanted) {
                        uint64_t upper = sketch_low(HISTOGRAM_BITS, i) + sketch_width(HISTOGRAM_BITS, i) - 1;
                        return upper < h->max ? upper : h->max;
                }
        }
        return h->max;
}
