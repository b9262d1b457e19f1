/* SPDX-License-Identifier: BSD-3-Clause */
/* copied.h - a second trend in the state of the first, and whether two are in the same. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "daemon/judge/trend/trend.h"

static inline struct rings rings_copied(const struct rings *from)
{
        struct rings r = *from;

        r.cells = malloc(rings_held(from) + 1);
        assert_non_null(r.cells);
        if (from->cells)
                memcpy(r.cells, from->cells, rings_held(from));
        return r;
}

/* To be freed with trend_done(). */
static inline struct trend trend_copied(const struct trend *from)
{
        struct trend t = *from;

        t.ladder.rings = rings_copied(&from->ladder.rings);
        t.life.means = rings_copied(&from->life.means);
        t.windows.results = rings_copied(&from->windows.results);
        return t;
}
