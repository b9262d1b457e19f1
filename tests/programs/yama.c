/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: kernel.yama.ptrace_scope 1 where the kernel has none. prctl(PR_SET_PTRACER) writes whom it allows into the
 * file $YAMA_TRACER, and only that process, or each with PR_SET_PTRACER_ANY, may read or stop another one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

int prctl(int option, ...)
{
        va_list rest;
        unsigned long a[4];

        va_start(rest, option);
        for (int i = 0; i < 4; i++)
                a[i] = va_arg(rest, unsigned long);
        va_end(rest);
        if (option != PR_SET_PTRACER)
                return (int)syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]);
        FILE *f = fopen(getenv("YAMA_TRACER"), "w");
        return f && fprintf(f, "%ld\n", (long)a[0]) > 0 && fclose(f) == 0 ? 0 : -1;
}

static int is_allowed(void)
{
        FILE *f = fopen(getenv("YAMA_TRACER"), "r");
        long pid = 0;

        if (f && fscanf(f, "%ld", &pid) != 1)
                pid = 0;
        if (f)
                (void)fclose(f);
        errno = EPERM;
        return pid == getpid() || pid == (long)PR_SET_PTRACER_ANY;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long n_to, const struct iovec *from,
                         unsigned long n_from, unsigned long flags)
{
        return is_allowed() ? syscall(SYS_process_vm_readv, pid, to, n_to, from, n_from, flags) : -1;
}

long ptrace(enum __ptrace_request request, ...)
{
        va_list rest;
        long pid;
        void *address, *data;

        va_start(rest, request);
        pid = va_arg(rest, pid_t);
        address = va_arg(rest, void *);
        data = va_arg(rest, void *);
        va_end(rest);
        return request != PTRACE_SEIZE || is_allowed() ? syscall(SYS_ptrace, request, pid, address, data) : -1;
}
