/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sandbox.h - a sandbox (seccomp(2)) for a program that is started only to learn what its runtime says of itself: it
 * is killed where it would go on to its own work.
 *
 * The runtime reads its options first, and prints then what they request. What it does between that and main needs a
 * thread, a timer or signal handlers; none of these is allowed, nor are sockets or writing files.
 */
#ifndef HW_CLIENT_PROGRAM_SANDBOX_H
#define HW_CLIENT_PROGRAM_SANDBOX_H

#include <stdbool.h>

/* For this process from now on, whatever it executes; a violation ends it with SIGSYS. False: the kernel cannot. */
bool sandbox_enter(void);

#endif
