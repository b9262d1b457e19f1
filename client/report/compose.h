/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compose.h - the data of a report as one JSON object (docs/WEB.md, "The
 * report's data"), within a bound of numbers: the file stays below 10 MB.
 */
#ifndef HW_CLIENT_REPORT_COMPOSE_H
#define HW_CLIENT_REPORT_COMPOSE_H

#include <stdbool.h>

#include "client/cli/options.h"
#include "client/api/state_json.h"
#include "client/report/inspected.h"
#include "client/report/profiles.h"

struct report_options {
        uint32_t bands;   /* drawn first; 0: all */
        const char *sort; /* size, stddev, name, number or gradient */
        bool reverse;
        struct text_list include, exclude;
        bool no_notes, trace_events;
        uint64_t y_axis_bytes; /* 0: automatic */
};

struct report {
        const struct report_options *options;
        const struct state_source *state;
        const struct pair *pair;                        /* two logs to compare; NULL: there are not exactly two */
        const struct report_profiles *profiles;         /* NULL: none were wished */
        const struct report_inspected *heaps, *threads; /* the same */
        bool watched; /* targets of a daemon: what it remembers of them was recalled */
};

void compose_report(struct json_out *j, const struct report *r);

#endif
