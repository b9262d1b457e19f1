/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chart.c - DESIGN: rows are gathered as lines over one sorted list of times, a value unknown where a line has none.
 * The terminal's picture is the console's chart (client/console/draw/chart.h), SVG is that of `heapwatch report`
 * (client/out/report/plot.h): both have axes of their own. Values below 0 over time are those of lines in the terminal.
 */
#include "client/commands/query/answer.h"

#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/console/draw/chart.h"
#include "client/commands/query/tables.h"
#include "client/out/report/plot.h"
#include "client/world/state/band_name.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/text_out.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

#define CELLS_MAX      1000000u /* numbers that are drawn */
#define SAFE_MAX       512      /* bytes of a name that is safe to print */
#define HEIGHT         20       /* rows of a chart in the terminal */
#define WIDTH          100u     /* where it has no width */
#define LABEL_MAX      40       /* columns of a bar's name */
#define LEGEND_COLUMNS 15u      /* of a line in a chart's legend, beside its name */
#define PLOT_WIDTH     960.0
#define PLOT_HEIGHT    480.0
#define BARS_MAX       1000 /* of names, as SVG */
#define BAR_LEFT       330  /* where they begin, and how far apart they are */
#define BAR_STEP       22
#define COUNTS         1e15 /* a plot has whole numbers: its greatest value is this many */

struct cell_of_line {
        double x, y;
        uint32_t line;
};

struct rows {
        struct cell_of_line *cells;
        size_t n, room;
        char **names; /* of lines */
        size_t n_names, names_room;
        uint32_t line; /* that was found last */
        char **labels; /* of rows, where the first column is no time; x counts them */
        size_t n_labels, labels_room;
        const char *unit;
        size_t left_out; /* lines that a picture has no place for */
        bool is_time;
};

/* -------------------------------------------------------------------- gathering */

static void free_rows(struct rows *r)
{
        for (size_t i = 0; i < r->n_names; i++)
                free(r->names[i]);
        for (size_t i = 0; i < r->n_labels; i++)
                free(r->labels[i]);
        free(r->names);
        free(r->labels);
        free(r->cells);
}

static const char *safe_name(char out[SAFE_MAX], const char *text)
{
        (void)hw_terminal_text(out, SAFE_MAX, text ? text : "-");
        return out;
}

/*
 * The line of that name, made when it is new. UINT32_MAX: out of memory. It is looked for from the last one on: names
 * come in one order, time for time.
 */
static uint32_t find_line(struct rows *r, const char *name)
{
        char safe[SAFE_MAX];

        safe_name(safe, name);
        for (size_t i = 0; i < r->n_names; i++) {
                r->line = (r->line + 1) % (uint32_t)r->n_names;
                if (!strcmp(r->names[r->line], safe))
                        return r->line;
        }
        if (!ARRAY_RESERVE(r->names, r->names_room, r->n_names + 1) || !(r->names[r->n_names] = strdup(safe)))
                return UINT32_MAX;
        return r->line = (uint32_t)r->n_names++;
}

static bool add_value(struct rows *r, double x, const char *name, sqlite3_stmt *row, int column)
{
        const int type = sqlite3_column_type(row, column);
        const double y = sqlite3_column_double(row, column);

        if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || !isfinite(y))
                return true;
        const uint32_t line = find_line(r, name);
        if (line == UINT32_MAX || !ARRAY_RESERVE(r->cells, r->room, r->n + 1))
                return false;
        r->cells[r->n++] = (struct cell_of_line){ x, y, line };
        return true;
}

/* The first column of text beside the first column, be it NULL in this row; -1: none. */
static int find_text(sqlite3_stmt *row)
{
        for (int i = 1; i < sqlite3_column_count(row); i++) {
                const char *declared = sqlite3_column_decltype(row, i);

                if (sqlite3_column_type(row, i) == SQLITE_TEXT || (declared && !strcmp(declared, "TEXT")))
                        return i;
        }
        return -1;
}

