/* SPDX-License-Identifier: BSD-3-Clause */
/* sorted.h - search in sorted arrays whose elements begin with an address, or with a range of them. */
#pragma once

#include "inspect/memory/memory.h"

/* For qsort(). */
static inline int sorted_compare(const void *a, const void *b)
{
        const uint64_t x = u64_at(a, 0), y = u64_at(b, 0);

        return (x > y) - (x < y);
}

/* How many of `n` elements, of `size` bytes each, begin with an address of at most `most`. */
static inline size_t sorted_count(const void *items, size_t n, size_t size, uint64_t most)
{
        size_t low = 0, high = n;

        while (low < high) {
                const size_t middle = low + (high - low) / 2;
                if (u64_at(items, middle * size) <= most)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* Of elements that begin with `uint64_t start, end`: the index of the one that an address is in; `n`: it is in none. */
static inline size_t sorted_range(const void *items, size_t n, size_t size, uint64_t address)
{
        const size_t count = sorted_count(items, n, size, address);

        return count && address < u64_at(items, (count - 1) * size + sizeof(address)) ? count - 1 : n;
}
