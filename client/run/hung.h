/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hung.h - recognises a deadlocked program: each of its threads waits for
 * another of its threads, without a timeout.
 *
 * GHC's own flush interval leaves programs in this state at exit (GHC issue
 * 26573). Read from /proc; `root` is "" except in tests.
 */
#ifndef HW_CLIENT_RUN_HUNG_H
#define HW_CLIENT_RUN_HUNG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HUNG_AFTER_MS    5000 /* it is reported after this long without any progress */
#define HUNG_THREADS_MAX 4096 /* a program with more is never called hung */

struct hung {
        pid_t pid;
        long long since_ms;   /* when the state was first seen; -1: not in it */
        uint64_t fingerprint; /* of all threads and their CPU time at that moment */
};

void hung_init(struct hung *h, pid_t pid);

/*
 * Checks once, at monotonic time now_ms. Returns for how many ms it has been
 * deadlocked, 0 when it is not or when that cannot be known.
 */
long long hung_check(struct hung *h, const char *root, long long now_ms);

#endif
