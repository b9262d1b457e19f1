/* SPDX-License-Identifier: BSD-3-Clause */
/* log_length.h - how long a finished log is in event time, without decoding it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_file;

#define LOG_LENGTH_PIECE 4096u

/*
 * The earliest begin and the latest end among the block markers of a file, in ns since its program began; of the
 * longest run when there are several. Hops from block to block, a few reads per megabyte; a compressed log is unpacked
 * on the way. Starts at the file's current position and moves it.
 */
struct log_length {
        struct log_file *file; /* borrowed */
        uint64_t first_ns;     /* UINT64_MAX: there was no block */
        uint64_t longest_ns;   /* so far; 0: unknown (no blocks, damaged before the first) */
        uint64_t at;           /* of the next block; 0: there is none */
        uint64_t most;         /* blocks are not looked for beyond it */
        uint64_t overlap_ns;   /* by which a block begins before an earlier one ends, at most: of several buffers */
        unsigned hops;
        uint64_t from; /* of the piece */
        size_t n;      /* bytes of the piece */
        uint8_t bytes[LOG_LENGTH_PIECE];
};

void log_length_begin(struct log_length *l, struct log_file *file);

/* Some more blocks. False: that was all; a file damaged later gives what came before. */
bool log_length_step(struct log_length *l);
