/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: while reading, blocks are remembered in the order read; the first pointer sorts them by their old addresses,
 * later ones use binary search. Old addresses serve no other purpose.
 */
#include "daemon/image/image.h"
#include "proto/base/array.h"

#include <stdlib.h>
#include <string.h>
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif

#define WRITE_LEAST ((size_t)64 << 10)
#define TEXT_MAX    ((uint32_t)64 << 10)

struct image_block {
        uint64_t old;
        size_t size;
        uint8_t *now;
};

/* In front of each block. */
struct block_head {
        uint64_t old, used, room;
};

void image_write(struct image *im, size_t expected)
{
        *im = (struct image){ .room = expected < WRITE_LEAST ? WRITE_LEAST : expected };
        im->bytes = malloc(im->room);
        if (!im->bytes)
                im->trouble = "out of memory";
}

void image_read(struct image *im, const uint8_t *bytes, size_t n)
{
        *im = (struct image){ .reads = true, .bytes = (uint8_t *)bytes, .n = n };
}

void image_done(struct image *im)
{
        if (!im->reads)
                free(im->bytes);
        free(im->blocks);
        *im = (struct image){ 0 };
}

uint8_t *image_take(struct image *im, size_t *ret_size)
{
        uint8_t *bytes = im->trouble ? NULL : im->bytes;

        if (!bytes)
                return NULL;
        *ret_size = im->n;
        im->bytes = NULL;
        return bytes;
}

void image_refuse(struct image *im, const char *why)
{
        if (!im->trouble)
                im->trouble = why;
}

/* ------------------------------------------------------------------- bytes */

static void put(struct image *im, const void *object, size_t size)
{
        if (im->trouble || size == 0)
                return;
        if (size > im->room - im->n) {
                size_t room = im->room + im->room / 2 + size;
                uint8_t *more = room <= IMAGE_BYTES_MAX ? realloc(im->bytes, room) : NULL;
                if (!more) {
                        im->trouble = "out of memory";
                        return;
                }
                im->bytes = more;
                im->room = room;
        }
        memcpy(im->bytes + im->n, object, size);
#ifdef VALGRIND_MAKE_MEM_DEFINED
        (void)VALGRIND_MAKE_MEM_DEFINED(im->bytes + im->n, size); /* padding, and room not used yet */
#endif
        im->n += size;
}

static bool get(struct image *im, void *object, size_t size)
{
        if (im->trouble)
                return false;
        if (size > im->n - im->at) {
                im->trouble = "it ends too early";
                return false;
        }
        if (size)
                memcpy(object, im->bytes + im->at, size);
        im->at += size;
        return true;
}

void image_plain(struct image *im, void *object, size_t size)
{
        if (im->reads)
                (void)get(im, object, size);
        else
                put(im, object, size);
}

/* ------------------------------------------------------------------ blocks */

static void remember(struct image *im, uint64_t old, uint8_t *now, size_t size)
{
        if (!ARRAY_RESERVE(im->blocks, im->room_blocks, im->n_blocks + 1)) {
                im->trouble = "out of memory";
                return;
        }
        im->blocks[im->n_blocks++] = (struct image_block){ old, size, now };
        im->sorted = false;
}

static void *read_block(struct image *im, size_t used, size_t room)
{
        struct block_head head;
        uint8_t *now;

        if (!get(im, &head, sizeof(head)))
                return NULL;
        if (head.used != used || head.room != room || used > room || used > im->n - im->at || room > IMAGE_BYTES_MAX) {
                im->trouble = "a part of it has another size than it must have";
                return NULL;
        }
        now = malloc(room);
        if (!now) {
                im->trouble = "out of memory";
                return NULL;
        }
        (void)get(im, now, used);
        remember(im, head.old, now, room);
        return now;
}

void image_block(struct image *im, void *memory, size_t used, size_t room)
{
        void *old;

        memcpy(&old, memory, sizeof(old));
        if (im->reads) {
                old = im->trouble || room == 0 ? NULL : read_block(im, used, room);
                memcpy(memory, &old, sizeof(old));
        } else if (room) {
                const struct block_head head = { (uintptr_t)old, used, room };
                put(im, &head, sizeof(head));
                put(im, old, used);
        }
}

void image_array(struct image *im, void *memory, uint32_t *n, uint32_t *room, size_t item, uint32_t most)
{
        if (im->reads && (*n > *room || *room > most))
                image_refuse(im, "it has more of something than there can be");
        image_block(im, memory, *n * item, *room * item);
        if (im->trouble && im->reads)
                *n = *room = 0;
}

void image_text(struct image *im, char **text)
{
        uint32_t size = !im->reads && *text ? (uint32_t)strlen(*text) + 1 : 0;

        image_plain(im, &size, sizeof(size));
        if (!im->reads) {
                put(im, *text, size);
                return;
        }
        *text = NULL;
        if (im->trouble || size == 0)
                return;
        if (size > TEXT_MAX || size > im->n - im->at || im->bytes[im->at + size - 1] != '\0') {
                im->trouble = "a text of it has no end";
                return;
        }
        *text = strndup((const char *)im->bytes + im->at, size);
        im->at += size;
        if (!*text)
                im->trouble = "out of memory";
}

/* ---------------------------------------------------------------- pointers */

static int by_old(const void *a, const void *b)
{
        const struct image_block *x = a, *y = b;

        return x->old < y->old ? -1 : x->old > y->old;
}

/* The block that an old address was in, or NULL. */
static const struct image_block *find(struct image *im, uint64_t old)
{
        size_t from = 0, to = im->n_blocks;

        if (!im->sorted && im->n_blocks > 1)
                qsort(im->blocks, im->n_blocks, sizeof(*im->blocks), by_old);
        im->sorted = true;
        while (from < to) { /* the last that begins at or before it */
                size_t middle = from + (to - from) / 2;
                if (im->blocks[middle].old <= old)
                        from = middle + 1;
                else
                        to = middle;
        }
        if (from == 0 || old - im->blocks[from - 1].old >= im->blocks[from - 1].size)
                return NULL;
        return &im->blocks[from - 1];
}

void image_pointer(struct image *im, void *pointer, size_t size)
{
        const struct image_block *b = NULL;
        uintptr_t old;
        uint8_t *now = NULL;

        memcpy(&old, pointer, sizeof(old));
        if (old && !im->trouble) {
                b = find(im, old);
                if (b && size <= b->size - (old - b->old))
                        now = b->now + (old - b->old);
                else
                        im->trouble = "a part of it leads to nowhere";
        }
        memcpy(pointer, &now, sizeof(now));
}

void image_string(struct image *im, const char **text)
{
        const struct image_block *b = *text && !im->trouble ? find(im, (uintptr_t)*text) : NULL;
        size_t at = b ? (uintptr_t)*text - b->old : 0;

        if (b && !memchr(b->now + at, '\0', b->size - at))
                image_refuse(im, "a text of it has no end");
        image_pointer(im, text, 1);
}
