/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_batch.h - one profile as a batch for Pyroscope's /ingest: the query of its URL, a newline, and the body of a
 * POST, multipart/form-data with the profile as pprof and the configuration of its types. A sample is a band or a
 * stack.
 */
#pragma once

#include "client/out/convert/pprof_file.h"
#include "client/out/export/batcher.h"

#define PROFILE_BOUNDARY 40 /* most characters between the parts */

/* Makes one that no program can have in its names. False: there is no randomness. */
bool profile_boundary(char ret[static PROFILE_BOUNDARY + 1]);

/* Where a profile belongs. Borrowed. */
struct profile_batch {
        const char *boundary, *target;
        const char *daemon; /* NULL: there is one only */
        const struct encoding *encoding;
};

struct profile_kind {
        const char *config; /* as Pyroscope wants it: how values of a type are shown and added up */
        int (*write)(struct pprof_file *file, const void *ctx); /* 0 or -ENOMEM */
};

/*
 * Calls encoding->take with the profile, unless it is empty; from and until in Unix time. Returns how many samples were
 * lost for lack of memory.
 */
uint64_t profile_batch_add(const struct profile_batch *p, const struct profile_kind *kind, const void *ctx,
                           uint64_t from_ns, uint64_t until_ns);

/* The parts of a batch; they point into its bytes, but for the boundary. False: this is none. */
struct profile_parts {
        const char *query, *body;
        size_t query_size, body_size;
        char boundary[PROFILE_BOUNDARY + 1];
};
bool profile_parts(struct profile_parts *ret, const struct batch *batch);

/*
 * profiles.c: profiles of targets for Pyroscope's /ingest, as batches: each newest census as bytes in use by band, and
 * the ticks of the time profile since the walk before (profile_batch.h).
 */

struct profiles;

/* `wall_ns`: now. Of runs that began earlier, ticks count from the first walk on. NULL when out of memory. */
struct profiles *profiles_new(uint64_t wall_ns);
void profiles_destroy(struct profiles **p);

/* One walk: calls encoding->take for each profile. Returns how many samples were lost for lack of memory. */
uint64_t profiles_run(struct profiles *p, const struct encoding *encoding, const struct metrics_source *source);
