/* SPDX-License-Identifier: BSD-3-Clause */
/* widgets.c - small drawings. */
#include "client/console/draw/widgets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/utf8.h"

/* ------------------------------------------------------------ into columns */

struct columns {
        struct time_range range;
        int width;
        double *values;
        bool *known;
};

static void put_value(struct columns *c, uint64_t time_ns, double value)
{
        double span = (double)(c->range.to_ns - c->range.from_ns) + 1;
        int column = (int)((double)(time_ns - c->range.from_ns) / span * c->width);

        if (time_ns < c->range.from_ns || time_ns > c->range.to_ns)
                return;
        column = column < c->width ? column : c->width - 1;
        if (!c->known[column] || value > c->values[column])
                c->values[column] = value;
        c->known[column] = true;
}

/* The greatest value of each column; what came before the first column is the value to start from. */
static bool find_greatest(const struct past *past, struct columns *c, enum spark_mode mode, double *ret_before)
{
        bool before = false;

        for (size_t i = 0; i < past->n; i++) {
                const struct point *p = &past->points[i];
                bool peak = p->cell.max > p->cell.last;

                if (peak)
                        put_value(c, past_middle_ns(p), p->cell.max);
                if (!peak || mode != SPARK_EVENTS)
                        put_value(c, p->cell.last_ns, p->cell.last);
                if (p->cell.last_ns < c->range.from_ns) {
                        *ret_before = p->cell.last;
                        before = true;
                }
        }
        return before;
}

/* A total at a time within its points, between two of which it grows evenly. *at: the later one of them; times rise. */
static double total_at(const struct past *past, size_t *at, double time_ns)
{
        while (*at + 1 < past->n && (double)past->points[*at].cell.last_ns < time_ns)
                ++*at;
        const struct point *to = &past->points[*at], *from = *at > 0 ? to - 1 : to;
        double between = (double)(to->cell.last_ns - from->cell.last_ns);

        if (to->cell.last_ns <= from->cell.last_ns)
                return to->cell.last;
        return to->cell.last - (to->cell.last - from->cell.last) * ((double)to->cell.last_ns - time_ns) / between;
}

/* What a total gains in each column: points may be wider than columns, or fill one and a half. */
static void compute_gains(const struct past *past, struct columns *c)
{
        const double column_ns = ((double)(c->range.to_ns - c->range.from_ns) + 1) / c->width;
        size_t at = 0;

        for (int i = 0; past->n > 1 && i < c->width; i++) {
                double from_ns = fmax((double)c->range.from_ns + i * column_ns, (double)past->points[0].cell.last_ns);
                double to_ns = fmin((double)c->range.from_ns + (i + 1) * column_ns,
                                    (double)past->points[past->n - 1].cell.last_ns);

                if (to_ns <= from_ns)
                        continue;
                double before = total_at(past, &at, from_ns), gain = total_at(past, &at, to_ns) - before;
                c->values[i] = fmax(gain, 0) * column_ns / (to_ns - from_ns);
                c->known[i] = true;
        }
}

void spark_sample(const struct past *past, struct time_range range, enum spark_mode mode, int width, double *values,
                  bool *known)
{
        struct columns c = { range, width, values, known };
        double last = 0;
        bool has_last;

        memset(values, 0, (size_t)width * sizeof(*values));
        memset(known, 0, (size_t)width * sizeof(*known));
        if (range.to_ns <= range.from_ns)
                return;
        if (mode == SPARK_RATE) {
                compute_gains(past, &c);
                return;
        }
        has_last = find_greatest(past, &c, mode, &last);
        if (mode != SPARK_EVENTS) {
                /* A gauge keeps its value until the next sample. */
                for (int i = 0; i < width; i++) {
                        if (known[i]) {
                                last = values[i];
                                has_last = true;
                        } else if (has_last) {
                                values[i] = last;
                                known[i] = true;
                        }
                }
        }
}

/* ----------------------------------------------------------------- drawing */

/* Least and greatest of the axis; a flat line runs through its middle. */
static void find_axis(int width, const double *values, const bool *known, double *ret_low, double *ret_high)
{
        double spare;
        bool any = false;

        *ret_low = *ret_high = 0;
        for (int i = 0; i < width; i++) {
                if (!known[i])
                        continue;
                if (!any || values[i] < *ret_low)
                        *ret_low = values[i];
                if (!any || values[i] > *ret_high)
                        *ret_high = values[i];
                any = true;
        }
        spare = *ret_high / 10 - (*ret_high - *ret_low);
        if (spare > 0) {
                *ret_low -= spare / 2;
                *ret_high += spare / 2;
        }
}

static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

void draw_spark(struct canvas *c, struct area area, int row, int column, int width, const struct past *past,
                struct time_range range, enum spark_mode mode)
{
        double values[SPARK_MAX], low, high;
        bool known[SPARK_MAX];

        width = width < SPARK_MAX ? width : SPARK_MAX;
        spark_sample(past, range, mode, width, values, known);
        find_axis(width, values, known, &low, &high);
        for (int i = 0; i < width; i++) {
                int height = 0;

                if (!known[i])
                        continue;
                if (high > low)
                        height = (int)((values[i] - low) / (high - low) * 7 + 0.5); /* 0..7: low <= value <= high */
                (void)canvas_put(c, area, row, column + i, 1, TINT_GRAPH, blocks[height]);
        }
}

void draw_bars(struct canvas *c, struct area area, int row, int column, int width, const double *values,
               const bool *known)
{
        double high = 0;

        for (int i = 0; i < width; i++)
                high = known[i] && values[i] > high ? values[i] : high;
        for (int i = 0; i < width; i++) {
                if (known[i])
                        (void)canvas_put(c, area, row, column + i, 1, TINT_GRAPH,
                                         blocks[high > 0 ? (int)(values[i] / high * 7 + 0.5) : 0]);
        }
}

int draw_lines(struct canvas *c, struct area area, int row, int column, int width, int most, enum tint tint,
               const char *text)
{
        char safe[8192], line[1024];
        const char *rest = safe_text(safe, sizeof(safe), text);
        int rows = 0;

        for (; *rest && rows < most; rows++) {
                const bool cut = rows + 1 == most && text_columns(rest) > width;
                size_t n = text_wrap(rest, width > 8 ? width - cut : 8);

                (void)snprintf(line, sizeof(line), "%.*s%s", (int)n, rest, cut ? "…" : "");
                if (c && row + rows < area.height)
                        (void)canvas_put(c, area, row + rows, column, width, tint, line);
                rest += n;
        }
        return rows;
}

void draw_title(struct canvas *c, struct area area, int row, const char *title, const char *right)
{
        int end = area.width - 1 - (*right ? text_columns(right) + 1 : 0);
        int column = 1 + canvas_put(c, area, row, 1, area.width - 2, TINT_STRONG, title) + 1;

        if (*right && end > column)
                (void)canvas_put(c, area, row, end + 1, area.width, TINT_DIM, right);
        if (end > column)
                canvas_rule(c, area, row, column, end - column, TINT_DIM, "─");
}
