/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image.h - serialises the state of a target, and restores it.
 *
 * One function of each part walks its struct in both directions: writing, it appends; reading, it
 * fills in. So one description serves both.
 *
 *     image_struct     the members of a struct, pointers and all; one of another version becomes one of this
 *     image_plain      bytes that mean the same in every version
 *     image_structs    memory that a pointer in it owns: remembered by its old address; image_block: of bytes
 *     image_entries    what there is for each value of an enum
 *     image_expect     what must be as it was when the image was written, such as the widths of intervals
 *     image_pointer    reading only, once all blocks are there: an old address becomes the new one
 *
 * Members, enumerators and entries are found by their names (definitions.c). A name that is kept has kept its meaning:
 * who changes the meaning or the unit of a member renames it.
 *
 * What is read was written on the same kind of machine and has a checksum; beyond that nothing is trusted: sizes are
 * those that the reader works out itself, a pointer must lead into a block with room for what it points to, and whoever
 * indexes with a number checks it.
 *
 * The first error sticks: every later call leaves its part empty, so a struct that was walked to
 * the end can be destroyed whatever was read. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/model/image/type.h"

#define IMAGE_BYTES_MAX ((size_t)1 << 30) /* of one target */

struct image_block; /* where memory was, and is now */
struct image_their_type;

struct image {
        bool reads;
        const char *trouble; /* what went wrong first, as a clause; static; NULL: nothing */
        uint8_t *bytes;      /* writing: owned; reading: borrowed */
        size_t n, room;      /* reading: n without the definitions */
        size_t at;           /* reading: bytes consumed */
        struct image_block *blocks;
        size_t n_blocks, room_blocks;
        bool sorted;
        const struct image_type **types; /* writing: by number */
        struct image_their_type *theirs; /* reading: the same, as they are defined in the image */
        uint32_t n_types, types_room;
};

/* Begins to write; `expected` is about how many bytes. */
void image_write(struct image *im, size_t expected);

/* Begins to read; `bytes` are borrowed until image_done. */
void image_read(struct image *im, const uint8_t *bytes, size_t n);

/* Frees all but what image_detach took. */
void image_done(struct image *im);

/* Writing: hands over the bytes, to free(); NULL after an error. */
uint8_t *image_detach(struct image *im, size_t *ret_size);

/* Reading: what was read is invalid. `why`: a static clause. */
void image_refuse(struct image *im, const char *why);

static inline bool image_fine(const struct image *im)
{
        return !im->trouble;
}

/* Bytes that have the same meaning in every version. Reading after an error leaves the object as it is. */
void image_plain(struct image *im, void *object, size_t size);

/* What must be as it was when the image was written: else the image is refused. */
void image_expect(struct image *im, const void *object, size_t size);

/* A struct. Reading: members that the writer did not have stay as they are. */
void image_struct(struct image *im, void *object, const struct image_type *type);

/* Memory from malloc: `used` bytes of `room`. *memory is NULL when room is 0, and after an error. */
void image_block(struct image *im, void *memory, size_t used, size_t room);

/* The same for structs; members that the writer did not have are 0. */
void image_structs(struct image *im, void *memory, uint32_t used, uint32_t room, const struct image_type *type);

/*
 * The same for an array and its counts, which are 0 after an error. More than `most` items are an error; so are items
 * of another size than they had.
 */
void image_array(struct image *im, void *memory, uint32_t *n, uint32_t *room, size_t item, uint32_t most);
void image_struct_array(struct image *im, void *memory, uint32_t *n, uint32_t *room, const struct image_type *type,
                        uint32_t most);

/* A string from malloc, or NULL. */
void image_text(struct image *im, char **text);

/*
 * One entry for each item of an array of at most 64 that an enum counts, found again by its enumerator. Entries that
 * are not known are passed over. Reading, each item for which the writer had no entry comes after the others, with
 * `lacks`: nothing that it owns was read, so it is cleared.
 *
 *     for (struct image_entries e = image_entries(im, names, n); image_next(im, &e);)
 *             if (e.lacks)
 *                     array[e.i] = (struct item){ 0 };
 *             else
 *                     image_...(im, &array[e.i]);
 */
struct image_entries {
        const struct image_names *names;
        uint32_t n, i; /* items of the array; the current one */
        uint32_t at;   /* writing: of the next enumerator in `names` */
        uint32_t left; /* reading: entries that follow */
        uint64_t size; /* reading: of the current entry, in bytes */
        size_t begin;  /* where it begins; 0: none yet */
        uint64_t seen; /* reading: items that came, as bits */
        bool lacks;    /* reading: the current one has no entry */
};
struct image_entries image_entries(struct image *im, const struct image_names *names, uint32_t n);
bool image_next(struct image *im, struct image_entries *e);

/*
 * Reading: *pointer, to a block or one of its items, becomes where its `size` bytes are now; NULL stays NULL; NULL
 * after an error.
 */
void image_pointer(struct image *im, void *pointer, size_t size);

/* The same for a string, which must end with a NUL inside its block. */
void image_string(struct image *im, const char **text);

/*
 * definitions.c: the definitions of an image's types, and structs of one version as those of another.
 *
 * DESIGN: structs are in an image as they were in memory, and after them the definition of each type that occurs: so it
 * costs the watched second nothing, and the reader, if its own type is defined alike, one copy. Else each member is
 * found by its name: a number keeps its value in another width, an enumerator and the items of an array that an enum
 * counts keep their names, what the writer did not have stays as it was in the reader's object. Pure.
 */

struct image_plan; /* how a type of the writer's becomes one of the reader's */

/* Writing: the number of a type in this image, defined at its end. */
uint32_t definitions_number(struct image *im, const struct image_type *type);

/* Writing: appends the definitions of all types that have a number. */
void definitions_write(struct image *im);

/* Reading: the definitions are at im->at, up to im->n. */
void definitions_read(struct image *im);
void definitions_done(struct image *im);

/* Reading: the plan for a type by the writer's number; NULL after an error: it is not a type of that name. */
const struct image_plan *definitions_plan(struct image *im, uint32_t number, const struct image_type *own);

/* The size that it had; whether it is the reader's type as it is. */
uint32_t plan_size(const struct image_plan *plan);
bool plan_is_copy(const struct image_plan *plan);

/* Converts one struct, or the span of one. */
void plan_apply(struct image *im, const struct image_plan *plan, const uint8_t *from, uint8_t *to);
