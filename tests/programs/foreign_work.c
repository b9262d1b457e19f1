/* SPDX-License-Identifier: BSD-3-Clause */
/* foreign_work.c - two functions that a Haskell program calls, one of which works 70 for 30 of the other. */
#include <stdint.h>

uint64_t foreign_compress(uint64_t n);
uint64_t foreign_check(uint64_t n);

__attribute__((noinline)) static uint64_t foreign_loop(uint64_t n)
{
        volatile uint64_t x = n;

        for (uint64_t i = 0; i < n; i++)
                x = x * UINT64_C(6364136223846793005) + i;
        return x;
}

uint64_t foreign_compress(uint64_t n)
{
        return foreign_loop(70 * n) + 1;
}

uint64_t foreign_check(uint64_t n)
{
        return foreign_loop(30 * n) + 1;
}
