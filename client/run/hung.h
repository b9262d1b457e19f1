/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hung.h - recognises a program that can never go on by itself: each of its
 * threads waits for another of its threads, without a time limit.
 *
 * GHC's own flush interval leaves programs in this state at exit (GHC issue
 * 26573). Read from /proc; `root` is "" but in tests.
 */
#ifndef HW_CLIENT_RUN_HUNG_H
#define HW_CLIENT_RUN_HUNG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HUNG_AFTER_MS    5000 /* nothing moved for so long: then it is said */
#define HUNG_THREADS_MAX 4096 /* more are not judged: the answer is no */

struct hung {
        pid_t pid;
        long long since_ms;   /* when the state was first seen; -1: not in it */
        uint64_t fingerprint; /* of all threads and their CPU time then */
};

void hung_init(struct hung *h, pid_t pid);

/*
 * Looks once, at monotonic time now_ms; `moved`: the program wrote bytes since
 * the last look. Returns for how many ms nothing in it has moved and nothing
 * can, 0 when it can or when that cannot be known.
 */
long long hung_look(struct hung *h, const char *root, long long now_ms, bool moved);

#endif
