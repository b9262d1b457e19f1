/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * writer.h - synthetic eventlogs, as the runtime system would write them: for
 * tests of rules, whose made-up values become a log, and for benches.
 *
 *     writer_header_begin(w); writer_type(w, HW_HEAP_LIVE, 12, "HEAP_LIVE"); writer_header_end(w);
 *     writer_block_begin(w, t, t, 0);
 *     writer_event(w, HW_HEAP_LIVE, t); writer_number(w, 0, 4); writer_number(w, bytes, 8);
 *     writer_block_end(w);
 *
 * Bytes gather in `data`; the caller takes data[0..n) whenever no block is open
 * and begins again with n = 0. What does not fit sets `failed`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WRITER_BYTES    (1u << 20) /* one block at most; the RTS uses 2 MiB */
#define WRITER_VARIABLE 0xffffu    /* size of a type whose events carry their length */

struct eventlog_writer {
        size_t n;
        size_t block; /* where the open block's marker begins */
        bool failed;
        uint8_t data[WRITER_BYTES];
};

/* Big-endian; `width` bytes of it. */
void writer_number(struct eventlog_writer *w, uint64_t value, unsigned width);
void writer_bytes(struct eventlog_writer *w, const void *bytes, size_t size);
void writer_string(struct eventlog_writer *w, const char *text); /* with its NUL */

void writer_header_begin(struct eventlog_writer *w);
void writer_type(struct eventlog_writer *w, uint16_t id, uint16_t size, const char *name);
void writer_header_end(struct eventlog_writer *w);

/* All events of a block must be between its two times. */
void writer_block_begin(struct eventlog_writer *w, uint64_t begin_ns, uint64_t end_ns, uint16_t cap);
void writer_block_end(struct eventlog_writer *w);

/* Corrects the end time of the open block. */
void writer_block_until(struct eventlog_writer *w, uint64_t end_ns);

/* Id and time; the payload follows. */
void writer_event(struct eventlog_writer *w, uint16_t id, uint64_t time_ns);

/* The length of a variable event: begun after its time, set when the payload is complete; `extra` is added to it. */
size_t writer_length_begin(struct eventlog_writer *w);
void writer_length_end(struct eventlog_writer *w, size_t begin, unsigned extra);

/* The end marker, after the last block. */
void writer_end(struct eventlog_writer *w);
