/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.c - the rows of a table: filled, filtered, ordered, selected.
 *
 * DESIGN: rows are collected again for every frame. The sort key of each is
 * computed once, then they are sorted: ten thousand take a few milliseconds.
 * Rows with equal keys stay in the order in which they came, so that nothing
 * jumps. Absent values come last in either direction.
 */
#include "client/console/table/table.h"
#include "proto/base/array.h"
#include "proto/base/error.h"

#include <stdlib.h>
#include <string.h>

void table_init(struct table *t, const struct table_class *class)
{
        memset(t, 0, sizeof(*t));
        t->class = class;
        for (size_t i = 0; i < class->n_columns; i++)
                if (class->columns[i].searched)
                        t->searched = &class->columns[i];
        t->sort = class->sort;
        t->follows_end = class->log;
}

void table_done(struct table *t)
{
        pattern_destroy(&t->pattern);
        free(t->rows);
        memset(t, 0, sizeof(*t));
}

/* ------------------------------------------------------------------ filter */

/* Ignores the case of ASCII letters; an empty needle is found anywhere. */
static bool contains_text(const char *text, const char *needle)
{
        return strcasestr(text, needle) != NULL;
}

/* The expression of a filter that begins with a slash; the closing one may still be missing. NULL: it is plain text. */
static char *expression_of(char out[TABLE_TEXT], const char *filter)
{
        size_t n = strlen(filter);

        if (n < 2 || filter[0] != '/')
                return NULL;
        n -= n > 2 && filter[n - 1] == '/';
        (void)snprintf(out, TABLE_TEXT, "%.*s", (int)n - 1, filter + 1);
        return out;
}

bool table_set_filter(struct table *t, const char *text, struct error *error)
{
        char expression[TABLE_TEXT];
        struct pattern *pattern = NULL;

        if (expression_of(expression, text)) {
                pattern = pattern_new(expression, PATTERN_CASELESS, error);
                if (!pattern)
                        return false;
        }
        pattern_destroy(&t->pattern);
        t->pattern = pattern;
        (void)snprintf(t->filter, sizeof(t->filter), "%s", text);
        return true;
}

static const char *row_text(const struct table *t, const void *data)
{
        const char *text = t->searched ? column_value(t->searched, t->scene, data).text : NULL;

        return text ? text : "";
}

static bool passes_filter(const struct table *t, const void *data)
{
        if (!t->filter[0] || !t->searched)
                return true;
        if (t->pattern)
                return pattern_match(t->pattern, row_text(t, data)) == PATTERN_YES;
        return contains_text(row_text(t, data), t->filter);
}

/* -------------------------------------------------------------------- rows */

void table_add(struct table *t, uint64_t id, const void *data)
{
        t->n_all++;
        if (!passes_filter(t, data))
                return;
        if (!ARRAY_RESERVE(t->rows, t->capacity, t->n + 1)) {
                t->out_of_memory = true;
                return;
        }
        t->rows[t->n] = (struct table_row){ .id = id, .data = data, .place = t->n };
        t->n++;
}

const struct column *table_sorted_by(const struct table *t)
{
        return t->sort < t->class->n_columns ? &t->class->columns[t->sort] : NULL;
}

/* Whether the column's smallest value comes first. */
static bool is_rising_order(const struct column *column, bool reversed)
{
        return (column->rising || (column_unit(column) == UNIT_TEXT && !column->order)) != reversed;
}

bool table_rises(const struct table *t)
{
        const struct column *column = table_sorted_by(t);

        return column && is_rising_order(column, t->reversed);
}

/* Absent ones last, then the key, then the order in which they came. */
static int compare_rows(const struct table_row *a, const struct table_row *b, int sign)
{
        int order;

        if ((a->key.is == VALUE_NONE) != (b->key.is == VALUE_NONE))
                return a->key.is == VALUE_NONE ? 1 : -1;
        order = sign * value_compare(a->key, b->key);
        return order ? order : a->place < b->place ? -1 : 1;
}

static int compare_rising(const void *a, const void *b)
{
        return compare_rows(a, b, 1);
}

static int compare_falling(const void *a, const void *b)
{
        return compare_rows(a, b, -1);
}

static void sort_rows(struct table *t, const struct scene *s)
{
        const struct column *column = table_sorted_by(t);

        if (!column)
                return;
        for (size_t i = 0; i < t->n; i++)
                t->rows[i].key =
                        column->order ? column->order(s, t->rows[i].data) : column_value(column, s, t->rows[i].data);
        ARRAY_SORT(t->rows, t->n, is_rising_order(column, t->reversed) ? compare_rising : compare_falling);
}

/* Over all columns, since a slope and its interval are in several. */
static void measure_rates(struct table *t, const struct scene *s)
{
        t->slopes = t->rates = 0;
        for (size_t i = 0; i < t->class->n_columns; i++) {
                const struct column *column = &t->class->columns[i];
                double *greatest = column_unit(column) == UNIT_SLOPE  ? &t->slopes
                                   : column_unit(column) == UNIT_RATE ? &t->rates
                                                                      : NULL;

                for (size_t row = 0; greatest && row < t->n; row++) {
                        struct value v = column_value(column, s, t->rows[row].data);

                        if (v.is == VALUE_NUMBER)
                                *greatest = rate_greater(*greatest, v.number);
                }
        }
}

/* --------------------------------------------------------------- selection */

void table_settle(struct table *t)
{
        size_t page = t->page > 0 ? (size_t)t->page : 1;

        if (t->n == 0)
                t->at = t->first = 0;
        else if (t->at >= t->n)
                t->at = t->n - 1;
        if (t->at < t->first)
                t->first = t->at;
        if (t->at >= t->first + page)
                t->first = t->at - page + 1;
        if (t->first + page > t->n)
                t->first = t->n > page ? t->n - page : 0;
}

void table_fill(struct table *t, const struct console *c, const struct scene *s)
{
        t->n = t->n_all = 0;
        t->scene = s;
        t->class->rows(c, t);
        sort_rows(t, s);
        measure_rates(t, s);
        /* Without a row chosen by the user, the selection stays at its place, usually the first. */
        if (t->follows_end && t->n)
                t->at = t->n - 1;
        else if (t->has_selected && !(t->at < t->n && t->rows[t->at].id == t->selected)) {
                for (size_t i = 0; i < t->n; i++) {
                        if (t->rows[i].id == t->selected) {
                                t->at = i;
                                break;
                        }
                }
        }
        table_settle(t);
}

const void *table_selected(const struct table *t)
{
        return t->at < t->n ? t->rows[t->at].data : NULL;
}

void table_select(struct table *t, size_t at)
{
        t->at = at;
        table_settle(t);
        t->has_selected = t->at < t->n;
        if (t->has_selected)
                t->selected = t->rows[t->at].id;
        t->follows_end = t->class->log && t->n && t->at == t->n - 1;
}

void table_sort(struct table *t, size_t column)
{
        if (t->sort == column)
                t->reversed = !t->reversed;
        else
                t->reversed = false;
        t->sort = column;
}

bool table_find(struct table *t, int by, bool here)
{
        if (!t->search[0])
                return false;
        for (size_t i = here ? 0 : 1; i < t->n + !here; i++) {
                size_t at = (t->at + (by > 0 ? i : t->n - i)) % t->n;

                if (contains_text(row_text(t, t->rows[at].data), t->search)) {
                        table_select(t, at);
                        return true;
                }
        }
        return false;
}
