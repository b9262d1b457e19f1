/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence.h - a fence (seccomp(2)) around a program that is started only to hear what its runtime says of itself: it is
 * killed where it would go on to its own work.
 *
 * The runtime reads its options before anything else, and prints what it is asked for then. What comes after that and
 * before main needs a thread, a timer or signal handlers; none is allowed, nor are sockets, nor files to be written.
 */
#ifndef HW_CLIENT_PROGRAM_FENCE_H
#define HW_CLIENT_PROGRAM_FENCE_H

#include <stdbool.h>

/* For this process from now on, whatever it executes. False: the kernel does not do it. SIGSYS ends who oversteps. */
bool fence_put_up(void);

#endif
