/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * resident.h - what the resident memory (RSS) of a process is made of, in six parts that add up to it.
 *
 *      live data               what the program could still reach at its last major collection
 *      slop and copy reserve   the rest of what the runtime needs: allocated since, lost within blocks, allocation
 *                              areas, and the room that the next collection copies to (sizing.h)
 *      kept by the runtime     heap beyond that need: megablocks that it has not given back
 *      given back              freed with MADV_FREE: resident until the kernel needs it
 *      files                   pages of the binary, of libraries, and of other files that are mapped
 *      foreign                 the rest: malloc, C code, stacks, the runtime's own structures, shared memory
 *
 * The kernel counts RSS, given back, files, and pages of the heap at one instant (struct resident_pages). It does not
 * know what the heap is used for: the runtime logs that at each collection, and live data at major ones. So the first
 * three parts divide the heap's resident pages as the newest collection before that instant found them; heap that is
 * not resident (never touched, or in swap) is taken from the last of the three first.
 */
#pragma once

#include <stdint.h>

#include "proto/base/process.h"

/* The parts, in the order of the table above: that of all faces. */
enum resident_part {
        RESIDENT_LIVE,
        RESIDENT_RESERVE,
        RESIDENT_KEPT,
        RESIDENT_GIVEN_BACK,
        RESIDENT_FILES,
        RESIDENT_FOREIGN,
        RESIDENT_PARTS,
};

struct resident {
        uint64_t rss_bytes;             /* UNKNOWN_U64: there is no account, the rest is unknown */
        uint64_t parts[RESIDENT_PARTS]; /* bytes; UNKNOWN_U64: not known */
        uint64_t unknown_bytes;         /* what the unknown parts hold together */
        uint64_t absent_bytes;          /* of the heap's size: not resident; UNKNOWN_U64: not known */
        uint64_t time_ns;               /* event time of the kernel's count */
        uint64_t wall_ns;               /* the same, Unix time */
        uint64_t heap_time_ns;          /* event time of the heap's size that divides its pages; UNKNOWN_U64: none */
        uint64_t live_time_ns; /* event time at which its live data were measured; UNKNOWN_U64: they were not */
};

/* What the runtime logged of its heap; UNKNOWN_U64: not known. */
struct resident_heap {
        uint64_t size_bytes; /* in megablocks */
        uint64_t live_bytes;
        uint64_t needed_bytes; /* what the runtime needs for the live data, and no less than its blocks in use */
};

/*
 * What of resident memory the kernel cannot take back without swap: what verdicts and limits count. Unlike the account,
 * which is made more rarely for a large process, it is of the sample. Pages of files that are still to be written to
 * the disk do not count either: the kernel writes them, then takes them. UNKNOWN_U64 without an RSS.
 */
uint64_t resident_held(const struct process_sample *sample);

/* No account. */
void resident_clear(struct resident *r);

/*
 * Fills the amounts of *ret; the times are the caller's. Without heap_bytes in `pages` the heap is taken to be resident
 * as far as there are pages for it, so that foreign is a lower bound.
 */
void resident_account(const struct resident_pages *pages, const struct resident_heap *heap, struct resident *ret);
