/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read_buffer.h - the buffers that the bytes of all sources are read into; the
 * bytes of one read(2) can be kept there for longer use.
 *
 *     room = read_buffer_room(&b);  read(fd, room, ...);  hand it on;
 *     read_buffer_keep(b, end)  ...  read_buffer_release(b), in any thread
 *
 * Nothing is copied: while nothing is kept, every read goes to the same place,
 * which stays in the CPU cache. The next read goes after what is kept, or to
 * another buffer when this one is full. Functions are for the one thread that
 * reads unless they say otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READ_PIECE_BYTES  (16u * 1024)  /* there is always room for this many */
#define READ_PIECES_BYTES (128u * 1024) /* in one buffer */
#define READ_BUFFERS_ANY  UINT32_MAX

struct read_buffer;

/* The bytes of one read, or the rest of them. */
struct read_piece {
        struct read_buffer *buffer; /* NULL: the bytes are elsewhere and must be copied to be kept */
        const uint8_t *data;
        size_t size;
};

/* Room for READ_PIECE_BYTES, valid until the next call. */
uint8_t *read_buffer_room(struct read_buffer **ret_buffer);

/*
 * Keeps all bytes before `end` in a buffer that is current or already kept. False: that would need more than `most`
 * buffers in total, or out of memory; then nothing has changed.
 */
bool read_buffer_keep(struct read_buffer *b, const uint8_t *end, uint32_t most);

/* Keeps more of a buffer that the caller has kept already, to be released once. False as above. */
bool read_buffer_extend(struct read_buffer *b, const uint8_t *end, uint32_t most);

/* Undoes one read_buffer_keep. Any thread. */
void read_buffer_release(struct read_buffer *b);

/* Every second: gives back free buffers that were not needed since the last call. */
void read_buffers_trim(void);

/* Of all targets together, without the free ones. Any thread. */
uint32_t read_buffers_in_use(void);

/* Free ones that are kept for reuse. Any thread. */
uint32_t read_buffers_at_rest(void);
