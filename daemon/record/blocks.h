/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h - whole blocks of an eventlog in memory, one behind the other: each
 * begins with a marker, whose size and end are set when the block is closed.
 *
 * Their memory is reused: fresh memory costs page faults, and giving it back
 * interrupts the thread that reads, because its processor must forget the
 * addresses.
 */
#ifndef HW_DAEMON_RECORD_BLOCKS_H
#define HW_DAEMON_RECORD_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_MARKER_BYTES 24u

struct whole_blocks {
        uint8_t *bytes; /* from malloc; NULL: none */
        size_t n, capacity;
        uint64_t begin_ns, end_ns; /* the earliest beginning of a block, the latest end */
        size_t open;               /* offset of the open block's marker; BLOCKS_CLOSED: none is open */
};

#define BLOCKS_CLOSED SIZE_MAX
#define BLOCKS_NONE   ((struct whole_blocks){ .open = BLOCKS_CLOSED })

/* The largest memory that blocks were freed from, for the next ones. One thread. */
struct blocks_spare {
        uint8_t *bytes; /* NULL: none */
        size_t capacity;
};

/* Appends bytes to the open block. `spare` may be NULL. False: out of memory. */
bool blocks_append(struct whole_blocks *b, struct blocks_spare *spare, const uint8_t *bytes, size_t size);

/* Opens a block with this marker, that begins at the time. False: out of memory. */
bool blocks_open(struct whole_blocks *b, struct blocks_spare *spare, const uint8_t marker[BLOCK_MARKER_BYTES],
                 uint64_t begin_ns);

/* The open block has events with times between these two. */
void blocks_widen(struct whole_blocks *b, uint64_t begin_ns, uint64_t end_ns);

/* Changes the time at which the open block begins. */
void blocks_set_begin(struct whole_blocks *b, uint64_t begin_ns);

/* Closes the open block, if there is one. */
void blocks_close(struct whole_blocks *b, uint64_t end_ns);

/* Frees them, or keeps their memory as the spare one. */
void blocks_free(struct whole_blocks *b, struct blocks_spare *spare);
void blocks_spare_done(struct blocks_spare *spare);

void block_marker_make(uint8_t marker[BLOCK_MARKER_BYTES], uint64_t begin_ns, uint64_t end_ns, uint16_t cap);
uint64_t block_marker_begin_ns(const uint8_t marker[BLOCK_MARKER_BYTES]);
uint64_t block_marker_end_ns(const uint8_t marker[BLOCK_MARKER_BYTES]);

#endif
