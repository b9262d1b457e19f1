/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profiles.h - profiles of targets for Pyroscope's /ingest, as batches: each newest census as bytes in use by band, and
 * the ticks of the time profile since the walk before.
 *
 * A batch is the query of its URL, a newline, and the body of a POST: multipart/form-data with the profile as pprof and
 * the configuration of its types. A sample is a band or a stack.
 */
#ifndef HW_CLIENT_EXPORT_PROFILES_H
#define HW_CLIENT_EXPORT_PROFILES_H

#include "client/export/batcher.h"

struct profiles;

/* `wall_ns`: now. Of runs that began earlier, ticks count from the first walk on. NULL when out of memory. */
struct profiles *profiles_new(uint64_t wall_ns);
void profiles_destroy(struct profiles **p);

/* One walk: calls encoding->take for each profile. Returns how many samples were lost for lack of memory. */
uint64_t profiles_run(struct profiles *p, const struct encoding *encoding, const struct metrics_source *source);

/* How they are sent. */
extern const struct batcher_kind profiles_kind;

/* The parts of a batch; they point into its bytes, but for the boundary. False: this is none. */
#define PROFILE_BOUNDARY 40
struct profile_parts {
        const char *query, *body;
        size_t query_size, body_size;
        char boundary[PROFILE_BOUNDARY + 1];
};
bool profile_parts(struct profile_parts *ret, const struct batch *batch);

#endif
