/* SPDX-License-Identifier: BSD-3-Clause */
/* tracer.h - the right to trace a program, from its agent, where a kernel with yama gives it to nobody else. */
#ifndef HW_INSPECT_PROCESS_TRACER_H
#define HW_INSPECT_PROCESS_TRACER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * After the kernel has refused (EPERM). True: an agent in the process has allowed us to trace it, so that it is worth
 * another try. Another inspection may get that right later: then we have it no more.
 */
bool tracer_request(pid_t pid);

#endif
