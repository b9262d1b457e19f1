/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/record/assembler.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 4096u

static void set_capacity(struct whole_blocks *b, struct blocks_spare *spare, size_t least)
{
        size_t capacity = b->capacity ? b->capacity : FIRST_BYTES;

        if (!b->bytes && spare && spare->capacity >= least) {
                b->bytes = spare->bytes;
                b->capacity = spare->capacity;
                *spare = (struct blocks_spare){ 0 };
                return;
        }
        while (capacity < least)
                capacity *= 2;
        uint8_t *more = realloc(b->bytes, capacity);
        if (!more)
                return;
        b->bytes = more;
        b->capacity = capacity;
}

bool blocks_append(struct whole_blocks *b, struct blocks_spare *spare, const uint8_t *bytes, size_t size)
{
        if (b->capacity - b->n < size)
                set_capacity(b, spare, b->n + size);
        if (b->capacity - b->n < size)
                return false;
        memcpy(b->bytes + b->n, bytes, size);
        b->n += size;
        return true;
}

void blocks_widen(struct whole_blocks *b, uint64_t begin_ns, uint64_t end_ns)
{
        const bool first = b->n <= BLOCK_MARKER_BYTES;

        if (first || begin_ns < b->begin_ns)
                b->begin_ns = begin_ns;
        if (first || end_ns > b->end_ns)
                b->end_ns = end_ns;
}

bool blocks_open(struct whole_blocks *b, struct blocks_spare *spare, const uint8_t marker[BLOCK_MARKER_BYTES],
                 uint64_t begin_ns)
{
        if (!blocks_append(b, spare, marker, BLOCK_MARKER_BYTES))
                return false;
        b->open = b->n - BLOCK_MARKER_BYTES;
        blocks_widen(b, begin_ns, begin_ns);
        return true;
}

void blocks_set_begin(struct whole_blocks *b, uint64_t begin_ns)
{
        block_marker_set_begin(b->bytes + b->open, begin_ns);
}

void blocks_close(struct whole_blocks *b, uint64_t end_ns)
{
        if (b->open == BLOCKS_CLOSED)
                return;
        block_marker_close(b->bytes + b->open, b->n - b->open, end_ns);
        if (end_ns > b->end_ns)
                b->end_ns = end_ns;
        b->open = BLOCKS_CLOSED;
}

void blocks_free(struct whole_blocks *b, struct blocks_spare *spare)
{
        if (spare && b->capacity > spare->capacity) {
                free(spare->bytes);
                *spare = (struct blocks_spare){ b->bytes, b->capacity };
        } else {
                free(b->bytes);
        }
        *b = BLOCKS_NONE;
}

void blocks_spare_done(struct blocks_spare *spare)
{
        free(spare->bytes);
        *spare = (struct blocks_spare){ 0 };
}
