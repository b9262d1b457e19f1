/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assembler.h - puts the events of a stream back into whole blocks of an
 * eventlog. Pure.
 *
 * The result is what the decoder delivered, byte by byte, in blocks that may be
 * cut anywhere: each has a marker of its own with its true size, so any number
 * of them after a header is a valid log. Damage is left out, and so is the
 * program's environment; of its arguments only its name and the RTS options are
 * kept, unless all are wanted.
 *
 * Definitions - what later events refer to - are also collected separately, in
 * blocks of their own: every cut-out begins with them. Those that are only
 * referred to (info tables, cost centres, ticky counters) are not in the
 * stream.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwatch/eventlog.h"
#include "proto/base/bytes.h"

/*
 * Whole blocks of an eventlog in memory, one behind the other: each
 * begins with a marker, whose size and end are set when the block is closed.
 *
 * Their memory is reused: fresh memory costs page faults, and giving it back
 * interrupts the thread that reads, because its processor must forget the
 * addresses.
 */

struct whole_blocks {
        uint8_t *bytes; /* from malloc; NULL: none */
        size_t n, capacity;
        uint64_t begin_ns, end_ns; /* the earliest beginning of a block, the latest end */
        size_t open;               /* offset of the open block's marker; BLOCKS_CLOSED: none is open */
};

#define BLOCKS_CLOSED SIZE_MAX
#define BLOCKS_NONE   ((struct whole_blocks){ .open = BLOCKS_CLOSED })

/* The largest memory that blocks were freed from, for the next ones. One thread. */
struct blocks_spare {
        uint8_t *bytes; /* NULL: none */
        size_t capacity;
};

/* Appends bytes to the open block. `spare` may be NULL. False: out of memory. */
bool blocks_append(struct whole_blocks *b, struct blocks_spare *spare, const uint8_t *bytes, size_t size);

/* Opens a block with this marker, that begins at the time. False: out of memory. */
bool blocks_open(struct whole_blocks *b, struct blocks_spare *spare, const uint8_t marker[BLOCK_MARKER_BYTES],
                 uint64_t begin_ns);

/* The open block has events with times between these two. */
void blocks_widen(struct whole_blocks *b, uint64_t begin_ns, uint64_t end_ns);

/* Changes the time at which the open block begins. */
void blocks_set_begin(struct whole_blocks *b, uint64_t begin_ns);

/* Closes the open block, if there is one. */
void blocks_close(struct whole_blocks *b, uint64_t end_ns);

/* Frees them, or keeps their memory as the spare one. */
void blocks_free(struct whole_blocks *b, struct blocks_spare *spare);
void blocks_spare_done(struct blocks_spare *spare);

struct assembler {
        uint16_t *sizes; /* of payloads, by id; HW_EVENT_VARIABLE: such an event has its own */
        bool keep_arguments;
        uint64_t lost_bytes; /* of eventlog, lost when out of memory; the caller counts and clears them */
        uint8_t marker[BLOCK_MARKER_BYTES]; /* of the stream's current block */
        bool has_marker, resume;            /* resume: the block continues in the next batch */
        uint64_t marker_end;                /* stream offset of its end, as announced */
        uint64_t offset;                    /* of the stream, after the newest event */
        uint16_t cap;                       /* of events outside of known blocks */
        uint64_t oldest_ns;                 /* of a block's events so far, including its beginning */
        uint64_t newest_ns;
        struct whole_blocks stream;
        struct whole_blocks always; /* definitions that every cut-out has */
        struct whole_blocks before; /* definitions that cut-outs have which begin after them */
        struct blocks_spare *spare; /* of the stream, not owned; NULL: none */
};

/* Consecutive events, as they were in the stream. */
struct event_span {
        const uint8_t *bytes;
        size_t size;
        uint64_t offset; /* in the stream */
        uint16_t cap;    /* of the first */
};

/* Whether later events need this one: it must never be left out. And whether that can be so of its kind. */
bool assembler_is_definition(const struct hw_event *e);
bool assembler_may_define(uint16_t id);

/* A run begins, as the decoder has just reported. False: out of memory. */
bool assembler_init(struct assembler *a, const struct hw_eventlog *log, bool keep_arguments);

/* The run's header: to free(), *ret_size bytes; NULL when out of memory. */
uint8_t *assembler_header(const struct hw_eventlog *log, size_t *ret_size);

/* Takes delivered events. Only the decoder knows where an info table (IPE) ends: it must be the last event of `s`. */
void assembler_events(struct assembler *a, const struct event_span *s);

/* Takes only the definitions in `s`, its other events are left out. Every cut-out gets them. */
void assembler_definitions(struct assembler *a, const struct event_span *s);

/* Something was left out here; everything before it must have been taken (assembler_detach). */
void assembler_gap(struct assembler *a);

/*
 * The run is over. `marked`: it had an end marker, and the result gets one too. `lost`: what was left out last is not
 * counted yet, so that there are some bytes, at least a block without events, for a frame that does.
 */
void assembler_end(struct assembler *a, bool marked, bool lost);

/* Closes the blocks and hands them over; the caller frees them (blocks_free). */
struct whole_blocks assembler_detach(struct assembler *a, struct whole_blocks *which);

void assembler_done(struct assembler *a);
