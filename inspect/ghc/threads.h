/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.h - Haskell's threads: what each does or waits for, and its stack.
 *
 * In two steps, so that a program is stopped for the first only: threads_copy() copies what the threads are and the
 * used part of their stacks; threads_walk() finds the frames in the copy.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/ghc/census.h"
#include "inspect/ghc/layout.h"
#include "inspect/memory/unwind.h"
#include "proto/base/text_out.h"

/* running.c: what a thread of the operating system runs, by its registers and its C stack: of Haskell, and of C. */

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

#define THREAD_LABEL_BYTES 96u
#define THREAD_FRAMES      64u /* that are kept of a stack, from its top */

enum thread_state {
        THREAD_RUNNABLE, /* and waits for a capability */
        THREAD_RUNNING,
        THREAD_IN_C, /* it called C and its capability waits: `unsafe` */
        THREAD_MVAR,
        THREAD_MVAR_READ,
        THREAD_BLACK_HOLE,
        THREAD_READ,
        THREAD_WRITE,
        THREAD_DELAY,
        THREAD_STM,
        THREAD_FOREIGN,
        THREAD_FOREIGN_INTERRUPTIBLE,
        THREAD_THROW_TO,
        THREAD_MIGRATING,
        THREAD_IO,
        THREAD_UNKNOWN,
        THREAD_STATES
};

/* A stack is a chain of chunks; the copy has the used words of each. */
struct stack_chunk {
        size_t first; /* index of its words in threads.words */
        uint32_t n;
        uint32_t n_before; /* of these, above the stack pointer: that of a running thread is found by trying */
};

struct haskell_thread {
        uint64_t tso, id;
        enum thread_state state;
        uint64_t waits_for;             /* the closure or descriptor that it waits for; 0: none */
        uint64_t owner;                 /* of a black hole: the id of the thread that computes it; 0: not known */
        uint64_t allocated;             /* bytes, ever */
        int os_thread;                  /* that runs it; 0: none */
        bool is_bound;                  /* to a thread of the operating system */
        bool is_main;                   /* it runs the program's `main`; "main" is its label if it has no other */
        uint64_t handler;               /* of the wait for an MVar: the table of its exception handler; 0: none */
        char label[THREAD_LABEL_BYTES]; /* "": none, or this release does not keep it */
        size_t first_chunk;             /* in threads.chunks */
        uint32_t n_chunks;
        bool stale;             /* it runs, and its stack pointer was not found: the stack is as when it last stopped */
        bool cut;               /* more of the stack was not copied: a limit, or it could not be read */
        uint32_t system_thread; /* its number in threads.system, plus 1; 0: not found */

        /* by threads_walk() */
        uint64_t n_frames, stack_words;
        uint64_t frames[THREAD_FRAMES]; /* return addresses, from the top; before them the function that runs */
        uint32_t n_kept;
        bool whole;                  /* its last frame is the one that ends a stack */
        const struct c_frames *in_c; /* NULL: not known */
};

/* A space and the label without its number, as threads of one kind share it. False: nothing is left, or was put. */
bool thread_put_kind(struct text_out *out, const char *label);

struct threads {
        struct c_frames in_c;         /* of the one that runs: threads_unwind() */
        struct system_thread *system; /* that run Haskell, or C that it called */
        size_t n_system, system_capacity;
        struct c_frames *system_frames; /* of each, by threads_walk() */
        struct haskell_thread *items;
        size_t n, capacity;
        struct stack_chunk *chunks;
        size_t n_chunks, chunks_capacity;
        uint64_t *words;
        size_t n_words, words_capacity;
        struct memory pages; /* that were read for the newest copy */
        bool list_cut;       /* a list of threads did not end as lists do */
        bool out_of_memory;
        bool out_of_time;
};

/*
 * Copies all. `expired` says whether the time for it is over (NULL: it never is). What an earlier copy had is replaced;
 * its memory is used again, so that one that is made before the program is stopped saves time in the stop.
 */
void threads_copy(struct threads *ret, struct ghc *g, bool (*expired)(void *ctx), void *ctx);

