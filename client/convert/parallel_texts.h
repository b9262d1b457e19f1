/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parallel_texts.h - many texts that grow side by side, in one unnamed temporary file, for formats that must write one
 * whole series after the other. Memory depends on the number of texts (at most PARALLEL_TEXT_PIECE bytes each), hardly
 * on their length. Written completely, then printed; not thread-safe.
 */
#ifndef HW_CLIENT_CONVERT_PARALLEL_TEXTS_H
#define HW_CLIENT_CONVERT_PARALLEL_TEXTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PARALLEL_TEXT_PIECE 4096u

struct parallel_text {
        char *waiting; /* less than a piece */
        uint32_t used, room;
        uint64_t *pieces; /* their numbers in the file, in order */
        uint32_t n_pieces;
};

struct parallel_texts {
        FILE *file;
        uint64_t n_pieces; /* in it */
        struct parallel_text *list;
        uint32_t n, room;
};

/* 0 or -errno. */
int parallel_texts_init(struct parallel_texts *s);
void parallel_texts_done(struct parallel_texts *s);

/* Adds an empty one, the s->n-th. 0 or -ENOMEM. */
int parallel_texts_add(struct parallel_texts *s);

/* Appends to the i-th, from 0. 0 or -errno. */
int parallel_texts_write(struct parallel_texts *s, uint32_t i, const char *text, size_t n);

/* Prints all of the i-th. 0 or -errno; errors of `to` stay in it. */
int parallel_texts_print(struct parallel_texts *s, uint32_t i, FILE *to);

#endif
