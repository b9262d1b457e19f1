/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.h - the memory limit that a process lives under, of both generations of control groups. */
#ifndef HW_DAEMON_SOURCE_CGROUP_H
#define HW_DAEMON_SOURCE_CGROUP_H

#include <stdint.h>

/* The usage and limit of the group that binds (procfs.h); each UNKNOWN_U64 when not known or unlimited. */
void cgroup_memory(const char *root, uint32_t pid, uint64_t *ret_current, uint64_t *ret_max);

#endif
