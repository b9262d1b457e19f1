/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/permission.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/kernel_file.h"

#define STATUS_BYTES 16384

#define NEEDED                                                                                                         \
        ": attaching and inspecting need root or CAP_SYS_PTRACE (in a container --cap-add SYS_PTRACE), or "            \
        "`sysctl kernel.yama.ptrace_scope=0`"

const char *permission_missing(int scope, bool capable)
{
        if (scope >= 3)
                return "kernel.yama.ptrace_scope is 3: nothing can be attached to until the machine is started again";
        if (capable || scope <= 0)
                return NULL;
        return scope == 1 ? "kernel.yama.ptrace_scope is 1" NEEDED
                            "; what `heapwatch run` starts can be inspected all the same"
                          : "kernel.yama.ptrace_scope is 2" NEEDED;
}

int permission_scope(const char *path)
{
        char text[32];
        uint64_t scope;

        return kernel_file_read(text, sizeof(text), "%s", path) > 0 && kernel_number(text, &scope) ? (int)scope : 0;
}

static bool is_capable(void)
{
        static const char key[] = "\nCapEff:";
        char text[STATUS_BYTES];
        const char *at = kernel_file_read(text, sizeof(text), "/proc/self/status") > 0 ? strstr(text, key) : NULL;

        return at && strtoull(at + strlen(key), NULL, 16) >> CAP_SYS_PTRACE & 1;
}

const char *permission_missing_here(void)
{
        return permission_missing(permission_scope(PERMISSION_SCOPE), is_capable());
}

void permission_refused(pid_t pid, struct error *ret)
{
        const char *missing = permission_missing_here();
        char text[STATUS_BYTES] = "";
        uint64_t tracer = 0;
        unsigned user = geteuid();

        (void)kernel_file_read(text, sizeof(text), "/proc/%ld/status", (long)pid);
        const char *users = strstr(text, "\nUid:");
        if (users)
                (void)sscanf(users, " Uid: %*u %u", &user); /* the effective one */
        if (kernel_field(text, "TracerPid", &tracer) && tracer > 0)
                (void)error_set(ret,
                                "process %ld is traced by process %" PRIu64
                                ", and the kernel allows one tracer; end that one",
                                (long)pid, tracer);
        else if (user != geteuid() && geteuid() != 0)
                (void)error_set(ret, "process %ld belongs to user %u; inspect it as that user or as root", (long)pid,
                                user);
        else if (missing)
                (void)error_set(ret, "process %ld may not be inspected: %s", (long)pid, missing);
        else
                (void)error_set(ret,
                                "the kernel does not let us inspect process %ld: it has rights that we lack, or is in "
                                "another container; inspect it as root with CAP_SYS_PTRACE, from outside the container",
                                (long)pid);
}
