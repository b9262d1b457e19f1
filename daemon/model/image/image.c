/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: while reading, blocks are remembered in the order read; the first pointer sorts them by their old addresses,
 * later ones use binary search. Old addresses serve no other purpose.
 */
#include "daemon/model/image/image.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif

#define WRITE_LEAST ((size_t)64 << 10)
#define TEXT_MAX    ((uint32_t)64 << 10)

/* Of items that may have had another size; those of bytes have the size 1. */
struct image_block {
        uint64_t old;
        size_t n, old_item, item;
        uint8_t *now;
};

/* In front of each block. */
struct block_head {
        uint64_t old, used, room;
};

/* The first bytes of an image. */
struct image_head {
        uint64_t definitions; /* where they begin */
};

void image_write(struct image *im, size_t expected)
{
        *im = (struct image){ .room = expected < WRITE_LEAST ? WRITE_LEAST : expected };
        im->bytes = malloc(im->room);
        if (!im->bytes)
                im->trouble = "out of memory";
        image_plain(im, &(struct image_head){ 0 }, sizeof(struct image_head));
}

void image_read(struct image *im, const uint8_t *bytes, size_t n)
{
        struct image_head head = { 0 };

        *im = (struct image){ .reads = true, .bytes = (uint8_t *)bytes, .n = n };
        image_plain(im, &head, sizeof(head));
        if (image_fine(im) && (head.definitions < sizeof(head) || head.definitions > n))
                image_refuse(im, "it ends too early");
        if (!image_fine(im))
                return;
        im->at = head.definitions;
        definitions_read(im);
        im->at = sizeof(head);
}

void image_done(struct image *im)
{
        if (!im->reads)
                free(im->bytes);
        free(im->blocks);
        definitions_done(im);
        *im = (struct image){ 0 };
}

uint8_t *image_detach(struct image *im, size_t *ret_size)
{
        const struct image_head head = { im->n };

        definitions_write(im);
        uint8_t *bytes = im->trouble ? NULL : im->bytes;
        if (!bytes)
                return NULL;
        memcpy(bytes, &head, sizeof(head));
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

static void put_object(struct image *im, const void *object, size_t size)
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

static bool get_object(struct image *im, void *object, size_t size)
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
                (void)get_object(im, object, size);
        else
                put_object(im, object, size);
}

void image_expect(struct image *im, const void *object, size_t size)
{
        if (!im->reads) {
                put_object(im, object, size);
                return;
        }
        if (im->trouble)
                return;
        if (size > im->n - im->at || memcmp(im->bytes + im->at, object, size) != 0)
                im->trouble = "it is kept in another way by the version that wrote it";
        else
                im->at += size;
}

/* ----------------------------------------------------------------- structs */

/* The plan for the next item's type; NULL after an error. */
static const struct image_plan *read_type(struct image *im, const struct image_type *type)
{
        uint32_t number = 0;

        return get_object(im, &number, sizeof(number)) ? definitions_plan(im, number, type) : NULL;
}

static void write_type(struct image *im, const struct image_type *type)
{
        uint32_t number = definitions_number(im, type);

        put_object(im, &number, sizeof(number));
}

void image_struct(struct image *im, void *object, const struct image_type *type)
{
        uint8_t *at = (uint8_t *)object + type->from;

        if (!im->reads) {
                write_type(im, type);
                put_object(im, at, type->size);
                return;
        }
        const struct image_plan *plan = read_type(im, type);
        if (!plan)
                return;
        if (plan_size(plan) > im->n - im->at) {
                image_refuse(im, "it ends too early");
                return;
        }
        plan_apply(im, plan, im->bytes + im->at, at);
        im->at += plan_size(plan);
}

/* ------------------------------------------------------------------ blocks */

static void remember_block(struct image *im, struct image_block block)
{
        if (!ARRAY_RESERVE(im->blocks, im->room_blocks, im->n_blocks + 1)) {
                im->trouble = "out of memory";
                return;
        }
        im->blocks[im->n_blocks++] = block;
        im->sorted = false;
}

