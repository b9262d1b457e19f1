/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * type.h - the type of a value in a rule's expression: a boolean, or a number
 * in bytes^b * seconds^s.
 *
 * A number without a dimension is plain (written without a unit), a share (%)
 * or a count. A plain number can be combined with either; a share and a count
 * cannot: `threads > 5%` is a mistake.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum type_sort { SORT_PLAIN, SORT_SHARE, SORT_COUNT };

struct type {
        bool boolean;
        int8_t bytes, seconds; /* powers */
        enum type_sort sort;   /* valid when it is a number and both powers are 0 */
};

#define TYPE_BOOLEAN          ((struct type){ .boolean = true })
#define TYPE_PLAIN            ((struct type){ .sort = SORT_PLAIN })
#define TYPE_SHARE            ((struct type){ .sort = SORT_SHARE })
#define TYPE_COUNT            ((struct type){ .sort = SORT_COUNT })
#define TYPE_BYTES            ((struct type){ .bytes = 1 })
#define TYPE_SECONDS          ((struct type){ .seconds = 1 })
#define TYPE_BYTES_PER_SECOND ((struct type){ .bytes = 1, .seconds = -1 })

/* Whether numbers of both types can be compared, added and subtracted; then *ret is the type of their sum. */
bool type_join(struct type a, struct type b, struct type *ret);

/* Product, quotient. False when a power leaves the range of -4 .. 4. */
bool type_multiply(struct type a, struct type b, struct type *ret);
bool type_divide(struct type a, struct type b, struct type *ret);

#define TYPE_NAME_MAX 48

/* "bytes", "seconds", "bytes per second", "a share", "a count", "true or false" ... */
const char *type_name(struct type t, char name[TYPE_NAME_MAX]);

#define TYPE_VALUE_MAX 64

/*
 * A number for people, in its own unit: "1.23 MiB", "3.20 s", "4.5 KiB/min",
 * "12 %". Infinity is "never" for seconds. Returns `out`.
 */
char *type_value_text(struct type t, double value, char out[TYPE_VALUE_MAX]);
