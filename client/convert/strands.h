/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strands.h - many texts that grow side by side, in one unnamed temporary file, for formats that must write one whole
 * series after the other. Memory depends on the number of texts (at most STRAND_PIECE bytes each), hardly on their
 * length. Written completely, then printed; not thread-safe.
 */
#ifndef HW_CLIENT_CONVERT_STRANDS_H
#define HW_CLIENT_CONVERT_STRANDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define STRAND_PIECE 4096u

struct strand {
        char *waiting; /* less than a piece */
        uint32_t used, room;
        uint64_t *pieces; /* their numbers in the file, in order */
        uint32_t n_pieces;
};

struct strands {
        FILE *file;
        uint64_t n_pieces; /* in it */
        struct strand *list;
        uint32_t n, room;
};

/* 0 or -errno. */
int strands_init(struct strands *s);
void strands_done(struct strands *s);

/* Adds an empty one, the s->n-th. 0 or -ENOMEM. */
int strands_add(struct strands *s);

/* Appends to the i-th, from 0. 0 or -errno. */
int strands_write(struct strands *s, uint32_t i, const char *text, size_t n);

/* Prints all of the i-th. 0 or -errno; errors of `to` stay in it. */
int strands_print(struct strands *s, uint32_t i, FILE *to);

#endif
