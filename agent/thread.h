/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h - our threads, made so that the program does not notice them. */
#ifndef HW_AGENT_THREAD_H
#define HW_AGENT_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "agent/malloc_arena.h"

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

#endif
