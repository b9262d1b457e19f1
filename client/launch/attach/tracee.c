/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/attach/inject.h"

#if defined(__x86_64__)

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/permission.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"

#define STOP_MS 1000 /* for a thread that was asked to stop */
#define CALL_MS 5000 /* for a system call of ours in it */

/* One request of ptrace(2); `data` is a signal to deliver, or where registers are. */
static bool request_trace(const struct tracee *t, enum __ptrace_request request, uintptr_t data)
{
        return ptrace(request, t->tid, 0, data) == 0 || error_set(t->error, "ptrace: %s", strerror(errno));
}

static bool get_registers(const struct tracee *t, struct user_regs_struct *ret)
{
        return request_trace(t, PTRACE_GETREGS, (uintptr_t)ret);
}

static bool get_vectors(struct tracee *t)
{
        struct iovec there = { t->vectors, sizeof(t->vectors) };

        if (ptrace(PTRACE_GETREGSET, t->tid, NT_X86_XSTATE, &there) < 0 || there.iov_len == sizeof(t->vectors))
                return error_set(t->error, "its vector registers cannot be saved");
        t->vectors_bytes = there.iov_len;
        return true;
}

/* Waits for the next stop; its status in *ret. False on timeout, or when the thread has ended. */
static bool wait_stop(const struct tracee *t, uint64_t until_ms, int *ret)
{
        for (;;) {
                pid_t r = waitpid(t->tid, ret, __WALL | WNOHANG);
                if (r == t->tid && WIFSTOPPED(*ret))
                        return true;
                if (r == t->tid)
                        return error_set(t->error, "it has just ended");
                if (r < 0 && errno != EINTR)
                        return error_set(t->error, "cannot wait for it: %s", strerror(errno));
                if (clock_mono_ms() > until_ms)
                        return error_set(t->error, "its thread did not stop in time");
                (void)usleep(500);
        }
}

/* The signal that caused the stop, to be delivered to the thread; 0: not a signal of its own. */
static int own_signal(int status)
{
        const bool is_group_or_event = status >> 16 != 0;
        int s = WSTOPSIG(status);

        return is_group_or_event || s == SIGTRAP || s == (SIGTRAP | 0x80) ? 0 : s;
}

size_t tracee_read(const struct tracee *t, uint64_t at, void *bytes, size_t n)
{
        struct iovec here = { bytes, n }, there = { (void *)at, n };
        const ssize_t got = process_vm_readv(t->pid, &here, 1, &there, 1, 0);

        return got > 0 ? (size_t)got : 0;
}

static bool waits_in_call(const struct tracee *t)
{
        static const long calls[] = { SYS_select,     SYS_pselect6,   SYS_poll,  SYS_ppoll,
                                      SYS_read,       SYS_nanosleep,  SYS_futex, SYS_clock_nanosleep,
                                      SYS_epoll_wait, SYS_epoll_pwait };
        enum { OF_TICKER = 6 }; /* from here on only for the ticker: a main thread in them may be anywhere */
        uint8_t code[2] = { 0 };

        for (size_t i = 0; i < ARRAY_SIZE(calls) - (t->main_thread ? OF_TICKER : 0); i++)
                if ((long)t->before.orig_rax == calls[i])
                        return tracee_read(t, t->before.rip - 2, code, sizeof(code)) == sizeof(code) &&
                               code[0] == 0x0f && code[1] == 0x05;
        return false;
}

static bool seize_tracee(const struct tracee *t)
{
        const bool good = request_trace(t, PTRACE_SEIZE, PTRACE_O_TRACESYSGOOD);

        if (good || errno != EPERM)
                return good;
        const char *missing = permission_missing_here();
        return error_set(t->error, "%s",
                         missing ? missing
                                 : "ptrace is not allowed: it must be a process of yours, which lets itself be traced, "
                                   "or you need root or CAP_SYS_PTRACE (in a container --cap-add SYS_PTRACE)");
}

/* It stops as soon as it can; one that is stopped, as soon as it goes on. */
static bool interrupt_tracee(const struct tracee *t)
{
        return request_trace(t, PTRACE_INTERRUPT, 0);
}

/*
 * Lets the main thread go on to its next call of the runtime's select, also to one that does not wait: a program that
 * computes all the time asks there whether a sleep is over. It is about to stop then; a signal for it in *ret_signal.
 */
static bool run_to_call(struct tracee *t, uint64_t until_ms, int *ret_signal)
{
        int status;

        do {
                if (!request_trace(t, PTRACE_SYSCALL, (uintptr_t)*ret_signal))
                        return false;
                if (!wait_stop(t, until_ms, &status))
                        return clock_mono_ms() > until_ms && interrupt_tracee(t); /* it makes no call at all */
                *ret_signal = own_signal(status);
                if (!get_registers(t, &t->before))
                        return false;
        } while (WSTOPSIG(status) != (SIGTRAP | 0x80) || !waits_in_call(t));
        return interrupt_tracee(t) && request_trace(t, PTRACE_CONT, 0);
}

