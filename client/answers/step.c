/* SPDX-License-Identifier: BSD-3-Clause */
/* step.c - what the step in which growth is judged means for a run of this length (docs/VERDICT.md, "The scale"). */
#include "client/answers/evidence.h"
#include "proto/base/array.h"
#include "proto/base/time.h"

#include <stddef.h>

/* Steps that people type, in rising order. */
static const struct {
        uint64_t ns;
        const char *text;
} steps[] = {
        { 100 * NS_PER_MS, "100ms" }, { 250 * NS_PER_MS, "250ms" }, { 500 * NS_PER_MS, "500ms" },
        { 1 * NS_PER_S, "1s" },       { 2 * NS_PER_S, "2s" },       { 5 * NS_PER_S, "5s" },
        { 10 * NS_PER_S, "10s" },     { 15 * NS_PER_S, "15s" },     { 30 * NS_PER_S, "30s" },
        { 60 * NS_PER_S, "1m" },      { 120 * NS_PER_S, "2m" },     { 300 * NS_PER_S, "5m" },
        { 600 * NS_PER_S, "10m" },    { 1800 * NS_PER_S, "30m" },
};

uint64_t step_in_use(const struct evidence *e)
{
        const Hw__TrendScale *scale = e->t->trend_state ? e->t->trend_state->scale : NULL;

        return scale && scale->has_resolution_ns ? scale->resolution_ns : 0;
}

uint64_t length_seen(const struct evidence *e)
{
        const Hw__Run *run = e->t->target ? e->t->target->run_info : NULL;
        uint64_t first = run && run->has_first_time_ns ? run->first_time_ns : 0;

        return e->t->event_time_ns > first ? e->t->event_time_ns - first : 0;
}

const char *shorter_step(const struct evidence *e)
{
        uint64_t step = step_in_use(e), most = length_seen(e) / SURE_STEPS;
        const char *found = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
                if (steps[i].ns <= most && steps[i].ns < step)
                        found = steps[i].text;
        return found;
}
