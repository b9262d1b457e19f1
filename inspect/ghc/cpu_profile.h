/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu_profile.h - where the CPU time of a program goes: samples of stacks, each with the CPU time that it stands for,
 * folded into a tree. A node is a function with its callers, from the outermost one down.
 */
#ifndef HW_INSPECT_GHC_CPU_PROFILE_H
#define HW_INSPECT_GHC_CPU_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/ghc/threads.h"
#include "proto/base/idtable.h"
#include "proto/base/pool.h"
#include "proto/base/sketch.h"

#define PROFILE_FRAMES     1000u /* of a stack, equal neighbours counted once; the rest of it is cut */
#define PROFILE_THREADS    200u  /* that are told from each other */
#define PROFILE_STOP_BITS  5u    /* precision of the durations of stops */
#define PROFILE_STOP_CELLS SKETCH_CELLS(PROFILE_STOP_BITS, 40)

enum sample_kind {
        SAMPLE_WHOLE,      /* its stack was walked to its bottom */
        SAMPLE_CUT,        /* the stack is larger than what is copied of one */
        SAMPLE_BROKEN,     /* a frame of it was not understood */
        SAMPLE_COLLECTION, /* not in a Haskell thread, while garbage was collected */
        SAMPLE_OUTSIDE,    /* not in a Haskell thread: the scheduler, or C code, also that of a `safe` call */
        SAMPLE_KINDS
};

struct cpu_profile_node {
        uint32_t parent; /* id; 0: none */
        uint32_t name;   /* id */
        uint64_t self_ns, total_ns;
        uint64_t self_samples, total_samples;
};

struct cpu_profile_function {
        uint32_t name;
        uint64_t self_ns, total_ns;
        uint64_t self_samples, total_samples; /* a sample counts once, however often the function is in its stack */
};

struct cpu_profile {
        struct pool nodes; /* by id; a parent's is lower than its children's */
        struct pool names;
        struct pool places; /* addresses whose names are known */
        struct idtable node_ids, name_ids, place_ids;
        uint64_t seed;
        bool by_thread; /* stacks begin with the thread: "thread worker" by its label without its number, "thread 12" */
        uint32_t threads[PROFILE_THREADS]; /* ids of their names */
        size_t n_threads;
        uint64_t samples[SAMPLE_KINDS], ns[SAMPLE_KINDS];
        uint64_t unkept_samples, unkept_ns; /* there were too many different stacks */

        /* by who takes the samples */
        uint64_t elapsed_ns;
        uint64_t program_ns; /* CPU time of the whole program meanwhile */
        uint64_t waited_ns;  /* in which its threads waited for a processor, when sampled */
        uint64_t expired;    /* stops that ended by themselves: without a sample */
        uint64_t busy;       /* another command had stopped the program */
        bool has_ended, is_interrupted;
        uint32_t stops[PROFILE_STOP_CELLS]; /* how many were how long, in ns */
        uint64_t n_stops, longest_stop_ns;
};

void cpu_profile_init(struct cpu_profile *p);
void cpu_profile_done(struct cpu_profile *p);

/*
 * Adds a sample that stands for `ns`: by threads_copy_running(). `at`: where the processor was.
 */
void cpu_profile_add(struct cpu_profile *p, struct ghc *g, struct threads *t, enum activity activity, uint64_t at,
                     uint64_t ns);

/* A stack by its names, the innermost first. */
void cpu_profile_add_names(struct cpu_profile *p, const char *const *names, size_t n, uint64_t ns);

void cpu_profile_add_stop(struct cpu_profile *p, uint64_t ns);

/* That so many of all stops are not longer than. */
uint64_t cpu_profile_stop_quantile(const struct cpu_profile *p, double share);

/* After the last sample: totals. */
void cpu_profile_sum(struct cpu_profile *p);

uint64_t cpu_profile_samples(const struct cpu_profile *p);
uint64_t cpu_profile_ns(const struct cpu_profile *p);

/* Functions, by self time; malloc'd. NULL: none, or no memory. */
struct cpu_profile_function *cpu_profile_functions(const struct cpu_profile *p, size_t *ret_n);

static inline uint32_t cpu_profile_count(const struct cpu_profile *p)
{
        return p->nodes.count;
}

static inline const struct cpu_profile_node *cpu_profile_nth(const struct cpu_profile *p, uint32_t id)
{
        return pool_at(&p->nodes, id);
}

/* A function's name, with its package if that is known. */
const char *cpu_profile_name(const struct cpu_profile *p, uint32_t id);

/* Until the next sample: `hz` a second on average, between half and one and a half of the time. Never in step. */
uint64_t cpu_profile_delay_ns(uint64_t *random, unsigned hz);

#endif
