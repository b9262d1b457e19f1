/* SPDX-License-Identifier: BSD-3-Clause */
/* permission.h - whether this machine lets us trace and read another process, which attaching and inspecting need. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "proto/base/error.h"

/*
 * What is missing, in one sentence; NULL: nothing. `scope`: kernel.yama.ptrace_scope, 0 where the kernel has none.
 * `capable`: with CAP_SYS_PTRACE.
 */
const char *permission_missing(int scope, bool capable);

#define PERMISSION_SCOPE "/proc/sys/kernel/yama/ptrace_scope"

/* What is in such a file; 0 without one: the kernel has no yama. */
int permission_scope(const char *path);

/* The same, as it is here and now. A process may still allow it for itself with prctl(PR_SET_PTRACER). */
const char *permission_missing_here(void);

/* Why the kernel refuses to let us read the process, and what to do; one sentence. */
void permission_refused(pid_t pid, struct error *ret);
