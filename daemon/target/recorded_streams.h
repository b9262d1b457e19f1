/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorded_streams.h - what a target's recording has, stream after stream, the
 * oldest first: the newest streams within a limit, or, of one that is larger,
 * about as much of its end.
 *
 * It is read from the disk as it is asked for, like a file.
 */
#ifndef HW_DAEMON_TARGET_RECORDED_STREAMS_H
#define HW_DAEMON_TARGET_RECORDED_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/recording/run_dir.h"

struct cutout;

struct recorded_streams {
        const char *directory;     /* borrowed */
        struct recorded_run *runs; /* each is one stream */
        int n, at;
        uint64_t most_bytes;    /* on disk */
        struct cutout *current; /* of runs[at]; NULL: not open */
        uint32_t gaps;          /* passed in it */
};

/* False with a clause: there are none. */
bool recorded_streams_find(struct recorded_streams *s, const char *directory, const char *target, uint64_t most_bytes,
                           struct error *error);

/* Whether there is a current stream. */
bool recorded_streams_more(const struct recorded_streams *s);

/*
 * The next bytes of the current stream, 0: it is over. *ret_gap: something is missing before them. A stream that cannot
 * be opened is logged and has no bytes.
 */
size_t recorded_streams_read(struct recorded_streams *s, uint8_t *bytes, size_t size, bool *ret_gap);

/* Turns to the next stream; returns what is known of the one before. */
const struct recorded_run *recorded_streams_next(struct recorded_streams *s);

/* The newest of them. */
const struct recorded_run *recorded_streams_newest(const struct recorded_streams *s);

/* May be called on a zeroed one. */
void recorded_streams_done(struct recorded_streams *s);

#endif
