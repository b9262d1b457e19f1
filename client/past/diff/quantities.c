/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/diff/side.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/array.h"

#define TAIL_LEAST 5 /* pauses beyond a quantile for estimating its noise from ranks */

static double span_of(const struct run_meter *m)
{
        return m->any && m->last_ns > m->first_ns ? (double)(m->last_ns - m->first_ns) : NAN;
}

static double run_duration(const struct run_meter *m, const struct quantity *q, struct noise *noise)
{
        return span_of(m);
}

/* A recording has one value of RSS, that before the end of the run: neither its peak nor its mean. */
static bool is_known(const struct gauge *g, const struct quantity *q)
{
        return g->samples.n > (q->which == GAUGE_RSS);
}

static double peak_value(const struct run_meter *m, const struct quantity *q, struct noise *noise)
{
        const struct gauge *g = &m->gauges[q->which];

        *noise = bins_noise_of_peak(&g->bins);
        return is_known(g, q) ? g->samples.max : NAN;
}

static double mean_value(const struct run_meter *m, const struct quantity *q, struct noise *noise)
{
        const struct gauge *g = &m->gauges[q->which];

        *noise = bins_noise_of_mean(&g->bins);
        if (!is_known(g, q))
                return NAN;
        return g->samples.n == 1 ? g->samples.last : bins_mean(&g->bins);
}

/* The noise of a rate, in another unit. */
static struct noise scaled_noise(struct noise n, double by)
{
        n.error *= by;
        return n;
}

static double flow_total(const struct run_meter *m, const struct quantity *q, struct noise *noise)
{
        const struct flow *f = &m->flows[q->which];

        *noise = scaled_noise(bins_noise_of_mean(&f->rate), (double)bins_covered(&f->rate));
        return f->known ? f->total : NAN;
}

static double flow_rate(const struct run_meter *m, const struct quantity *q, struct noise *noise)
{
        const struct flow *f = &m->flows[q->which];
        double per = q->unit == UNIT_SHARE ? 1 : 1e9;

        *noise = scaled_noise(bins_noise_of_mean(&f->rate), per);
        return f->known ? f->total / span_of(m) * per : NAN;
}

/*
 * The noise is that of ranks: about 95 % of the time the quantile is between those at n q -+ 1.96 sqrt(n q (1 - q)),
 * if pauses are independent of each other.
 */
static double total_pause(const struct run_meter *m, const struct quantity *q, struct noise *noise)
{
        double n = (double)m->n_pauses, half = 1.96 * sqrt(q->quantile * (1 - q->quantile) / n);

        if (n * (1 - q->quantile) >= TAIL_LEAST) {
                double low = meter_pause(m, fmax(q->quantile - half, 0)),
                       high = meter_pause(m, fmin(q->quantile + half, 1));
                *noise = (struct noise){ true, (high - low) / (2 * 1.96),
                                         m->n_pauses > 1000 ? 1000 : (unsigned)m->n_pauses - 1 };
        }
        return meter_pause(m, q->quantile);
}

/* One extreme value tells nothing of how much it varies: without noise, so that only several runs give an interval. */
static double longest_pause(const struct run_meter *m, const struct quantity *q, struct noise *noise)
{
        return m->gauges[GAUGE_PAUSE].samples.n ? m->gauges[GAUGE_PAUSE].samples.max : NAN;
}

/* Only for whole runs, since verdicts are. */
static double judged_slope(const struct judged *j, struct noise *noise)
{
        if (!j->known)
                return NAN;
        if (isfinite(j->low) && isfinite(j->high))
                *noise = (struct noise){ true, (j->high - j->low) / (2 * 1.96), 1000 };
        return j->value;
}

static double trend_slope(const struct run_meter *m, const struct quantity *q, struct noise *noise)
{
        return judged_slope(&m->slope, noise);
}

static double time_to_limit(const struct run_meter *m, const struct quantity *q, struct noise *noise)
{
        return judged_slope(&m->limit_ns, noise);
}

const struct quantity quantities[] = {
        { "duration", "duration", UNIT_NS, run_duration, 0, 0 },
        { "peak(live)", "peak live data", UNIT_BYTES, peak_value, GAUGE_LIVE, 0 },
        { "mean(live)", "mean live data", UNIT_BYTES, mean_value, GAUGE_LIVE, 0 },
        { "slope(live)", "slope of live data", UNIT_RATE, trend_slope, 0, 0 },
        { "peak(heap)", "peak heap size", UNIT_BYTES, peak_value, GAUGE_HEAP, 0 },
        { "mean(heap)", "mean heap size", UNIT_BYTES, mean_value, GAUGE_HEAP, 0 },
        { "time_to_limit", "time to the limit", UNIT_NS, time_to_limit, 0, 0 },
        { "peak(rss)", "peak RSS", UNIT_BYTES, peak_value, GAUGE_RSS, 0 },
        { "mean(rss)", "mean RSS", UNIT_BYTES, mean_value, GAUGE_RSS, 0 },
        { "peak(census_total)", "peak heap profile", UNIT_BYTES, peak_value, GAUGE_CENSUS, 0 },
        { "mean(census_total)", "mean heap profile", UNIT_BYTES, mean_value, GAUGE_CENSUS, 0 },
        { "allocated", "allocated", UNIT_BYTES, flow_total, FLOW_ALLOCATED, 0 },
        { "allocation_rate", "allocation rate", UNIT_RATE, flow_rate, FLOW_ALLOCATED, 0 },
        { "collections", "collections", UNIT_COUNT, flow_total, FLOW_COLLECTIONS, 0 },
        { "copied", "copied", UNIT_BYTES, flow_total, FLOW_COPIED, 0 },
        { "gc_time", "GC time", UNIT_NS, flow_total, FLOW_GC, 0 },
        { "gc_share", "GC share of time", UNIT_SHARE, flow_rate, FLOW_GC, 0 },
        { "p50(gc_pause)", "median pause", UNIT_NS, total_pause, 0, 0.5 },
        { "p99(gc_pause)", "p99 pause", UNIT_NS, total_pause, 0, 0.99 },
        { "max(gc_pause)", "longest pause", UNIT_NS, longest_pause, 0, 0 },
};

const size_t n_quantities = ARRAY_SIZE(quantities);

bool quantity_is_signed(const struct quantity *q)
{
        return q->of == trend_slope;
}

const struct quantity *quantity_find(const char *name, size_t n)
{
        for (size_t i = 0; i < n_quantities; i++)
                if (strlen(quantities[i].name) == n && !strncmp(quantities[i].name, name, n))
                        return &quantities[i];
        return NULL;
}

static void unsigned_text(char *out, size_t size, enum quantity_unit unit, double value)
{
        switch (unit) {
        case UNIT_BYTES:
                hw_bytes_text(out, size, value);
                break;
        case UNIT_RATE:
                hw_rate_text(out, size, value);
                break;
        case UNIT_NS:
                hw_duration_text(out, size, value);
                break;
        case UNIT_SHARE:
                hw_share_text(out, size, value);
                break;
        case UNIT_COUNT:
                (void)snprintf(out, size, value < 100 && value != floor(value) ? "%.1f" : "%.0f", value);
                break;
        }
}

char *quantity_text(char *out, size_t size, enum quantity_unit unit, double value, bool change)
{
        char number[HW_NUMBER_MAX];

        if (!isfinite(value)) {
                (void)snprintf(out, size, "?");
                return out;
        }
        unsigned_text(number, sizeof(number), unit, fabs(value));
        (void)snprintf(out, size, "%s%s", value < 0 ? "-" : change ? "+" : "", number);
        return out;
}
