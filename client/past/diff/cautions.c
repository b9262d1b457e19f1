/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/diff/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/array.h"

#define LENGTHS_DIFFER 0.1 /* as a share of the baseline's */

typedef size_t caution(const struct comparison *c, char *out, size_t size); /* 0: nothing to say */

/* Finds the first run of either side that has a text, and one with another text. */
static size_t differing_texts(const struct comparison *c, char *out, size_t size, const char *what, size_t at)
{
        const char *first = NULL;
        const struct side_run *run;

        for (size_t i = 0; (run = comparison_run(c, i)); i++) {
                const char *text;
                memcpy(&text, (const char *)run + at, sizeof(text));
                if (first && text && strcmp(first, text) != 0)
                        return (size_t)snprintf(out, size, "the runs differ in %s: %s and %s", what, first, text);
                first = first ? first : text;
        }
        return 0;
}

static size_t differing_programs(const struct comparison *c, char *out, size_t size)
{
        return differing_texts(c, out, size, "program", offsetof(struct side_run, program));
}

static size_t differing_compilers(const struct comparison *c, char *out, size_t size)
{
        return differing_texts(c, out, size, "GHC's version", offsetof(struct side_run, ghc));
}

static size_t differing_lengths(const struct comparison *c, char *out, size_t size)
{
        const struct change *d = &c->quantities[quantity_find("duration", strlen("duration")) - quantities];
        char a[HW_NUMBER_MAX], b[HW_NUMBER_MAX];

        if (!d->shift.known || fabs(d->a - d->b) <= LENGTHS_DIFFER * d->b)
                return 0;
        return (size_t)snprintf(
                out, size,
                "the runs differ in length, %s against %s: totals and peaks cover different spans; compare "
                "like parts with --range, --a-range, --b-range",
                hw_duration_text(a, sizeof(a), d->a), hw_duration_text(b, sizeof(b), d->b));
}

static size_t differing_profiles(const struct comparison *c, char *out, size_t size)
{
        if (!c->bands_differ)
                return 0;
        return (size_t)snprintf(out, size, "the heap profiles are of different kinds: no band is compared");
}

/* A census is made in a pause. */
static size_t differing_periods(const struct comparison *c, char *out, size_t size)
{
        uint64_t first = 0;
        const struct side_run *run;
        char a[HW_NUMBER_MAX], b[HW_NUMBER_MAX];

        for (size_t i = 0; (run = comparison_run(c, i)); i++) {
                uint64_t period = run->rows.censuses ? run->census_period_ns : 0;
                if (i > 0 && period != first)
                        return (size_t)snprintf(
                                out, size,
                                "the runs take heap profiles at different intervals (%s and %s), and those "
                                "lengthen pauses and collections",
                                first ? hw_duration_text(a, sizeof(a), (double)first) : "none",
                                period ? hw_duration_text(b, sizeof(b), (double)period) : "none");
                first = period;
        }
        return 0;
}

static size_t torn_logs(const struct comparison *c, char *out, size_t size)
{
        size_t n = 0;
        const struct side_run *run;

        for (size_t i = 0; (run = comparison_run(c, i)); i++)
                n += run->truncated;
        return n ? (size_t)snprintf(out, size,
                                    "%zu of %zu runs did not end normally: their logs stop without an end marker", n,
                                    c->a->n + c->b->n)
                 : 0;
}

static size_t live_caution(const struct comparison *c, char *out, size_t size)
{
        const struct side_run *run;

        for (size_t i = 0; (run = comparison_run(c, i)); i++)
                if (run->live)
                        return (size_t)snprintf(
                                out, size,
                                "of live targets, means over time and intervals are from the daemon's history, whose "
                                "points get "
                                "wider with age; other numbers are exact, quantiles of pauses within 2 %%");
        return 0;
}

static size_t left_out(const struct comparison *c, char *out, size_t size)
{
        uint64_t n = 0;
        const struct side_run *run;

        for (size_t i = 0; (run = comparison_run(c, i)); i++)
                n += run->left_out;
        return n ? (size_t)snprintf(out, size, "%" PRIu64 " samples are missing in these numbers", n) : 0;
}

static size_t unmatched_rows(const struct comparison *c, char *out, size_t size)
{
        char a[HW_NUMBER_MAX], b[HW_NUMBER_MAX];

        for (size_t i = 0; i < c->n_rows; i++)
                if (c->rows[i].unnamed)
                        return (size_t)snprintf(
                                out, size,
                                "%s of the new side and %s of the baseline are in bands that cannot be matched: info "
                                "tables without a name (build with -finfo-table-map), or beyond the limit of bands",
                                hw_bytes_text(a, sizeof(a), c->rows[i].value.a),
                                hw_bytes_text(b, sizeof(b), c->rows[i].value.b));
        return 0;
}

/* The first kind of rows that only one side has. */
static size_t one_sided(const struct comparison *c, char *out, size_t size)
{
        static const char *const what[ROW_KINDS] = {
                [ROW_BAND] = "a heap profile",
                [ROW_TICKY] = "ticky counters with names",
                [ROW_CENTRE] = "a time profile",
        };

        for (size_t i = 0; i < c->n_rows; i++)
                if (!c->rows[i].value.shift.known && isnan(c->rows[i].value.a) != isnan(c->rows[i].value.b))
                        return (size_t)snprintf(out, size, "only the %s has %s",
                                                isnan(c->rows[i].value.b) ? "new side" : "baseline",
                                                what[c->rows[i].kind]);
        return 0;
}

static size_t single_run(const struct comparison *c, char *out, size_t size)
{
        if (c->a->n > 1 || c->b->n > 1)
                return 0;
        return (size_t)snprintf(
                out, size,
                "one run of each: intervals are from the noise within the runs and do not include differences "
                "from run to run; give several runs of each side");
}

void list_cautions(const struct comparison *c, void (*say)(void *ctx, const char *text), void *ctx)
{
        static caution *const all[] = { differing_programs, differing_compilers, differing_lengths, differing_profiles,
                                        differing_periods,  torn_logs,           live_caution,      left_out,
                                        one_sided,          unmatched_rows,      single_run };
        char text[CAUTION_MAX];

        for (size_t i = 0; i < ARRAY_SIZE(all); i++)
                if (all[i](c, text, sizeof(text)))
                        say(ctx, text);
}
