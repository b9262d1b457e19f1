/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chart_draw.c - a chart on a canvas.
 *
 *   row 0        the lines' names and values: at the cursor, or the newest
 *   ...          the plot, two by four dots per cell, its axis at the left
 *   height - 3   marks: notes, and small ticks; markers, the onset and the mark with their labels
 *   height - 2   times
 *   height - 1   what the cursor points at
 *
 * DESIGN: the dots of all lines are collected in a grid of bits, and a cell
 * keeps the number of the line that was drawn last: so lines are drawn from the
 * last to the first. A line is joined from column to column, so that a step is a
 * vertical line and not two dots. Without colours lines are solid, dashed,
 * dotted, or made of letters, and so are the symbols before their names.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/console/draw/chart.h"
#include "heapwatch/text.h"
#include "proto/base/utf8.h"

struct plot {
        struct canvas *canvas;
        struct area area;
        const struct chart *chart;
        struct chart_axis axis;
        int columns, rows;      /* in dots */
        uint8_t *bits;          /* of each cell */
        uint8_t *lines;         /* of each cell: the line drawn last */
        bool shapes;            /* lines differ by shape: there are several, and no colours */
        double *values, *below; /* scratch, `columns` of them each */
        bool *known, *known_below;
};

struct area chart_plot(struct area area)
{
        area.row += CHART_ABOVE;
        area.height -= CHART_ABOVE + CHART_BELOW;
        area.column += CHART_LEFT;
        area.width -= CHART_LEFT + CHART_RIGHT;
        return area;
}

/* -------------------------------------------------------------------- dots */

static void sample_line(struct plot *p, size_t which)
{
        const struct chart_line *lines = p->chart->lines;

        spark_sample(lines[which].past, p->chart->range, lines[which].mode, p->columns, p->values, p->known);
        for (size_t i = 0; p->chart->stacked && i < which; i++) {
                spark_sample(lines[i].past, p->chart->range, lines[i].mode, p->columns, p->below, p->known_below);
                for (int x = 0; x < p->columns; x++) {
                        p->values[x] = (p->known[x] ? p->values[x] : 0) + (p->known_below[x] ? p->below[x] : 0);
                        p->known[x] = p->known[x] || p->known_below[x];
                }
        }
}

/* A limit far above all lines would flatten them: then it is only named. */
static void find_axis(struct plot *p)
{
        const struct chart *c = p->chart;
        double low = INFINITY, high = 0;

        for (size_t i = 0; i < c->n_lines; i++) {
                sample_line(p, i);
                for (int x = 0; x < p->columns; x++) {
                        if (p->known[x]) {
                                low = fmin(low, p->values[x]);
                                high = fmax(high, p->values[x]);
                        }
                }
        }
        if (c->limit_name && c->limit <= 2 * high)
                high = fmax(high, c->limit);
        if (c->from_zero || isinf(low))
                low = 0;
        p->axis = chart_axis(c->unit, low, high, p->area.height / 3 > 6 ? 6 : p->area.height / 3);
}

static int height_of(const struct plot *p, double value)
{
        double y = (value - p->axis.low) / (p->axis.high - p->axis.low) * (p->rows - 1);

        return y < 0 ? 0 : y > p->rows - 1 ? p->rows - 1 : (int)(y + 0.5);
}

/* y counts from below. A dot that is not set is cleared: an area covers those that it is in front of. */
static void put_dot(struct plot *p, int x, int y, size_t line, bool is_set)
{
        static const uint8_t dots[4][2] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
        int row = p->rows - 1 - y;
        size_t cell = (size_t)(row / 4) * (size_t)p->area.width + (size_t)(x / 2);

        p->bits[cell] =
                (uint8_t)(is_set ? p->bits[cell] | dots[row % 4][x % 2] : p->bits[cell] & ~dots[row % 4][x % 2]);
        if (is_set)
                p->lines[cell] = (uint8_t)line;
}

/* The shapes of lines: which of eight columns of dots are drawn, the symbol, and a letter where there are no dots. */
static const struct {
        uint8_t columns;
        const char *sign;
        char letter[2];
} shapes[CHART_LINES] = {
        { 0xff, "⠒⠒⠒", "*" }, { 0x33, "⠒ ⠒", "o" }, { 0x55, "⠂⠂⠂", "+" },
        { 0x13, "⠒ ⠂", "x" }, { 0x0f, "⠒⠒ ", "=" }, { 0x11, "⠂ ⠂", "." },
};

