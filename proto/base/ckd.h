/* SPDX-License-Identifier: BSD-3-Clause */
/* ckd.h - arithmetic on numbers from outside: each returns true on overflow, false with the result stored. */
#ifndef HW_PROTO_BASE_CKD_H
#define HW_PROTO_BASE_CKD_H

#define ckd_add(ret, a, b) __builtin_add_overflow((a), (b), (ret))
#define ckd_mul(ret, a, b) __builtin_mul_overflow((a), (b), (ret))

/* Subtraction that stops at 0: times of different buffers may go backwards. */
#define sub_sat(a, b) ((a) > (b) ? (a) - (b) : 0)

/* How far apart two unsigned numbers are. */
#define sub_abs(a, b) ((a) > (b) ? (a) - (b) : (b) - (a))

#endif
