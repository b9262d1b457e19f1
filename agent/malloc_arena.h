/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * malloc_arena.h - where our threads allocate. glibc gives every thread that allocates an arena of its own, 64 MiB of
 * address space: a program whose address space is limited (RLIMIT_AS) would miss that. Ours use the arena of the
 * thread that starts them.
 */
#ifndef HW_AGENT_MALLOC_ARENA_H
#define HW_AGENT_MALLOC_ARENA_H

#include <stddef.h>

struct malloc_arena {
        void *state;      /* glibc's; NULL: not found, and our threads get their own */
        ptrdiff_t offset; /* from pthread_self() to a thread's pointer to its arena */
};

/* Finds the arena of the calling thread. */
struct malloc_arena malloc_arena_find(void);

/* To be called by a new thread, before it allocates. */
void malloc_arena_join(const struct malloc_arena *a);

/* Before the end of that thread: glibc would count it out of an arena that it was never counted into. */
void malloc_arena_leave(const struct malloc_arena *a);

#endif
