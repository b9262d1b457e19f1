/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: a process has one service manager, so this is a static variable and no argument of every source. */
#include "daemon/source/source.h"

static const struct keeper *current;

void keeper_set(const struct keeper *keeper)
{
        current = keeper;
}

void keeper_keep(const char *name, int fd)
{
        if (current)
                current->keep(current->ctx, name, fd);
}

void keeper_forget(const char *name)
{
        if (current)
                current->forget(current->ctx, name);
}
