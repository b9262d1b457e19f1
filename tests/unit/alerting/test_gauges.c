/* SPDX-License-Identifier: BSD-3-Clause */
/* A gauge that is kept as rules ask for answers their windows as one of which everything is kept. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/test.h"

#include "daemon/watch/alerting/internal.h"
#include "daemon/judge/rules/data.h"

#define S    UINT64_C(1000000000)
#define DAYS 3u

/* Beyond the window: in a younger run the first intervals may be wider, with the same samples in all. */
#define LEAST_AGE_NS (600 * S)

static void asked(struct rule_gauge gauges[GAUGES], const char *expr)
{
        struct ruleset *rules = calloc(1, sizeof(*rules));
        struct rule_text text = { .group = "g", .name = "r", .expr = expr };
        struct rule_error error;
        struct rule *rule = rule_new(&text, &error);

        assert_non_null(rules);
        assert_non_null(rule);
        assert_true(ruleset_add(rules, rule));

        gauges_require(gauges, rules);
        ruleset_destroy(&rules);
}

static double value_at(uint64_t second)
{
        return sin((double)second / 3000) + (double)(second * 7919 % 1009) / 1009;
}

static void same_cell(const struct trend_cell *a, const struct trend_cell *b)
{
        assert_int_equal(a->cell.n, b->cell.n);
        assert_true(fabs(a->cell.min - b->cell.min) < 1e-6 && fabs(a->cell.max - b->cell.max) < 1e-6 &&
                    fabs(a->cell.last - b->cell.last) < 1e-6);
        assert_true(a->cell.last_ns - b->cell.last_ns < 256 || b->cell.last_ns - a->cell.last_ns < 256);
        assert_true(fabs(a->cell.mean - b->cell.mean) < 1e-6);
        assert_true(fabs(a->m_tv - b->m_tv) <= 1e-6 * (1 + sqrt(b->m_tt * b->m_vv)));
}

static void same_answers(const struct series *kept, const struct series *whole, uint64_t now_ns, uint64_t window_ns)
{
        struct time_range range = { now_ns > window_ns ? now_ns - window_ns : 0, now_ns };
        struct trend_cell a, b;

        assert_int_equal(history_span(kept, range, &a), history_span(whole, range, &b));
        same_cell(&a, &b);
        assert_int_equal(history_newest(kept, now_ns, &a), history_newest(whole, now_ns, &b));
        same_cell(&a, &b);
        bool any = history_newest(whole, range.from_ns, &b);
        assert_int_equal(history_newest(kept, range.from_ns, &a), any);
        if (any)
                assert_true(a.cell.last == b.cell.last);
        if (now_ns < window_ns + LEAST_AGE_NS)
                return;
        assert_int_equal(history_oldest(kept, range, &a), history_oldest(whole, range, &b));
        same_cell(&a, &b);
        assert_true(fabs(history_integral(kept, range) - history_integral(whole, range)) <
                    1e-6 * (double)window_ns / S);
}

TEST(a_window_has_the_same_samples)
{
        static const uint64_t windows_s[] = { 1,    7,    59,   290,  299,   300,   301,   600,
                                              3600, 3830, 3841, 7200, 21500, 21601, 86400, 172800 };

        for (size_t i = 0; i < sizeof(windows_s) / sizeof(windows_s[0]); i++) {
                uint64_t window_s = windows_s[i];
                static struct rule_gauge gauges[GAUGES];
                struct rule_gauge *g = &gauges[GAUGE(RULE_GC_SHARE)];
                struct series whole = { 0 };
                char expr[64];

                snprintf(expr, sizeof(expr), "mean(gc_share, %us) > 200%%", (unsigned)window_s);
                asked(gauges, expr);
                for (uint64_t s = 0; s < DAYS * 86400; s++) {
                        gauge_push(g, (s + 1) * S - 1, value_at(s));
                        assert_int_equal(series_push(&whole, &series_shape, (s + 1) * S - 1, value_at(s)), 0);
                        if (s < 20 || s % 977 == 0)
                                same_answers(&g->series, &whole, (s + 1) * S, window_s * S);
                }
                series_done(&g->series);
                series_done(&whole);
        }
}

static size_t held_after_days(const char *expr)
{
        static struct rule_gauge gauges[GAUGES];
        struct rule_gauge *g = &gauges[GAUGE(RULE_GC_SHARE)];

        asked(gauges, expr);
        for (uint64_t s = 0; s < DAYS * 86400; s++)
                gauge_push(g, (s + 1) * S - 1, value_at(s));
        size_t held = g->series.pyramid.held_bytes;
        series_done(&g->series);
        return held;
}

TEST(what_is_not_asked_for_is_small)
{
        assert_in_range(held_after_days("threads > 5"), 1, 2500);
        assert_in_range(held_after_days("gc_share > 50%"), 1, 2500);
        assert_in_range(held_after_days("mean(gc_share, 15m) > 50%"), 1, 7600);
        assert_in_range(held_after_days("mean(gc_share) > 50% and mean(gc_share, 1s) > 1%"), 48000, 52000);
}

/* Rules that are loaded later find the last hours, in steps of ten minutes, and then all that comes. */
TEST(a_rule_that_comes_later)
{
        static struct rule_gauge gauges[GAUGES];
        struct rule_gauge *g = &gauges[GAUGE(RULE_GC_SHARE)];
        struct trend_cell b;
        uint64_t s = 0;

        asked(gauges, "threads > 5");
        for (; s < 36000; s++)
                gauge_push(g, (s + 1) * S - 1, (double)s);
        asked(gauges, "mean(gc_share, 1h) > 50%");
        assert_true(history_span(&g->series, (struct time_range){ (s - 3600) * S, s * S }, &b));
        assert_true(b.cell.min == 36000 - 3600 && b.cell.max == 35999);
        for (; s < 36000 + 3700; s++)
                gauge_push(g, (s + 1) * S - 1, (double)s);
        assert_true(history_span(&g->series, (struct time_range){ (s - 3605) * S, s * S }, &b));
        assert_true(b.cell.min == (double)((s - 3605) / 10 * 10)); /* to 10 s again */
        series_done(&g->series);
}
