/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * draw.c - DESIGN: from back to front: paper, grid, bands, notes, lines, axes, texts. The key is at the right in the
 * order of the bands, highest first, each with its bytes at the peak. A text that is too long ends in an ellipsis; a
 * note's text is drawn where earlier texts leave room, in one of three rows, and otherwise only counted.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client/out/report/plot.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

#define FONT       "DejaVu Sans"
#define MARGIN     18.0
#define KEY_WIDTH  260.0
#define NOTE_GAP   3.0 /* of notes closer together only one line is drawn */
#define NOTE_ROWS  3
#define NOTE_WIDTH 150.0
#define TICKS      6

static const char *const line_names[PLOT_LINES] = { "live data", "heap size", "RSS" };

/* -------------------------------------------------------------------- texts */

enum side { LEFT, CENTRE, RIGHT };

static double text_width(cairo_t *cr, const char *text)
{
        cairo_text_extents_t e;

        cairo_text_extents(cr, text, &e);
        return e.x_advance;
}

/* Copies as valid UTF-8 without control characters, cut to a width. */
static void fit_text(cairo_t *cr, char *out, size_t size, const char *text, double width)
{
        size_t n = hw_utf8_clean(out, size - 4, text, strlen(text));

        for (char *c = out; *c; c++)
                if ((unsigned char)*c < ' ' || *c == 0x7f)
                        *c = ' ';
        if (text_width(cr, out) <= width)
                return;
        while (n > 0) {
                n = utf8_cut(out, n - 1);
                memcpy(out + n, "\xe2\x80\xa6", 4);
                if (text_width(cr, out) <= width)
                        return;
        }
        out[0] = '\0';
}

/* Draws a text with its baseline at y, and notes the room it takes. */
static void put_text(struct plot_picture *p, cairo_t *cr, const char *text, double x, double y, enum side side,
                     double width)
{
        char fitted[512];
        cairo_font_extents_t f;

        fit_text(cr, fitted, sizeof(fitted), text, width);
        if (!fitted[0])
                return;
        double taken = text_width(cr, fitted);
        x -= side == RIGHT ? taken : side == CENTRE ? taken / 2 : 0;
        cairo_font_extents(cr, &f);
        cairo_move_to(cr, x, y);
        cairo_show_text(cr, fitted);
        if (p->n_texts < ARRAY_SIZE(p->texts))
                p->texts[p->n_texts++] = (struct plot_text){ x, y - f.ascent * 0.8, taken, f.ascent * 0.8 };
}

