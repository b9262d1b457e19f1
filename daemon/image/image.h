/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image.h - serialises the state of a target, and restores it.
 *
 * One function of each part walks its struct in both directions: writing, it appends; reading, it
 * fills in. So whatever is in a struct is in the image, and one description serves both.
 *
 *     image_plain      the bytes of a struct, pointers and all
 *     image_block      memory that a pointer in it owns: remembered by its old address
 *     image_pointer    reading only, once all blocks are there: an old address becomes the new one
 *
 * What is read was written by the same build on the same kind of machine (the
 * caller compares LAYOUT) and has a checksum; beyond that nothing is trusted: sizes are those that
 * the reader works out itself, a pointer must lead into a block with room for what it points to,
 * and whoever indexes with a number checks it.
 *
 * The first error sticks: every later call leaves its part empty, so a struct that was walked to
 * the end can be destroyed whatever was read. Pure.
 */
#ifndef HW_DAEMON_IMAGE_IMAGE_H
#define HW_DAEMON_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_BYTES_MAX ((size_t)1 << 30) /* of one target */

struct image_block; /* where memory was, and is now */

struct image {
        bool reads;
        const char *trouble; /* what went wrong first, as a clause; static; NULL: nothing */
        uint8_t *bytes;      /* writing: owned; reading: borrowed */
        size_t n, room;
        size_t at; /* reading: bytes consumed */
        struct image_block *blocks;
        size_t n_blocks, room_blocks;
        bool sorted;
};

/* Begins to write; `expected` is about how many bytes. */
void image_write(struct image *im, size_t expected);

/* Begins to read; `bytes` are borrowed until image_done. */
void image_read(struct image *im, const uint8_t *bytes, size_t n);

/* Frees all but what image_take took. */
void image_done(struct image *im);

/* Writing: hands over the bytes, to free(); NULL after an error. */
uint8_t *image_take(struct image *im, size_t *ret_size);

/* Reading: what was read is invalid. `why`: a static clause. */
void image_refuse(struct image *im, const char *why);

static inline bool image_fine(const struct image *im)
{
        return !im->trouble;
}

/* Reading after an error leaves the object as it is. */
void image_plain(struct image *im, void *object, size_t size);

/* Memory from malloc: `used` bytes of `room`. *memory is NULL when room is 0, and after an error. */
void image_block(struct image *im, void *memory, size_t used, size_t room);

/* The same for an array and its counts, which are 0 after an error. More than `most` items are an error. */
void image_array(struct image *im, void *memory, uint32_t *n, uint32_t *room, size_t item, uint32_t most);

/* A string from malloc, or NULL. */
void image_text(struct image *im, char **text);

/* Reading: *pointer becomes where its `size` bytes are now; NULL stays NULL; NULL after an error. */
void image_pointer(struct image *im, void *pointer, size_t size);

/* The same for a string, which must end with a NUL inside its block. */
void image_string(struct image *im, const char **text);

#endif