/* States are right after it: one that was thought to run Haskell may be in C. */
void threads_walk(struct threads *t, struct ghc *g);

/* The frames of one of them, from the top; counts them, and sees whether they are whole. */
void thread_walk(const struct threads *t, struct ghc *g, struct haskell_thread *h,
                 void (*each)(void *ctx, const struct closure_table *frame), void *ctx);

/* Of a program that runs, which of its threads are read, and what was found. */
struct waiting_threads {
        size_t most;       /* threads: of more, these are chosen at random */
        size_t words_most; /* of each stack, from its top */
        uint64_t random;
        bool with_labels;
        uint64_t listed;  /* threads that have not ended */
        uint64_t read;    /* of these */
        uint64_t changed; /* of these: they ran or were moved while they were read, and are left out */
};

/*
 * Copies threads that wait. The program is not stopped: each is read twice, and was at rest if it has not changed.
 * False: garbage was collected whenever they were listed, or the program has ended.
 */
bool threads_copy_waiting(struct threads *ret, struct ghc *g, struct waiting_threads *w);

enum activity {
        ACTIVITY_HASKELL,
        ACTIVITY_FOREIGN,    /* C code of a `safe` call, for which it has left its Haskell thread */
        ACTIVITY_COLLECTION, /* or waits for others that collect garbage */
        ACTIVITY_OTHER       /* the scheduler, or C code that nobody in Haskell called */
};

/*
 * What a thread of the operating system runs, by its registers. Copies its Haskell thread, unless it has none: at most
 * `words_most` words from the top of its stack (more are cut). A capability that was not known is added.
 */
enum activity threads_copy_running(struct threads *ret, struct ghc *g, struct runtime *runtime,
                                   const struct registers *r, size_t words_most);

/* After that, when the thread runs again: its frames in C. */
void threads_unwind(struct threads *t, const struct ghc *g, const struct runtime *runtime, const struct registers *r);

/*
 * The bytes that one of them has allocated, but for a constant, as long as the program sets no limit: to be compared
 * with a later reading. `r`: of the thread that runs it, or did; NULL: none does. False: it is not found any more.
 */
bool thread_allocated(struct ghc *g, const struct haskell_thread *h, const struct registers *r, uint64_t *ret);

void threads_done(struct threads *t);

/* Where in a TSO, without what a profiled header has more, the u64 is that has its state. */
static inline uint64_t thread_state_word_at(const struct thread_layout *l)
{
        return l->why_blocked & ~7u;
}

/* By fields of a TSO. */
enum thread_state thread_state_of(const struct thread_layout *l, uint64_t word);
bool thread_has_ended(uint16_t what_next);

/* In C that it has called, `safe` or `unsafe`. */
bool thread_state_is_in_c(enum thread_state s);

/* For something that another thread, the operating system or a clock brings about; not for a capability. */
bool thread_state_is_waiting(enum thread_state s);

/* "blocked on an MVar" */
const char *thread_state_text(enum thread_state s);
/* "mvar": for programs */
const char *thread_state_word(enum thread_state s);

/* How many words a frame at `words` has, of `n` that there are; 0: there is no frame. *ret: its table. */
size_t frame_words(struct ghc *g, const uint64_t *words, size_t n, const struct closure_table **ret);

/*
 * thread_bands.c: in a census by closure type, threads that wait for the same thing at the same place as a band of
 * their own, with their stacks: so that threads which nobody ends are a band that grows.
 */

#define THREAD_BANDS_NAME  "threads "
#define THREAD_BANDS_LEAST 16u /* threads of a band; fewer stay in TSO and STACK */

/*
 * `bands` are of the census, by type; their sum stays what it was. `ret_threads`: all that have not ended. False: out
 * of memory, and they are as before.
 */
bool heap_bands_split_threads(struct heap_bands *bands, const struct heap_census *c, const struct heap_snapshot *s,
                              uint64_t *ret_threads);

/* The same bands alone; those of the census are not changed. `ret` is empty. */
bool heap_bands_of_threads(struct heap_bands *ret, const struct heap_census *c, const struct heap_snapshot *s,
                           uint64_t *ret_threads);
