/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * edge.h - when something that depends on time alone changes next: the nearest of
 * many times that a moving clock, or an end of a moving window, has yet to reach.
 */
#pragma once

#include "proto/base/time.h"

struct edge {
        uint64_t after_ns; /* from now until the nearest; UINT64_MAX: there is none */
};

#define EDGE_NONE ((struct edge){ .after_ns = UINT64_MAX })

/* A change at a time, or right after it. One that is reached just now may still come. */
static inline void edge_meet(struct edge *e, uint64_t at_ns, uint64_t now_ns)
{
        if (at_ns >= now_ns && at_ns - now_ns < e->after_ns)
                e->after_ns = at_ns > now_ns ? at_ns - now_ns : 1;
}

/* The same for both ends of a moving window; the older end does not move yet while it is 0. */
static inline void edge_meet_range(struct edge *e, uint64_t at_ns, struct time_range range)
{
        if (range.from_ns > 0)
                edge_meet(e, at_ns, range.from_ns);
        edge_meet(e, at_ns, range.to_ns);
}
