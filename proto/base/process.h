/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h - one sample of a process: read by the source stage, kept by the model. UNKNOWN_U64 = not known. */
#ifndef HW_PROTO_BASE_PROCESS_H
#define HW_PROTO_BASE_PROCESS_H

#include <stdint.h>

#define UNKNOWN_U64 UINT64_MAX /* a number that is not known: never 0 */

struct process_sample {
        uint64_t rss_bytes;
        uint64_t pss_bytes;
        uint64_t swap_bytes;
        uint64_t cpu_ns;  /* user + system */
        uint64_t threads; /* of the operating system */
        uint64_t cgroup_current_bytes;
        uint64_t cgroup_max_bytes; /* smallest limit on the way to the root; UNKNOWN when unlimited */
        uint64_t wall_ns;          /* when it was read, Unix time */
        uint64_t cgroup_shared;    /* 1: other processes are in this cgroup, too; 0: this one alone */
        char cgroup[120];          /* its path; of a longer one the end; "" when not known */
};

#endif
