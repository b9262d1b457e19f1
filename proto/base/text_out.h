/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text_out.h - writes text piece by piece into a buffer of fixed size.
 *
 * The buffer is terminated after every call. What does not fit is cut, and
 * `cut` is set. For stages that may not use stdio.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text_out {
        char *at;
        size_t size, used; /* used: without the NUL */
        bool cut;
};

/* `size` must not be 0; the buffer is borrowed. */
void text_out_init(struct text_out *o, char *buffer, size_t size);

void text_put_n(struct text_out *o, const char *text, size_t n);
void text_put(struct text_out *o, const char *text);
void text_put_u64(struct text_out *o, uint64_t number);
void text_put_hex(struct text_out *o, uint64_t number); /* without leading zeros or "0x" */

/* Takes back what was put since `used` had this value, for a piece that is better left out than cut. */
void text_out_rewind(struct text_out *o, size_t used);

/* "a, b or c" */
void text_put_alternatives(struct text_out *o, const char *const *words, size_t n);

/* Of texts that may be NULL: whether both are the same; a copy of one, to free(). */
static inline bool text_is_same(const char *a, const char *b)
{
        return a && b ? !strcmp(a, b) : a == b;
}

static inline char *text_copy(const char *text)
{
        return text ? strdup(text) : NULL;
}

/* Whether a text ends with another one, and has more before it. */
static inline bool text_has_suffix(const char *text, const char *end)
{
        const size_t n = strlen(text), m = strlen(end);

        return n > m && !memcmp(text + n - m, end, m);
}

/* All of a NULL-terminated list of texts into a fresh buffer; returns it. */
char *text_join(char *buffer, size_t size, ...) __attribute__((sentinel));

/* What XML has for a character in text, `quoted`: or in quotes; NULL: the character itself. */
const char *xml_entity(char c, bool quoted);

/* decimal.c: doubles as text with a decimal point, whatever the locale says. */

#define DECIMAL_MAX 40

/* Fixed number of decimals (0..4) of a finite value below 10^15 in size. Returns `out`. */
char *decimal_fixed(char out[DECIMAL_MAX], double value, int decimals);

/* The fewest digits that read back as the same double; finite values. Returns `out`. */
char *decimal_shortest(char out[DECIMAL_MAX], double value);

/* Nine significant digits, or all digits of a whole number below 9 * 10^15 in size; finite values. Returns `out`. */
char *decimal_short(char out[DECIMAL_MAX], double value);
