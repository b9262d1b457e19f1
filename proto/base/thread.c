/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/thread.h"

#include <signal.h>

int thread_create_masked(pthread_t *ret, void *(*run)(void *ctx), void *ctx)
{
        sigset_t all, before;
        int error;

        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited by the new thread */
        error = pthread_create(ret, NULL, run, ctx);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        return error;
}
