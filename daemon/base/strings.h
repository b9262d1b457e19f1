/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strings.h - every text of a run once: interned, NUL-terminated, with a cap.
 *
 * Equal bytes give the same pointer, valid until strings_clear. Embedded NULs
 * end a text. Bytes are kept as they came: they are sanitised where they leave.
 */
#ifndef HW_BASE_STRINGS_H
#define HW_BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct strings_slot {
        const char *text;               /* NULL: free */
        uint32_t hash, size;
};

struct strings {
        struct arena arena;
        struct strings_slot *slots;     /* open addressing, a power of two */
        uint32_t n_slots, n_used;
        char *chunk;                    /* free space at the end of the newest piece of text memory */
        size_t chunk_left;
        uint64_t seed;
};

/* `max_bytes` of text in all. Allocates nothing yet. */
void strings_init(struct strings *s, size_t max_bytes);
void strings_done(struct strings *s);
void strings_clear(struct strings *s);

/* The interned copy, or NULL when memory is short or the cap is met. */
const char *strings_intern(struct strings *s, const void *bytes, size_t size);

/* Bytes held. */
size_t strings_held(const struct strings *s);

#endif
