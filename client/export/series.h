/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * series.h - the series of the previous walk, so that the end of each is sent once: a stale marker.
 *
 * Without one a receiver takes the newest value of a series for its current one for minutes. Both versions of remote
 * write demand markers, OpenTelemetry has a flag for them:
 * https://prometheus.io/docs/specs/prw/remote_write_spec/ ("Stale Markers"),
 * https://opentelemetry.io/docs/specs/otel/metrics/data-model/ ("Data point flags").
 *
 * At most SERIES_STORED_MAX (limits.h) are stored, about 250 bytes each. Further ones, and those for which memory is
 * short, end without a marker; none has a marker while it continues.
 */
#ifndef HW_CLIENT_EXPORT_SERIES_H
#define HW_CLIENT_EXPORT_SERIES_H

#include <stdbool.h>

#include "client/metrics/collect.h"
#include "proto/base/idtable.h"

struct series;

/* All zero: empty. */
struct series_list {
        struct series **items;
        size_t n;
        struct idtable ids; /* index + 1 */
        uint64_t seed, walk;
};

void series_list_done(struct series_list *l);

/* Marks the series of a sample's part, or (NULL) of the sample as a whole, as present in the current walk. */
void series_mark(struct series_list *l, const struct metric_sample *sample, const struct metric_part *part);

/*
 * Ends a walk: calls `take` for each series that was not marked in it, and removes them. The sample is `ended` and has
 * neither values nor counts; the part is NULL where it was.
 */
void series_end_unmarked(struct series_list *l, metric_part_taker *take, void *ctx);

#endif
