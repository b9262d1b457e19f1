/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alerting_band.c - what rules see of one band.
 *
 * DESIGN: from the tracker's windows if they cover the whole range (in slices
 * of a sixth of 10 min, 1 h, 6 h, 24 h), else from the model's history, which
 * spans the whole run in at most 64 points, 16 for small bands.
 *
 * A band's newest size before the moment of judging is exact while the stream
 * is at most eight censuses, or eight seconds of them, ahead of the watermark.
 * If it is farther ahead, and at the start of a window, it is the last of a
 * slice that is over, never of one that reaches into the window: an increase
 * would then be 0.
 */
#include <math.h>

#include "daemon/watch/alerting/internal.h"
#include "daemon/judge/rules/data.h"
#include "proto/base/edge.h"

#define AHEAD_NS UINT64_C(100000000000) /* a census that is newer than the moment by less counts as the newest */

struct range_samples alerting_band_span(const struct alerting *a, uint32_t id, struct time_range range)
{
        const bool known = tracker_band_is_known(a->tracker, id, range.from_ns);
        struct range_samples s;

        if ((known && tracker_band_span(a->tracker, id, range, &s)) ||
            history_band_span(bands_get(model_bands(a->model), id), range, &s) ||
            tracker_band_span(a->tracker, id, range, &s))
                return s;
        return (struct range_samples){ .area = (double)NAN };
}

static struct trend_cell sample_of(uint64_t time_ns, double value)
{
        return (struct trend_cell){ .cell = cell_of(time_ns, value), .t_mean = (double)time_ns / 1e9 };
}

/* The last sample of the newest slice, in windows or history, that ends before a time. */
static bool newest_over(const struct alerting *a, uint32_t id, uint64_t before_ns, struct trend_cell *ret)
{
        bool any = history_band_newest(bands_get(model_bands(a->model), id), before_ns, ret);
        struct trend_cell b;

        if (tracker_band_before(a->tracker, id, before_ns, &b) && (!any || b.cell.last_ns > ret->cell.last_ns)) {
                *ret = b;
                any = true;
        }
        return any;
}

uint64_t alerting_band_still(const struct alerting *a, uint32_t id, struct time_range range)
{
        const struct band *b = bands_get(model_bands(a->model), id);
        const struct fold *h = b ? b->history : NULL;
        const struct census *census = model_census(a->model);
        struct edge edge = { .after_ns = tracker_band_still(a->tracker, id, range) };
        uint64_t time_ns;
        double bytes;

        for (uint32_t i = 0; h && i <= h->n; i++)
                edge_meet_range(&edge, fold_time_ns(h, i), range);
        if (census->number > 0 && census->time_ns >= range.to_ns) { /* ahead of the moment: see AHEAD_NS */
                edge_meet(&edge, census->time_ns, range.to_ns);
                if (!tracker_band_newest(a->tracker, id, range.to_ns, &time_ns, &bytes))
                        return 0;
        }
        return edge.after_ns;
}

bool alerting_band_newest(const struct alerting *a, uint32_t id, uint64_t before_ns, struct trend_cell *ret)
{
        const struct band *b = bands_get(model_bands(a->model), id);
        const struct census *census = model_census(a->model);
        struct trend_cell old;
        uint64_t time_ns;
        double bytes;

        if (!b || census->number == 0)
                return false;
        *ret = sample_of(census->time_ns, (double)b->bytes);
        if (census->time_ns < before_ns)
                return true;
        if (tracker_band_newest(a->tracker, id, before_ns, &time_ns, &bytes)) {
                *ret = sample_of(time_ns, bytes);
                return true;
        }
        uint64_t ahead_ns = before_ns >= tracker_watermark_ns(a->tracker) ? ret->cell.last_ns - before_ns : UINT64_MAX;
        if (newest_over(a, id, before_ns, &old) && before_ns - old.cell.last_ns <= ahead_ns) {
                *ret = old;
                return true;
        }
        return ahead_ns < AHEAD_NS;
}