static bool add_row(struct rows *r, sqlite3_stmt *row, int text)
{
        const double x = r->is_time ? sqlite3_column_double(row, 0) : (double)r->n_labels;
        const char *name = text >= 0 ? (const char *)sqlite3_column_text(row, text) : NULL;
        bool good = true, is_first = true;
        char safe[SAFE_MAX];

        if (r->is_time && sqlite3_column_type(row, 0) == SQLITE_NULL)
                return true;
        if (!r->is_time) {
                if (!ARRAY_RESERVE(r->labels, r->labels_room, r->n_labels + 1) ||
                    !(r->labels[r->n_labels] = strdup(safe_name(safe, (const char *)sqlite3_column_text(row, 0)))))
                        return false;
                r->n_labels++;
        }
        for (int i = 1; good && i < sqlite3_column_count(row); i++) {
                if (i == text || (text >= 0 && !is_first))
                        continue;
                good = add_value(r, x, text >= 0 ? name : sqlite3_column_name(row, i), row, i);
                is_first = false;
        }
        return good;
}

static int refuse_chart(struct error *error, const char *why)
{
        (void)error_set(error, "%s", why);
        return SQLITE_MISMATCH;
}

/* The unit of what is drawn, "" where one column has none. NULL with a sentence: two columns have different ones. */
static const char *find_unit(sqlite3_stmt *row, int text, struct error *error)
{
        const char *unit = query_unit_of(row, text == 1 ? 2 : 1);

        for (int i = 2; text < 0 && i < sqlite3_column_count(row); i++) {
                const char *other = query_unit_of(row, i);

                if (*unit && *other && strcmp(unit, other) != 0)
                        return error_set(error, "a chart has one axis; %s is in %s, %s in %s: draw each by itself",
                                         sqlite3_column_name(row, 1), unit, sqlite3_column_name(row, i), other)
                                       ? unit
                                       : NULL;
                unit = strcmp(unit, other) ? "" : unit;
        }
        return unit;
}

static int gather_rows(struct rows *r, sqlite3_stmt *statement, enum query_chart chart, struct error *error)
{
        int status, text = -1;
        bool is_first = true;

        *r = (struct rows){ .unit = "" };
        if (sqlite3_column_count(statement) < 2)
                return refuse_chart(error, "a chart needs two columns: a time, or a name for bars, and a number");
        while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
                if (is_first) {
                        const int type = sqlite3_column_type(statement, 0);

                        text = find_text(statement);
                        r->is_time =
                                type != SQLITE_TEXT && (!strcmp(query_unit_of(statement, 0), "s") ||
                                                        !sqlite3_stricmp(sqlite3_column_name(statement, 0), "time"));
                        if (text == 1 && sqlite3_column_count(statement) < 3)
                                return refuse_chart(error, "a chart needs a column of numbers");
                        if (!(r->unit = find_unit(statement, text, error)))
                                return SQLITE_MISMATCH;
                        is_first = false;
                }
                if (!r->is_time && chart != QUERY_BAR)
                        return refuse_chart(error,
                                            "a chart of lines or areas needs a time as its first column, such as "
                                            "bucket(time, '1 s') AS time; --chart bar takes names");
                if (r->is_time && sqlite3_column_double(statement, 0) < 0)
                        return refuse_chart(error, "a time of a chart is below 0");
                if (r->n >= CELLS_MAX)
                        return refuse_chart(error, "too many rows for a chart: use fewer, by bucket() and GROUP BY");
                if (!add_row(r, statement, text))
                        return SQLITE_NOMEM;
        }
        if (status == SQLITE_DONE && r->n == 0)
                return refuse_chart(error, "no row has a number that could be drawn");
        return status;
}

static int compare_cells(const void *a, const void *b)
{
        const struct cell_of_line *x = a, *y = b;

        return (x->x > y->x) - (x->x < y->x);
}

static uint64_t to_ns(double seconds)
{
        return (uint64_t)llround(fmin(seconds, 9e9) * 1e9);
}

