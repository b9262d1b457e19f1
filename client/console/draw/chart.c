/* SPDX-License-Identifier: BSD-3-Clause */
/* chart.c - what a chart shows, and round numbers for its axes. */
#include "client/console/draw/chart.h"

#include <math.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/time.h"

void chart_line(struct chart *c, const char *name, const struct past *past, enum spark_mode mode, enum tint tint)
{
        if (c->n_lines < CHART_LINES)
                c->lines[c->n_lines++] = (struct chart_line){ name, past, mode, tint, NAN };
}

void chart_mark(struct chart *c, uint64_t time_ns, const char *text, bool strong)
{
        if (c->n_marks < CHART_MARKS && time_ns >= c->range.from_ns && time_ns <= c->range.to_ns)
                c->marks[c->n_marks++] = (struct chart_mark){ time_ns, text, strong };
}

bool chart_value(const struct chart_line *line, uint64_t time_ns, double *ret_value)
{
        for (size_t i = line->past->n; i > 0; i--) {
                const struct point *p = &line->past->points[i - 1];

                if (p->cell.last_ns > time_ns)
                        continue;
                *ret_value = line->mode == SPARK_EVENTS ? p->cell.max : p->cell.last;
                return true;
        }
        return false;
}

const struct chart_mark *chart_mark_at(const struct chart *c, uint64_t time_ns, uint64_t reach_ns)
{
        const struct chart_mark *best = NULL;

        for (size_t i = 0; i < c->n_marks; i++) {
                uint64_t d = sub_abs(c->marks[i].time_ns, time_ns);

                if (d > reach_ns || (best && best->strong && !c->marks[i].strong))
                        continue;
                if (!best || c->marks[i].strong > best->strong || d < sub_abs(best->time_ns, time_ns))
                        best = &c->marks[i];
        }
        return best;
}

/* -------------------------------------------------------------------- axes */

/* The least of 1, 2, 5 times a power of ten that is not below `least`; bytes: a power of two. */
static double round_step(enum unit unit, double least)
{
        double base;

        if (!(least > 0) || !isfinite(least))
                return 1;
        if (unit == UNIT_BYTES || unit == UNIT_RATE)
                return exp2(ceil(log2(least)));
        base = pow(10, floor(log10(least)));
        return least <= base ? base : least <= 2 * base ? 2 * base : least <= 5 * base ? 5 * base : 10 * base;
}

struct chart_axis chart_axis(enum unit unit, double low, double high, int steps)
{
        struct chart_axis a;

        if (high - low < high / 50)
                low = high - high / 50; /* noise around a constant looks flat */
        if (!(high > low))
                high = low + 1;
        a.step = round_step(unit, (high - low) / (steps > 0 ? steps : 1));
        a.low = floor(low / a.step) * a.step;
        a.high = ceil(high / a.step) * a.step;
        return a;
}

uint64_t chart_time_step(uint64_t span_ns, int most)
{
        static const uint64_t steps[] = { NS_PER_S,         2 * NS_PER_S,    5 * NS_PER_S,     10 * NS_PER_S,
                                          15 * NS_PER_S,    30 * NS_PER_S,   60 * NS_PER_S,    120 * NS_PER_S,
                                          300 * NS_PER_S,   600 * NS_PER_S,  900 * NS_PER_S,   1800 * NS_PER_S,
                                          3600 * NS_PER_S,  7200 * NS_PER_S, 10800 * NS_PER_S, 21600 * NS_PER_S,
                                          43200 * NS_PER_S, 86400 * NS_PER_S };
        const size_t n = ARRAY_SIZE(steps);
        uint64_t least = span_ns / (uint64_t)(most > 0 ? most : 1), step = steps[n - 1];

        if (least < NS_PER_S) { /* below a second: 1, 2, 5 ... of a power of ten */
                double round = round_step(UNIT_NS, (double)least);

                return round < 1 ? 1 : (uint64_t)round;
        }
        for (size_t i = 0; i < n; i++) {
                if (steps[i] >= least)
                        return steps[i];
        }
        while (step < least && step <= UINT64_MAX / 2)
                step *= 2;
        return step;
}

uint64_t chart_first_time(const struct chart *c, uint64_t step_ns)
{
        uint64_t past = (c->range.from_ns % step_ns + c->start_wall_ns % step_ns) % step_ns;

        return past && c->range.from_ns <= UINT64_MAX - step_ns ? c->range.from_ns + (step_ns - past)
                                                                : c->range.from_ns;
}

char *chart_time_text(char *out, size_t size, const struct chart *c, uint64_t time_ns)
{
        uint64_t wall_ns = c->start_wall_ns + time_ns;

        if (!c->start_wall_ns || !*time_of_day(out, size, wall_ns, wall_ns))
                return hw_duration_text(out, size, (double)time_ns);
        if (c->range.to_ns - c->range.from_ns < 10 * NS_PER_S && strlen(out) + 3 < size)
                (void)snprintf(out + strlen(out), 3, ".%d", (int)(wall_ns % NS_PER_S / (NS_PER_S / 10)));
        return out;
}
