/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * code.h - the instructions that a borrowed thread runs (x86-64), at any address:
 *
 *      handle = dlopen(library, RTLD_NOW);
 *      result = dlsym(handle, entry)(settings, said, said_bytes);
 *      getpid(CODE_MAGIC, result, handle);
 *
 * By the arguments of the last call a tracer notices the end. What follows it is reached only if there is none any
 * more: the registers are loaded as they were, and the thread continues.
 */
#ifndef HW_CLIENT_ATTACH_CODE_H
#define HW_CLIENT_ATTACH_CODE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "client/attach/loader.h"

#define CODE_MAGIC 0x48574147u

struct code {
        uint8_t bytes[512];
        size_t size;
};

/* All in the process. */
struct code_addresses {
        struct loader loader;
        uint64_t library, entry, settings; /* texts */
        uint64_t said, said_bytes;         /* where the entry function writes, and how much */
};

struct code code_make(const struct code_addresses *a, const struct user_regs_struct *back);

#endif
