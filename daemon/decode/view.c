/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN. While the view is the carry, its tail is a copy of the input's
 * start:
 *
 *     carry   [ of earlier pieces | copied from the input ]
 *             ^ origin     carried ^        p >= here: switch to the input
 *     input                       [ copied | not at hand yet            ]
 *                                           ^ input_next
 *
 * Only as much is copied as was asked for, so a cut event costs one copy of
 * itself. Room: p stands inside the carried bytes (fewer than VIEW_NEED_MAX,
 * since a request of at most that was refused), and asks for at most
 * VIEW_NEED_MAX: twice that is enough, and nothing moves while events that
 * point into the carry are in use.
 */
#include "decode/view.h"

#include <assert.h>
#include <string.h>

/* The view becomes the lent piece, `skip` bytes into it. */
static void view_direct(struct view *v, size_t skip, uint64_t input_offset)
{
        v->origin = v->input;
        v->origin_offset = input_offset;
        v->p = v->input + skip;
        v->end = v->input_end;
        v->input_next = v->input_end;
        v->carried = 0;
}

void view_reset(struct view *v)
{
        v->p = v->end = v->origin = v->carry;
        v->input = v->input_next = v->input_end = v->carry;
        v->origin_offset = 0;
        v->carried = 0;
}

void view_input(struct view *v, const uint8_t *data, size_t size)
{
        assert(v->input_next == v->input_end);
        if (size == 0)
                return;
        v->input = v->input_next = data;
        v->input_end = data + size;
        if (v->carried == 0)
                view_direct(v, 0, view_offset(v));
}

bool view_more(struct view *v, size_t n)
{
        assert(n <= VIEW_NEED_MAX);
        if (v->carried == 0)
                return false;
        size_t used = (size_t)(v->p - v->carry);
        if (used >= v->carried) {
                view_direct(v, used - v->carried, v->origin_offset + v->carried);
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

void view_stash(struct view *v)
{
        size_t left = (size_t)(v->end - v->p);
        uint64_t offset = view_offset(v);
        assert(left < VIEW_NEED_MAX && v->input_next == v->input_end);
        memmove(v->carry, v->p, left);
        v->p = v->origin = v->carry;
        v->end = v->carry + left;
        v->origin_offset = offset;
        v->carried = left;
        v->input = v->input_next = v->input_end = v->carry;
}
