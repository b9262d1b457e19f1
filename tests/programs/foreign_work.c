/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * foreign_work.c - functions that a Haskell program calls: one works 70 for 30 of another, one waits for ever, and one
 * calls back.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

uint64_t foreign_compress(uint64_t n);
uint64_t foreign_check(uint64_t n);
uint64_t foreign_wait(uint64_t n);
uint64_t foreign_waiting(void);
uint64_t foreign_call_back(void (*f)(void));

static atomic_uint_fast64_t waiting;

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

__attribute__((noinline)) static uint64_t foreign_pause(uint64_t n)
{
        return (uint64_t)pause() + n;
}

uint64_t foreign_wait(uint64_t n)
{
        atomic_fetch_add(&waiting, 1);
        return foreign_pause(n) + 1;
}

uint64_t foreign_waiting(void)
{
        return atomic_load(&waiting);
}

uint64_t foreign_call_back(void (*f)(void))
{
        f();
        return foreign_loop(1);
}
