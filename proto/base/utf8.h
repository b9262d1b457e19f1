/* SPDX-License-Identifier: BSD-3-Clause */
/* utf8.h - one character at a time: decoding with all of UTF-8's rules, and which characters steer a screen. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character at `bytes` (n of them, at least one). Returns its
 * length 1..4, or 0 when no valid character begins there: overlong, surrogate,
 * beyond U+10FFFF, cut off.
 */
size_t utf8_decode(const void *bytes, size_t n, uint32_t *ret_code);

/* The greatest length up to `n` at which valid UTF-8 of more than n bytes can be cut. */
size_t utf8_cut(const char *text, size_t n);

/*
 * True for characters that change how the text around them is shown: C0, DEL,
 * C1, line and paragraph separators, bidirectional controls, invisible marks.
 */
bool utf8_is_control(uint32_t code);

/* glyph.c: text on a terminal: its characters one at a time, the columns they take, and what of them fits. */

/* A text from elsewhere with nothing that steers a terminal (hw_terminal_text()); "" for NULL. Returns `out`. */
char *safe_text(char *out, size_t size, const char *text);

/* The same in at most that many bytes, without a name for them: valid until the end of the block. */
#define SAFE_TEXT(size, text) safe_text((char[size]){ "" }, size, text)

struct glyph {
        char bytes[5];
        size_t length; /* in the source text */
        int columns;   /* 0: joins the one before */
};

/*
 * The first character of `text`, which is not empty. What cannot be shown is a
 * '?'. So is all but ASCII if `ascii`, except the few symbols that heapwatch
 * itself draws: they have substitutes.
 */
struct glyph glyph_next(const char *text, bool ascii);

/* Columns that text takes. */
int text_columns(const char *text);

/* Bytes of the beginning of `text` that fit in `width` columns. */
size_t text_beginning(const char *text, int width);

/* Where the end of `text` begins that fits in `width` columns. */
const char *text_end(const char *text, int width);
