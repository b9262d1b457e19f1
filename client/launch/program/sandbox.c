/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/program/inquire.h"
#include "proto/base/array.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

/* Low words of arguments: the machines above are little-endian. */
#define WORD(field)     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ARGUMENT(n)     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (n))
#define IF(value, n)    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, n) /* otherwise skips the next n */
#define IF_SOME(bit, n) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(bit), 0, n)
#define ALLOW           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define FORBID(number)  IF(number, 1), KILL

/* The runtime sets its handlers before main; neither the loader nor the C library sets one for these two signals. */
#define SIGNALS IF(SYS_rt_sigaction, 5), ARGUMENT(0), IF(SIGINT, 1), KILL, IF(SIGPIPE, 1), KILL
#define FILES   IF(SYS_openat, 4), ARGUMENT(2), IF_SOME(O_WRONLY | O_RDWR | O_CREAT, 1), KILL, WORD(nr)

bool sandbox_enter(void)
{
        struct sock_filter filter[] = {
                WORD(arch),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
                KILL,
                WORD(nr),
                FORBID(SYS_clone),
                FORBID(SYS_clone3),
                FORBID(SYS_timerfd_create),
                FORBID(SYS_timer_create),
                FORBID(SYS_setitimer),
                FORBID(SYS_socket),
                FORBID(SYS_unlinkat),
                FORBID(SYS_mkdirat),
                FORBID(SYS_renameat2),
                FORBID(SYS_kill),
#ifdef SYS_fork
                FORBID(SYS_fork),
                FORBID(SYS_vfork),
                FORBID(SYS_unlink),
                FORBID(SYS_mkdir),
                FORBID(SYS_rename),
#endif
                FILES,
                SIGNALS,
                ALLOW,
        };
        const struct sock_filter signals[] = { SIGNALS, ALLOW }, allow = ALLOW;
        const unsigned short n = ARRAY_SIZE(filter);
        struct sock_fprog program = { .len = n, .filter = filter };

        if (RUNNING_ON_VALGRIND) /* it sets the handlers of all signals itself before a program takes its place */
                filter[n - ARRAY_SIZE(signals)] = allow;
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else

bool sandbox_enter(void)
{
        return false;
}

#endif
