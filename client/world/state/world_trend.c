/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_trend.c - how series and bands move.
 *
 * DESIGN: a message brings the trends that changed, so each is kept by its
 * series or band; what is beside them (growth, time to limit, scale) is
 * full state and is kept as the newest message without its list.
 */
#include "client/world/state/internal.h"

#include <errno.h>

void trends_show(struct target_state *ts, const Hw__Trends *trends)
{
        KEEP(ts->whole.trend_state, trends);
        if (trends)
                ts->trend_state = *trends;
        ts->trend_state.n_trends = 0;
        ts->t.trend_state = trends ? &ts->trend_state : NULL;
}

/* Ignores a trend of a series or band that this version does not know. */
int trends_apply(struct target_state *ts, const Hw__Trends *trends)
{
        trends_show(ts, trends);
        for (size_t i = 0; i < trends->n_trends; i++) {
                const Hw__Trend *trend = trends->trends[i];

                if (trend->has_band && id_valid(trend->band)) {
                        struct world_band *b = world_bands_entry(ts, trend->band);

                        if (!b)
                                return -ENOMEM;
                        KEEP(b->trend, trend);
                } else if (!trend->has_band && trend->has_series && trend->series &&
                           (unsigned)trend->series < SERIES_COUNT) {
                        KEEP(ts->t.trends[trend->series], trend);
                }
        }
        return 0;
}

void trends_done(struct target_state *ts)
{
        for (size_t i = 0; i < SERIES_COUNT; i++)
                FORGET(ts->t.trends[i]);
        trends_show(ts, NULL);
}

static const char *limit_word(const Hw__Trends *trends)
{
        switch (trends->limit_source) {
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_CGROUP:
                return "cgroup";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_MAX_HEAP:
                return "-M";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_MEMORY:
                return "machine";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_ADDRESS_SPACE:
                return "ulimit -v";
        default:
                return "--limit";
        }
}

bool world_limit(const struct world_target *t, uint64_t *ret_bytes, const char **ret_what)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        const Hw__Process *process = t->heap ? t->heap->process : NULL;
        const Hw__Trends *trends = t->trend_state;
        bool found = false;

        if (trends && trends->has_limit_bytes) { /* the daemon's, which also knows --limit and the machine */
                *ret_bytes = trends->limit_bytes;
                *ret_what = limit_word(trends);
                return true;
        }
        if (run && run->has_max_heap_bytes && run->max_heap_bytes) {
                *ret_bytes = run->max_heap_bytes;
                *ret_what = "-M";
                found = true;
        }
        if (process && process->has_cgroup_max_bytes && process->cgroup_max_bytes &&
            (!found || process->cgroup_max_bytes < *ret_bytes)) {
                *ret_bytes = process->cgroup_max_bytes;
                *ret_what = "cgroup";
                found = true;
        }
        return found;
}
