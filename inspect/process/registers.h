/* SPDX-License-Identifier: BSD-3-Clause */
/* registers.h - the registers of a thread, as ptrace(2) and core files have them. */
#ifndef HW_INSPECT_PROCESS_REGISTERS_H
#define HW_INSPECT_PROCESS_REGISTERS_H

#include <string.h>
#include <sys/user.h>

#include "inspect/memory/program.h"

static inline struct registers registers_of(int tid, const struct user_regs_struct *r)
{
        struct registers g = { .tid = tid, .rip = r->rip, .rsp = r->rsp, .rbp = r->rbp, .r12 = r->r12, .r13 = r->r13 };

        memcpy(g.all, r, sizeof(g.all)); /* the first of them are those that hold values */
        return g;
}

#endif
