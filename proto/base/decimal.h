/* SPDX-License-Identifier: BSD-3-Clause */
/* decimal.h - doubles as text with a decimal point, whatever the locale says. */
#ifndef HW_PROTO_BASE_DECIMAL_H
#define HW_PROTO_BASE_DECIMAL_H

#define DECIMAL_MAX 40

/* Fixed number of decimals (0..4) of a finite value below 10^15 in size. Returns `out`. */
char *decimal_fixed(char out[DECIMAL_MAX], double value, int decimals);

/* The fewest digits that read back as the same double; finite values. Returns `out`. */
char *decimal_shortest(char out[DECIMAL_MAX], double value);

/* Nine significant digits, or all digits of a whole number below 9 * 10^15 in size; finite values. Returns `out`. */
char *decimal_short(char out[DECIMAL_MAX], double value);

#endif
