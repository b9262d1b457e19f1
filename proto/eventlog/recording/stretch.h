/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stretch.h - which recording, and which stretch of it, as people type it:
 *
 *     recording:TARGET   recording:/var/lib/heapwatch/TARGET@-1?from=-10m&to=5m
 *
 * A moment is a time since the program began (5m), before the recording's end
 * (-10m), after it (+5m), or its end: now.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/error.h"
#include "proto/eventlog/recording/run_dir.h"

/*
 * cutout.c: a stretch of a recorded run as a valid eventlog.
 *
 *     header | definitions from before the stretch | how the run ended | its blocks | end marker
 *
 * Definitions of blocks that are missing inside of it come where these were.
 * Where the stretch reaches the run's end, there is an end marker only if the
 * run had one: a crash stays a crash. What the recording knows of the end beyond
 * that is a log message (run_end.h), which the header declares.
 *
 * It is cut between frames, which are a second long or 128 KiB: it has all that
 * overlap the stretch. Times stay as they were in the run. It is read like a file.
 */

struct cutout;

struct cutout_range {
        uint64_t from_ns, to_ns; /* event time, both inclusive */
};

/* All there is. */
#define CUTOUT_ALL ((struct cutout_range){ 0, UINT64_MAX })

struct cutout_stats {
        uint64_t begin_ns, end_ns; /* event time of the blocks that were read; end 0: none */
        uint64_t lost_bytes;       /* of eventlog that the recorder dropped between them */
        uint32_t segments;         /* that were read */
        uint32_t missing;          /* between them, removed to stay within a budget, or damaged */
        uint32_t gaps;             /* passed so far, where the recorder has missed something */
};

/*
 * Returns NULL with a sentence when there is no such run or it has no header. Segments that a recorder removes to stay
 * within its budget while this is read count as missing.
 */
struct cutout *cutout_open(const char *directory, const struct recorded_run *run, struct cutout_range range,
                           struct error *error);
void cutout_close(struct cutout **c);

/*
 * The next bytes, either before a gap or after it. Returns their number, 0 at the end. Damaged segments are left out
 * and counted as missing.
 */
size_t cutout_read(struct cutout *c, uint8_t *bytes, size_t size);

const struct cutout_stats *cutout_stats(const struct cutout *c);

#define RECORDING_PREFIX "recording:"

struct stretch {
        char directory[RECORDED_PATH_MAX];             /* "": not given */
        char which[RUN_TARGET_MAX + RUN_NAME_MAX + 2]; /* TARGET or TARGET@RUN */
        char from[32], to[32];                         /* ""; as typed */
};

/* Whether a path names a recording. */
bool stretch_is(const char *text);

/* False with a sentence. */
bool stretch_parse(const char *text, struct stretch *ret, struct error *error);

/* Its range in that run. False with a sentence, also when it is empty. */
bool stretch_range(const struct stretch *s, const struct recorded_run *run, struct cutout_range *ret,
                   struct error *error);
