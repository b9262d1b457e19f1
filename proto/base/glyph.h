/* SPDX-License-Identifier: BSD-3-Clause */
/* glyph.h - text on a terminal: its characters one at a time, the columns they take, and what of them fits. */
#ifndef HW_PROTO_BASE_GLYPH_H
#define HW_PROTO_BASE_GLYPH_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
