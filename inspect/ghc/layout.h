/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.h - where fields are, by release of GHC: a table, of which the row is chosen that the program's own threads
 * fit. The release is not read from the program's file: what counts is what is in memory.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "inspect/ghc/blocks.h"
#include "inspect/ghc/info_tables.h"
#include "inspect/memory/program.h"

/* From the first to the last release that has a row in the table. */
#define GHC_RELEASES "9.0 to 9.10"

#define HEADER_BYTES_MORE 16u /* that a closure of a profiled program has */

/* Offsets in a TSO, without the two words that a profiled header has more. */
struct thread_layout {
        const char *releases;
        uint16_t why_blocked, why_blocked_bytes, block_info, id, capability;
        uint16_t label; /* 0: threads have none in this release */
        uint16_t blocked_exceptions, blocking_queue, allocation_limit;
        uint16_t words; /* of a TSO */
};

/* The same in all of them. */
enum {
        THREAD_LINK = 16, /* to the next of its generation's list */
        THREAD_STACK = 24,
        THREAD_WHAT_NEXT = 32,
        STACK_SIZE = 8, /* u32, in words */
        STACK_POINTER = 16,
        STACK_WORDS = 24,          /* where they begin */
        CAPABILITY_REGISTERS = 24, /* BaseReg points here */
        CAPABILITY_CURRENT_THREAD = 896,
        CAPABILITY_NURSERY = 904,
        CAPABILITY_CURRENT_NURSERY = 912,
};

struct ghc {
        struct program *program;   /* borrowed */
        unsigned trec_entry_words; /* of a transaction: the threaded runtime counts updates, too */
        struct generations generations;
        struct info_tables tables;
        struct thread_layout thread;
        bool profiled;
        unsigned header_words; /* of a closure */
        unsigned shift;        /* bytes that a profiled header has more */
};

/* Finds out all of it. False with a sentence: what does not fit. ghc_done() is needed only after true. */
bool ghc_find(struct ghc *ret, struct program *program, struct error *error);
void ghc_done(struct ghc *g);

/* Goes through the threads of all lists. Begin with { .ghc = g }, or with some of its generations. */
struct thread_cursor {
        struct ghc *ghc;
        unsigned generation, end; /* up to, but without it; 0: to the oldest one */
        uint64_t count;           /* threads so far, for there is a limit */
        bool is_cut;              /* a list was cut off by something else than its end */
        bool is_old;              /* the next list is the second one of its generation */
        uint64_t next, kept, next_kept;
};

/* False: there is no further one. */
bool ghc_next_thread(struct thread_cursor *c, uint64_t *ret_tso);
