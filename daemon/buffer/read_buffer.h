/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read_buffer.h - where the bytes of all sources are read to, and how what one
 * read(2) brought stays there for those who need it longer.
 *
 *     room = read_buffer_room(&b);  read(fd, room, ...);  hand it on;
 *     read_buffer_keep(b, end)  ...  read_buffer_release(b), in any thread
 *
 * Nothing is copied: while nobody keeps anything, all is read to the same place,
 * which the cache holds; what is kept is followed by the next piece, and a full
 * buffer by another. All but the release belongs to the one thread that reads.
 */
#ifndef HW_DAEMON_BUFFER_READ_BUFFER_H
#define HW_DAEMON_BUFFER_READ_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READ_PIECE_BYTES  (16u * 1024)  /* there is always room for so much */
#define READ_PIECES_BYTES (128u * 1024) /* in one buffer */
#define READ_BUFFERS_ANY  UINT32_MAX

struct read_buffer;

/* What one read brought, or what is left of it. */
struct read_piece {
        struct read_buffer *buffer; /* NULL: the bytes lie elsewhere, and can only be copied */
        const uint8_t *data;
        size_t size;
};

/* Room for READ_PIECE_BYTES, until the next call. */
uint8_t *read_buffer_room(struct read_buffer **ret_buffer);

/*
 * Keeps what lies before `end` in a buffer whose bytes are at hand. False: that would need more than `most` buffers in
 * all, or memory that is not there; then it is as before.
 */
bool read_buffer_keep(struct read_buffer *b, const uint8_t *end, uint32_t most);

/* Of one who kept. Any thread. */
void read_buffer_release(struct read_buffer *b);

/* Of all targets together, those at rest left out. */
uint32_t read_buffers_in_use(void);

#endif