static void use_font(cairo_t *cr, double size, bool bold)
{
        cairo_select_font_face(cr, FONT, CAIRO_FONT_SLANT_NORMAL,
                               bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
        cairo_set_font_size(cr, size);
}

/* --------------------------------------------------------------------- axes */

/* 1, 2 or 5 times a power of ten, so that at most TICKS of them are in the range. */
static double step_of(double range)
{
        double step = pow(10, floor(log10(range / TICKS)));

        return range / step <= TICKS         ? step
               : range / (2 * step) <= TICKS ? 2 * step
               : range / (5 * step) <= TICKS ? 5 * step
                                             : 10 * step;
}

/* A round step of the y axis, in what its values are in. */
static double value_step_of(const struct plot_chart *c, double range)
{
        double step = 1;

        if (c->unit != PLOT_BYTES)
                return step_of(range * c->scale) / c->scale;
        while (range / step > TICKS) /* powers of two */
                step *= 2;
        return step;
}

static char *value_text(const struct plot_chart *c, char *out, size_t size, double value)
{
        if (c->unit == PLOT_BYTES)
                return hw_bytes_text(out, size, value);
        if (c->unit == PLOT_SECONDS)
                return hw_duration_text(out, size, value * c->scale * 1e9);
        (void)snprintf(out, size, "%.6g", value * c->scale);
        return out;
}

static double x_at(const struct plot_picture *p, double ns)
{
        const double from = (double)p->chart->from_ns;

        return p->left + (p->right - p->left) * (ns - from) / ((double)p->chart->x_ns - from);
}

static double y_at(const struct plot_picture *p, double bytes)
{
        return p->bottom - (p->bottom - p->top) * bytes / (double)p->chart->y_bytes;
}

static void draw_axes(struct plot_picture *p, cairo_t *cr, const struct theme *theme)
{
        const double from_s = (double)p->chart->from_ns / (double)NS_PER_S,
                     to_s = (double)p->chart->x_ns / (double)NS_PER_S, range = (double)p->chart->y_bytes;
        double step = value_step_of(p->chart, range);
        char text[HW_NUMBER_MAX];

        use_font(cr, 10, false);
        theme_use(cr, theme->soft);
        cairo_set_line_width(cr, 0.75);
        for (double bytes = 0; bytes <= range; bytes += step)
                put_text(p, cr, value_text(p->chart, text, sizeof(text), bytes), p->left - 6, y_at(p, bytes) + 3.5,
                         RIGHT, 80);
        step = step_of(to_s - from_s);
        for (double s = ceil(from_s / step) * step; s <= to_s * (1 + 1e-9); s += step) {
                (void)snprintf(text, sizeof(text), "%g", round(s / step) * step);
                cairo_move_to(cr, x_at(p, s * (double)NS_PER_S), p->bottom);
                cairo_rel_line_to(cr, 0, 4);
                cairo_stroke(cr);
                put_text(p, cr, text, x_at(p, s * (double)NS_PER_S), p->bottom + 16, CENTRE, 80);
        }
        put_text(p, cr, "seconds", (p->left + p->right) / 2, p->bottom + 31, CENTRE, 80);
        theme_use(cr, theme->ink);
        cairo_set_line_width(cr, 1);
        cairo_rectangle(cr, p->left, p->top, p->right - p->left, p->bottom - p->top);
        cairo_stroke(cr);
}

/* -------------------------------------------------------------------- bands */

static struct colour colour_of(const struct plot_picture *p, const struct theme *theme, size_t band)
{
        return p->chart->bands[band].id ? theme_band(theme, band) : theme->other;
}

/* What a stack has of a band in a column. */
static double height_in(const struct plot_band *b, size_t column)
{
        return b->bytes[column] == PLOT_UNKNOWN ? 0 : (double)b->bytes[column];
}

/* A bar from each column on, above `below`, which it is added to; one alone is around its time. */
static void draw_bars(struct plot_picture *p, cairo_t *cr, const struct theme *theme, size_t band, double *below)
{
        const struct plot_chart *c = p->chart;
        double width = (p->right - p->left) / fmax((double)c->n_columns, 10); /* one alone is no area */

        for (size_t i = 1; i < c->n_columns; i++) /* as two columns that are next to each other have room for */
                width = fmin(width, x_at(p, (double)c->times_ns[i]) - x_at(p, (double)c->times_ns[i - 1]));
        const double before = c->n_columns > 1 ? -width * 0.1 : width * 0.4;
        width = fmax(width * 0.8, 0.5);
        theme_use(cr, colour_of(p, theme, band));
        for (size_t i = 0; i < c->n_columns; i++) {
                const double height = height_in(&c->bands[band], i), y = y_at(p, below[i] + height);

                cairo_rectangle(cr, x_at(p, (double)c->times_ns[i]) - before, y, width, y_at(p, below[i]) - y);
                below[i] += height;
        }
        cairo_fill(cr);
}

/* The area of one band above `below`, which it is added to. */
static void draw_area(struct plot_picture *p, cairo_t *cr, const struct theme *theme, size_t band, double *below)
{
        const struct plot_chart *c = p->chart;
        const struct plot_band *b = &c->bands[band];

        for (size_t i = 0; i < c->n_columns; i++) {
                double x = x_at(p, (double)c->times_ns[i]), y = y_at(p, below[i] + height_in(b, i));
                if (i == 0)
                        cairo_move_to(cr, x, y);
                else
                        cairo_line_to(cr, x, y);
        }
        for (size_t i = c->n_columns; i-- > 0;) {
                cairo_line_to(cr, x_at(p, (double)c->times_ns[i]), y_at(p, below[i]));
                below[i] += height_in(b, i);
        }
        cairo_close_path(cr);
        theme_use(cr, colour_of(p, theme, band));
        cairo_fill_preserve(cr);
        if (theme->hatched) {
                cairo_path_t *path = cairo_copy_path(cr);
                cairo_save(cr);
                cairo_clip(cr);
                theme_hatch(cr, band, p->left, p->top, p->right - p->left, p->bottom - p->top);
                cairo_restore(cr);
                cairo_new_path(cr);
                cairo_append_path(cr, path);
                cairo_path_destroy(path);
        }
        theme_use(cr, theme->paper); /* a seam, so that neighbours of the same hue stay distinct */
        cairo_set_line_width(cr, 0.4);
        cairo_stroke(cr);
}

static void draw_trace(struct plot_picture *p, cairo_t *cr, const struct theme *theme, size_t band)
{
        static const double dashes[][2] = { { 0, 0 }, { 6, 2 }, { 2, 2 } };
        const struct plot_chart *c = p->chart;

        for (size_t i = 0; i < c->n_columns; i++)
                if (c->bands[band].bytes[i] != PLOT_UNKNOWN)
                        cairo_line_to(cr, x_at(p, (double)c->times_ns[i]), y_at(p, (double)c->bands[band].bytes[i]));
        theme_use(cr, theme->hatched ? theme->ink : colour_of(p, theme, band));
        cairo_set_dash(cr, dashes[band % 3], band % 3 ? 2 : 0, 0);
        cairo_set_line_width(cr, 1.5);
        cairo_stroke(cr);
        cairo_set_dash(cr, NULL, 0, 0);
}

/* -------------------------------------------------------------------- lines */

static void line_style(cairo_t *cr, const struct theme *theme, int line)
{
        static const double dashes[PLOT_LINES][2] = { { 0, 0 }, { 7, 3 }, { 2, 3 } };

        theme_use(cr, theme->lines[line]);
        cairo_set_line_width(cr, 1.4);
        cairo_set_dash(cr, dashes[line], line ? 2 : 0, 0);
}

static void draw_lines(struct plot_picture *p, cairo_t *cr, const struct theme *theme)
{
        for (int i = 0; i < PLOT_LINES; i++) {
                const struct past *line = &p->data->lines[i];
                for (size_t k = 0; p->chart->lines[i] && k < line->n; k++)
                        cairo_line_to(cr, x_at(p, (double)past_middle_ns(&line->points[k])),
                                      y_at(p, line->points[k].cell.max));
                line_style(cr, theme, i);
                cairo_stroke(cr);
                if (p->chart->lines[i] && line->n == 1) { /* no line, but known */
                        cairo_arc(cr, x_at(p, (double)past_middle_ns(&line->points[0])),
                                  y_at(p, line->points[0].cell.max), 2.5, 0, 2 * M_PI);
                        cairo_fill(cr);
                }
        }
        cairo_set_dash(cr, NULL, 0, 0);
}

/* -------------------------------------------------------------------- notes */

/* A note's text that was placed: from, to, which row. */
struct row_text {
        double from, to;
        int row;
};

static bool is_free(const struct row_text *texts, size_t n, const struct row_text *wanted)
{
        for (size_t i = 0; i < n; i++)
                if (texts[i].row == wanted->row && wanted->from < texts[i].to + 8 && texts[i].from < wanted->to + 8)
                        return false;
        return true;
}

/* Puts a note's text into the first row with room. False when none has. */
static bool put_note(struct plot_picture *p, cairo_t *cr, const struct plot_note *n, struct row_text *texts,
                     size_t *count)
{
        double x = x_at(p, (double)n->time_ns), width = text_width(cr, n->text);
        struct row_text t = { x, 0, 0 };

        width = width < NOTE_WIDTH ? width : NOTE_WIDTH;
        t.from = x + width > p->right ? p->right - width : x;
        t.to = t.from + width;
        while (t.row < NOTE_ROWS && !is_free(texts, *count, &t))
                t.row++;
        if (t.row == NOTE_ROWS)
                return false;
        put_text(p, cr, n->text, t.from, p->top - 6 - 12 * t.row, LEFT, width + 1);
        texts[(*count)++] = t;
        return true;
}

/* Returns how many notes found no room for their text; markers go first. */
static size_t draw_notes(struct plot_picture *p, cairo_t *cr, const struct theme *theme)
{
        struct row_text texts[PLOT_NOTES];
        size_t n = 0;

        use_font(cr, 9, false);
        theme_use(cr, theme->note);
        static const double dash[] = { 3, 3 };
        double drawn = -NOTE_GAP;

        cairo_set_line_width(cr, 0.6);
        cairo_set_dash(cr, dash, 2, 0);
        for (size_t i = 0; i < p->data->n_notes; i++) {
                double x = x_at(p, (double)p->data->notes[i].time_ns);
                if (x > p->right || fabs(x - drawn) < NOTE_GAP)
                        continue;
                drawn = x;
                cairo_move_to(cr, x, p->top);
                cairo_line_to(cr, x, p->bottom);
                cairo_stroke(cr);
        }
        cairo_set_dash(cr, NULL, 0, 0);
        for (int markers = 1; markers >= 0; markers--)
                for (size_t i = 0; i < p->data->n_notes; i++)
                        if (p->data->notes[i].marker == markers && p->data->notes[i].time_ns <= p->chart->x_ns)
                                (void)put_note(p, cr, &p->data->notes[i], texts, &n);
        return p->data->n_notes - n + (size_t)p->data->notes_left_out;
}

/* ---------------------------------------------------------------------- key */

static void draw_swatch(cairo_t *cr, const struct theme *theme, const struct plot_picture *p, size_t band, double x,
                        double y)
{
        cairo_rectangle(cr, x, y, 11, 11);
        theme_use(cr, colour_of(p, theme, band));
        cairo_fill_preserve(cr);
        if (theme->hatched) {
                cairo_save(cr);
                cairo_clip(cr);
                theme_hatch(cr, band, x, y, 11, 11);
                cairo_restore(cr);
                cairo_rectangle(cr, x, y, 11, 11);
        }
        theme_use(cr, theme->soft);
        cairo_set_line_width(cr, 0.5);
        cairo_stroke(cr);
}

static void draw_key(struct plot_picture *p, cairo_t *cr, const struct theme *theme)
{
        const struct plot_chart *c = p->chart;
        double x = p->right + 16, y = p->top + 10, room;
        char text[HW_NUMBER_MAX];

        use_font(cr, 10, false);
        for (int i = 0; i < PLOT_LINES; i++) {
                if (!c->lines[i])
                        continue;
                line_style(cr, theme, i);
                cairo_move_to(cr, x, y - 4);
                cairo_rel_line_to(cr, 22, 0);
                cairo_stroke(cr);
                cairo_set_dash(cr, NULL, 0, 0);
                theme_use(cr, theme->ink);
                put_text(p, cr, line_names[i], x + 28, y, LEFT, KEY_WIDTH - 40);
                y += 15;
        }
        if (c->n_bands == 0)
                return;
        theme_use(cr, theme->soft);
        y += 4;
        put_text(p, cr, p->title ? "line" : "band", x + 17, y, LEFT, 100);
        put_text(p, cr, p->title ? "greatest" : "at the peak", x + KEY_WIDTH - 16, y, RIGHT, 90);
        room = (p->bottom - y) / (double)c->n_bands;
        room = room < 15 ? room : 15;
        use_font(cr, room < 12 ? room * 0.8 : 10, false);
        for (size_t i = c->n_bands; i-- > 0;) {
                y += room;
                draw_swatch(cr, theme, p, i, x, y - 9);
                theme_use(cr, theme->ink);
                put_text(p, cr, c->bands[i].label, x + 17, y, LEFT, KEY_WIDTH - 104);
                put_text(p, cr, value_text(c, text, sizeof(text), (double)c->bands[i].peak_bytes), x + KEY_WIDTH - 16,
                         y, RIGHT, 64);
        }
}

/* -------------------------------------------------------------------- title */

static void draw_title(struct plot_picture *p, cairo_t *cr, const struct theme *theme, size_t silent)
{
        const Hw__Run *run =
                !p->title && p->t->target ? p->t->target->run_info : NULL; /* with a title there is no target */
        const struct plot_chart *c = p->chart;
        const struct plot_options *o = p->options;
        char text[512], facts[320] = "", peak[HW_NUMBER_MAX], area[HW_NUMBER_MAX], when[48] = "";
        const double width = o->width - 2 * MARGIN;
        size_t used = 0;

        if (p->title)
                (void)snprintf(text, sizeof(text), "%s", p->title);
        else
                used = (size_t)snprintf(text, sizeof(text), "%s", run && run->program ? run->program : p->t->name);
        for (size_t i = 0; run && i < run->n_rts_options && used < sizeof(text); i++)
                used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s", i ? "" : " +RTS",
                                         run->rts_options[i]);
        used = 0;
        if (!p->title && c->n_columns)
                used = (size_t)snprintf(facts, sizeof(facts),
                                        "%s\xc2\xb7s in all, peak %s (%" PRIu64 " bytes) at %.3f s",
                                        hw_bytes_text(area, sizeof(area), c->integral),
                                        hw_bytes_text(peak, sizeof(peak), (double)c->peak_bytes), c->peak_bytes,
                                        (double)c->peak_ns / (double)NS_PER_S);
        if (run && run->has_start_wall_ns && used < sizeof(facts))
                (void)snprintf(facts + used, sizeof(facts) - used, "%s%s", used ? ", " : "",
                               hw_time_text(when, sizeof(when), run->start_wall_ns));
        theme_use(cr, theme->ink);
        use_font(cr, o->small_title ? 11 : 16, true);
        put_text(p, cr, text, MARGIN, MARGIN + (o->small_title ? 8 : 12), LEFT, o->small_title ? width / 2 - 8 : width);
        theme_use(cr, theme->soft);
        use_font(cr, 10, false);
        if (o->small_title)
                put_text(p, cr, facts, o->width - MARGIN, MARGIN + 8, RIGHT, width / 2 - 8);
        else
                put_text(p, cr, facts, MARGIN, MARGIN + 30, LEFT, width);
        if (silent == 0)
                return;
        (void)snprintf(text, sizeof(text), "%zu more note%s", silent, silent > 1 ? "s" : "");
        put_text(p, cr, text, p->right, p->bottom + 31, RIGHT, 120);
}

