/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "client/past/diff/print.h"
#include "proto/base/utf8.h"

#define NAME_COLUMNS 40

static void put_head(FILE *to, const char *title)
{
        (void)fprintf(to, "\n%-*s %12s %12s %11s  %s\n", NAME_COLUMNS, title, "baseline", "new", "change",
                      "95 % interval");
}

static void put_line(FILE *to, const char *name, const struct change *c, enum quantity_unit unit)
{
        char a[QUANTITY_TEXT], b[QUANTITY_TEXT], change[CELL_MAX], interval[CELL_MAX * 3], safe[1100];
        const char *word = change_word(c);

        (void)safe_text(safe, sizeof(safe), name);
        if (strlen(safe) > NAME_COLUMNS)
                (void)fprintf(to, "%s\n%*s", safe, NAME_COLUMNS, "");
        else
                (void)fprintf(to, "%-*s", NAME_COLUMNS, safe);
        (void)fprintf(to, " %12s %12s %11s", quantity_text(b, sizeof(b), unit, c->b, false),
                      quantity_text(a, sizeof(a), unit, c->a, false),
                      c->shift.known ? change_text(change, sizeof(change), c, unit, c->shift.by) : "?");
        if (c->shift.basis != SHIFT_NONE)
                (void)fprintf(to, "  %-20s %s", interval_text(interval, sizeof(interval), c, unit), word);
        (void)fputc('\n', to);
}

static void put_rows(FILE *to, const struct result *r, enum row_kind kind)
{
        size_t shown = 0, more = 0;

        for (size_t i = 0; i < r->comparison.n_rows; i++) {
                const struct row_change *row = &r->comparison.rows[i];
                if (row->kind != kind || !row_differs(row))
                        continue;
                if (shown == r->shown) {
                        more++;
                        continue;
                }
                if (shown++ == 0)
                        put_head(to, row_titles[kind]);
                put_line(to, row->name, &row->value, row_unit(kind));
        }
        if (more)
                (void)fprintf(to, "(%zu more changed, by less: --rows %zu)\n", more, shown + more);
}

static void put_growth(FILE *to, const char *who, const struct side *s)
{
        for (size_t i = 0; i < s->n && s->n == 1; i++)
                if (s->runs[i].growth)
                        (void)fprintf(to, "%s  %s\n", who, SAFE_TEXT(1024, s->runs[i].growth));
}

static void put_caution(void *to, const char *text)
{
        (void)fprintf(to, "note: %s\n", SAFE_TEXT(CAUTION_MAX * 2, text));
}

void print_text(FILE *to, const struct result *r)
{
        char text[1024];

        (void)fprintf(to, "new       %s\n", SAFE_TEXT(1100, side_text(text, sizeof(text), r->comparison.a)));
        (void)fprintf(to, "baseline  %s\n", SAFE_TEXT(1100, side_text(text, sizeof(text), r->comparison.b)));
        put_head(to, "");
        for (size_t i = 0; i < n_quantities; i++)
                if (!isnan(r->comparison.quantities[i].a) || !isnan(r->comparison.quantities[i].b))
                        put_line(to, quantities[i].title, &r->comparison.quantities[i], quantities[i].unit);
        for (unsigned kind = 0; kind < ROW_KINDS; kind++)
                put_rows(to, r, (enum row_kind)kind);
        (void)fputc('\n', to);
        put_growth(to, "new     ", r->comparison.a);
        put_growth(to, "baseline", r->comparison.b);
        if (basis_text(text, sizeof(text), &r->comparison)[0])
                (void)fprintf(to, "%s\n", text);
        list_cautions(&r->comparison, put_caution, to);
        if (r->bounds.n)
                (void)fputc('\n', to);
        for (size_t i = 0; i < r->bounds.n; i++)
                (void)fprintf(to, "%s\n",
                              SAFE_TEXT(1100, judgement_text(text, sizeof(text), &r->bounds.items[i], &r->comparison)));
}
