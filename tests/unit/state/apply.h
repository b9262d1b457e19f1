/* SPDX-License-Identifier: BSD-3-Clause */
/* apply.h - updates that a test put together on its stack, into a world. */
#pragma once

#include "client/world/state/world.h"
#include "tests/unit/counted.h"

static inline int apply_made(struct world *world, size_t daemon, const Hw__Update *made)
{
        const Hw__Update *u = counted(&made->base);
        int r = world_apply(world, daemon, u);

        hw_update_unref(u);
        return r;
}
