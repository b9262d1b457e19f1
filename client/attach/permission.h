/* SPDX-License-Identifier: BSD-3-Clause */
/* permission.h - whether this machine lets us trace another process of our user, which attaching needs. */
#ifndef HW_CLIENT_ATTACH_PERMISSION_H
#define HW_CLIENT_ATTACH_PERMISSION_H

#include <stdbool.h>

/*
 * What is missing, in one sentence; NULL: nothing. `scope`: kernel.yama.ptrace_scope, 0 where the kernel has none.
 * `capable`: with CAP_SYS_PTRACE.
 */
const char *permission_missing(int scope, bool capable);

/* The same, as it is here and now. A process may still allow it for itself with prctl(PR_SET_PTRACER). */
const char *permission_missing_here(void);

#endif
