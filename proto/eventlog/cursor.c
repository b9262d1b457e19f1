/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN. While the cursor is the carry, its tail is a copy of the input's
 * start:
 *
 *     carry   [ of earlier pieces | copied from the input ]
 *             ^ origin     carried ^        p >= here: switch to the input
 *     input                       [ copied | not at hand yet            ]
 *                                           ^ input_next
 *
 * Only as much is copied as was asked for, so a cut event costs one copy of
 * itself. Room: p is inside the carried bytes (fewer than CURSOR_NEED_MAX,
 * since a request of at most that was refused), and asks for at most
 * CURSOR_NEED_MAX: twice that is enough, and nothing moves while events that
 * point into the carry are in use. For more it is widened for a while.
 */
#include "proto/eventlog/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The view becomes the lent piece, `skip` bytes into it. */
static void cursor_direct(struct cursor *v, size_t skip, uint64_t input_offset)
{
        v->origin = v->input;
        v->origin_offset = input_offset;
        v->p = v->input + skip;
        v->end = v->input_end;
        v->input_next = v->input_end;
        v->carried = 0;
}

static size_t need_max(const struct cursor *v)
{
        return v->wide ? CURSOR_WIDE_NEED_MAX : CURSOR_NEED_MAX;
}

bool cursor_widen(struct cursor *v)
{
        v->narrows = false;
        if (v->wide)
                return true;
        v->wide = malloc(2 * (size_t)CURSOR_WIDE_NEED_MAX);
        if (v->wide) {
                /* Moves the carried bytes to another carry. The old one stays while anything else points there. */
                uint8_t *to = v->wide;
                const size_t n = v->carried ? (size_t)(v->end - v->carry) : 0, used = (size_t)(v->p - v->carry);

                if (v->carried) {
                        memcpy(to, v->carry, n);
                        v->p = to + used;
                        v->end = to + n;
                        v->origin = to;
                }
                v->carry = to;
        }
        return v->wide;
}

void cursor_narrow(struct cursor *v)
{
        v->narrows = true;
}

static void drop_wide(struct cursor *v)
{
        free(v->wide);
        v->wide = NULL;
        v->carry = v->narrow;
        v->narrows = false;
}

void cursor_reset(struct cursor *v)
{
        drop_wide(v);
        v->p = v->end = v->origin = v->carry;
        v->input = v->input_next = v->input_end = v->carry;
        v->origin_offset = 0;
        v->carried = 0;
}

void cursor_input(struct cursor *v, const uint8_t *data, size_t size)
{
        assert(v->input_next == v->input_end);
        if (size == 0)
                return;
        v->input = v->input_next = data;
        v->input_end = data + size;
        if (v->carried == 0)
                cursor_direct(v, 0, cursor_offset(v));
}

bool cursor_more(struct cursor *v, size_t n)
{
        assert(n <= need_max(v));
        if (v->carried == 0)
                return false;
        size_t used = (size_t)(v->p - v->carry);
        if (used >= v->carried) {
                cursor_direct(v, used - v->carried, v->origin_offset + v->carried);
                return (size_t)(v->end - v->p) >= n;
        }
        size_t have = (size_t)(v->end - v->p);
        size_t left = (size_t)(v->input_end - v->input_next);
        size_t take = n - have < left ? n - have : left;
        memcpy(v->carry + used + have, v->input_next, take);
        v->input_next += take;
        v->end += take;
        return have + take >= n;
}

void cursor_stash(struct cursor *v)
{
        size_t left = (size_t)(v->end - v->p);
        uint64_t offset = cursor_offset(v);
        assert(left < need_max(v) && v->input_next == v->input_end);
        if (v->narrows && left < CURSOR_NEED_MAX) {
                memcpy(v->narrow, v->p, left);
                v->p = v->narrow;
                drop_wide(v);
        }
        memmove(v->carry, v->p, left);
        v->p = v->origin = v->carry;
        v->end = v->carry + left;
        v->origin_offset = offset;
        v->carried = left;
        v->input = v->input_next = v->input_end = v->carry;
}