const char *chart_sign(size_t line, bool ascii)
{
        return ascii ? shapes[line].letter : shapes[line].sign;
}

static void draw_line(struct plot *p, size_t which)
{
        const struct chart_line *line = &p->chart->lines[which];
        uint8_t columns = p->shapes && !p->canvas->ascii ? shapes[which].columns : 0xff;
        const bool is_bar = line->mode == SPARK_EVENTS; /* of one column, so its shape is in its rows */
        int before = -1;

        sample_line(p, which);
        for (int x = 0; x < p->columns; x++) {
                int y, from;

                if (!p->known[x]) {
                        before = is_bar ? before : -1;
                        continue;
                }
                y = height_of(p, p->values[x]);
                from = is_bar || p->chart->stacked ? 0 : before < 0 ? y : before;
                for (int i = from < y ? from : y; i <= (from < y ? y : from); i++) {
                        const bool is_set = columns >> (is_bar ? i : x) % 8 & 1;

                        if (is_set || p->chart->stacked)
                                put_dot(p, x, i, which, is_set);
                }
                before = y;
        }
}

/* One cell's dots: a braille character, or the closest ASCII one. */
static const char *glyph_of_dots(char out[4], uint8_t bits, bool ascii)
{
        if (ascii)
                return bits & 0x1b && bits & 0xe4 ? ":" : bits & 0x1b ? "'" : ".";
        out[0] = (char)0xe2;
        out[1] = (char)(0xa0 | bits >> 6);
        out[2] = (char)(0x80 | (bits & 0x3f));
        out[3] = '\0';
        return out;
}

static void show_dots(struct plot *p)
{
        char out[4];

        for (int row = 0; row < p->area.height; row++) {
                for (int i = 0; i < p->area.width; i++) {
                        size_t cell = (size_t)row * (size_t)p->area.width + (size_t)i;

                        if (!p->bits[cell])
                                continue;
                        (void)canvas_put(p->canvas, p->area, row, i, 1, p->chart->lines[p->lines[cell]].tint,
                                         p->shapes && p->canvas->ascii
                                                 ? shapes[p->lines[cell]].letter
                                                 : glyph_of_dots(out, p->bits[cell], p->canvas->ascii));
                }
        }
}

/* -------------------------------------------------------------------- axes */

static void draw_values(struct plot *p, struct area area)
{
        char text[SHORT_TEXT];

        for (double v = p->axis.low; v <= p->axis.high + p->axis.step / 2; v += p->axis.step) {
                int row = CHART_ABOVE + (p->rows - 1 - height_of(p, v)) / 4;

                (void)canvas_put_right(
                        p->canvas, area, row, 0, CHART_LEFT - 2, TINT_DIM,
                        unit_text(text, sizeof(text), p->chart->unit, fabs(v) < p->axis.step / 2 ? 0 : v)); /* no -0 */
                canvas_rule(p->canvas, p->area, row - CHART_ABOVE, 0, p->area.width, TINT_FAINT, "┈");
        }
}

static int column_of(const struct plot *p, uint64_t time_ns)
{
        const struct chart *c = p->chart;

        return (int)((double)(time_ns - c->range.from_ns) / ((double)(c->range.to_ns - c->range.from_ns) + 1) *
                     p->area.width);
}

static void draw_times(struct plot *p, struct area area)
{
        const struct chart *c = p->chart;
        uint64_t step = chart_time_step(c->range.to_ns - c->range.from_ns, p->area.width / 12);
        uint64_t t = chart_first_time(c, step);
        int row = area.height - 2, free_from = 0;
        char text[SHORT_TEXT];

        for (bool more = t <= c->range.to_ns; more; more = c->range.to_ns - t >= step, t += step) {
                int at = column_of(p, t), width;

                (void)chart_time_text(text, sizeof(text), c, t);
                width = text_columns(text);
                at -= width / 2;
                if (CHART_LEFT + at < free_from || CHART_LEFT + at + width > area.width)
                        continue;
                (void)canvas_put(p->canvas, area, row, CHART_LEFT + at, width, TINT_DIM, text);
                free_from = CHART_LEFT + at + width + 2;
        }
}