/* `plan`: NULL for bytes. */
static void *read_block(struct image *im, const struct image_plan *plan, size_t used, size_t room, size_t item)
{
        const size_t old_item = plan ? plan_size(plan) : item;
        struct block_head head;
        uint8_t *now;

        if (!get_object(im, &head, sizeof(head)))
                return NULL;
        if (head.used != used || head.room != room || used > room || used > (im->n - im->at) / old_item ||
            room > IMAGE_BYTES_MAX / item) {
                im->trouble = "a part of it has another size than it must have";
                return NULL;
        }
        now = plan && !plan_is_copy(plan) ? calloc(room, item) : malloc(room * item);
        if (!now) {
                im->trouble = "out of memory";
                return NULL;
        }
        for (size_t i = 0; plan && !plan_is_copy(plan) && i < used; i++)
                plan_apply(im, plan, im->bytes + im->at + i * old_item, now + i * item);
        if (!plan || plan_is_copy(plan))
                memcpy(now, im->bytes + im->at, used * item);
        im->at += used * old_item;
        remember_block(im, (struct image_block){ head.old, room, old_item, item, now });
        return now;
}

static void write_block(struct image *im, const void *memory, size_t used, size_t room, size_t item)
{
        const struct block_head head = { (uintptr_t)memory, used, room };

        put_object(im, &head, sizeof(head));
        put_object(im, memory, used * item);
}

void image_block(struct image *im, void *memory, size_t used, size_t room)
{
        void *old;

        memcpy(&old, memory, sizeof(old));
        if (im->reads) {
                old = im->trouble || room == 0 ? NULL : read_block(im, NULL, used, room, 1);
                memcpy(memory, &old, sizeof(old));
        } else if (room) {
                write_block(im, old, used, room, 1);
        }
}

void image_structs(struct image *im, void *memory, uint32_t used, uint32_t room, const struct image_type *type)
{
        void *old;

        memcpy(&old, memory, sizeof(old));
        if (im->reads) {
                const struct image_plan *plan = room == 0 ? NULL : read_type(im, type);
                old = plan ? read_block(im, plan, used, room, type->size) : NULL;
                memcpy(memory, &old, sizeof(old));
        } else if (room) {
                write_type(im, type);
                write_block(im, old, used, room, type->size);
        }
}

static void check_counts(struct image *im, const uint32_t *n, const uint32_t *room, uint32_t most)
{
        if (im->reads && (*n > *room || *room > most))
                image_refuse(im, "it has more of something than there can be");
}

void image_array(struct image *im, void *memory, uint32_t *n, uint32_t *room, size_t item, uint32_t most)
{
        check_counts(im, n, room, most);
        if (*room)
                image_expect(im, &item, sizeof(item));
        image_block(im, memory, *n * item, *room * item);
        if (im->trouble && im->reads)
                *n = *room = 0;
}

void image_struct_array(struct image *im, void *memory, uint32_t *n, uint32_t *room, const struct image_type *type,
                        uint32_t most)
{
        check_counts(im, n, room, most);
        image_structs(im, memory, *n, *room, type);
        if (im->trouble && im->reads)
                *n = *room = 0;
}

