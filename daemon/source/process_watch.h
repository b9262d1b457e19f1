/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_watch.h - the process behind a run, when it is of this machine.
 *
 * DESIGN: asked once a second. A process is that of the run when its pid and
 * its start time are; only one that was seen alive can be gone. The
 * proportional set size is read every tenth time and repeated between: the
 * kernel walks the whole address space for it.
 */
#ifndef HW_DAEMON_SOURCE_PROCESS_WATCH_H
#define HW_DAEMON_SOURCE_PROCESS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/kernel_file.h"
#include "proto/base/process.h"

enum process_state {
        PROCESS_NEVER_SEEN, /* of another machine, or over before the first look */
        PROCESS_ALIVE,
        PROCESS_GONE,
};

struct process_watch {
        const char *root;               /* "" or that of a made-up tree; borrowed */
        bool seen;                      /* of this run, alive on this machine */
        uint64_t pss_bytes;             /* newest; UNKNOWN_U64 */
        unsigned pss_age;               /* looks since */
        char oom_file[KERNEL_PATH_MAX]; /* of its control group; "": not known */
        uint64_t oom_kills;             /* when it was first seen */
};

/* For a new run. */
void process_watch_begin(struct process_watch *w);

/* start_wall_ns is the run's. PROCESS_ALIVE: *ret_sample is filled. */
enum process_state process_watch_look(struct process_watch *w, uint32_t pid, uint64_t start_wall_ns, uint64_t wall_ns,
                                      struct process_sample *ret_sample);

/* Whether the process of this run is there now; false also when it was never seen. */
bool process_watch_alive(const struct process_watch *w, uint32_t pid, uint64_t start_wall_ns);

/* Whether the kernel has killed a process of its control group for want of memory since it was first seen. */
bool process_watch_oom_killed(const struct process_watch *w);

#endif
