/* SPDX-License-Identifier: BSD-3-Clause */
/* archived_parts.h - what archived.c writes of each run, and archived_bands.c of its bands. */
#pragma once

#include "client/past/archive/read.h"
#include "client/world/state/world.h"
#include "proto/base/json_out.h"

/*
 * archived.c: what an archive has of a target, as JSON in the form of docs/WEB.md ("The archive"). Reads a file and
 * may take long: for a thread of its own. Knows nothing of HTTP.
 */

#define ARCHIVED_RUNS   200  /* the newest of a range; older ones are left out, and counted */
#define ARCHIVED_POINTS 2000 /* of each item, at most about this many */
#define ARCHIVED_TOP    100

struct archived_query {
        char target[WORLD_NAME_MAX + 1];
        char host[256]; /* of its daemon */
        Hw__Series series[SERIES_COUNT];
        size_t n_series;
        uint64_t top;          /* of the largest bands; 0: no bands */
        uint64_t from_s, to_s; /* Unix time */
        uint64_t points;
};

/* Writes one object. False with a message: the file cannot be read, or that took longer than a few seconds. */
bool archived_print(struct json_out *j, const char *path, const struct archived_query *q, struct error *error);

#define ARCHIVED_GAPS 500 /* of one item; later ones are joined to the last */

/* Where a run has no rows. Zeroed: none. */
struct gaps {
        uint64_t items[ARCHIVED_GAPS][2]; /* from, to, in s */
        size_t n;
        uint64_t end_s; /* of the newest row; 0: none yet */
};

void gaps_row(struct gaps *g, uint64_t time_s, uint64_t width_s);
void gaps_print(struct json_out *j, const struct gaps *g);

/* The least width of a point, at least a minute. */
uint64_t archived_step_s(const struct archived_query *q);

/* The bands that are printed: zeroed, then filled by archived_add_label. */
struct labels {
        char *items[ARCHIVED_TOP]; /* owned */
        size_t n;
        bool failed;
};

void archived_add_label(void *labels, const char *label);
void labels_done(struct labels *l);

/* An item of `censuses`. False: the file cannot be read, or out of memory. */
bool archived_print_bands(struct json_out *j, struct database *d, const struct archived_run *run,
                          const struct labels *labels, const struct archived_query *q);
