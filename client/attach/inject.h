/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inject.h - loads the agent into a running process (ptrace(2), x86-64, glibc),
 * and calls its entry point.
 */
#ifndef HW_CLIENT_ATTACH_INJECT_H
#define HW_CLIENT_ATTACH_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/base/error.h"

/*
 * Loads `library` in process `pid`, whose runtime is threaded or not, and calls heapwatch_agent_attach(settings) there.
 * What it returned is in *ret_outcome, what it said in `said`; AGENT_NOT_YET also when there is no thread yet that can
 * be borrowed. False with an error message: the process is unchanged.
 */
bool inject_library(pid_t pid, bool threaded, const char *library, const char *settings, int *ret_outcome, char *said,
                    size_t said_size, struct error *error);

#endif
