/* SPDX-License-Identifier: BSD-3-Clause */
/* print_markdown.c - for a comment on a pull request: the bounds first, then tables. GitHub's dialect. */
#include <math.h>
#include <string.h>

#include "client/diff/print.h"
#include "heapwatch/text.h"

/* Escaped, so that nothing in it is markup. */
static void put(FILE *to, const char *text)
{
        char safe[2048];

        hw_terminal_text(safe, sizeof(safe), text);
        for (const char *p = safe; *p; p++) {
                if (strchr("\\`*_{}[]<>()#+-.!|~&@", *p))
                        (void)fputc('\\', to);
                (void)fputc(*p, to);
        }
}

static void put_head(FILE *to, const char *title)
{
        (void)fprintf(to, "\n| %s | baseline | new | change | 95 %% interval | |\n|---|--:|--:|--:|:-:|---|\n", title);
}

static void put_line(FILE *to, const char *name, const struct change *c, enum quantity_unit unit)
{
        char a[QUANTITY_TEXT], b[QUANTITY_TEXT], change[CELL_MAX], interval[CELL_MAX * 3];

        (void)fputs("| ", to);
        put(to, name);
        (void)fprintf(to, " | %s | %s | %s | %s | %s |\n", quantity_text(b, sizeof(b), unit, c->b, false),
                      quantity_text(a, sizeof(a), unit, c->a, false),
                      c->shift.known ? change_text(change, sizeof(change), c, unit, c->shift.by) : "?",
                      interval_text(interval, sizeof(interval), c, unit), change_word(c));
}

static void put_rows(FILE *to, const struct result *r, enum row_kind kind)
{
        size_t shown = 0;

        for (size_t i = 0; i < r->comparison.n_rows && shown < r->shown; i++) {
                const struct row_change *row = &r->comparison.rows[i];
                if (row->kind != kind || !row_differs(row))
                        continue;
                if (shown++ == 0)
                        put_head(to, row_titles[kind]);
                put_line(to, row->name, &row->value, row_unit(kind));
        }
}

static void put_item(void *to, const char *text)
{
        (void)fputs("- ", to);
        put(to, text);
        (void)fputc('\n', to);
}

static void put_bounds(FILE *to, const struct result *r)
{
        static const char *const marks[] = {
                [BOUND_KEPT] = "\xe2\x9c\x85",
                [BOUND_UNDECIDED] = "\xe2\x9d\x94",
                [BOUND_BROKEN] = "\xe2\x9d\x8c",
        };
        char text[1024];

        for (size_t i = 0; i < r->bounds.n; i++) {
                const struct bound *b = &r->bounds.items[i];
                (void)fprintf(to, "- %s ", marks[bound_judge(b, &r->comparison).decision]);
                put(to, judgement_text(text, sizeof(text), b, &r->comparison));
                (void)fputc('\n', to);
        }
        if (r->bounds.n)
                (void)fputc('\n', to);
}

void print_markdown(FILE *to, const struct result *r)
{
        char text[1024];

        (void)fputs("### Memory: ", to);
        put(to, side_text(text, sizeof(text), r->comparison.a));
        (void)fputs(" against ", to);
        put(to, side_text(text, sizeof(text), r->comparison.b));
        (void)fputs("\n\n", to);
        put_bounds(to, r);
        put_head(to, "");
        for (size_t i = 0; i < n_quantities; i++)
                if (!isnan(r->comparison.quantities[i].a) || !isnan(r->comparison.quantities[i].b))
                        put_line(to, quantities[i].title, &r->comparison.quantities[i], quantities[i].unit);
        for (unsigned kind = 0; kind < ROW_KINDS; kind++)
                put_rows(to, r, (enum row_kind)kind);
        (void)fputc('\n', to);
        if (basis_text(text, sizeof(text), &r->comparison)[0])
                put_item(to, text);
        cautions(&r->comparison, put_item, to);
}