static bool run_a_while(struct tracee *t, uint64_t until_ms, int *ret_signal)
{
        if (t->main_thread)
                return run_to_call(t, until_ms, ret_signal);
        if (!request_trace(t, PTRACE_CONT, (uintptr_t)*ret_signal))
                return false;
        (void)usleep(1000);
        return interrupt_tracee(t);
}

/*
 * Waits until the thread waits in a system call. It is stopped then, also on timeout; a signal for it in
 * *ret_signal.
 */
static bool stop_quietly(struct tracee *t, uint64_t ms, int *ret_signal)
{
        uint64_t until = clock_mono_ms() + ms;
        int status;

        *ret_signal = 0;
        if (!interrupt_tracee(t))
                return false;
        for (;;) {
                if (!wait_stop(t, until + STOP_MS, &status))
                        return error_set(t->error, "its thread cannot be stopped");
                *ret_signal = own_signal(status);
                if (!get_registers(t, &t->before))
                        return false;
                if (!*ret_signal && waits_in_call(t))
                        return true;
                if (clock_mono_ms() >= until)
                        return error_set(t->error, "it was never quiet enough: its thread did not wait in the runtime");
                if (!run_a_while(t, until, ret_signal))
                        return false;
        }
}

bool tracee_stop(struct tracee *t, pid_t tid, uint64_t ms)
{
        int signal;

        t->tid = tid;
        t->main_thread = tid == t->pid;
        if (!seize_tracee(t))
                return false;
        if (stop_quietly(t, ms, &signal) && get_vectors(t))
                return true;
        (void)ptrace(PTRACE_DETACH, t->tid, 0, signal);
        return false;
}

bool tracee_next_call(const struct tracee *t, uint64_t until_ms, struct user_regs_struct *ret)
{
        int status = 0, signal = 0;

        do {
                if (!request_trace(t, PTRACE_SYSCALL, (uintptr_t)signal))
                        return false;
                if (!wait_stop(t, until_ms, &status))
                        return false;
                signal = own_signal(status);
                if (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL)
                        return error_set(t->error, "the library could not be loaded: signal %d; nothing was changed",
                                         signal);
        } while (WSTOPSIG(status) != (SIGTRAP | 0x80));
        return get_registers(t, ret);
}

bool tracee_set_registers(const struct tracee *t, const struct user_regs_struct *registers)
{
        return request_trace(t, PTRACE_SETREGS, (uintptr_t)registers);
}

bool tracee_system_call(struct tracee *t, long number, const uint64_t arguments[6], int64_t *ret)
{
        struct user_regs_struct r = t->before;
        uint64_t until = clock_mono_ms() + CALL_MS;

        r.rip = t->before.rip - 2; /* the `syscall` instruction */
        r.rax = (unsigned long long)number;
        r.orig_rax = (unsigned long long)-1; /* nothing to restart */
        r.rdi = arguments[0];
        r.rsi = arguments[1];
        r.rdx = arguments[2];
        r.r10 = arguments[3];
        r.r8 = arguments[4];
        r.r9 = arguments[5];
        if (!tracee_set_registers(t, &r))
                return false;
        do { /* a signal's handler may come first, with system calls of its own */
                if (!tracee_next_call(t, until, &r))
                        return false;
        } while (r.orig_rax != (unsigned long long)number || r.rip != t->before.rip);
        if (!tracee_next_call(t, until, &r))
                return false;
        *ret = (int64_t)r.rax;
        return true;
}

/* An interrupted call's result has the kernel's codes for its restart, -512 to -516. */
struct user_regs_struct tracee_registers_before(const struct tracee *t)
{
        struct user_regs_struct r = t->before;
        int64_t result = (int64_t)r.rax;

        if (result >= -516 && result <= -512) {
                r.rip -= 2;
                r.rax = r.orig_rax;
                r.orig_rax = (unsigned long long)-1;
        }
        return r;
}

bool tracee_is_stopped(const struct tracee *t)
{
        struct user_regs_struct r;

        return ptrace(PTRACE_GETREGS, t->tid, 0, &r) == 0;
}

bool tracee_write(const struct tracee *t, uint64_t at, const void *bytes, size_t n)
{
        struct iovec here = { (void *)(uintptr_t)bytes, n }, there = { (void *)at, n };

        return process_vm_writev(t->pid, &here, 1, &there, 1, 0) == (ssize_t)n ||
               error_set(t->error, "cannot write into its memory: %s", strerror(errno));
}

void tracee_release(const struct tracee *t)
{
        const struct user_regs_struct back = tracee_registers_before(t);
        struct iovec here = { (void *)(uintptr_t)t->vectors, t->vectors_bytes };

        (void)ptrace(PTRACE_SETREGSET, t->tid, NT_X86_XSTATE, &here);
        (void)ptrace(PTRACE_SETREGS, t->tid, 0, &back);
        (void)ptrace(PTRACE_DETACH, t->tid, 0, 0);
}

#endif
