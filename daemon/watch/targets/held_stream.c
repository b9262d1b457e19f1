/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/targets/rebuild.h"

#include <stdlib.h>
#include <string.h>

#define PART_BYTES ((size_t)64 << 10) /* small pieces share a part */

static size_t held; /* of all targets; by the one thread that reads */

/* Adds a part that may hold `room` bytes. False: that is too much, or out of memory. */
static bool add(struct held_stream *h, enum held_kind kind, const void *bytes, size_t n, size_t room)
{
        struct held_part *part = held + room > HELD_BYTES ? NULL : malloc(sizeof(*part) + room);

        if (!part)
                return false;
        *part = (struct held_part){ .kind = kind, .n = n, .room = room };
        if (n > 0)
                memcpy(part->bytes, bytes, n);
        if (h->last)
                h->last->next = part;
        else
                h->first = part;
        h->last = part;
        held += room;
        return true;
}

static bool append(struct held_stream *h, const void *bytes, size_t n)
{
        struct held_part *last = h->last;

        if (!last || last->kind != HELD_BYTES_OF_STREAM || last->room - last->n < n)
                return add(h, HELD_BYTES_OF_STREAM, bytes, n, n < PART_BYTES ? PART_BYTES : n);
        memcpy(last->bytes + last->n, bytes, n);
        last->n += n;
        return true;
}

void held_stream_bytes(struct held_stream *h, const void *bytes, size_t n)
{
        const bool room = held + n + PART_BYTES <= HELD_BYTES;

        if (!h->full || (room && add(h, HELD_MISSING, NULL, 0, 0)))
                h->full = !append(h, bytes, n);
        if (h->full)
                h->missed += n;
}

void held_stream_cut(struct held_stream *h, const char *why)
{
        h->full = !add(h, HELD_CUT, why, strlen(why) + 1, strlen(why) + 1) || h->full;
}

void held_stream_drop(struct held_stream *h)
{
        struct held_part *first = h->first;

        h->first = first->next;
        if (!h->first)
                h->last = NULL;
        held -= first->room;
        free(first);
}

void held_stream_done(struct held_stream *h)
{
        while (h->first)
                held_stream_drop(h);
}
