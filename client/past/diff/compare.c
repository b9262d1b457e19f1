/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/diff/print.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double change_share(const struct change *c, double by)
{
        return c->b != 0 ? by / fabs(c->b) : NAN;
}

bool row_differs(const struct row_change *row)
{
        return !row->unnamed && row->value.shift.known && row->value.shift.by != 0;
}

const struct side_run *comparison_run(const struct comparison *c, size_t i)
{
        if (i < c->a->n)
                return &c->a->runs[i];
        return i < c->a->n + c->b->n ? &c->b->runs[i - c->a->n] : NULL;
}

/* What cannot be negative cannot have lost more than there was, however wide the interval of the difference is. */
static int change_of(const struct sample *a, const struct sample *b, bool is_signed, struct change *ret)
{
        ret->a = shift_median(a->values, a->n);
        ret->b = shift_median(b->values, b->n);
        int r = shift_between(a, b, &ret->shift);

        if (r == 0 && ret->shift.basis != SHIFT_NONE && !is_signed)
                ret->shift.low = fmax(ret->shift.low, -ret->b);
        return r;
}

/* ----------------------------------------------------------------- quantities */

static double *column_of(const struct side *s, size_t quantity)
{
        double *values = calloc(s->n, sizeof(*values));

        for (size_t i = 0; values && i < s->n; i++)
                values[i] = s->runs[i].values[quantity];
        return values;
}

static int compare_quantity(const struct comparison *c, size_t i, struct change *ret)
{
        double *x = column_of(c->a, i), *y = column_of(c->b, i);
        struct sample a = { x, c->a->n, &c->a->runs[0].noise[i] }, b = { y, c->b->n, &c->b->runs[0].noise[i] };
        int r = x && y ? change_of(&a, &b, quantity_is_signed(&quantities[i]), ret) : -ENOMEM;

        free(x);
        free(y);
        return r;
}

/* ----------------------------------------------------------------------- rows */

/* One row of one run, and which side and run it is from. */
struct entry {
        const struct row *row;
        const struct rows *rows;
        size_t run;
        bool of_b;
};

static int by_name(const void *x, const void *y)
{
        const struct entry *a = x, *b = y;

        if (a->row->kind != b->row->kind)
                return (a->row->kind > b->row->kind) - (a->row->kind < b->row->kind);
        return strcmp(a->row->name, b->row->name);
}

static bool has_kind(const struct side_run *run, enum row_kind kind)
{
        if (kind == ROW_BAND)
                return run->rows.censuses > 0;
        for (uint32_t i = 0; i < run->rows.n; i++)
                if (run->rows.items[i].kind == kind)
                        return true;
        return false;
}

/* A side's values of a kind: 0 in a run that has others of this kind, NaN in one that has none. */
static void blank_values(const struct side *s, enum row_kind kind, double *values)
{
        for (size_t i = 0; i < s->n; i++)
                values[i] = has_kind(&s->runs[i], kind) ? 0 : NAN;
}

struct columns {
        double *a, *b, *a_peak, *b_peak; /* of the rows of one name */
        double *blanks;                  /* of each kind, for both sides */
};

static int compare_row(const struct comparison *c, const struct entry *entries, size_t n, struct columns *v,
                       struct row_change *ret)
{
        enum row_kind kind = entries[0].row->kind;
        const double *blanks = v->blanks + kind * (c->a->n + c->b->n);

        memcpy(v->a, blanks, c->a->n * sizeof(*v->a));
        memcpy(v->a_peak, blanks, c->a->n * sizeof(*v->a));
        memcpy(v->b, blanks + c->a->n, c->b->n * sizeof(*v->b));
        memcpy(v->b_peak, blanks + c->a->n, c->b->n * sizeof(*v->b));
        for (size_t i = 0; i < n; i++) {
                (entries[i].of_b ? v->b : v->a)[entries[i].run] =
                        row_value(entries[i].rows, entries[i].row, c->by_census);
                (entries[i].of_b ? v->b_peak : v->a_peak)[entries[i].run] = entries[i].row->peak;
        }
        *ret = (struct row_change){ .kind = kind, .name = entries[0].row->name, .unnamed = entries[0].row->unnamed };
        struct sample a = { v->a, c->a->n, NULL }, b = { v->b, c->b->n, NULL };
        struct sample a_peak = { v->a_peak, c->a->n, NULL }, b_peak = { v->b_peak, c->b->n, NULL };
        int r = change_of(&a, &b, false, &ret->value);
        return r ? r : change_of(&a_peak, &b_peak, false, &ret->peak);
}

