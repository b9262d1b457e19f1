/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence.h - a fence (seccomp(2)) around a program that is started only to learn what its runtime says of itself: it
 * is killed where it would go on to its own work.
 *
 * The runtime reads its options first, and prints then what they request. What it does between that and main needs a
 * thread, a timer or signal handlers; none of these is allowed, nor are sockets or writing files.
 */
#ifndef HW_CLIENT_PROGRAM_FENCE_H
#define HW_CLIENT_PROGRAM_FENCE_H

#include <stdbool.h>

/* For this process from now on, whatever it executes; a violation ends it with SIGSYS. False: the kernel cannot. */
bool fence_put_up(void);

#endif
