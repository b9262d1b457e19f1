/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/thread.h"

#include <signal.h>

#include "agent/limits.h"
#include "proto/base/time.h"

static void *begin(void *ctx)
{
        const struct thread *t = ctx;

        malloc_arena_join(&t->arena);
        t->run();
        malloc_arena_leave(&t->arena);
        return NULL;
}

int thread_start(struct thread *t, const char *name, void (*run)(void))
{
        sigset_t all, old;
        pthread_attr_t attributes;
        int r;

        t->run = run;
        t->arena = malloc_arena_find();
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old); /* inherited by the new thread */
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, AGENT_STACK_BYTES);
        r = pthread_create(&t->id, &attributes, begin, t);
        pthread_attr_destroy(&attributes);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        if (r == 0)
                (void)pthread_setname_np(t->id, name);
        return r;
}

void thread_condition_init(pthread_cond_t *c)
{
        pthread_condattr_t attributes;

        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(c, &attributes);
        pthread_condattr_destroy(&attributes);
}

static int64_t clock_ns(clockid_t clock)
{
        struct timespec t;

        clock_gettime(clock, &t);
        return (int64_t)t.tv_sec * (int64_t)NS_PER_S + t.tv_nsec;
}

int64_t thread_now_ns(void)
{
        return clock_ns(CLOCK_MONOTONIC);
}

int64_t thread_process_cpu_ns(void)
{
        return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

struct timespec thread_time_after(int64_t ns)
{
        int64_t at = thread_now_ns() + ns;

        return (struct timespec){ .tv_sec = at / (int64_t)NS_PER_S, .tv_nsec = at % (int64_t)NS_PER_S };
}
