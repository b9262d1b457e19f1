/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held_stream.h - what a source has delivered while its target cannot take it yet: bytes, and the ends of streams, in
 * order.
 *
 * All targets together hold HELD_BYTES at most. What does not fit is left out until there is room again, and its place
 * is known.
 */
#ifndef HW_DAEMON_TARGET_HELD_STREAM_H
#define HW_DAEMON_TARGET_HELD_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HELD_BYTES ((size_t)64 << 20)

enum held_kind {
        HELD_BYTES_OF_STREAM,
        HELD_CUT,    /* the stream is over; the bytes are a sentence that says why */
        HELD_MISSING /* bytes were left out here */
};

struct held_part {
        struct held_part *next;
        enum held_kind kind;
        size_t n, room;
        size_t taken; /* by the one who takes them */
        char bytes[];
};

struct held_stream {
        struct held_part *first, *last;
        bool full;       /* the newest bytes were left out */
        uint64_t missed; /* bytes left out, in all */
};

void held_stream_bytes(struct held_stream *h, const void *bytes, size_t n);
void held_stream_cut(struct held_stream *h, const char *why);

/* Removes the first part. */
void held_stream_drop(struct held_stream *h);

/* Removes all. */
void held_stream_done(struct held_stream *h);

#endif
