/* SPDX-License-Identifier: BSD-3-Clause */
/* running.h - what a thread of the operating system runs, by its registers and its C stack: of Haskell, and of C. */
#ifndef HW_INSPECT_GHC_RUNNING_H
#define HW_INSPECT_GHC_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/ghc/layout.h"
#include "inspect/memory/unwind.h"

#define CAPABILITIES_MOST 256u
#define COLLECTORS        4u
#define C_STACK_WORDS     2048u
#define RUNTIME_THREADS   1000u /* by which capabilities are found */

/* The innermost part of a C stack: in it C code has saved registers, and its frames are. */
struct c_stack {
        uint64_t words[C_STACK_WORDS];
        size_t n;
};

/* The runtime's record of a Haskell thread that is in a `safe` call, which its capability has listed. */
struct suspended_call {
        uint64_t at, tso;
        uint64_t task, system_thread; /* of the operating system: its pthread_t */
        uint64_t outer;               /* the one that this is in, by a call back; 0: none */
};

/* What is known of a runtime before a thread of it is read. */
struct runtime {
        struct unwinder *unwinder; /* borrowed; NULL: C code is shown by where it is alone */
        struct c_stack c_stack;    /* of the newest copy */
        bool has_c_stack;          /* it was read for that */
        uint64_t capabilities[CAPABILITIES_MOST];
        size_t n_capabilities;
        uint64_t stack_table;               /* by which a STACK is known: the table of one */
        struct range collector[COLLECTORS]; /* code that collects, or waits for it; empty where it has no symbol */
        uint64_t at_calls;                  /* where in a capability its list of these is; 0: not known */
        struct suspended_call *calls;
        size_t n_calls, calls_capacity;
};

/* By the first threads of each list, and by symbols. */
void runtime_find(struct runtime *ret, struct ghc *g);

/* By one thread, without symbols. */
void runtime_add_thread(struct runtime *rt, struct ghc *g, uint64_t tso);

/* Of all capabilities that are known. None: there are more than `most`, or they changed meanwhile. */
void runtime_find_calls(struct runtime *rt, struct ghc *g, size_t most);
void runtime_done(struct runtime *rt);

/* By the newest C stack, and symbols. */
bool runtime_has_called_collector(const struct runtime *rt);

struct running {
        uint64_t tso, id;        /* 0: it has left its Haskell thread for a `safe` call */
        uint64_t stack, pointer; /* of its Haskell thread, and into that; 0: where it was left */
};

/*
 * The Haskell thread of one of the system. False: there is none, or it is not found. A capability that was not known is
 * added. `with_c_stack`: reads its C stack in any case.
 */
bool running_find(struct running *ret, struct ghc *g, struct runtime *rt, const struct registers *r, bool with_c_stack);

/* By the lists of `safe` calls alone, as they are now. */
bool running_find_call(struct running *ret, struct ghc *g, struct runtime *rt, const struct registers *r);

/* C code that a thread is in. */
struct c_frames {
        struct c_frame items[UNWIND_FRAMES]; /* from the innermost outwards */
        size_t n;
        uint64_t caller; /* where in the code of Haskell the last one was called; 0: not known */
};

/* `u` may be NULL. Returns what Sp is in the code of Haskell that has called; 0: not known. */
uint64_t c_frames_find(struct c_frames *ret, struct unwinder *u, const struct program *p, const struct registers *r,
                       const uint64_t *words, size_t n);

#endif