void plot_draw(struct plot_picture *p, cairo_t *cr)
{
        const struct plot_options *o = p->options;
        const struct theme *theme = theme_of(o->theme);
        bool notes = !o->no_notes && p->data->n_notes > 0;
        size_t silent = 0;

        p->n_texts = 0;
        p->left = MARGIN + 62;
        p->right = o->width - KEY_WIDTH - MARGIN;
        p->top = MARGIN + (o->small_title ? 22 : 46) + (notes ? NOTE_ROWS * 12 : 0);
        p->bottom = o->height - MARGIN - 36;
        theme_use(cr, theme->paper);
        cairo_paint(cr);
        cairo_save(cr);
        cairo_rectangle(cr, p->left, p->top, p->right - p->left, p->bottom - p->top);
        cairo_clip(cr);
        double range = (double)p->chart->y_bytes, step = value_step_of(p->chart, range);
        theme_use(cr, theme->grid);
        cairo_set_line_width(cr, 0.75);
        for (double bytes = step; bytes <= range; bytes += step) {
                cairo_move_to(cr, p->left, y_at(p, bytes));
                cairo_line_to(cr, p->right, y_at(p, bytes));
                cairo_stroke(cr);
        }
        double below[PLOT_COLUMNS] = { 0 };
        for (size_t i = 0; i < p->chart->n_bands; i++) {
                if (p->options->traces)
                        draw_trace(p, cr, theme, i);
                else if (p->options->bars)
                        draw_bars(p, cr, theme, i, below);
                else
                        draw_area(p, cr, theme, i, below);
        }
        draw_lines(p, cr, theme);
        cairo_restore(cr);
        draw_axes(p, cr, theme);
        if (notes)
                silent = draw_notes(p, cr, theme);
        draw_key(p, cr, theme);
        draw_title(p, cr, theme, silent);
}
