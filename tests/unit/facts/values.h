/* SPDX-License-Identifier: BSD-3-Clause */
/* values.h - a cell of whole numbers, and a list of all samples to compare stores of such cells with. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proto/facts/cell.h"

#define MAX_SAMPLES 8000

struct values {
        uint64_t n, sum, min, max, times;
};

struct sample {
        uint64_t time_ns, value;
};

static struct sample kept[MAX_SAMPLES];
static size_t n_kept;

static uint64_t random_state;

static inline uint64_t random_u64(void)
{
        random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return random_state >> 11 ^ random_state << 21;
}

static inline bool values_is_empty(const void *cell)
{
        return ((const struct values *)cell)->n == 0;
}

/* Leaves noise behind: only n tells whether a cell is empty. */
static inline void values_reset(void *cell)
{
        memset(cell, 0xa5, sizeof(struct values));
        ((struct values *)cell)->n = 0;
}

static inline void values_merge(void *to, const void *from)
{
        struct values *a = to;
        const struct values *b = from;

        if (!b->n)
                return;
        if (!a->n) {
                *a = *b;
                return;
        }
        a->n += b->n;
        a->sum += b->sum;
        a->times += b->times;
        a->min = b->min < a->min ? b->min : a->min;
        a->max = b->max > a->max ? b->max : a->max;
}

static inline void values_add(struct values *c, struct sample s)
{
        values_merge(c, &(struct values){ 1, s.value, s.value, s.value, s.time_ns });
}

/* Of all kept samples of intervals from .. end - 1. */
static inline struct values naive(uint64_t width_ns, uint64_t from, uint64_t end)
{
        struct values c = { 0 };

        for (size_t i = 0; i < n_kept; i++) {
                uint64_t interval = kept[i].time_ns / width_ns;
                if (interval >= from && interval < end)
                        values_add(&c, kept[i]);
        }
        return c;
}

static inline void same(const struct values *a, const struct values *b)
{
        assert_int_equal(a->n, b->n);
        if (b->n)
                assert_memory_equal(a, b, sizeof(*b));
}
