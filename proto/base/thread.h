/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h - a thread that gets no signals: they are for the one that starts it, which has the loop. */
#pragma once

#include <pthread.h>

/* 0 or an errno. */
int thread_create_masked(pthread_t *ret, void *(*run)(void *ctx), void *ctx);
