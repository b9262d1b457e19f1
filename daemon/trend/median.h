/* SPDX-License-Identifier: BSD-3-Clause */
/* median.h - the middle of a few hundred numbers, found without sorting them all. */
#ifndef HW_DAEMON_TREND_MEDIAN_H
#define HW_DAEMON_TREND_MEDIAN_H

#include <stddef.h>

#define MEDIAN_MAX 300u /* values */

/*
 * The median of v[0..n); of an even number the mean of the middle two. NaN
 * when n == 0. v is spoilt. No value may be NaN. n <= MEDIAN_MAX.
 */
double median_of(double *v, size_t n);

#endif
