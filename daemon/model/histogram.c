/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: the index is the value's floating-point form: five bits of mantissa under the exponent. */
#include "daemon/model/histogram.h"

#define SUB_BITS 5
#define MAX_BITS 42

unsigned histogram_index(uint64_t value)
{
        if (value < 1u << SUB_BITS)
                return (unsigned)value;
        if (value >> MAX_BITS)
                return HISTOGRAM_BUCKETS - 1;
        unsigned e = 63u - (unsigned)__builtin_clzll(value);
        return 32 * (e - 4) + (unsigned)(value >> (e - SUB_BITS)) - 32;
}

uint64_t histogram_width(unsigned index)
{
        return index < 64 ? 1 : UINT64_C(1) << (index / 32 - 1);
}

uint64_t histogram_lower(unsigned index)
{
        return index < 64 ? index : (uint64_t)(32 + index % 32) << (index / 32 - 1);
}

void histogram_add(struct histogram *h, uint64_t value)
{
        uint32_t *bucket = &h->buckets[histogram_index(value)];

        h->count++;
        if (value > h->max)
                h->max = value;
        if (*bucket < UINT32_MAX)
                ++*bucket;
}

uint64_t histogram_quantile(const struct histogram *h, double q)
{
        uint64_t seen = 0;
        double wanted = q * (double)h->count;

        if (!h->count)
                return 0;
        for (unsigned i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
                seen += h->buckets[i];
                if (seen && (double)seen >= wanted) {
                        uint64_t upper = histogram_lower(i) + histogram_width(i) - 1;
                        return upper < h->max ? upper : h->max;
                }
        }
        return h->max;
}