/* Keeps the lines with the greatest values, in their order. False: out of memory. */
static bool keep_lines(struct rows *r, size_t max)
{
        double *peaks = calloc(r->n_names, sizeof(*peaks));
        uint32_t *places = calloc(r->n_names, sizeof(*places)), kept = 0;
        const bool good = peaks && places;
        size_t n = 0;

        for (size_t i = 0; good && i < r->n; i++)
                peaks[r->cells[i].line] = fmax(peaks[r->cells[i].line], fabs(r->cells[i].y));
        for (uint32_t i = 0; good && i < r->n_names; i++) {
                size_t higher = 0;

                for (size_t k = 0; k < r->n_names; k++)
                        higher += peaks[k] > peaks[i] || (k < i && !(peaks[k] < peaks[i]));
                places[i] = higher < max ? kept++ : UINT32_MAX;
        }
        for (size_t i = 0; good && i < r->n; i++)
                if (places[r->cells[i].line] != UINT32_MAX)
                        r->cells[n++] = (struct cell_of_line){ r->cells[i].x, r->cells[i].y, places[r->cells[i].line] };
        for (size_t i = 0; good && i < r->n_names; i++) {
                if (places[i] == UINT32_MAX)
                        free(r->names[i]);
                else
                        r->names[places[i]] = r->names[i];
        }
        if (good) {
                r->left_out = r->n_names - kept;
                r->n_names = kept;
                r->n = n;
        }
        free(places);
        free(peaks);
        return good;
}

/* ------------------------------------------------------------------ the terminal */

