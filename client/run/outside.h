/* SPDX-License-Identifier: BSD-3-Clause */
/* outside.h - whether a program can be watched from outside: its memory read while it runs (docs/INSIDE.md). */
#ifndef HW_CLIENT_RUN_OUTSIDE_H
#define HW_CLIENT_RUN_OUTSIDE_H

#include <stdbool.h>
#include <sys/types.h>

#include "proto/base/error.h"

/*
 * Tries it once; a program that has just been started (`is_new`), whose heap may be still to come, for a second. It is
 * neither stopped nor changed. False with a sentence: its heap is not understood, or the kernel does not let us read
 * it.
 */
bool outside_try(pid_t pid, bool is_new, struct error *error);

#endif
