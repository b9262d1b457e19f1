/* SPDX-License-Identifier: BSD-3-Clause */
/* chart_save.c - a chart as SVG. */
#include <math.h>
#include <string.h>

#include "client/console/draw/chart.h"

enum { WIDTH = 960, HEIGHT = 400, LEFT = 90, RIGHT = 20, TOP = 50, BOTTOM = 50, POINTS = 800 };

struct svg {
        FILE *to;
        const struct chart *chart;
        struct chart_axis axis;
};

static const char *const colours[CHART_LINES] = { "#3a9d5d", "#3b82c4", "#8e63c7", "#c8752a", "#888888", "#444444" };

static double x_of(const struct svg *s, uint64_t time_ns)
{
        double share = (double)(time_ns - s->chart->range.from_ns) /
                       ((double)(s->chart->range.to_ns - s->chart->range.from_ns) + 1);

        return LEFT + share * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct svg *s, double value)
{
        return HEIGHT - BOTTOM - (value - s->axis.low) / (s->axis.high - s->axis.low) * (HEIGHT - TOP - BOTTOM);
}

/* Text from outside: escaped for XML; control characters are visible escapes already. */
static void put_text(FILE *to, const char *text)
{
        char safe[2048];

        (void)safe_text(safe, sizeof(safe), text);
        for (const char *p = safe; *p; p++) {
                if (*p == '<' || *p == '>' || *p == '&' || *p == '"')
                        (void)fprintf(to, "&#%d;", *p);
                else
                        (void)fputc(*p, to);
        }
}

static void label(const struct svg *s, double x, double y, const char *anchor, const char *text)
{
        (void)fprintf(s->to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
        put_text(s->to, text);
        (void)fputs("</text>\n", s->to);
}

static void find_axis(struct svg *s)
{
        const struct chart *c = s->chart;
        double values[POINTS], low = INFINITY, high = 0;
        bool known[POINTS];

        for (size_t i = 0; i < c->n_lines; i++) {
                spark_sample(c->lines[i].past, c->range, c->lines[i].mode, POINTS, values, known);
                for (int x = 0; x < POINTS; x++) {
                        low = known[x] ? fmin(low, values[x]) : low;
                        high = known[x] ? fmax(high, values[x]) : high;
                }
        }
        if (c->limit_name && c->limit <= 2 * high)
                high = fmax(high, c->limit);
        s->axis = chart_axis(c->unit, c->from_zero || isinf(low) ? 0 : low, high, 6);
}

static void put_axes(const struct svg *s)
{
        const struct chart *c = s->chart;
        uint64_t step = chart_time_step(c->range.to_ns - c->range.from_ns, 8), t = chart_first_time(c, step);
        char text[SHORT_TEXT];

        for (double v = s->axis.low; v <= s->axis.high + s->axis.step / 2; v += s->axis.step) {
                (void)fprintf(s->to, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", LEFT,
                              WIDTH - RIGHT, y_of(s, v), y_of(s, v));
                label(s, LEFT - 8, y_of(s, v) + 4, "end", unit_text(text, sizeof(text), c->unit, fabs(v)));
        }
        for (bool more = t <= c->range.to_ns; more; more = c->range.to_ns - t >= step, t += step)
                label(s, x_of(s, t), HEIGHT - BOTTOM + 20, "middle", chart_time_text(text, sizeof(text), c, t));
}

static void put_line(const struct svg *s, const struct chart_line *line, const char *colour)
{
        const struct chart *c = s->chart;
        double values[POINTS];
        bool known[POINTS];

        spark_sample(line->past, c->range, line->mode, POINTS, values, known);
        (void)fprintf(s->to, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"", colour);
        for (int i = 0; i < POINTS; i++) {
                if (known[i])
                        (void)fprintf(s->to, "%.1f,%.1f ", LEFT + (double)i / (POINTS - 1) * (WIDTH - LEFT - RIGHT),
                                      y_of(s, values[i]));
        }
        (void)fputs("\"/>\n", s->to);
}

static void put_marks(const struct svg *s)
{
        const struct chart *c = s->chart;

        for (size_t i = 0; i < c->n_marks; i++) {
                double x = x_of(s, c->marks[i].time_ns);

                (void)fprintf(s->to, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#c9a227\"><title>", x,
                              x, HEIGHT - BOTTOM - 8, HEIGHT - BOTTOM + 4);
                put_text(s->to, c->marks[i].text);
                (void)fputs("</title></line>\n", s->to);
        }
        if (c->limit_name && c->limit <= s->axis.high) {
                (void)fprintf(s->to,
                              "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#c0392b\" "
                              "stroke-dasharray=\"6 4\"/>\n",
                              LEFT, WIDTH - RIGHT, y_of(s, c->limit), y_of(s, c->limit));
                label(s, WIDTH - RIGHT, y_of(s, c->limit) - 4, "end", c->limit_name);
        }
}

void chart_svg(FILE *to, const struct chart *c)
{
        struct svg s = { .to = to, .chart = c };

        find_axis(&s);
        (void)fprintf(to,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                      "font-family=\"sans-serif\" font-size=\"12\">\n"
                      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                      WIDTH, HEIGHT, WIDTH, HEIGHT);
        label(&s, LEFT, 20, "start", c->title);
        put_axes(&s);
        put_marks(&s);
        for (size_t i = c->n_lines; i > 0; i--)
                put_line(&s, &c->lines[i - 1], colours[i - 1]);
        for (size_t i = 0; i < c->n_lines; i++) {
                (void)fprintf(to, "<rect x=\"%zu\" y=\"30\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", LEFT + i * 130,
                              colours[i]);
                label(&s, LEFT + (double)i * 130 + 14, 40, "start", c->lines[i].name);
        }
        (void)fputs("</svg>\n", to);
}
