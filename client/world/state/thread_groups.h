/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_groups.h - the threads of a program in groups, as `heapwatch-inspect threads --format json` prints them. They
 * are of another program's memory, so all of it is checked here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"

#define THREAD_GROUPS_MOST      2000u /* the largest */
#define THREAD_GROUPS_SENTENCES 4u

struct thread_group {
        uint64_t threads, most_stack_bytes, allocated_bytes;
        bool has_allocated;
        char *state; /* what they do or wait for */
        char *place; /* the innermost function that is none of the runtime's, and what of C it calls; "": not known */
};

struct thread_groups {
        struct thread_group *items;
        size_t n;
        char *sentences[THREAD_GROUPS_SENTENCES]; /* what was done to the program, and what is not known */
        size_t n_sentences;
};

/* False with a sentence; thread_groups_done() in any case. */
bool thread_groups_read(struct thread_groups *ret, const char *json, struct error *error);
void thread_groups_done(struct thread_groups *g);
