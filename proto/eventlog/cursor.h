/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cursor.h - the bytes at hand, in one piece, whatever the pieces they came in.
 *
 * The decoder reads at `p`, up to `end`, and asks cursor_need() for more than is
 * there. Normally these point into the lent input: nothing is copied. Only
 * what is cut by a piece's end is carried over (cursor_stash) and completed
 * from the next piece; as soon as `p` has left the carried bytes, the cursor is
 * the input itself again.
 */
#ifndef HW_PROTO_EVENTLOG_CURSOR_H
#define HW_PROTO_EVENTLOG_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwatch/eventlog.h"
#include "proto/eventlog/limits.h"

/* The most that cursor_need may request: an event, and the start of the next one (a block marker is 24 bytes). */
#define CURSOR_NEED_MAX (HW_EVENT_MAX_BYTES + 32u)

/* While it is wide: a block, and the start of the next one. */
#define CURSOR_WIDE_NEED_MAX (JOIN_BLOCK_BYTES + CURSOR_NEED_MAX)

struct cursor {
        const uint8_t *p, *end; /* bytes at hand */
        const uint8_t *origin;  /* where `origin_offset` of the stream lies: start of the carry or the input */
        uint64_t origin_offset;
        const uint8_t *input;      /* the lent piece */
        const uint8_t *input_next; /* its bytes from here on are not at hand yet */
        const uint8_t *input_end;
        size_t carried;  /* of earlier pieces, at the carry's start; 0: the cursor is the input */
        uint8_t *carry;  /* `narrow` or `wide` */
        uint8_t *wide;   /* of 2 * CURSOR_WIDE_NEED_MAX; owned; NULL: not wide */
        bool narrows;    /* it no longer needs to be wide */
        uint8_t *narrow; /* CURSOR_NARROW_BYTES, the owner's */
};

#define CURSOR_NARROW_BYTES (2 * CURSOR_NEED_MAX)

/* Empty, at stream offset 0. A new one must be zeroed but for `narrow`. */
void cursor_reset(struct cursor *v);

/* From now on cursor_need may request more. False when out of memory. */
bool cursor_widen(struct cursor *v);

/* Ends that; the memory is freed by the next cursor_stash. */
void cursor_narrow(struct cursor *v);

/* Lends the next piece. Only after cursor_stash. */
void cursor_input(struct cursor *v, const uint8_t *data, size_t size);

/* The slow half of cursor_need. */
bool cursor_more(struct cursor *v, size_t n);

/* Keeps the bytes at hand, before the input goes away. Only after a refused cursor_need. Moves what `p` points to. */
void cursor_stash(struct cursor *v);

/*
 * Whether `n` bytes (at most CURSOR_NEED_MAX, or CURSOR_WIDE_NEED_MAX) are at hand at `p`. May move `p`; earlier
 * pointers stay readable.
 */
static inline bool cursor_need(struct cursor *v, size_t n)
{
        return (size_t)(v->end - v->p) >= n || cursor_more(v, n);
}

/* Stream offset of `p`. */
static inline uint64_t cursor_offset(const struct cursor *v)
{
        return v->origin_offset + (uint64_t)(v->p - v->origin);
}

#endif
