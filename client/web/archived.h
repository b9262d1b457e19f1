/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archived.h - what an archive has of a target, as JSON in the form of docs/WEB.md ("The archive"). Reads a file and
 * may take long: for a thread of its own. Knows nothing of HTTP.
 */
#ifndef HW_CLIENT_WEB_ARCHIVED_H
#define HW_CLIENT_WEB_ARCHIVED_H

#include "client/state/world.h"
#include "proto/base/json_out.h"

struct error;

#define ARCHIVED_RUNS   200  /* the newest of a range; older ones are left out, and counted */
#define ARCHIVED_POINTS 2000 /* of each item, at most about this many */
#define ARCHIVED_TOP    100

struct archived_query {
        char target[WORLD_NAME_MAX + 1];
        char host[256]; /* of its daemon */
        Hw__Series series[WORLD_SERIES];
        size_t n_series, top;  /* top: of the largest bands; 0: no bands */
        uint64_t from_s, to_s; /* Unix time */
        size_t points;
};

/* Writes one object. False with a message: the file cannot be read, or that took longer than a few seconds. */
bool archived_print(struct json_out *j, const char *path, const struct archived_query *q, struct error *error);

#endif