/* The strong marks of one column, which share a label. */
struct label {
        int column;
        char text[160];
};

enum { LABELS = 24, LABEL_LEAST = 5 }; /* most labels; fewest columns that say something */

/* From left to right; marks at the same place or beside it are joined: "deploy 1.4.2, rise began". */
static size_t find_labels(const struct plot *p, struct label labels[LABELS])
{
        const struct chart *c = p->chart;
        size_t n = 0;

        for (int column = 0; column < p->area.width && n < LABELS; column++) {
                for (size_t i = c->n_marks; i-- > 0;) {
                        const struct chart_mark *m = &c->marks[i];

                        if (!m->strong || column_of(p, m->time_ns) != column)
                                continue;
                        if (!n || column - labels[n - 1].column > 1) {
                                if (n == LABELS)
                                        break;
                                labels[n++] = (struct label){ .column = column };
                        }
                        char *text = labels[n - 1].text;
                        const size_t used = strlen(text);
                        char safe[sizeof(labels->text)];
                        (void)snprintf(text + used, sizeof(labels->text) - used, "%s%s", used ? ", " : "",
                                       safe_text(safe, sizeof(safe), m->text));
                }
        }
        return n;
}

/* Beside each mark as much of its label as fits before the next one; the last one's may go to its left. */
static void draw_labels(struct plot *p, struct area area, int row)
{
        struct label labels[LABELS];
        const size_t n = find_labels(p, labels);
        char text[sizeof(labels->text) + 2];
        int free_from = 0;

        for (size_t i = 0; i < n; i++) {
                const int end = i + 1 < n ? labels[i + 1].column : p->area.width, at = labels[i].column + 1;

                (void)snprintf(text, sizeof(text), " %s ", labels[i].text);
                const int width = text_columns(text), left = labels[i].column - width;

                if (i + 1 == n && end - at < width && left >= free_from)
                        (void)canvas_put(p->canvas, area, row, CHART_LEFT + left, width, TINT_MARK, text);
                else if (end - at >= LABEL_LEAST || end - at >= width)
                        (void)canvas_put(p->canvas, area, row, CHART_LEFT + at, end - at, TINT_MARK, text);
                free_from = end - at < width ? end : at + width;
        }
}

static void draw_marks(struct plot *p, struct area area)
{
        const struct chart *c = p->chart;
        int row = area.height - CHART_BELOW;

        canvas_rule(p->canvas, area, row, CHART_LEFT, p->area.width, TINT_FAINT, "─");
        for (size_t i = 0; c->ticks && i < c->ticks->n; i++) {
                uint64_t t = c->ticks->points[i].cell.last_ns;

                if (t >= c->range.from_ns && t <= c->range.to_ns)
                        (void)canvas_put(p->canvas, area, row, CHART_LEFT + column_of(p, t), 1, TINT_DIM, "┴");
        }
        for (size_t i = 0; i < 2 * c->n_marks; i++) { /* the strong ones last: on top */
                const struct chart_mark *m = &c->marks[i % c->n_marks];

                if (m->strong == (i >= c->n_marks))
                        (void)canvas_put(p->canvas, area, row, CHART_LEFT + column_of(p, m->time_ns), 1,
                                         m->strong ? TINT_MARK : TINT_DIM, m->strong ? "▲" : "▵");
        }
        draw_labels(p, area, row);
}

/* ------------------------------------------------------------------ legend */

static int put_text(struct plot *p, struct area area, int row, int at, enum tint tint, const char *text)
{
        return at + canvas_put(p->canvas, area, row, at, area.width - at - 1, tint, text);
}

