/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/permission.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
        FILE *f = fopen(path, "re");
        int scope;

        if (!f || fscanf(f, "%d", &scope) != 1)
                scope = 0;
        if (f)
                (void)fclose(f);
        return scope;
}

static bool is_capable(void)
{
        FILE *f = fopen("/proc/self/status", "re");
        unsigned long long set = 0;
        char line[256];

        while (f && fgets(line, sizeof(line), f) && sscanf(line, "CapEff: %llx", &set) != 1)
                ;
        if (f)
                (void)fclose(f);
        return set >> CAP_SYS_PTRACE & 1;
}

const char *permission_missing_here(void)
{
        return permission_missing(permission_scope(PERMISSION_SCOPE), is_capable());
}

/* The nth number behind a key of /proc/PID/status; -1: not known. */
static long status_of(pid_t pid, const char *key, unsigned nth)
{
        char path[64], line[256];
        long value = -1;

        (void)snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
        FILE *f = fopen(path, "re");
        while (f && value < 0 && fgets(line, sizeof(line), f)) {
                char *at = line + strlen(key);
                for (unsigned i = 0; !strncmp(line, key, strlen(key)) && i <= nth; i++)
                        value = strtol(at, &at, 10);
        }
        if (f)
                (void)fclose(f);
        return value;
}

void permission_refused(pid_t pid, struct error *ret)
{
        const char *missing = permission_missing_here();
        const long tracer = status_of(pid, "TracerPid:", 0), user = status_of(pid, "Uid:", 1);

        if (tracer > 0)
                (void)error_set(ret,
                                "process %ld is traced by process %ld, and the kernel allows one tracer; end that one",
                                (long)pid, tracer);
        else if (user >= 0 && (uid_t)user != geteuid() && geteuid() != 0)
                (void)error_set(ret, "process %ld belongs to user %ld; inspect it as that user or as root", (long)pid,
                                user);
        else if (missing)
                (void)error_set(ret, "process %ld may not be inspected: %s", (long)pid, missing);
        else
                (void)error_set(ret,
                                "the kernel does not let us inspect process %ld: it has rights that we lack, or is in "
                                "another container; inspect it as root with CAP_SYS_PTRACE, from outside the container",
                                (long)pid);
}
