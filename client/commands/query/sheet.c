/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sheet.c - the rows of a query as a table for people: numbers in units, fitted to the terminal.
 *
 * DESIGN: rows are kept until the last one, because a column's width and its unit depend on all of them. A table that
 * is wider than the terminal is fitted in steps, until one of them is enough:
 *
 *   1. columns that are the same in all rows are printed once, above the table
 *   2. shapes (sparklines) become shorter, with as many points as they have columns
 *   3. the widest column of text loses a column at a time: its names lose their package first, then they are cut
 *   4. each row is printed by itself, a line for each column
 *
 * A number is never cut. A table of one row is thus printed a line for each column where it does not fit.
 */
#include "client/commands/query/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/world/state/band_name.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/rate.h"
#include "proto/base/utf8.h"

#define GAP          2u
#define SHAPE_NARROW 8u  /* a shape is not shorter */
#define TEXT_NARROW  16u /* a column of text is not narrower */
#define CELL_MAX     1024u

/* --------------------------------------------------------------------- columns */

struct sheet_cell {
        char *text;
        double number; /* of a column with a unit; NaN: none */
};

struct sheet_column {
        char *name;
        const char *unit;
        double greatest, least; /* magnitudes of its numbers but 0 */
        unsigned width;
        bool is_number; /* all values are, or unknown */
        bool is_shape;  /* all values are sparklines, or unknown */
        bool is_same;   /* all values are the same */
        bool is_above;  /* printed once, above the table */
};

struct sheet {
        struct sheet_cell *cells; /* row by row */
        size_t n, room;
        struct sheet_column *columns; /* `width` of them */
        unsigned width;
        size_t left_out; /* rows */
};

static struct sheet_cell *get_cell(const struct sheet *s, size_t row, unsigned column)
{
        return &s->cells[row * s->width + column];
}

/* Whether a text is of nothing but the blocks of sparkline(): U+2581 to U+2588. */
static bool is_sparkline(const char *text)
{
        size_t n = 0;

        while (text[n] == '\xe2' && text[n + 1] == '\x96' && text[n + 2] >= '\x81' && text[n + 2] <= '\x88')
                n += 3;
        return n > 0 && text[n] == '\0';
}

/* A number of no unit: all digits before the point, and at least six in all, so that a column can be compared. */
static void format_number(char *out, size_t size, sqlite3_stmt *row, int i)
{
        const double number = sqlite3_column_double(row, i);

        if (sqlite3_column_type(row, i) == SQLITE_INTEGER)
                (void)snprintf(out, size, "%lld", sqlite3_column_int64(row, i));
        else
                (void)snprintf(out, size,
                               fabs(number) < 1e19 && (number == round(number) || fabs(number) >= 1e5) ? "%.0f"
                                                                                                       : "%.6g",
                               number);
}

static bool add_cell(struct sheet *s, unsigned i, sqlite3_stmt *row)
{
        struct sheet_column *c = &s->columns[i];
        const int type = sqlite3_column_type(row, (int)i);
        char text[CELL_MAX] = "-";
        const bool is_text = type == SQLITE_TEXT || type == SQLITE_BLOB;
        char *blob = NULL;
        const char *given = is_text ? query_text(row, (int)i, &blob) : NULL;
        struct sheet_cell cell = { .number = NAN };

        if (is_text && !given) /* no memory for it */
                return false;
        if (is_text)
                (void)hw_terminal_text(text, sizeof(text), given);
        else if (type != SQLITE_NULL)
                format_number(text, sizeof(text), row, (int)i);
        sqlite3_free(blob);
        /* seconds are never whole by chance: an integer of that name is a count */
        if (type == SQLITE_FLOAT || (type == SQLITE_INTEGER && strcmp(c->unit, "s") != 0 && *c->unit)) {
                const double magnitude = fabs(cell.number = sqlite3_column_double(row, (int)i));

                c->greatest = fmax(c->greatest, magnitude);
                c->least = magnitude > 0 ? fmin(c->least, magnitude) : c->least;
        }
        c->is_number = c->is_number && !is_text;
        c->is_shape = c->is_shape && (type == SQLITE_NULL || is_sparkline(text));
        if (!ARRAY_RESERVE(s->cells, s->room, s->n + 1) || !(cell.text = strdup(text)))
                return false;
        c->is_same = c->is_same && (s->n < s->width || !strcmp(text, s->cells[i].text));
        s->cells[s->n++] = cell;
        return true;
}

