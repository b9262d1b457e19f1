/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_trend.c - how series and bands move.
 *
 * DESIGN: a message brings the trends that changed, so each is kept by its
 * series or band; what is beside them (growth, time to limit, scale) is
 * full state and is kept as a copy of the newest message without its list,
 * which would keep trends that were replaced since.
 */
#include "client/world/state/internal.h"

#include <errno.h>

#include "proto/wire/message.h"
#include "proto/wire/words.h"

/*
 * Keeps a trend; of a brief target what answers look at: of a series that is judged the statistics of the whole run, of
 * a band verdict and slope.
 */
static int keep_trend(const struct target_state *ts, const Hw__Trend **slot, const Hw__Trend *trend)
{
        if (!target_is_brief(ts)) {
                KEEP(*slot, trend);
                return 0;
        }
        Hw__Trend brief = *trend;
        const Hw__Trend *own = NULL;
        if (brief.has_band) {
                brief.n_windows = 0;
                brief.evidence = NULL;
                brief.sentence = brief.key = NULL;
        } else if (brief.n_windows > 1) {
                brief.windows += brief.n_windows - 1;
                brief.n_windows = 1;
        }
        const bool looked_at = brief.has_verdict && (!brief.has_band || brief.verdict || brief.has_slope);
        if (looked_at && !(own = (const Hw__Trend *)message_copy(&brief.base)))
                return -ENOMEM;
        FORGET(*slot);
        *slot = own;
        return 0;
}

int trends_shorten(struct target_state *ts)
{
        int r = 0;

        for (size_t i = 0; i < SERIES_COUNT && r == 0; i++)
                r = ts->t.trends[i] ? keep_trend(ts, &ts->t.trends[i], ts->t.trends[i]) : 0;
        for (uint32_t i = 0; i < ts->t.n_bands && r == 0; i++) {
                struct world_band *b = ts->t.bands[i];

                r = b && b->trend ? keep_trend(ts, &b->trend, b->trend) : 0;
        }
        return r;
}

/* Ignores a trend of a series or band that this version does not know. */
int trends_apply(struct target_state *ts, const Hw__Update *u)
{
        const Hw__Trends *trends = u->trends;
        Hw__Trends state = *trends;
        int r = 0;

        if (u->has_event_time_ns && u->event_time_ns < ts->trends_ns)
                return 0; /* recalled, and another one came meanwhile */
        state.n_trends = 0;
        const Hw__Trends *own = (const Hw__Trends *)message_copy(&state.base);
        if (!own)
                return -ENOMEM;
        FORGET(ts->t.trend_state);
        ts->t.trend_state = own;
        ts->trends_ns = u->event_time_ns;
        for (size_t i = 0; i < trends->n_trends && r == 0; i++) {
                const Hw__Trend *trend = trends->trends[i];

                if (trend->has_band && id_valid(trend->band)) {
                        struct world_band *b = world_bands_entry(ts, trend->band);

                        if (!b)
                                return -ENOMEM;
                        r = keep_trend(ts, &b->trend, trend);
                } else if (!trend->has_band && trend->has_series && trend->series &&
                           (unsigned)trend->series < SERIES_COUNT) {
                        r = keep_trend(ts, &ts->t.trends[trend->series], trend);
                }
        }
        return r;
}

void trends_done(struct target_state *ts)
{
        for (size_t i = 0; i < SERIES_COUNT; i++)
                FORGET(ts->t.trends[i]);
        FORGET(ts->t.trend_state);
        ts->trends_ns = 0;
}

bool world_limit(const struct world_target *t, uint64_t *ret_bytes, Hw__TimeToLimit__Source *ret_source)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        const Hw__Process *process = t->heap ? t->heap->process : NULL;
        const Hw__Trends *trends = t->trend_state;
        bool found = false;

        if (trends && trends->has_limit_bytes) { /* the daemon's, which also knows --limit and the machine */
                *ret_bytes = trends->limit_bytes;
                *ret_source = trends->limit_source;
                return true;
        }
        if (run && run->has_max_heap_bytes && run->max_heap_bytes) {
                *ret_bytes = run->max_heap_bytes;
                *ret_source = HW__TIME_TO_LIMIT__SOURCE__SOURCE_MAX_HEAP;
                found = true;
        }
        if (process && process->has_cgroup_max_bytes && process->cgroup_max_bytes &&
            (!found || process->cgroup_max_bytes < *ret_bytes)) {
                *ret_bytes = process->cgroup_max_bytes;
                *ret_source = HW__TIME_TO_LIMIT__SOURCE__SOURCE_CGROUP;
                found = true;
        }
        return found;
}

Hw__TimeToLimit__Source world_heap_limit(const struct world_target *t, uint64_t *ret_bytes)
{
        const uint64_t max = facts_get_u64(t, FACT_MAX_HEAP, 0), reserved = facts_get_u64(t, FACT_HEAP_RESERVED, 0);

        *ret_bytes = reserved && (!max || reserved < max) ? reserved : max;
        return *ret_bytes == 0     ? HW__TIME_TO_LIMIT__SOURCE__SOURCE_UNKNOWN
               : *ret_bytes == max ? HW__TIME_TO_LIMIT__SOURCE__SOURCE_MAX_HEAP
                                   : HW__TIME_TO_LIMIT__SOURCE__SOURCE_RESERVED;
}

enum fact world_limit_counts(const struct world_target *t)
{
        Hw__TimeToLimit__Source source = HW__TIME_TO_LIMIT__SOURCE__SOURCE_UNKNOWN;
        enum fact counted = FACT_RESIDENT_HELD;
        uint64_t bytes;

        (void)world_limit(t, &bytes, &source);
        if (source == HW__TIME_TO_LIMIT__SOURCE__SOURCE_CGROUP)
                counted = FACT_CGROUP_HELD;
        if (source == HW__TIME_TO_LIMIT__SOURCE__SOURCE_ADDRESS_SPACE)
                counted = FACT_ADDRESS_SPACE;
        if (source == HW__TIME_TO_LIMIT__SOURCE__SOURCE_DATA)
                counted = FACT_DATA;
        if (!facts_is_known(t, counted))
                counted = FACT_RESIDENT_HELD;
        return limit_counts_heap(source) || !facts_is_known(t, counted) ? FACT_HEAP_SIZE : counted;
}
