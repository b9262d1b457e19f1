/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * in_order.h - a finished log of several buffers, read in the order of time.
 *
 * Each capability of a program has a buffer of its own, which the runtime writes when it is full (2 MiB) or is told to.
 * So the log of a program that never flushes has minutes of one capability, then the same minutes of the next: read as
 * it lies there, most of it would come too late to be judged, or to be in a chart. Here its blocks are cut where
 * another buffer has the next event, and the pieces come in the order of time, each a block of its own.
 *
 * Nothing is left out: what is not understood (damage) comes as it is, at the time of what precedes it; what is behind
 * the last whole block, at the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/bytes.h"

struct in_order;

/* Where bytes that were read lie in the file, and what was read that is not in it. */
struct in_order_place {
        uint64_t from;    /* offset of the first of them in what was read */
        int64_t moved;    /* to be added to offsets from there on, for those in the file */
        uint64_t markers; /* of blocks that were made, so far: each is an event, of BLOCK_MARKER_BYTES */
        uint64_t blocks;  /* of the file, of the buffer that has most */
};

/*
 * Of a regular file, whose descriptor is borrowed and read by pread(2). NULL: its blocks are in order by their markers,
 * or cannot be put in order (no header, more than 1,000 buffers or 2 million blocks), or there is no memory.
 */
struct in_order *in_order_open(int fd);

/* Clears the pointer; NULL is allowed. */
void in_order_close(struct in_order **o);

/* The next bytes of the log, at most `size` (more than BLOCK_MARKER_BYTES); 0 at the end; -errno. */
ssize_t in_order_read(struct in_order *o, uint8_t *buffer, size_t size, struct in_order_place *ret_place);