/*
 * In one unit for the whole column, with three decimals, or as many as its least number needs. `time` is in seconds, as
 * a query that is about one has it.
 */
static void format_seconds(char *out, size_t size, const struct sheet_column *c, double seconds)
{
        static const struct {
                double seconds;
                const char *name;
        } units[] = { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" } };
        size_t unit = 0;

        while (strcmp(c->name, "time") != 0 && unit + 1 < ARRAY_SIZE(units) && c->greatest > 0 &&
               c->greatest < units[unit].seconds)
                unit++;
        const double least = c->least / units[unit].seconds;
        const int decimals = least >= 0.01 ? 3 : least >= 0.0001 ? 5 : 6;
        if (seconds != 0 && fabs(seconds) / units[unit].seconds < 5e-7)
                (void)snprintf(out, size, "~0 %s", units[unit].name);
        else
                (void)snprintf(out, size, "%.*f %s", decimals, seconds / units[unit].seconds, units[unit].name);
}

static void format_in_unit(char *out, size_t size, const struct sheet_column *c, double number)
{
        if (!strcmp(c->unit, "B"))
                (void)hw_bytes_text(out, size, number);
        else if (!strcmp(c->unit, "B/s"))
                (void)rate_text(out, size, rate_unit(c->greatest), number);
        else
                format_seconds(out, size, c, number);
}

/* The width of each column, and its numbers in its unit. False: out of memory. */
static bool format_columns(struct sheet *s)
{
        char text[HW_NUMBER_MAX * 2];

        for (size_t at = 0; at < s->n; at++) {
                struct sheet_column *c = &s->columns[at % s->width];
                struct sheet_cell *cell = &s->cells[at];

                if (*c->unit && isfinite(cell->number)) {
                        format_in_unit(text, sizeof(text), c, cell->number);
                        free(cell->text);
                        if (!(cell->text = strdup(text)))
                                return false;
                }
                const unsigned columns = (unsigned)text_columns(cell->text);
                c->width = columns > c->width ? columns : c->width;
        }
        return true;
}

/* --------------------------------------------------------------------- fitting */

static unsigned measure_width(const struct sheet *s)
{
        unsigned all = 0;

        for (unsigned i = 0; i < s->width; i++)
                all += s->columns[i].is_above ? 0 : s->columns[i].width + (all ? GAP : 0);
        return all;
}

/* The widest column of text that may be narrower; NULL: none. */
static struct sheet_column *find_widest(const struct sheet *s)
{
        struct sheet_column *widest = NULL;

        for (unsigned i = 0; i < s->width; i++) {
                struct sheet_column *c = &s->columns[i];

                if (!c->is_number && !c->is_shape && !c->is_above && c->width > TEXT_NARROW &&
                    (!widest || c->width > widest->width))
                        widest = c;
        }
        return widest;
}

/* Steps 1 to 3. False: the rows do not fit. */
static bool fit_columns(struct sheet *s, unsigned columns)
{
        const bool is_wide = measure_width(s) > columns;

        for (unsigned i = 0; i < s->width; i++)
                s->columns[i].is_above = is_wide && s->columns[i].is_same;
        for (unsigned i = 0; i < s->width; i++)
                while (s->columns[i].is_shape && s->columns[i].width > SHAPE_NARROW && measure_width(s) > columns)
                        s->columns[i].width--;
        for (struct sheet_column *c; measure_width(s) > columns && (c = find_widest(s)) != NULL;)
                c->width--;
        return measure_width(s) <= columns;
}

/* A sparkline of as many blocks as there are columns, each the highest of those that it stands for. */
static void shorten_shape(char *out, const char *shape, size_t columns)
{
        const size_t n = strlen(shape) / 3;

        for (size_t i = 0; i < columns; i++) {
                const char *highest = NULL;

                for (size_t k = i * n / columns; k < (i + 1) * n / columns; k++)
                        if (!highest || strncmp(shape + 3 * k, highest, 3) > 0)
                                highest = shape + 3 * k;
                (void)memcpy(out + 3 * i, highest, 3);
        }
        out[3 * columns] = '\0';
}

/* -------------------------------------------------------------------- printing */

static void print_padding(FILE *to, size_t n)
{
        for (; n > 0; n--)
                (void)putc(' ', to);
}

static void print_cell(FILE *to, const struct sheet_column *c, const char *text, bool is_last)
{
        char fitted[CELL_MAX + sizeof("…")];

        if ((unsigned)text_columns(text) > c->width && c->is_shape && is_sparkline(text))
                shorten_shape(fitted, text, c->width);
        else
                (void)fit_label(fitted, sizeof(fitted), text, (int)c->width);
        const unsigned padding = c->width - (unsigned)text_columns(fitted);
        print_padding(to, c->is_number ? padding : 0);
        (void)fputs(fitted, to);
        print_padding(to, !c->is_number && !is_last ? padding : 0);
}

/* Row 0 is the header. */
static void print_row(FILE *to, const struct sheet *s, size_t row)
{
        unsigned last = 0, printed = 0;

        for (unsigned i = 0; i < s->width; i++)
                last = s->columns[i].is_above ? last : i;
        for (unsigned i = 0; i < s->width; i++) {
                const struct sheet_column *c = &s->columns[i];

                if (c->is_above)
                        continue;
                print_padding(to, printed++ ? GAP : 0);
                print_cell(to, c, row ? get_cell(s, row - 1, i)->text : c->name, i == last);
        }
        (void)putc('\n', to);
}

/* A line for each column that is, or is not, above the table. */
static void print_lines(FILE *to, const struct sheet *s, size_t row, bool is_above)
{
        unsigned widest = 0;

        for (unsigned i = 0; i < s->width; i++)
                widest = s->columns[i].is_above == is_above && strlen(s->columns[i].name) > widest
                                 ? (unsigned)strlen(s->columns[i].name)
                                 : widest;
        for (unsigned i = 0; i < s->width; i++)
                if (s->columns[i].is_above == is_above)
                        (void)fprintf(to, "%-*s  %s\n", (int)widest, s->columns[i].name, get_cell(s, row, i)->text);
}

static void print_sheet(FILE *to, struct sheet *s, unsigned columns)
{
        const size_t rows = s->n / s->width;
        bool fits = true, any_above = false, any_in = false;

        if (columns > 0 && rows > 0)
                fits = fit_columns(s, columns);
        for (unsigned i = 0; i < s->width; i++) {
                any_above = any_above || s->columns[i].is_above;
                any_in = any_in || !s->columns[i].is_above;
        }
        if (any_above)
                print_lines(to, s, 0, true);
        if (any_above && any_in)
                (void)putc('\n', to);
        for (size_t row = 0; any_in && row < rows + fits; row++) {
                if (fits) {
                        print_row(to, s, row);
                } else {
                        (void)fputs(row ? "\n" : "", to);
                        print_lines(to, s, row, false);
                }
        }
        if (s->left_out > 0)
                (void)fprintf(to, "... and %zu more rows: --format csv prints all\n", s->left_out);
}

int query_print_sheet(FILE *to, sqlite3_stmt *statement, unsigned columns)
{
        struct sheet s = { .width = (unsigned)sqlite3_column_count(statement) };
        int status = SQLITE_ROW;
        bool good = (s.columns = calloc(s.width, sizeof(*s.columns))) != NULL;
        char name[CELL_MAX];

        for (unsigned i = 0; good && i < s.width; i++) {
                (void)hw_terminal_text(name, sizeof(name), sqlite3_column_name(statement, (int)i));
                s.columns[i] = (struct sheet_column){ .name = strdup(name),
                                                      .unit = query_unit_of(statement, (int)i),
                                                      .width = (unsigned)text_columns(name),
                                                      .least = INFINITY,
                                                      .is_number = true,
                                                      .is_shape = true,
                                                      .is_same = true };
                good = s.columns[i].name != NULL;
        }
        while (good && (status = sqlite3_step(statement)) == SQLITE_ROW) {
                if (s.n / s.width >= QUERY_TABLE_ROWS)
                        s.left_out++;
                else
                        for (unsigned i = 0; good && i < s.width; i++)
                                good = add_cell(&s, i, statement);
        }
        if (good && status == SQLITE_DONE && (good = format_columns(&s)))
                print_sheet(to, &s, columns);
        for (size_t i = 0; i < s.n; i++)
                free(s.cells[i].text);
        for (unsigned i = 0; s.columns && i < s.width; i++)
                free(s.columns[i].name);
        free(s.cells);
        free(s.columns);
        return good ? status : SQLITE_NOMEM;
}
