/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view.h - the bytes at hand, in one piece, whatever the pieces they came in.
 *
 * The decoder reads at `p`, up to `end`, and asks view_need() for more than is
 * there. Normally these point into the lent input: nothing is copied. Only
 * what is cut by a piece's end is carried over (view_stash) and completed
 * from the next piece; as soon as `p` has left the carried bytes, the view is
 * the input itself again.
 */
#ifndef HW_DECODE_VIEW_H
#define HW_DECODE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwatch/eventlog.h"

/* The most that view_need may be asked for: an event, and the start of the next one (a block marker is 24 bytes). */
#define VIEW_NEED_MAX (HW_EVENT_MAX_BYTES + 32u)

struct view {
        const uint8_t *p, *end;         /* bytes at hand */
        const uint8_t *origin;          /* where `origin_offset` of the stream lies: start of the carry or the input */
        uint64_t origin_offset;
        const uint8_t *input;           /* the lent piece */
        const uint8_t *input_next;      /* its bytes from here on are not at hand yet */
        const uint8_t *input_end;
        size_t carried;                 /* of earlier pieces, at the carry's start; 0: the view is the input */
        uint8_t carry[2 * VIEW_NEED_MAX];
};

/* Empty, at stream offset 0. */
void view_reset(struct view *v);

/* Lends the next piece. Only after view_stash. */
void view_input(struct view *v, const uint8_t *data, size_t size);

/* The slow half of view_need. */
bool view_more(struct view *v, size_t n);

/* Keeps the bytes at hand, for the input is about to go. Only after view_need was refused. Moves what `p` points to. */
void view_stash(struct view *v);

/* Whether `n` (at most VIEW_NEED_MAX) bytes are at hand at `p`. May move `p`; earlier pointers stay readable. */
static inline bool view_need(struct view *v, size_t n)
{
        return (size_t)(v->end - v->p) >= n || view_more(v, n);
}

/* Stream offset of `p`. */
static inline uint64_t view_offset(const struct view *v)
{
        return v->origin_offset + (uint64_t)(v->p - v->origin);
}

#endif
