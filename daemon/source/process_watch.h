/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_watch.h - the process of a run, when it is on this machine.
 *
 * DESIGN: looked at once a second. A process is that of the run when its pid
 * and its start time match, which is compared in Unix time at first, and later,
 * when clocks may have been set, in ticks since the boot; only one that was seen alive can be gone. Resident
 * memory by kind of page (smaps.c) is read each second while that is cheap. The
 * readings of one process take 0.2 % of the time at most, those of all together
 * 2 %; in between the last one is repeated.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/process.h"

enum process_state {
        PROCESS_NEVER_SEEN, /* on another machine, or gone before the first look */
        PROCESS_ALIVE,
        PROCESS_OPAQUE, /* alive, but its numbers cannot be read: its first thread has ended */
        PROCESS_GONE,
};

#define PROCESS_OOM_FILE 512u /* bytes of its name: those of Kubernetes have 230 */

struct process_watch {
        const char *root;                /* "" or that of a fake tree; borrowed */
        bool seen;                       /* of this run, alive on this machine */
        uint32_t pid;                    /* then; before, the one of process_watch_begin() */
        uint64_t start_ticks;            /* its */
        uint64_t stack_start;            /* of the run's program, procfs_stack_start(); 0: not known */
        struct resident_pages pages;     /* newest by kind; rss_bytes UNKNOWN_U64: not known */
        uint64_t pss_bytes;              /* read with them */
        uint64_t pinned_bytes;           /* of files, and not to be taken back, when they were read */
        uint64_t pages_due_ns;           /* Unix time of the next reading */
        char oom_file[PROCESS_OOM_FILE]; /* of its control group; "": not known, or longer */
        uint64_t oom_kills;              /* when it was first seen there */
        bool oom_killed;                 /* there were more later; its group may be removed with it */
};

/*
 * For a new run. `stack_start` is procfs_stack_start() of process `pid`, which serves its log: if that is its process,
 * no program that it has executed until it is first seen is taken for the run's. 0: not known.
 */
void process_watch_begin(struct process_watch *w, uint32_t pid, uint64_t stack_start);

/* start_wall_ns is the run's. *ret_sample is filled when PROCESS_ALIVE. */
enum process_state process_watch_poll(struct process_watch *w, uint32_t pid, uint64_t start_wall_ns, uint64_t wall_ns,
                                      struct process_sample *ret_sample);

/* Whether the process of this run is alive now; false also when it was never seen. */
bool process_watch_alive(const struct process_watch *w, uint32_t pid, uint64_t start_wall_ns);

/* Whether this process is alive, and runs another program than when it was first seen. */
bool process_watch_executed(const struct process_watch *w);

/* Whether the OOM killer has killed a process of its control group since it was first seen. */
bool process_watch_oom_killed(struct process_watch *w);

/*
 * smaps.c: resident memory of a process by kind of page, from /proc/PID/smaps, else smaps_rollup.
 *
 * The kernel walks the page tables of the program for it, holding its memory map's lock for reading (measured: 9 ms
 * per resident GiB): the caller limits how often.
 */

/*
 * Reads *ret_pages (all but wall_ns) and *ret_pss_bytes; `root` as in procfs.h. heap_bytes is unknown when no mapping
 * is recognised as the heap. False, and both unchanged, when neither file may be read.
 */
bool smaps_read(const char *root, uint32_t pid, struct resident_pages *ret_pages, uint64_t *ret_pss_bytes);
