/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inject.h - loads the agent into a running process (ptrace(2), x86-64, glibc),
 * and calls its entry point.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "proto/base/error.h"

/*
 * loader.c: where a running process has dlopen and dlsym: looked up in the file of its own C library (glibc from 2.34,
 * 64 bits), at the address at which that is mapped. Nothing of the process is changed.
 */

struct loader {
        uint64_t dlopen_at, dlsym_at; /* addresses in the process */
};

bool loader_find(pid_t pid, struct loader *ret, struct error *error);

/*
 * Loads `library` in process `pid`, whose runtime is threaded or not, and calls heapwatch_agent_attach(settings) there.
 * What it returned is in *ret_outcome, which is as before where it was not called, what it said in `said`;
 * AGENT_NOT_YET also when there is no thread yet that can be borrowed. False with an error message: the process is
 * unchanged. It takes `max_ms` milliseconds at most, whatever the process does.
 */
bool inject_library(pid_t pid, bool threaded, const char *library, const char *settings, uint64_t max_ms,
                    int *ret_outcome, char *said, size_t said_size, struct error *error);

/*
 * code.c: the instructions that a borrowed thread runs (x86-64), at any address:
 *
 *      handle = dlopen(library, RTLD_NOW);
 *      result = dlsym(handle, entry)(settings, said, said_bytes);
 *      getpid(CODE_MAGIC, result, handle);
 *
 * By the arguments of the last call a tracer notices the end. What follows it is reached only if there is none any
 * more: the registers are loaded as they were, and the thread continues.
 */

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

/*
 * tracee.c: one stopped thread of another process (ptrace(2), x86-64): calls in it, and its memory.
 *
 * A thread is only stopped where it waits in a system call: PTRACE_SEIZE, PTRACE_INTERRUPT, and its instruction pointer
 * is after a `syscall` instruction of one of the calls in which a runtime waits. Signals for the thread that come while
 * it is stopped are delivered to it. All return false with an error in words.
 */

#define TRACEE_VECTORS_BYTES 16384 /* of the state that XSAVE saves; 11 KiB with AMX */

struct tracee {
        pid_t pid;           /* the caller sets it */
        pid_t tid;           /* the thread that is stopped */
        bool main_thread;    /* that is the process's first one */
        struct error *error; /* the caller sets it; may be NULL */
        struct user_regs_struct before;
        uint8_t vectors[TRACEE_VECTORS_BYTES]; /* and the floating-point registers */
        size_t vectors_bytes;
};

/* Stops this thread where it waits in a system call; one that has not waited within `ms` milliseconds is released. */
bool tracee_stop(struct tracee *t, pid_t tid, uint64_t ms);

/* Makes a system call in the thread, by its own `syscall` instruction. What it returned is in *ret. */
bool tracee_system_call(struct tracee *t, long number, const uint64_t arguments[6], int64_t *ret);

/* Continues to the next entry into, or return from, a system call, delivering the thread's own signals. */
bool tracee_next_call(const struct tracee *t, uint64_t until_ms, struct user_regs_struct *ret);

bool tracee_set_registers(const struct tracee *t, const struct user_regs_struct *registers);

/* Of its process's memory. How much was read. */
size_t tracee_read(const struct tracee *t, uint64_t at, void *bytes, size_t n);
bool tracee_write(const struct tracee *t, uint64_t at, const void *bytes, size_t n);

/* False: it runs. */
bool tracee_is_stopped(const struct tracee *t);

/*
 * The registers with which the thread continues. An interrupted system call is restarted explicitly: the kernel does
 * so only when it leaves the stop in which the call was interrupted, which has passed.
 */
struct user_regs_struct tracee_registers_before(const struct tracee *t);

/* It continues with these, and with the vector and floating-point registers that it had. */
void tracee_release(const struct tracee *t);
