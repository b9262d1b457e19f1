/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the header ends with the twelve bytes "hete" "hdre" "datb". After
 * it, blocks follow back to back, each beginning with event 18:
 *
 *      u16 18 | u64 time | u32 size | u64 end | u16 cap      (24 bytes; big-endian)
 *
 * where `size` counts the whole block, marker included. Where there is something
 * else (0xffff at the end, damage), one byte is passed on as OTHER and the search
 * continues: a marker is accepted if type and size are possible. A second header
 * (the log was restarted) replaces the first.
 */
#include "client/run/blocks.h"

#include <string.h>

#include "proto/eventlog/bytes.h"

#define BLOCK_MAX      (64u << 20) /* the RTS uses 2 MiB */
#define MARKER_SIZE_AT 10u

static const uint8_t header_begin[4] = { 'h', 'd', 'r', 'b' };
static const uint8_t header_end[12] = { 'h', 'e', 't', 'e', 'h', 'd', 'r', 'e', 'd', 'a', 't', 'b' };

static bool header_is_whole(const struct blocks *b)
{
        return b->header_size >= sizeof(header_end) &&
               !memcmp(b->header + b->header_size - sizeof(header_end), header_end, sizeof(header_end));
}

static size_t next_header(struct blocks *b, const uint8_t *bytes, size_t size, struct piece *p)
{
        size_t n = 0;

        while (n < size && !b->header_done && !b->header_lost) {
                b->header[b->header_size++] = bytes[n++];
                b->header_done = header_is_whole(b);
                b->header_lost =
                        !b->header_done &&
                        (b->header_size == BLOCKS_HEADER_MAX ||
                         (b->header_size <= 4 && b->header[b->header_size - 1] != header_begin[b->header_size - 1]));
        }
        *p = (struct piece){ PIECE_HEADER, bytes, n, 0 };
        return n;
}

static bool marker_is_possible(const uint8_t *m)
{
        uint32_t size = be32(m + MARKER_SIZE_AT);

        return m[0] == 0 && m[1] == 18 && size >= BLOCKS_MARKER && size <= BLOCK_MAX;
}

/* No block begins at the boundary: the oldest byte is passed on alone, or a new header begins. */
static void not_a_marker(struct blocks *b, struct piece *p)
{
        if (!memcmp(b->marker, header_begin, sizeof(header_begin))) {
                memcpy(b->header, b->marker, b->marker_size);
                b->header_size = b->marker_size;
                b->header_done = b->header_lost = false;
                *p = (struct piece){ PIECE_HEADER, b->marker, b->marker_size, 0 };
                b->marker_size = 0;
                return;
        }
        b->odd[0] = b->marker[0];
        memmove(b->marker, b->marker + 1, --b->marker_size);
        *p = (struct piece){ PIECE_OTHER, b->odd, 1, 0 };
}

/* Whether the bytes collected so far can still begin a marker or a header. */
static bool can_begin(const struct blocks *b)
{
        static const uint8_t event18[2] = { 0, 18 };
        size_t two = b->marker_size < 2 ? b->marker_size : 2, four = b->marker_size < 4 ? b->marker_size : 4;

        return !memcmp(b->marker, event18, two) || !memcmp(b->marker, header_begin, four);
}

static size_t next_marker(struct blocks *b, const uint8_t *bytes, size_t size, struct piece *p)
{
        size_t n = 0;

        *p = (struct piece){ PIECE_OTHER, bytes, 0, 0 };
        while (n < size && b->marker_size < BLOCKS_MARKER && (b->marker_size == 0 || can_begin(b)))
                b->marker[b->marker_size++] = bytes[n++];
        if (b->marker_size < BLOCKS_MARKER && can_begin(b))
                return n; /* more bytes are needed */
        if (!marker_is_possible(b->marker) || b->marker_size < BLOCKS_MARKER) {
                not_a_marker(b, p);
                return n;
        }
        b->inside = be32(b->marker + MARKER_SIZE_AT) - BLOCKS_MARKER;
        b->marker_size = 0;
        *p = (struct piece){ PIECE_BLOCK, b->marker, BLOCKS_MARKER, b->inside };
        return n;
}

size_t blocks_next(struct blocks *b, const uint8_t *bytes, size_t size, struct piece *ret_piece)
{
        if (!b->header_done && !b->header_lost)
                return next_header(b, bytes, size, ret_piece);
        if (b->inside == 0)
                return next_marker(b, bytes, size, ret_piece);
        size_t n = size < b->inside ? size : b->inside;
        b->inside -= (uint32_t)n;
        *ret_piece = (struct piece){ PIECE_INSIDE, bytes, n, 0 };
        return n;
}
