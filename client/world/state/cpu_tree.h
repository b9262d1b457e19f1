/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu_tree.h - a profile of CPU time as `heapwatch-inspect profile --waiting --rows` prints it: sentences about it, an
 * empty line, a row "PARENT SELF TOTAL NAME" for each function with its callers, and another empty line; then the same
 * of the time for which Haskell threads wait. With --allocation, of what they allocate, a line "bytes" is before the
 * rows. It is of another program's memory, so all of it is checked here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"

#define CPU_TREE_NODES     20000u
#define CPU_TREE_SENTENCES 16u
#define CPU_TREE_BYTES     ((size_t)16 << 20) /* of its text */

struct cpu_node {
        uint32_t parent; /* the number of its caller's node, from 1, always lower than its own; 0: none */
        uint64_t self_weight, total_weight; /* in it, and with what it calls */
        const char *name;
};

struct cpu_function {
        const char *name;
        uint64_t self_weight, total_weight; /* with what it calls, once where it calls itself */
};

struct cpu_tree {
        char *text; /* owned; all texts point into it; NULL: borrowed */
        const char *sentences[CPU_TREE_SENTENCES];
        size_t n_sentences;
        struct cpu_node *nodes;
        size_t n;
        bool by_allocation;             /* weights are bytes, in place of ns */
        uint64_t total_weight;          /* of all nodes without a caller */
        struct cpu_function *functions; /* by cpu_tree_sum() */
        size_t n_functions;
};

/* Never added to each other. */
struct cpu_trees {
        struct cpu_tree running;
        struct cpu_tree waiting; /* n_sentences 0: there is none; it borrows the texts of `running` */
};

/* `text` is from malloc and is its own from then on, also on failure. False with a sentence. */
bool cpu_trees_read(struct cpu_trees *ret, char *text, struct error *error);
void cpu_trees_done(struct cpu_trees *t);

/*
 * Of a tree whose stacks begin with their thread, the same without threads: equal stacks of several are one. It borrows
 * the texts of `from`. False: out of memory.
 */
bool cpu_tree_merge(struct cpu_tree *ret, const struct cpu_tree *from, struct error *error);

/* The functions of the tree. False: out of memory. */
bool cpu_tree_sum(struct cpu_tree *t, struct error *error);

void cpu_tree_done(struct cpu_tree *t);
