/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * census.h - of when the bands are: the age of a target's last census, in the same words on every face, with what live
 * data are by now where that is something else, and why there is no further one where --max-pause forbids it.
 */
#pragma once

#include "client/world/state/world.h"
#include "proto/base/json_out.h"

#define CENSUS_TEXT 480
#define CENSUS_LINE (2 * CENSUS_TEXT + 32) /* of the whole sentence */

/*
 * "last census " AGE " ago (33.1 ms pause) at 2.4 MiB; live data is 98 MiB now; the bands are older"; of one from
 * outside "(without a pause)"; "last census, estimated from a sample (largest band ±3 %), " of a large heap.
 */
struct census_age {
        bool any;             /* there is something to say */
        bool has_time;        /* there is a census; else there is only `before` */
        bool stale;           /* live data has become other than it says: the bands do not show that */
        uint64_t time_ns;     /* of the census, event time; the face shows the time since then */
        uint64_t total_bytes; /* of the census */
        char before[CENSUS_TEXT], after[CENSUS_TEXT];
};

/* `live`: a daemon follows the target; false: a finished log. */
void census_age_of(struct census_age *ret, const struct world_target *t, bool live);

/*
 * What the newest census, the runtime's own, leaves out of live data, or, negative, counts beyond: with it bands and
 * live data add up. False: not known, or next to nothing. And why: "GHC 9.6.6 counts ...". Returns `out`.
 */
#define UNCOUNTED_NAME "(not in the runtime's census)"
bool census_uncounted(const struct world_target *t, double *ret_bytes);
char *census_uncounted_reason(char *out, size_t size, const struct world_target *t);

/* How long before the newest event live data was measured; false: not long, or not known. */
bool live_is_old(const struct world_target *t, uint64_t *ret_ns);

/* Bytes that a band may seem to have gained by the newest census without having done so; 0: it was counted. */
double census_margin_of_gain(const struct world_target *t, const struct world_band *band);

/*
 * An age as the member "census" of an object in JSON; nothing when there is nothing to say. `now`: with the age and
 * the sentence at the newest event, which change with each of them.
 */
void census_age_print(struct json_out *j, const struct world_target *t, bool live, bool now);

/* Why a run has no census, in words: "no census yet: heap profiles need +RTS -h". Returns `out`. */
char *census_absence(char *out, size_t size, const struct world_target *t, bool live);

/* "of which heapwatch's: 20.4 s, the longest 4.9 s", of all pauses; "" where it caused none, or none is known. */
char *census_pauses_text(char *out, size_t size, const struct world_target *t);

/* The whole sentence at the event time now_ns; "" when there is nothing to say. Returns `out`. */
char *census_age_text(char *out, size_t size, const struct census_age *a, uint64_t now_ns);
