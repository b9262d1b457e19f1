/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h - our threads, made so that the program does not notice them. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * Where our threads allocate. glibc gives every thread that allocates an arena of its own, 64 MiB of
 * address space: a program whose address space is limited (RLIMIT_AS) would miss that. Ours use the arena of the
 * thread that starts them.
 */

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

struct thread {
        pthread_t id;
        void (*run)(void);
        struct malloc_arena arena;
};

/* A thread that takes no signal, has a small stack and no arena of its own. *t must stay. 0 or an errno. */
int thread_start(struct thread *t, const char *name, void (*run)(void));

/* A condition variable on the monotonic clock. */
void thread_condition_init(pthread_cond_t *c);

int64_t thread_now_ns(void);         /* monotonic */
int64_t thread_process_cpu_ns(void); /* that the process has had */
struct timespec thread_time_after(int64_t ns);
