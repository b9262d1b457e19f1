/* SPDX-License-Identifier: BSD-3-Clause */
/* inspected.h - heaps or threads for a report, read of its targets while it is made. */
#ifndef HW_CLIENT_REPORT_INSPECTED_H
#define HW_CLIENT_REPORT_INSPECTED_H

#include <stddef.h>
#include <stdint.h>

#include "client/cli/inspecting.h"
#include "client/report/profiles.h"
#include "client/state/world.h"
#include "proto/base/json_out.h"

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

#endif