static void draw_legend(struct plot *p, struct area area)
{
        const struct chart *c = p->chart;
        uint64_t when = c->has_cursor ? c->cursor_ns : c->range.to_ns;
        char text[SHORT_TEXT];
        int at = 1;

        for (size_t i = 0; i < c->n_lines && !c->no_legend; i++) {
                double value = 0;
                bool known = chart_value(&c->lines[i], when, &value);

                if (!c->has_cursor && !isnan(c->lines[i].newest)) {
                        value = c->lines[i].newest;
                        known = true;
                }
                at = put_text(p, area, 0, at, c->lines[i].tint, p->shapes ? chart_sign(i, p->canvas->ascii) : "■");
                at = put_text(p, area, 0, at, TINT_PLAIN, " ");
                at = put_text(p, area, 0, at, TINT_PLAIN, c->lines[i].name) + 1;
                at = put_text(p, area, 0, at, TINT_STRONG,
                              known ? unit_text(text, sizeof(text), c->unit, value) : UNKNOWN_TEXT);
                at += p->shapes ? 2 : 3;
        }
        if (!c->limit_name)
                return;
        at = put_text(p, area, 0, at, TINT_BAD, "╌ ");
        at = put_text(p, area, 0, at, TINT_PLAIN, c->limit_name) + 1;
        (void)put_text(p, area, 0, at, TINT_STRONG, unit_text(text, sizeof(text), c->unit, c->limit));
}

static void draw_cursor(struct plot *p, struct area area)
{
        const struct chart *c = p->chart;
        uint64_t reach_ns = (c->range.to_ns - c->range.from_ns) / (uint64_t)p->area.width;
        const struct chart_mark *mark = chart_mark_at(c, c->cursor_ns, reach_ns);
        char text[SHORT_TEXT];
        int row = area.height - 1, at = CHART_LEFT;

        if (!c->has_cursor || c->cursor_ns < c->range.from_ns || c->cursor_ns > c->range.to_ns)
                return;
        for (int i = 0; i < p->area.height; i++)
                (void)canvas_put(p->canvas, p->area, i, column_of(p, c->cursor_ns), 1, TINT_KEY, "│");
        at = put_text(p, area, row, at, TINT_DIM, "at ");
        at = put_text(p, area, row, at, TINT_STRONG, chart_time_text(text, sizeof(text), c, c->cursor_ns));
        if (c->start_wall_ns) {
                at = put_text(p, area, row, at, TINT_DIM, "  run ");
                at = put_text(p, area, row, at, TINT_DIM, hw_duration_text(text, sizeof(text), (double)c->cursor_ns));
        }
        if (!mark)
                return;
        at = put_text(p, area, row, at + 2, mark->strong ? TINT_MARK : TINT_DIM, mark->strong ? "▲ " : "▵ ");
        (void)put_text(p, area, row, at, TINT_PLAIN, SAFE_TEXT(1024, mark->text));
}

static bool plot_init(struct plot *p, struct canvas *canvas, struct area area, const struct chart *c)
{
        size_t cells;

        memset(p, 0, sizeof(*p));
        p->canvas = canvas;
        p->chart = c;
        p->area = chart_plot(area);
        if (p->area.height < 1 || p->area.width < 1)
                return false;
        p->shapes = c->n_lines > 1 && (canvas->mono || canvas->ascii);
        p->columns = 2 * p->area.width;
        p->rows = 4 * p->area.height;
        cells = (size_t)p->area.height * (size_t)p->area.width;
        p->bits = calloc(cells, 1);
        p->lines = calloc(cells, 1);
        p->values = calloc((size_t)p->columns, sizeof(*p->values));
        p->known = calloc((size_t)p->columns, sizeof(*p->known));
        p->below = calloc((size_t)p->columns, sizeof(*p->below));
        p->known_below = calloc((size_t)p->columns, sizeof(*p->known_below));
        return p->bits && p->lines && p->values && p->known && p->below && p->known_below;
}

void chart_draw(struct canvas *canvas, struct area area, const struct chart *c)
{
        struct plot p;

        if (plot_init(&p, canvas, area, c)) {
                find_axis(&p);
                draw_values(&p, area);
                if (c->limit_name && c->limit <= p.axis.high && c->limit >= p.axis.low)
                        canvas_rule(canvas, p.area, (p.rows - 1 - height_of(&p, c->limit)) / 4, 0, p.area.width,
                                    TINT_BAD, "╌");
                for (size_t i = c->n_lines; i > 0; i--)
                        draw_line(&p, i - 1);
                draw_legend(&p, area);
                show_dots(&p);
                draw_marks(&p, area);
                draw_times(&p, area);
                draw_cursor(&p, area);
        }
        free(p.bits);
        free(p.lines);
        free(p.values);
        free(p.known);
        free(p.below);
        free(p.known_below);
}
