/* SPDX-License-Identifier: BSD-3-Clause */
/* process_uri.h - the sources that are a process of this machine, for the daemon. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define PROCESS_URI_SIZE 48

/* "pid:PID@START", which names this process and no later one with its number. False when there is none. */
bool process_uri(pid_t pid, char ret[PROCESS_URI_SIZE]);

/* The same process, to be read from outside: "outside:PID@START" of "pid:PID@START". */
void process_uri_outside(const char *process, char ret[PROCESS_URI_SIZE]);

/* Whether a target's source (NULL: not known) is a process that is read from outside. */
bool process_uri_is_outside(const char *uri);
