/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/attach/permission.h"

#include <linux/capability.h>
#include <stdio.h>

#define NEEDED ": attaching needs root or CAP_SYS_PTRACE (in a container --cap-add SYS_PTRACE), or 0 there"

const char *permission_missing(int scope, bool capable)
{
        if (scope >= 3)
                return "kernel.yama.ptrace_scope is 3: nothing can be attached to until the machine is started again";
        if (capable || scope <= 0)
                return NULL;
        return scope == 1 ? "kernel.yama.ptrace_scope is 1" NEEDED : "kernel.yama.ptrace_scope is 2" NEEDED;
}

static int read_scope(void)
{
        FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
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
        return permission_missing(read_scope(), is_capable());
}
