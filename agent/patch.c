/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/patch.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* As mprotect(2) has it; -1: nothing is mapped there. *ret_end: where the mapping ends. */
static int protection_of(const void *address, uintptr_t *ret_end)
{
        char line[512];
        FILE *f = fopen("/proc/self/maps", "re");
        int protection = -1;

        while (f && fgets(line, sizeof(line), f)) {
                unsigned long begin, end;
                char flags[8];
                if (sscanf(line, "%lx-%lx %7s", &begin, &end, flags) != 3 || (uintptr_t)address < begin ||
                    (uintptr_t)address >= end)
                        continue;
                protection = (flags[0] == 'r' ? PROT_READ : 0) | (flags[1] == 'w' ? PROT_WRITE : 0) |
                             (flags[2] == 'x' ? PROT_EXEC : 0);
                *ret_end = end;
                break;
        }
        if (f)
                (void)fclose(f);
        return protection;
}

bool memory_is_writable(const void *at, size_t size)
{
        uintptr_t end = 0;
        int protection = protection_of(at, &end);

        return protection >= 0 && (protection & PROT_READ) && (protection & PROT_WRITE) && end - (uintptr_t)at >= size;
}

bool patch_memory(void *at, const void *bytes, size_t size)
{
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)at & ~(page - 1), end;
        size_t whole = (((uintptr_t)at + size + page - 1) & ~(page - 1)) - from;
        int protection = protection_of(at, &end);
        bool locked = !(protection & PROT_WRITE);

        if (protection < 0 || (locked && mprotect((void *)from, whole, protection | PROT_WRITE) != 0))
                return false;
        memcpy(at, bytes, size);
        if (locked)
                (void)mprotect((void *)from, whole, protection);
        return true;
}
