/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracee.h - one stopped thread of another process (ptrace(2), x86-64): calls in it, and its memory.
 *
 * A thread is only stopped where it waits in a system call: PTRACE_SEIZE, PTRACE_INTERRUPT, and its instruction pointer
 * is after a `syscall` instruction of one of the calls in which a runtime waits. Signals for the thread that come while
 * it is stopped are delivered to it. All return false with an error in words.
 */
#ifndef HW_CLIENT_ATTACH_TRACEE_H
#define HW_CLIENT_ATTACH_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "proto/base/error.h"

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

#endif
