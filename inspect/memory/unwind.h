/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unwind.h - the frames of C code on a copy of its stack, by the unwind tables that the program has in its memory
 * (.eh_frame with .eh_frame_hdr): no file is needed, and a stripped program has them, too.
 *
 * Tables and stack may hold anything. A frame is given only if its place is in an executable mapping and in a table;
 * a stack ends at the first that is not, such as code of GHC, which has no tables. Frame pointers are not used: without
 * a table it is not known whether a function has one.
 */
#pragma once

#include "inspect/memory/program.h"

#define UNWIND_FRAMES 128u

/* Of the newest frame first. */
struct c_frame {
        uint64_t at;       /* where it is, or to where it will return */
        uint64_t function; /* where its function begins, as far as tables say */
};

/* The code that has called the outermost of them, and is in no table: that of GHC. */
struct c_caller {
        uint64_t at;    /* where it goes on; 0: there is none, or it is not known */
        uint64_t hs_sp; /* Sp there; 0: not known */
};

struct unwinder;

/* NULL: no memory. The program must outlive it. */
struct unwinder *unwinder_new(const struct program *p);
void unwinder_destroy(struct unwinder **u);

/* Reads the tables of all files that are mapped, which otherwise happens when a place in one is first unwound. */
void unwinder_load(struct unwinder *u);

/* Whether a place is in code that has a table. */
bool unwinder_covers(struct unwinder *u, uint64_t at);

/* Frames of a thread that is at r->pc, of `n` words of its stack from r->sp on (rounded down to a word). */
size_t unwind_stack(struct unwinder *u, const struct registers *r, const uint64_t *words, size_t n,
                    struct c_frame ret[UNWIND_FRAMES], struct c_caller *ret_caller);
