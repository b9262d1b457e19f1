/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.h - the memory limit of a process, from either version of control groups. */
#ifndef HW_DAEMON_SOURCE_CGROUP_H
#define HW_DAEMON_SOURCE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/process.h"

/* Sets usage and limit of the group that binds (procfs.h); each UNKNOWN_U64 when not known or unlimited. */
void cgroup_memory(const char *root, uint32_t pid, struct process_sample *s);

/*
 * The group that the process is in, "" when not known (a path that is too long: its end), and whether others are in it:
 * 1, 0 or UNKNOWN_U64.
 */
void cgroup_company(const char *root, uint32_t pid, char *ret_group, size_t size, uint64_t *ret_shared);

/* Whether the kernel has stopped all processes of its group (cgroup.freeze, freezer.state). */
bool cgroup_is_frozen(const char *root, uint32_t pid);

/* The file that counts OOM kills in the process's own group; only while it lives. False: there is none. */
bool cgroup_oom_file(const char *root, uint32_t pid, char *ret_path, size_t size);

/* Its count; UNKNOWN_U64 when it cannot be read. */
uint64_t cgroup_oom_kills(const char *path);

#endif
