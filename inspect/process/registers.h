/* SPDX-License-Identifier: BSD-3-Clause */
/* registers.h - the general registers of a thread, as ptrace(2) and core files have them: NT_PRSTATUS. */
#ifndef HW_INSPECT_PROCESS_REGISTERS_H
#define HW_INSPECT_PROCESS_REGISTERS_H

#include <elf.h>
#include <stddef.h>

#include "inspect/memory/program.h"

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

#endif
