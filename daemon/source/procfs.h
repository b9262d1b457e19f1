/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * procfs.h - what the operating system says of a local program: /proc and cgroup.
 *
 * Small reads of kernel files: they do not block. `root` exists so that tests
 * can provide a fake tree; it is "" in the daemon.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/process.h"

#define PROCFS_START_SLACK_NS UINT64_C(10000000000) /* clocks step, and /proc/stat knows whole seconds */

/* When the process began, in Unix time. UNKNOWN_U64: it is not there, or that cannot be read. */
uint64_t procfs_start_wall_ns(const char *root, uint32_t pid);

/*
 * Whether the process `pid` began within 10 s of `start_wall_ns` (Unix time):
 * the one that the log is of, not a later process with the same number.
 */
bool procfs_is_process(const char *root, uint32_t pid, uint64_t start_wall_ns);

/* When it began, in clock ticks since the boot, which no clock that is set changes. False: there is none. */
bool procfs_start_ticks(const char *root, uint32_t pid, uint64_t *ret_ticks);

/*
 * Where the stack of its program begins, at random, so that another number is another program: process `pid` has
 * executed it in the place of the one before. 0: not known, or none has this number.
 */
uint64_t procfs_stack_start(const char *root, uint32_t pid);

/* The number of process `pid` in its own namespace of processes, as in a container; 0: not known. */
uint32_t procfs_pid_inside(const char *root, uint32_t pid);

/*
 * Who has that pid now. Its arguments are unknown when it may not be inspected. 0, -ESRCH when nobody has it (a zombie
 * is gone), or -ENOTSUP for a thread of the kernel, which has no memory of its own.
 */
int procfs_identity(const char *root, uint32_t pid, struct process_identity *ret);

/*
 * Reads one sample. Fields that cannot be read are left unknown; pss_bytes
 * always is, and of `pages` what needs smaps_read (smaps.c). The two cgroup fields belong together: they are
 * those of the group with the smallest limit from the process up to the root,
 * or of the process's own group when nothing is limited. Returns 0, -ESRCH when
 * the process is gone (a zombie counts as gone), or -ENODATA when its first thread
 * has ended, which takes its numbers with it, and others run on, or are about to end.
 */
int procfs_sample(const char *root, uint32_t pid, struct process_sample *ret_sample);

/* Physical memory of the machine, or UNKNOWN_U64. */
uint64_t procfs_memory_total(const char *root);

/* Resident bytes of this process; 0 when unknown. */
uint64_t procfs_own_rss(void);

/* cgroup.c: the memory limit of a process, from either version of control groups. */

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
