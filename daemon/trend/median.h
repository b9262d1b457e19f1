/* SPDX-License-Identifier: BSD-3-Clause */
/* median.h - the median of a few hundred numbers, without sorting them. */
#ifndef HW_DAEMON_TREND_MEDIAN_H
#define HW_DAEMON_TREND_MEDIAN_H

#include <stddef.h>

#define MEDIAN_MAX 300u /* values */

/*
 * The median of v[0..n); for even n the mean of the middle two. NaN when n == 0. v is overwritten. No value may be NaN.
 * n <= MEDIAN_MAX.
 */
double median_of(double *v, size_t n);

#endif
