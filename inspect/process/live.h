/* SPDX-License-Identifier: BSD-3-Clause */
/* live.h - a process of this machine as a program: /proc/PID and process_vm_readv(2). It is not stopped by this. */
#ifndef HW_INSPECT_PROCESS_LIVE_H
#define HW_INSPECT_PROCESS_LIVE_H

#include <stdint.h>
#include <sys/types.h>

#include "inspect/memory/program.h"
#include "inspect/process/files.h"

struct live {
        pid_t pid;
        struct memory memory;
        struct program program;
        struct files files;
};

enum opened { OPENED, OPENED_REFUSED /* the kernel does not let us */, OPENED_BAD };

/* Unless OPENED, there is a sentence and nothing to close. The struct must stay where it is. */
enum opened live_open(struct live *l, pid_t pid, struct error *error);

/*
 * Reads the mappings again: a heap that grows has more. Its code and names stay as they were. False: it has ended, or
 * there is no memory; then they are the old ones.
 */
bool live_remap(struct program *p, pid_t pid);

/*
 * memory_find_touched() of a process, by the kernel's pages. A page that was never touched is not read, for that would
 * give it an entry in the process' page tables: most of the stacks of its threads.
 */
bool live_find_touched(pid_t pid, uint64_t *start, uint64_t *end);
void live_close(struct live *l);

/* available.c: memory that an inspection may take without anybody else missing it. */

/* Of this machine and of our control groups, the least, in bytes; UINT64_MAX: not known. */
uint64_t available_bytes(void);

/* From now on, where memory is short after all, the kernel takes it from us first. */
void available_yield(void);

#endif
