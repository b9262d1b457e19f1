/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.h - time profile: ticks per stack of cost centres, over all capabilities; and ticky counters. */
#ifndef HW_DAEMON_MODEL_PROFILE_H
#define HW_DAEMON_MODEL_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

struct profile_stack {
        uint32_t id; /* dense, from 1 */
        uint32_t depth;
        const uint32_t *centres; /* ids, innermost first; depth 0 = MAIN */
        uint64_t ticks;
        uint64_t changed; /* profile_ticks() when its ticks last rose: to find what changed since */
};

struct profile;

uint64_t profile_ticks(const struct profile *p); /* all samples, left-out ones included */
uint32_t profile_stacks(const struct profile *p);
const struct profile_stack *profile_get(const struct profile *p, uint32_t id);
uint64_t profile_left_out(const struct profile *p); /* samples of stacks beyond LIMIT_STACKS */

struct ticky_counter {
        uint64_t id;
        const char *name; /* NULL until defined: the RTS writes definitions at exit */
        const char *argument_kinds;
        uint32_t arity;
        uint64_t entries, allocs, allocd; /* totals of all batches */
        bool allocd_unknown;
        uint64_t changed; /* ticky_events() when it last changed */
};

struct ticky;

uint32_t ticky_count(const struct ticky *t);
const struct ticky_counter *ticky_get(const struct ticky *t, uint32_t index); /* from 0, in order of first sight */
uint64_t ticky_events(const struct ticky *t);                                 /* rows and definitions taken in */

#endif
