/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * past_json.h - one past as JSON, in the form of docs/WEB.md ("History"): the same
 * for the page's API and for reports.
 */
#ifndef HW_CLIENT_HISTORY_PAST_JSON_H
#define HW_CLIENT_HISTORY_PAST_JSON_H

#include "client/history/history.h"
#include "proto/base/json_out.h"

/* Whose past it is. Borrowed. */
struct past_owner {
        size_t daemon;
        const char *target;
        uint32_t run;
        Hw__Series series; /* SERIES_NONE: a band */
        uint32_t band;     /* 0: the total of all */
        const char *label; /* of a band; NULL: unknown */
};

/* {"daemon":...,"target":...,"unit":"B" - without the closing brace: columns, statistics or an error follow. */
void past_json_open(struct json_out *j, const struct past_owner *owner);

/* "width":...,"times":[...],"last":[...] and more. */
void past_json_columns(struct json_out *j, const struct past *past);

/* The same with "grid" and "start" in place of the times: `b` of `g`, whose times are the answer's grid `number`. */
void past_json_grid_columns(struct json_out *j, const struct grid *g, const struct grid_band *b, size_t number);

/* "stats":{...} */
void past_json_stats(struct json_out *j, const struct grid *g, const struct grid_band *b);

/* The times of a grid, [0,1,2.5]: where its columns begin, or those of their last censuses. */
void past_json_grid_times(struct json_out *j, const struct grid *g, bool ends);

#endif
