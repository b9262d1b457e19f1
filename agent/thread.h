/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h - our threads, made so that the program does not notice them. */
#ifndef HW_AGENT_THREAD_H
#define HW_AGENT_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* A thread that takes no signal and has a small stack. 0 or an errno. */
int thread_start(pthread_t *ret, const char *name, void *(*run)(void *));

/* A condition variable on the monotonic clock. */
void thread_condition_init(pthread_cond_t *c);

int64_t thread_now_ns(void); /* monotonic */
struct timespec thread_time_after(int64_t ns);

#endif
