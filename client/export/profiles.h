/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profiles.h - profiles of targets for Pyroscope's /ingest, as batches: each newest census as bytes in use by band, and
 * the ticks of the time profile since the walk before (profile_batch.h).
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

#endif
