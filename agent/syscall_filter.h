/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * syscall_filter.h - filters of system calls (seccomp(2)), of which some end a process that makes a call they forbid:
 * a program that alone never makes such a call must not be made to by the agent.
 */
#pragma once

#include <stdbool.h>

#include "proto/base/error.h"

/*
 * Whether the calling thread's filter, if there is one, lets the agent make its system calls or answers them with an
 * error: they are tried in a child process, which cannot be seen by wait(2). False with one plain sentence.
 */
bool syscall_filter_allows(struct error *error);

/* Whether the calling thread has got a filter since the last syscall_filter_allows(). */
bool syscall_filter_is_new(void);

/* Whether the filter lets poll(2) through; so before anything is written about it. */
bool syscall_filter_allows_poll(void);
