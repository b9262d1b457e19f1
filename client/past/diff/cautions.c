/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/diff/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/number_text.h"

#define LENGTHS_DIFFER 0.1 /* as a share of the baseline's */

struct listener {
        void (*say)(void *ctx, const char *text);
        void *ctx;
};

static void add_caution(const struct listener *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_caution(const struct listener *l, const char *format, ...)
{
        char text[CAUTION_MAX];
        va_list args;

        va_start(args, format);
        (void)vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        l->say(l->ctx, text);
}

/* The first run of either side that has a text, and one with another text. `at`: of the text in struct side_run. */
static void compare_texts(const struct listener *l, const struct comparison *c, const char *what, size_t at)
{
        const char *first = NULL;
        const struct side_run *run;

        for (size_t i = 0; (run = comparison_run(c, i)); i++) {
                const char *text;

                memcpy(&text, (const char *)run + at, sizeof(text));
                if (first && text && strcmp(first, text) != 0) {
                        add_caution(l, "the runs differ in %s: %s and %s", what, first, text);
                        return;
                }
                first = first ? first : text;
        }
}

/* A census is made in a pause. */
static void compare_periods(const struct listener *l, const struct comparison *c)
{
        uint64_t first = 0;
        const struct side_run *run;

        for (size_t i = 0; (run = comparison_run(c, i)); i++) {
                uint64_t period = run->rows.censuses ? run->census_period_ns : 0;

                if (i > 0 && period != first) {
                        add_caution(l,
                                    "the runs take heap profiles at different intervals (%s and %s), and those "
                                    "lengthen pauses and collections",
                                    first ? DURATION_TEXT(first) : "none", period ? DURATION_TEXT(period) : "none");
                        return;
                }
                first = period;
        }
}

/* Rows that only one side has, by the first of them; and bands that cannot be matched. */
static void add_cautions_of_rows(const struct listener *l, const struct comparison *c)
{
        static const char *const kinds[ROW_KINDS] = {
                [ROW_BAND] = "a heap profile",
                [ROW_TICKY] = "ticky counters with names",
                [ROW_CENTRE] = "a time profile",
        };
        const struct row_change *one_sided = NULL, *unmatched = NULL;

        for (size_t i = c->n_rows; i-- > 0;) {
                const struct row_change *row = &c->rows[i];

                if (!row->value.shift.known && isnan(row->value.a) != isnan(row->value.b))
                        one_sided = row;
                if (row->unnamed)
                        unmatched = row;
        }
        if (one_sided)
                add_caution(l, "only the %s has %s", isnan(one_sided->value.b) ? "new side" : "baseline",
                            kinds[one_sided->kind]);
        if (unmatched)
                add_caution(l,
                            "%s of the new side and %s of the baseline are in bands that cannot be matched: info "
                            "tables without a name (build with -finfo-table-map), or beyond the limit of bands",
                            BYTES_TEXT(unmatched->value.a), BYTES_TEXT(unmatched->value.b));
}

void list_cautions(const struct comparison *c, void (*say)(void *ctx, const char *text), void *ctx)
{
        const struct listener l = { say, ctx };
        const struct change *d = &c->quantities[quantity_find("duration", strlen("duration")) - quantities];
        const struct side_run *run;
        uint64_t left_out = 0;
        size_t truncated = 0;
        bool live = false;

        for (size_t i = 0; (run = comparison_run(c, i)); i++) {
                truncated += run->truncated;
                live |= run->live;
                left_out += run->left_out;
        }
        compare_texts(&l, c, "program", offsetof(struct side_run, program));
        compare_texts(&l, c, "GHC's version", offsetof(struct side_run, ghc));
        if (d->shift.known && fabs(d->a - d->b) > LENGTHS_DIFFER * d->b)
                add_caution(&l,
                            "the runs differ in length, %s against %s: totals and peaks cover different spans; compare "
                            "like parts with --range, --a-range, --b-range",
                            DURATION_TEXT(d->a), DURATION_TEXT(d->b));
        if (c->bands_differ)
                add_caution(&l, "the heap profiles are of different kinds: no band is compared");
        compare_periods(&l, c);
        if (truncated)
                add_caution(&l, "%zu of %zu runs did not end normally: their logs stop without an end marker",
                            truncated, c->a->n + c->b->n);
        if (live)
                add_caution(&l,
                            "of live targets, means over time and intervals are from the daemon's history, whose "
                            "points get wider with age; other numbers are exact, quantiles of pauses within 2 %%");
        if (left_out)
                add_caution(&l, "%" PRIu64 " samples are missing in these numbers", left_out);
        add_cautions_of_rows(&l, c);
        if (c->a->n <= 1 && c->b->n <= 1)
                add_caution(&l,
                            "one run of each: intervals are from the noise within the runs and do not include "
                            "differences from run to run; give several runs of each side");
}