void image_text(struct image *im, char **text)
{
        uint32_t size = !im->reads && *text ? (uint32_t)strlen(*text) + 1 : 0;

        image_plain(im, &size, sizeof(size));
        if (!im->reads) {
                put_object(im, *text, size);
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

/* ----------------------------------------------------------------- entries */

/* The first enumerator from `at` on that counts an item; names->n: none is left. */
static uint32_t next_name(const struct image_entries *e, uint32_t at)
{
        while (at < e->names->n && (uint64_t)e->names->names[at].value >= e->n)
                at++;
        return at;
}

struct image_entries image_entries(struct image *im, const struct image_names *names, uint32_t n)
{
        struct image_entries e = { .names = names, .n = n };

        for (uint32_t at = next_name(&e, 0); !im->reads && at < names->n; at = next_name(&e, at + 1))
                e.left++;
        image_plain(im, &e.left, sizeof(e.left));
        return e;
}

/* The place of an enumerator, or e->n: there is none. */
static uint32_t place_of(const struct image_entries *e, const char *name)
{
        for (uint32_t at = next_name(e, 0); at < e->names->n; at = next_name(e, at + 1))
                if (!strcmp(e->names->names[at].name, name))
                        return (uint32_t)e->names->names[at].value;
        return e->n;
}

static bool read_next(struct image *im, struct image_entries *e)
{
        if (e->begin && image_fine(im) && im->at != e->begin + e->size)
                image_refuse(im, "a part of it has another size than it must have");
        for (e->i = e->n; e->left > 0 && e->i == e->n && image_fine(im); e->left--) {
                const char *name = (const char *)im->bytes + im->at;
                const char *end = memchr(name, '\0', im->n - im->at);
                if (!end) {
                        image_refuse(im, "a text of it has no end");
                        break;
                }
                im->at += (size_t)(end - name) + 1;
                (void)get_object(im, &e->size, sizeof(e->size));
                e->begin = im->at;
                if (image_fine(im) && e->size > im->n - im->at)
                        image_refuse(im, "it ends too early");
                e->i = place_of(e, name);
                if (e->i == e->n && image_fine(im))
                        im->at += e->size;
        }
        if (e->i == e->n || !image_fine(im))
                return false;
        e->seen |= UINT64_C(1) << e->i;
        return true;
}

/* The next item without an entry, after an error, too. */
static bool next_lacking(struct image_entries *e)
{
        for (e->i = 0; e->i < e->n && e->seen >> e->i & 1;)
                e->i++;
        e->lacks = e->i < e->n;
        e->seen |= e->lacks ? UINT64_C(1) << e->i : 0;
        return e->lacks;
}

bool image_next(struct image *im, struct image_entries *e)
{
        if (!im->reads) {
                if (e->begin && image_fine(im)) {
                        uint64_t size = im->n - e->begin;
                        memcpy(im->bytes + e->begin - sizeof(size), &size, sizeof(size));
                }
                e->at = next_name(e, e->at);
                if (e->at == e->names->n || !image_fine(im))
                        return false;
                const struct image_name *name = &e->names->names[e->at++];
                put_object(im, name->name, strlen(name->name) + 1);
                put_object(im, &(uint64_t){ 0 }, sizeof(uint64_t));
                e->i = (uint32_t)name->value;
                e->begin = im->n;
                return true;
        }
        return (!e->lacks && read_next(im, e)) || next_lacking(e);
}

/* ---------------------------------------------------------------- pointers */

static int by_old(const void *a, const void *b)
{
        const struct image_block *x = a, *y = b;

        return x->old < y->old ? -1 : x->old > y->old;
}

/* The block that an old address was in, or NULL. */
static const struct image_block *find_block(struct image *im, uint64_t old)
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
        const struct image_block *b = from ? &im->blocks[from - 1] : NULL;
        return b && (old - b->old) / b->old_item < b->n ? b : NULL;
}

/* Where an old address in a block is now: NULL when it is in the middle of an item that is no longer alike. */
static uint8_t *find_now(const struct image_block *b, uint64_t old)
{
        const uint64_t at = old - b->old;

        if (b->old_item == b->item)
                return b->now + at;
        return at % b->old_item == 0 ? b->now + at / b->old_item * b->item : NULL;
}

void image_pointer(struct image *im, void *pointer, size_t size)
{
        const struct image_block *b;
        uintptr_t old;
        uint8_t *now = NULL;

        memcpy(&old, pointer, sizeof(old));
        if (old && !im->trouble) {
                b = find_block(im, old);
                now = b ? find_now(b, old) : NULL;
                if (!now || size > b->n * b->item - (size_t)(now - b->now)) {
                        now = NULL;
                        im->trouble = "a part of it leads to nowhere";
                }
        }
        memcpy(pointer, &now, sizeof(now));
}

void image_string(struct image *im, const char **text)
{
        const struct image_block *b = *text && !im->trouble ? find_block(im, (uintptr_t)*text) : NULL;
        size_t at = b ? (uintptr_t)*text - b->old : 0;

        if (b && (b->item != 1 || !memchr(b->now + at, '\0', b->n - at)))
                image_refuse(im, "a text of it has no end");
        image_pointer(im, text, 1);
}
