/* SPDX-License-Identifier: BSD-3-Clause */
/* process_uri.h - the source that is a process of this machine alone, for the daemon. */
#ifndef HW_CLIENT_PROGRAM_PROCESS_URI_H
#define HW_CLIENT_PROGRAM_PROCESS_URI_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PROCESS_URI_SIZE 48

/* "pid:PID@START", which names this process and no later one with its number. False when there is none. */
bool process_uri(pid_t pid, char ret[PROCESS_URI_SIZE]);

#endif
