/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h - finds the header's end and the block boundaries in a passing
 * eventlog, so that the relay can leave out whole blocks and give a later
 * reader the header and then whole blocks. It knows nothing of events: they are
 * the daemon's concern. Pure.
 *
 * Feed it bytes in any split; it hands them back as pieces that are each part
 * of the header, of one block, or of neither (a damaged stretch, the end mark).
 */
#ifndef HW_CLIENT_RUN_BLOCKS_H
#define HW_CLIENT_RUN_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKS_HEADER_MAX 65536u /* a longer header is not kept: later readers get none */
#define BLOCKS_MARKER     24u    /* bytes of a block marker */

enum piece_kind {
        PIECE_HEADER, /* bytes of the header; the last piece ends with "datb" */
        PIECE_BLOCK,  /* first piece of a block: its whole marker; `rest` bytes follow */
        PIECE_INSIDE, /* more of the same block */
        PIECE_OTHER   /* outside blocks */
};

struct piece {
        enum piece_kind kind;
        const uint8_t *bytes; /* until the next call */
        size_t size;
        uint32_t rest; /* PIECE_BLOCK: bytes of the block after this piece */
};

/* All zero at first. */
struct blocks {
        uint8_t header[BLOCKS_HEADER_MAX];
        size_t header_size; /* kept so far */
        bool header_done;   /* header[] is complete */
        bool header_lost;   /* longer than BLOCKS_HEADER_MAX, or the log did not begin with one */
        uint32_t inside;    /* bytes left of the current block */
        uint8_t marker[BLOCKS_MARKER];
        size_t marker_size; /* bytes of it gathered */
        uint8_t odd[1];     /* the byte of a PIECE_OTHER that came from an earlier call */
};

/*
 * Takes up to `size` bytes and returns the next piece, and how many bytes were
 * taken. Call until it takes nothing and the piece is empty: some pieces
 * consist of bytes that were taken before.
 */
size_t blocks_next(struct blocks *b, const uint8_t *bytes, size_t size, struct piece *ret_piece);

#endif
