/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strings.h - every text of a run once: interned, NUL-terminated, with a cap.
 *
 * Equal bytes give the same pointer, valid until strings_done. Embedded NULs
 * end a text. Bytes are kept as they came and sanitised on output; what every
 * output needs to know of a text is kept in front of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/idtable.h"

struct strings {
        struct arena arena;
        struct idtable places; /* of texts, as ids */
        char **pieces;         /* of text memory; a text of place p is in piece p / STRINGS_PIECE_BYTES */
        uint32_t n_pieces, pieces_room;
        uint32_t piece; /* the one that is being filled, from `used` on; 0: none */
        uint32_t used;
        uint64_t seed;
};

#define STRINGS_PIECE_BYTES 4096u

/* `max_bytes` of text in all. Allocates nothing yet. */
void strings_init(struct strings *s, size_t max_bytes);

/* Frees all; it can be used again. */
void strings_done(struct strings *s);

/* The interned copy, or NULL when out of memory or at the cap. */
const char *strings_intern(struct strings *s, const void *bytes, size_t size);

/* The copy that is interned already, or NULL. */
const char *strings_find(const struct strings *s, const void *bytes, size_t size);

/* Bytes held. */
size_t strings_held(const struct strings *s);

/* What is in front of an interned text. */
struct strings_head {
        uint32_t size : 31;
        uint32_t : 1; /* any, in images of older versions */
};

static inline size_t strings_size(const char *interned)
{
        struct strings_head head;

        memcpy(&head, interned - sizeof(head), sizeof(head)); /* it may be unaligned */
        return head.size;
}