static bool is_utf8(void)
{
        return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static enum unit unit_of(const struct rows *r)
{
        return !strcmp(r->unit, "B")     ? UNIT_BYTES
               : !strcmp(r->unit, "B/s") ? UNIT_RATE
               : !strcmp(r->unit, "s")   ? UNIT_NS
                                         : UNIT_RATIO;
}

static double scale_of(const struct rows *r)
{
        return !strcmp(r->unit, "s") ? 1e9 : 1;
}

/* The line's value at a time; with `is_stacked` it is 0 at times that other lines alone have. */
static bool fill_past(const struct rows *r, uint32_t line, bool is_stacked, struct past *past)
{
        for (size_t i = 0, next = 0; i < r->n; i = next) {
                struct point p = past_sample(to_ns(r->cells[i].x), 0);
                bool is_known = is_stacked;

                for (next = i; next < r->n && r->cells[next].x == r->cells[i].x; next++) {
                        if (r->cells[next].line != line)
                                continue;
                        p = past_sample(to_ns(r->cells[i].x), r->cells[next].y * scale_of(r));
                        is_known = true;
                }
                if (is_known && past_append(past, &p) < 0)
                        return false;
        }
        return true;
}

static bool is_below_zero(const struct rows *r)
{
        for (size_t i = 0; i < r->n; i++)
                if (r->cells[i].y < 0)
                        return true;
        return false;
}

/* A time alone is in the middle of a second. */
static struct time_range find_range(uint64_t from_ns, uint64_t to_ns)
{
        if (from_ns < to_ns)
                return (struct time_range){ from_ns, to_ns };
        return (struct time_range){ from_ns - (from_ns < NS_PER_S / 2 ? from_ns : NS_PER_S / 2), to_ns + NS_PER_S / 2 };
}

/* A line for each name, with its newest value, where the chart's own legend has no room for all of them. */
static void print_legend(FILE *to, const struct rows *r, const struct chart *chart, unsigned columns)
{
        char value[HW_NUMBER_MAX], name[512];

        for (size_t i = 0; chart->no_legend && i < chart->n_lines; i++) {
                const struct past *past = chart->lines[i].past;
                const struct point *last = past->n ? &past->points[past->n - 1] : NULL;

                (void)fprintf(to, " %s %10s  %s\n", chart_sign(i, !is_utf8()),
                              last ? unit_text(value, sizeof(value), unit_of(r), last->cell.last) : "-",
                              fit_label(name, sizeof(name), r->names[i], (int)columns - 18));
        }
}

static int draw_over_time(FILE *to, const struct rows *r, enum query_chart kind, unsigned columns)
{
        static const enum tint tints[CHART_LINES] = { TINT_LINE_1, TINT_LINE_2, TINT_LINE_3,
                                                      TINT_LINE_4, TINT_MARK,   TINT_GRAPH };
        struct past pasts[CHART_LINES] = { { .n = 0 } };
        const bool is_moment = r->cells[0].x == r->cells[r->n - 1].x && !is_below_zero(r); /* which is no line */
        struct chart chart = {
                .unit = unit_of(r),
                .range = find_range(to_ns(r->cells[0].x), to_ns(r->cells[r->n - 1].x)),
                .from_zero = kind != QUERY_LINE || is_moment,
                .stacked = kind != QUERY_LINE,
        };
        unsigned names = 0;
        struct canvas *canvas = canvas_new(HEIGHT - 1, (int)columns, !is_utf8()); /* without the row of the cursor */
        int status = canvas ? 0 : -ENOMEM;

        for (uint32_t i = 0; i < r->n_names; i++) {
                status = fill_past(r, i, chart.stacked, &pasts[i]) ? status : -ENOMEM;
                chart_line(&chart, r->names[i], &pasts[i], kind == QUERY_BAR || is_moment ? SPARK_EVENTS : SPARK_GAUGE,
                           tints[i]);
                names += LEGEND_COLUMNS + (unsigned)text_columns(r->names[i]);
        }
        chart.no_legend = names > columns && r->n_names > 1;
        if (status == 0) {
                canvas->mono = true;
                chart_draw(canvas, (struct area){ .height = HEIGHT, .width = (int)columns }, &chart);
                status = canvas_print(to, canvas, 0);
                print_legend(to, r, &chart, columns);
        }
        canvas_destroy(&canvas);
        for (size_t i = 0; i < CHART_LINES; i++)
                past_done(&pasts[i]);
        return status;
}

static double find_greatest(const struct rows *r)
{
        double greatest = 0;

        for (size_t i = 0; i < r->n; i++)
                greatest = fmax(greatest, fabs(r->cells[i].y));
        return greatest;
}

/* Below 0 as long, and lighter. */
static void print_bar(FILE *to, double share, unsigned width)
{
        static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
        const bool ascii = !is_utf8();
        const unsigned eighths = (unsigned)(fabs(share) * width * 8 + 0.5);

        for (unsigned i = 0; i < eighths / 8; i++)
                (void)fputs(share < 0 ? ascii ? "-" : "░" : ascii ? "#" : "█", to);
        (void)fputs(ascii || share < 0 ? "" : parts[eighths % 8], to);
}

/* A line each: a name, its value, a bar. */
static void draw_names(FILE *to, const struct rows *r, unsigned columns)
{
        const double greatest = find_greatest(r);
        char text[HW_NUMBER_MAX], label[512];
        int widest = 1;

        for (size_t i = 0; i < r->n_labels; i++)
                widest = text_columns(r->labels[i]) > widest ? text_columns(r->labels[i]) : widest;
        widest = widest < LABEL_MAX ? widest : LABEL_MAX;
        for (size_t i = 0; i < r->n; i++) {
                const char *shown = fit_label(label, sizeof(label), r->labels[(size_t)r->cells[i].x], widest);
                const bool is_again = i > 0 && r->cells[i].x == r->cells[i - 1].x;

                (void)fprintf(to, "%*s%s", widest - (is_again ? 0 : text_columns(shown)), "", is_again ? "" : shown);
                (void)fprintf(to, "  %10s  ", unit_text(text, sizeof(text), unit_of(r), r->cells[i].y * scale_of(r)));
                print_bar(to, greatest > 0 ? r->cells[i].y / greatest : 0,
                          columns > (unsigned)widest + 34 ? columns - (unsigned)widest - 34 : 20);
                (void)fprintf(to, "%s%s\n", r->n_names > 1 ? " " : "",
                              r->n_names > 1 ? r->names[r->cells[i].line] : "");
        }
}

int query_chart_draw(FILE *to, sqlite3_stmt *statement, enum query_chart chart, unsigned columns, struct error *error)
{
        struct rows r;
        int status = gather_rows(&r, statement, chart, error);

        columns = columns ? columns : WIDTH;
        if (status == SQLITE_DONE && r.is_time && chart != QUERY_LINE && is_below_zero(&r))
                status = refuse_chart(error, "areas and bars over time have no place for values below 0; lines have");
        if (status == SQLITE_DONE && r.is_time) {
                ARRAY_SORT(r.cells, r.n, compare_cells);
                if (!keep_lines(&r, CHART_LINES) || draw_over_time(to, &r, chart, columns) == -ENOMEM)
                        status = SQLITE_NOMEM;
        } else if (status == SQLITE_DONE) {
                draw_names(to, &r, columns);
        }
        if (status == SQLITE_DONE && r.left_out > 0)
                (void)fprintf(to, "and %zu lines more, with smaller values\n", r.left_out);
        free_rows(&r);
        return status;
}

/* ---------------------------------------------------------------------------- SVG */

/* The times of all lines, each once, into a plot. False: out of memory. */
static bool set_times(struct plot_chart *c, const struct rows *r)
{
        c->times_ns = calloc(r->n, sizeof(*c->times_ns));
        for (size_t i = 0; c->times_ns && i < r->n; i++) {
                const uint64_t ns = to_ns(r->cells[i].x);

                if (c->n_columns == 0 || c->times_ns[c->n_columns - 1] != ns)
                        c->times_ns[c->n_columns++] = ns;
        }
        return c->times_ns != NULL;
}

/* A line's values, each at its time; of equal times the last. */
static bool set_line(struct plot_chart *c, const struct rows *r, uint32_t line)
{
        struct plot_band *b = &c->bands[c->n_bands++];
        size_t column = 0;

        *b = (struct plot_band){ .id = line + 1, .label = strdup(r->names[line]) };
        b->bytes = malloc(c->n_columns * sizeof(*b->bytes));
        for (size_t i = 0; b->bytes && i < c->n_columns; i++)
                b->bytes[i] = PLOT_UNKNOWN;
        for (size_t i = 0; b->bytes && i < r->n; i++) {
                while (c->times_ns[column] != to_ns(r->cells[i].x))
                        column++;
                if (r->cells[i].line == line) {
                        b->bytes[column] = (uint64_t)llround(r->cells[i].y / c->scale);
                        b->peak_bytes = b->bytes[column] > b->peak_bytes ? b->bytes[column] : b->peak_bytes;
                }
        }
        return b->label && b->bytes;
}

/* The top of the axis: what is drawn, stacked or not. A bar begins at its time: behind the last one is room for it. */
static void set_axes(struct plot_chart *c, bool is_stacked, bool has_bars)
{
        uint64_t step_ns = 0;

        for (size_t i = 0; i < c->n_columns; i++) {
                uint64_t sum = 0;

                for (size_t k = 0; k < c->n_bands; k++) {
                        const uint64_t value = c->bands[k].bytes[i] == PLOT_UNKNOWN ? 0 : c->bands[k].bytes[i];

                        sum = is_stacked ? sum + value : value > sum ? value : sum;
                }
                c->y_bytes = sum > c->y_bytes ? sum : c->y_bytes;
                if (has_bars && i > 0 && (step_ns == 0 || c->times_ns[i] - c->times_ns[i - 1] < step_ns))
                        step_ns = c->times_ns[i] - c->times_ns[i - 1];
        }
        c->y_bytes += c->y_bytes / 32 + 1;
        const struct time_range range = find_range(c->times_ns[0], c->times_ns[c->n_columns - 1]);
        c->from_ns = range.from_ns;
        c->x_ns = range.to_ns + step_ns;
}

static int write_plot(FILE *to, struct rows *r, enum query_chart kind, const char *title, struct error *error)
{
        const bool is_moment = r->cells[0].x == r->cells[r->n - 1].x; /* one time is no line */
        struct plot_options options = { .width = PLOT_WIDTH,
                                        .height = PLOT_HEIGHT,
                                        .traces = kind == QUERY_LINE && !is_moment,
                                        .bars = kind == QUERY_BAR || is_moment,
                                        .no_notes = true };
        struct drawing {
                struct plot_chart chart;
                struct plot_data data;
                struct plot_picture picture;
        } *d = calloc(1, sizeof(*d));
        struct plot_chart *c = d ? &d->chart : NULL;
        const double greatest = find_greatest(r);
        int status = SQLITE_NOMEM;
        bool good = d && set_times(c, r);

        if (good && c->n_columns > PLOT_COLUMNS) {
                status = refuse_chart(error, "too many times for a chart as SVG: use fewer, by bucket() and GROUP BY");
                good = false;
        }
        if (good) {
                c->unit = !strcmp(r->unit, "B") ? PLOT_BYTES : !strcmp(r->unit, "s") ? PLOT_SECONDS : PLOT_NUMBERS;
                c->scale = c->unit == PLOT_BYTES ? 1 : greatest > 0 ? greatest / COUNTS : 1;
        }
        for (uint32_t i = 0; good && i < r->n_names; i++)
                good = set_line(c, r, i);
        if (good) {
                set_axes(c, kind != QUERY_LINE, options.bars);
                d->picture.options = &options;
                d->picture.data = &d->data;
                d->picture.chart = c;
                d->picture.title = title;
                status = plot_write(&d->picture, "svg", to) == 0 ? SQLITE_DONE : SQLITE_IOERR;
        }
        if (c)
                plot_chart_done(c);
        free(d);
        return status;
}

static void write_text(FILE *to, double x, double y, const char *anchor, const char *text)
{
        char safe[1024];

        (void)fprintf(to, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">", x, y, anchor);
        (void)hw_terminal_text(safe, sizeof(safe), text);
        for (const char *at = safe; *at; at++) {
                const char *entity = xml_entity(*at, false);

                if (entity)
                        (void)fputs(entity, to);
                else
                        (void)putc(*at, to);
        }
        (void)fputs("</text>\n", to);
}

/* A name, a bar and its value each, as draw_names has them; below 0 as long, and lighter. */
static int write_bars(FILE *to, const struct rows *r, const char *title, struct error *error)
{
        const double greatest = find_greatest(r), room = PLOT_WIDTH - BAR_LEFT - 120;
        char value[HW_NUMBER_MAX + 64], label[512];

        if (r->n > BARS_MAX)
                return refuse_chart(error, "too many bars for a chart as SVG: add LIMIT");
        (void)fprintf(to,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %zu\" font-family=\"sans-serif\" "
                      "font-size=\"13\" fill=\"#222\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                      PLOT_WIDTH, BAR_STEP * (r->n + 3));
        write_text(to, 20, BAR_STEP + 5, "start", title);
        for (size_t i = 0; i < r->n; i++) {
                const struct cell_of_line *c = &r->cells[i];
                const double width = greatest > 0 ? fabs(c->y) / greatest * room : 0, y = BAR_STEP * (double)(i + 2);

                if (i == 0 || c->x != r->cells[i - 1].x)
                        write_text(to, BAR_LEFT - 10, y + 14, "end",
                                   fit_label(label, sizeof(label), r->labels[(size_t)c->x], LABEL_MAX));
                (void)fprintf(to, "<rect x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" fill=\"#0072b2\"%s/>\n",
                              BAR_LEFT, y, width, BAR_STEP - 4, c->y < 0 ? " fill-opacity=\"0.4\"" : "");
                (void)unit_text(value, HW_NUMBER_MAX, unit_of(r), c->y * scale_of(r));
                if (r->n_names > 1)
                        (void)snprintf(value + strlen(value), 64, " %.60s", r->names[c->line]);
                write_text(to, BAR_LEFT + width + 8, y + 14, "start", value);
        }
        (void)fputs("</svg>\n", to);
        return SQLITE_DONE;
}

int query_chart_write_svg(FILE *to, sqlite3_stmt *statement, enum query_chart chart, const char *title,
                          struct error *error)
{
        struct rows r;
        int status = gather_rows(&r, statement, chart, error);

        if (status == SQLITE_DONE && !r.is_time) {
                status = write_bars(to, &r, title, error);
        } else if (status == SQLITE_DONE && is_below_zero(&r)) {
                status = refuse_chart(error,
                                      "a chart over time as SVG has no place for values below 0; lines in the "
                                      "terminal have");
        } else if (status == SQLITE_DONE) {
                ARRAY_SORT(r.cells, r.n, compare_cells);
                status = keep_lines(&r, PLOT_BANDS) ? write_plot(to, &r, chart, title, error) : SQLITE_NOMEM;
        }
        free_rows(&r);
        return status;
}
