/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * short_memory.h - makes the allocation number `fail_at` fail while `counting`
 * is on, and with `ever_after` all later ones too. One test program includes it,
 * linked with --wrap for the three allocating functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool counting, ever_after;
static unsigned long calls, fail_at;

static bool fails(void)
{
        if (!counting)
                return false;
        calls++;
        return fail_at && (calls == fail_at || (ever_after && calls > fail_at));
}

void *__wrap_malloc(size_t size)
{
        return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
        return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
        return fails() ? NULL : __real_realloc(old, size);
}
