/* SPDX-License-Identifier: BSD-3-Clause */
/* live.h - a process of this machine as a program: /proc/PID and process_vm_readv(2). It is not stopped by this. */
#pragma once

#include <elf.h>
#include <stddef.h>
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

/*
 * core.c: a core file as a program. It has the memory that the program had written; its code is read from the files
 * that the program was started from, which must still be at their paths.
 */

struct core {
        pid_t pid; /* that it had; 0: not known */
        struct memory memory;
        struct program program;
        struct files files;
        struct elf_file elf;
        struct core_segment *segments; /* sorted */
        size_t n_segments;
        struct core_source *sources; /* of program.files */
        uint64_t missing;            /* bytes that the file should have: it was cut off */
};

/* False with a sentence, and nothing to close. The struct must stay where it is. */
bool core_open(struct core *c, const char *path, struct error *error);

/* The same of a program's own file: as it is before it runs, at the addresses that the file has. */
bool core_open_image(struct core *c, const char *path, struct error *error);

void core_close(struct core *c);

/* registers.c: the general registers of a thread, as ptrace(2) and core files have them: NT_PRSTATUS. */

/* The machine of this build, EM_..., 0: one whose programs cannot be inspected; and the most registers that one has. */
#if defined(__x86_64__)
#define MACHINE_HERE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE_HERE EM_AARCH64
#else
#define MACHINE_HERE EM_NONE
#endif
#define REGISTER_WORDS 34u

/* From the `n` words that the kernel of that machine gives. False: too few, or another machine. */
bool registers_read(struct registers *ret, unsigned machine, int tid, const uint64_t *words, size_t n);