static size_t gather_entries(const struct side *s, bool of_b, struct entry *out)
{
        size_t n = 0;

        for (size_t run = 0; run < s->n; run++)
                for (uint32_t i = 0; i < s->runs[run].rows.n; i++, n++)
                        if (out)
                                out[n] = (struct entry){ &s->runs[run].rows.items[i], &s->runs[run].rows, run, of_b };
        return n;
}

static bool columns_new(struct columns *v, const struct comparison *c)
{
        size_t runs = c->a->n + c->b->n;

        v->a = calloc(c->a->n, sizeof(double));
        v->a_peak = calloc(c->a->n, sizeof(double));
        v->b = calloc(c->b->n, sizeof(double));
        v->b_peak = calloc(c->b->n, sizeof(double));
        v->blanks = calloc(runs * ROW_KINDS, sizeof(double));
        if (!v->a || !v->a_peak || !v->b || !v->b_peak || !v->blanks)
                return false;
        for (unsigned kind = 0; kind < ROW_KINDS; kind++) {
                blank_values(c->a, (enum row_kind)kind, v->blanks + kind * runs);
                blank_values(c->b, (enum row_kind)kind, v->blanks + kind * runs + c->a->n);
        }
        return true;
}

static double change_weight(const struct row_change *r)
{
        return isnan(r->value.shift.by) ? 0 : fabs(r->value.shift.by);
}

static int by_change(const void *x, const void *y)
{
        const struct row_change *a = x, *b = y;

        if (a->kind != b->kind)
                return (a->kind > b->kind) - (a->kind < b->kind);
        if (change_weight(a) != change_weight(b))
                return change_weight(a) < change_weight(b) ? 1 : -1;
        return strcmp(a->name, b->name);
}

static int join_rows(struct comparison *c, const struct entry *entries, size_t n)
{
        struct columns v;
        int r = columns_new(&v, c) ? 0 : -ENOMEM;

        for (size_t i = 0, end; i < n && r == 0; i = end) {
                for (end = i + 1; end < n && by_name(&entries[i], &entries[end]) == 0; end++)
                        ;
                if (!c->bands_differ || entries[i].row->kind != ROW_BAND)
                        r = compare_row(c, entries + i, end - i, &v, &c->rows[c->n_rows++]);
        }
        free(v.a);
        free(v.a_peak);
        free(v.b);
        free(v.b_peak);
        free(v.blanks);
        if (r == 0 && c->n_rows)
                qsort(c->rows, c->n_rows, sizeof(*c->rows), by_change);
        return r;
}

static int compare_rows(struct comparison *c)
{
        size_t n = gather_entries(c->a, false, NULL), m = gather_entries(c->b, true, NULL);
        struct entry *entries = calloc(n + m + 1, sizeof(*entries));
        int r = -ENOMEM;

        c->rows = calloc(n + m + 1, sizeof(*c->rows));
        if (entries && c->rows) {
                (void)gather_entries(c->a, false, entries);
                (void)gather_entries(c->b, true, entries + n);
                qsort(entries, n + m, sizeof(*entries), by_name);
                r = join_rows(c, entries, n + m);
        }
        free(entries);
        return r;
}

/* Whether the runs have heap profiles that cannot be compared. */
static bool breakdowns_differ(const struct comparison *c)
{
        Hw__Breakdown seen = HW__BREAKDOWN__BREAKDOWN_NONE;

        const struct side_run *run;

        for (size_t i = 0; (run = comparison_run(c, i)); i++) {
                if (!run->rows.censuses)
                        continue;
                if (seen != HW__BREAKDOWN__BREAKDOWN_NONE && run->breakdown != seen)
                        return true;
                seen = run->breakdown;
        }
        return false;
}

int compare_sides(const struct side *a, const struct side *b, struct comparison *ret)
{
        int r;

        *ret = (struct comparison){ .a = a, .b = b };
        ret->bands_differ = breakdowns_differ(ret);
        for (size_t i = 0; comparison_run(ret, i); i++)
                ret->by_census |= comparison_run(ret, i)->rows.by_census;
        ret->quantities = calloc(n_quantities, sizeof(*ret->quantities));
        r = ret->quantities ? 0 : -ENOMEM;
        for (size_t i = 0; i < n_quantities && r == 0; i++)
                r = compare_quantity(ret, i, &ret->quantities[i]);
        return r ? r : compare_rows(ret);
}

void comparison_done(struct comparison *c)
{
        free(c->quantities);
        free(c->rows);
        *c = (struct comparison){ .a = NULL };
}
