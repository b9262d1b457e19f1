/* SPDX-License-Identifier: BSD-3-Clause */
/* ckd.h - arithmetic on numbers from outside: each returns true on overflow, false with the result stored. */
#pragma once

#include <stdint.h>

#define ckd_add(ret, a, b) __builtin_add_overflow((a), (b), (ret))
#define ckd_mul(ret, a, b) __builtin_mul_overflow((a), (b), (ret))

/* Subtraction that stops at 0: times of different buffers may go backwards. */
#define sub_sat(a, b) ((a) > (b) ? (a) - (b) : 0)

/* How far apart two unsigned numbers are. */
#define sub_abs(a, b) ((a) > (b) ? (a) - (b) : (b) - (a))

/* The nearest whole number towards 0 that fits: a number that was computed from the log may be any. NaN: 0. */
static inline uint64_t u64_sat(double v)
{
        return v >= 0x1p64 ? UINT64_MAX : v > 0 ? (uint64_t)v : 0;
}
