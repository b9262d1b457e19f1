/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stack_profile.h - where the time of a program goes: samples of stacks, each with the ns or bytes that it stands for,
 * folded into a tree. A node is a function with its callers, from the outermost one down. CPU time, or what is
 * allocated, and the time for which Haskell threads wait are two trees, for they are never added to each other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/ghc/threads.h"
#include "proto/base/idtable.h"
#include "proto/base/pool.h"
#include "proto/base/sketch.h"

#define PROFILE_FRAMES     1000u                 /* of a stack, equal neighbours counted once; the rest of it is cut */
#define PROFILE_DEEP       (PROFILE_FRAMES + 3u) /* with what is missing, what it waits for, and the thread */
#define PROFILE_THREADS    200u                  /* that are distinguished */
#define PROFILE_STOP_BITS  5u                    /* precision of the durations of stops */
#define PROFILE_STOP_CELLS SKETCH_CELLS(PROFILE_STOP_BITS, 40)

enum sample_kind {
        SAMPLE_WHOLE,      /* its stack was walked to its bottom */
        SAMPLE_CUT,        /* the stack is larger than what is copied of one */
        SAMPLE_BROKEN,     /* a frame of it was not understood */
        SAMPLE_COLLECTION, /* not in a Haskell thread, while garbage was collected */
        SAMPLE_OUTSIDE,    /* not in a Haskell thread: the scheduler, or C code, also that of a `safe` call */
        SAMPLE_KINDS
};

/* What threads have allocated in the moments after samples, and their CPU time in these. */
struct allocated {
        uint64_t bytes, cpu_ns;
};

struct time_node {
        uint32_t parent; /* id; 0: none */
        uint32_t name;   /* id */
        uint64_t self_weight, total_weight;
        uint64_t self_samples, total_samples;
        uint64_t sampled_ns;           /* by allocation: CPU time that its samples stand for, */
        struct allocated within, seen; /* and what followed them: in moments that ended in it, and in all */
};

struct time_function {
        uint32_t name;
        uint64_t self_weight, total_weight;
        uint64_t self_samples, total_samples; /* a sample counts once, however often the function is in its stack */
};

struct time_tree {
        struct pool nodes; /* by id; a parent's is lower than its children's */
        struct idtable ids;
        uint64_t samples[SAMPLE_KINDS], weights[SAMPLE_KINDS];
        uint64_t unkept_samples, unkept_weight; /* there were too many different stacks */
};

/* What the readings of threads that wait have found. */
struct waiting_profile {
        uint64_t readings;
        uint64_t failed;  /* further ones, for garbage was collected meanwhile */
        uint64_t listed;  /* threads, of all readings together */
        uint64_t read;    /* of these */
        uint64_t changed; /* of these, while they were read: left out */
        uint64_t ns;      /* that the readings stand for together */
        double thread_ns; /* of all threads, whatever they do */
};

struct stack_profile {
        struct pool names;
        struct pool places; /* addresses whose names are known */
        struct idtable name_ids, place_ids;
        uint64_t seed;
        bool by_thread; /* stacks begin with the thread: "thread worker" by its label without its number, "thread 12" */
        uint32_t threads[PROFILE_THREADS]; /* ids of their names */
        size_t n_threads;
        bool by_allocation; /* weights of what runs are bytes that it allocates, in place of ns of CPU time */
        struct time_tree running;
        struct time_tree waiting; /* by Haskell thread, with what it waits for as the outermost name */

        /* by who takes the samples */
        uint64_t began_wall_ns; /* Unix time */
        uint64_t elapsed_ns;
        uint64_t program_ns;      /* CPU time of the whole program meanwhile */
        uint64_t program_bytes;   /* that the whole program has allocated while its counter was known; 0: never */
        uint64_t bytes_meanwhile; /* that samples stand for, of the same time */
        uint64_t unweighed;       /* samples left out: what the thread allocated after them is not known */
        uint64_t waited_ns;       /* in which its threads waited for a processor, when sampled */
        uint64_t expired;         /* stops that ended by themselves: without a sample */
        uint64_t busy;            /* another command had stopped the program */
        bool has_ended, is_interrupted;
        bool is_suspended;                  /* at the end a signal had stopped it */
        uint32_t stops[PROFILE_STOP_CELLS]; /* how many were how long, in ns */
        uint64_t n_stops, longest_stop_ns;
        bool with_waiting;
        struct waiting_profile waits;
};

void stack_profile_init(struct stack_profile *p);
void stack_profile_done(struct stack_profile *p);

/* Adds a sample that stands for `weight`: by threads_copy_running(). `at`: where the processor was. */
void stack_profile_add(struct stack_profile *p, struct ghc *g, struct threads *t, enum activity activity, uint64_t at,
                       uint64_t weight);

/*
 * Adds a sample of one that runs Haskell, which stands for `cpu_ns`, by what was allocated in a moment after it. `end`
 * is the thread when that was over, and where the processor was; NULL: it does not run Haskell any more.
 */
void stack_profile_add_allocating(struct stack_profile *p, struct ghc *g, struct threads *t, uint64_t at,
                                  uint64_t cpu_ns, const struct allocated *after, struct threads *end, uint64_t end_at);

/* Adds those that wait, by threads_copy_waiting(), each of which stands for `ns`. */
void stack_profile_add_waiting(struct stack_profile *p, struct ghc *g, struct threads *t, uint64_t ns);

/* A stack by its names, the innermost first; `tree` is one of the two. */
void stack_profile_add_names(struct stack_profile *p, struct time_tree *tree, const char *const *names, size_t n,
                             uint64_t weight);

void stack_profile_add_stop(struct stack_profile *p, uint64_t ns);

/* That so many of all stops are not longer than. */
uint64_t stack_profile_stop_quantile(const struct stack_profile *p, double share);

/* After the last sample: weights by allocation, and totals. */
void stack_profile_sum(struct stack_profile *p);

/* A function's name, with its package if that is known. */
const char *stack_profile_name(const struct stack_profile *p, uint32_t id);

/* Functions of a tree, by self time; malloc'd. NULL: none, or no memory. */
struct time_function *stack_profile_functions(const struct stack_profile *p, const struct time_tree *tree,
                                              size_t *ret_n);

uint64_t time_tree_samples(const struct time_tree *t);
uint64_t time_tree_weight(const struct time_tree *t);

static inline uint32_t time_tree_count(const struct time_tree *t)
{
        return t->nodes.count;
}

static inline const struct time_node *time_tree_nth(const struct time_tree *t, uint32_t id)
{
        return pool_at(&t->nodes, id);
}

/* Until the next sample: a period on average, between half and one and a half of it. Never in step. */
uint64_t stack_profile_delay_ns(uint64_t *random, uint64_t period_ns);
