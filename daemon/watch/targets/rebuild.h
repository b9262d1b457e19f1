/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rebuild.h - the state of a target from its recording, when its checkpoint
 * cannot be read: damaged, or of a version that kept something in another way.
 *
 *     recording ─▶ decoder, model, tracker, alerts     in slices, between the turns of all sources
 *     source ─▶ held (held_stream.c)                   from the first moment: its program does not wait
 *
 * The recorded streams are read as if they came again, one target after the
 * other. Then a socket's run is lost, as when a connection breaks, and its
 * next stream may continue it; a FIFO's goes on inside the stream. What came
 * after the last recorded frame is in the gap that is counted then. Then what
 * was held is taken, recorded as usual, until the target has caught up.
 *
 * Meanwhile subscribers see a target without a run, which says why. Resident
 * memory and what else was not in the stream is unknown afterwards. Files need
 * no recording: they are read again themselves.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/publish/publisher.h"
#include "daemon/source/source.h"
#include "proto/base/error.h"
#include "proto/eventlog/recording/run_dir.h"

struct pipeline;
struct pipeline_options;
struct rebuild;

#define REBUILD_RECORDED_BYTES (128u << 20) /* on disk, of one target: what is older is not read */

/*
 * For a pipeline that was just made and has no source yet: p->rebuild, until it is over. False with a clause in
 * `error`, and nothing has changed: there is nothing to rebuild from.
 */
bool rebuild_begin(struct pipeline *p, const struct pipeline_options *options, struct error *error);

/* Ends it, wherever it is. NULL allowed. */
void rebuild_destroy(struct rebuild **r);

/* What the source reports meanwhile. */
void rebuild_bytes(struct rebuild *r, const struct read_piece *piece);
void rebuild_cut(struct rebuild *r, const char *why);
void rebuild_source_state(struct rebuild *r, enum source_state state, const char *why);

/* How the program ended, as reported by its parent meanwhile. */
void rebuild_exited(struct rebuild *r, const struct run_exit *how);

/* Whether the recording is still being read: what is known of the target is of the past. Until then subscribers see: */
bool rebuild_reads(const struct rebuild *r);
struct publisher *rebuild_publisher(struct rebuild *r);
struct target_facts rebuild_facts(struct rebuild *r);
void rebuild_publish(struct rebuild *r);

/* That of the pipeline, while it is set aside. */
struct recording *rebuild_recording(struct rebuild *r);

/*
 * held_stream.c: what a source has delivered while its target cannot take it yet: bytes, and the ends of streams, in
 * order.
 *
 * All targets together hold HELD_BYTES at most. What does not fit is left out until there is room again, and its place
 * is known.
 */

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

/*
 * recorded_streams.c: what a target's recording has, stream after stream, the
 * oldest first: the newest streams within a limit, or, of one that is larger,
 * about as much of its end.
 *
 * It is read from the disk as it is asked for, like a file.
 */

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
