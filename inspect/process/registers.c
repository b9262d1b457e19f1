/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources of the numbers: struct user_regs_struct and struct user_pt_regs of Linux; which register has BaseReg, Sp and
 * Hp: MachRegs.h of GHC, the same in all its releases. Cores of one machine can be read on the other.
 */
#include "inspect/process/live.h"

#include <string.h>

#include "proto/base/array.h"

static const struct machine {
        unsigned machine;
        uint8_t n, n_all; /* words; the first of them, which may hold closures */
        uint8_t pc, sp, base, hs_sp, hs_hp;
        uint8_t tls; /* 0: not among them */
} machines[] = {
        { EM_X86_64, .n = 27, .n_all = 15, .pc = 16, .sp = 19, .base = 2, .hs_sp = 4, .hs_hp = 3, .tls = 21 },
        { EM_AARCH64, .n = 34, .n_all = 31, .pc = 32, .sp = 31, .base = 19, .hs_sp = 20, .hs_hp = 21 },
};

bool registers_read(struct registers *ret, unsigned machine, int tid, const uint64_t *words, size_t n)
{
        for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
                const struct machine *m = &machines[i];
                if (m->machine != machine || n < m->n)
                        continue;
                *ret = (struct registers){ .tid = tid,
                                           .pc = words[m->pc],
                                           .sp = words[m->sp],
                                           .base = words[m->base],
                                           .hs_sp = words[m->hs_sp],
                                           .hs_hp = words[m->hs_hp],
                                           .tls = m->tls ? words[m->tls] : 0,
                                           .n_all = m->n_all };
                memcpy(ret->all, words, 8 * (size_t)m->n_all);
                return true;
        }
        return false;
}
