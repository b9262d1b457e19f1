/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profiles.h - profiles of CPU time or allocation for a report: taken of its targets while it is made, or kept with
 * recordings.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/cli/inspecting.h"
#include "client/world/state/cpu_tree.h"
#include "client/world/state/world.h"
#include "proto/base/json_out.h"

#define REPORT_PROFILES 4u

struct feed;

struct report_profile {
        const struct world_target *target; /* borrowed */
        uint64_t begin_wall_ns, for_ns;    /* for_ns 0: it was kept */
        struct inspecting *profiler;       /* NULL: done */
        struct cpu_trees trees;            /* no sentences: it failed */
        struct error error;
};

struct report_profiles {
        struct report_profile items[REPORT_PROFILES];
        size_t n;
};

/*
 * Of the first REPORT_PROFILES targets, all at once; `what` is INSPECTING_PROFILE or INSPECTING_ALLOCATION. Returns
 * when all are done; one that failed has a sentence.
 */
void report_profiles_sample(struct report_profiles *ret, const struct world *world, const struct feed *feed,
                            enum inspecting_what what, uint64_t for_ns);

/* Those that were kept with recordings: of each of these paths that is one, in the order of the world's targets. */
void report_profiles_read(struct report_profiles *ret, const struct world *world, const char *const *paths, size_t n);

void report_profiles_done(struct report_profiles *p);

/* A list of objects. */
void report_profiles_put(struct json_out *j, const struct report_profiles *all);

/* inspected.c: heaps or threads for a report, read of its targets while it is made. */

struct report_read {
        const struct world_target *target; /* borrowed */
        uint64_t begin_wall_ns;
        char *json; /* NULL: it failed */
        struct error error;
};

struct report_inspected {
        struct report_read items[REPORT_PROFILES];
        size_t n;
};

/* Of the first REPORT_PROFILES targets, one after the other, all of them; one that failed has a sentence. */
void report_inspect(struct report_inspected *ret, const struct world *world, const struct feed *feed,
                    enum inspecting_what what);
void report_inspected_done(struct report_inspected *p);

/* A list of objects. */
void report_inspected_put(struct json_out *j, const struct report_inspected *p);
