/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of expressions over known series, and three-valued logic. */
#include "tests/unit/rules/made_up.h"
#include "daemon/judge/rules/eval.h"
#include "tests/unit/test.h"

static double value_at(struct made_up *m, const char *text, uint64_t seconds)
{
        struct rule_data data = made_data(m);
        struct rule_moment at = made_at(seconds);
        struct expr e;
        struct expr_error error;

        if (!expr_parse(text, &e, &error))
                fail_msg("%s: %s", text, error.text);
        double v = expr_eval(&e, &data, &at, 0, NULL);
        expr_destroy(&e);
        return v;
}

#define HOLDS(text)  assert_true(value_at(m, text, 600) == 1)
#define FAILS(text)  assert_true(value_at(m, text, 600) == 0)
#define UNSURE(text) assert_true(isnan(value_at(m, text, 600)))

/* live rises by 1 MiB a second from 100 MiB; one sample a second, at x.5 s. */
static struct made_up *rising(void)
{
        struct made_up *m = made_up_new();

        for (uint64_t i = 0; i < 900; i++)
                made_push(m, SERIES_LIVE, i * S + S / 2, (100 + (double)i) * MIB);
        return m;
}

TEST(windows)
{
        struct made_up *m = rising();

        HOLDS("live == 699MiB"); /* what came later does not count */
        HOLDS("last(live) == 699MiB and last(live, 5s) == 699MiB");
        HOLDS("min(live, 100s) == 600MiB and max(live, 100s) == 699MiB");
        HOLDS("mean(live, 100s) > 649.4MiB and mean(live, 100s) < 649.6MiB");
        HOLDS("count(live, 100s) == 100");
        HOLDS("slope(live, 100s) > 0.999MiB/s and slope(live, 100s) < 1.001MiB/s");
        HOLDS("slope_low(live, 100s) > 59MiB/min and slope_high(live, 100s) < 61MiB/min");
        HOLDS("fit(live, 100s) > 0.999");
        HOLDS("increase(live, 100s) == 100MiB");
        HOLDS("rate(live, 100s) == 1MiB/s");
        HOLDS("age(live) < 1s and age(live) > 400ms");
        HOLDS("stddev(live, 100s) > 28MiB and stddev(live, 100s) < 30MiB");
        HOLDS("p50(live, 100s) > 649MiB and p50(live, 100s) < 650MiB and p99(live, 100s) > 697MiB");
        HOLDS("quantile(0.1, live, 100s) > 609MiB and quantile(0.1, live, 100s) < 611MiB");
        HOLDS("integral(live, 100s) / 100s > 610MiB and integral(live, 100s) / 100s < 655MiB");
        HOLDS("min(live) == 100MiB");
        HOLDS("min(live, 10m) == 100MiB");
        HOLDS("count(live, 485s) >= 485 and count(live, 485s) <= 495"); /* 10 s buckets: the older end is less exact */
        FAILS("absent(live, 30s)");
        made_up_free(m);
}

TEST(unknown_is_not_false)
{
        struct made_up *m = made_up_new();

        UNSURE("live > 1GiB");
        UNSURE("not live > 1GiB");
        UNSURE("slope(live, 1h) > 1MiB/h");
        UNSURE("leak(live)");
        UNSURE("rss / heap > 2");
        UNSURE("crashed");
        m->facts[RULE_CRASHED] = 1;
        HOLDS("crashed or live > 1GiB");
        UNSURE("crashed and live > 1GiB");
        UNSURE("crashed unless live > 1GiB");
        m->facts[RULE_CRASHED] = 0;
        FAILS("crashed and live > 1GiB");
        UNSURE("crashed or live > 1GiB");
        FAILS("crashed unless live > 1GiB");
        made_push(m, SERIES_LIVE, 10 * S, 0);
        UNSURE("live / live > 1"); /* 0 / 0 */
        UNSURE("1MiB / live > 1");
        UNSURE("slope(live, 10m) > 0"); /* one point has no slope */
        UNSURE("stddev(live, 10m) > 0");
        made_up_free(m);
}

TEST(absence_needs_a_full_window)
{
        struct made_up *m = made_up_new();

        m->began_ns = 590 * S;
        UNSURE("absent(live, 30s)");
        m->began_ns = 100 * S;
        HOLDS("absent(live, 30s)");
        made_push(m, SERIES_LIVE, 569 * S, 1);
        HOLDS("absent(live, 30s)");
        made_push(m, SERIES_LIVE, 570 * S, 1);
        FAILS("absent(live, 30s)");
        made_up_free(m);
}

TEST(verdicts)
{
        struct made_up *m = made_up_new();

        made_verdict(m, SERIES_LIVE, TREND_LEAK, MIB);
        made_verdict(m, SERIES_HEAP_SIZE, TREND_GROWING, MIB);
        made_verdict(m, SERIES_RSS, TREND_STEADY, 0);
        made_verdict(m, SERIES_BLOCKS_SIZE, TREND_UNKNOWN, 0);
        HOLDS("leak(live) and growing(live) and not steady(live)");
        HOLDS("growing(heap) and not leak(heap)");
        HOLDS("steady(rss) and not growing(rss)");
        UNSURE("leak(blocks)");
        UNSURE("steady(blocks)");
        HOLDS("slope(live) == 1MiB/s and slope_low(live) == 0.5MiB/s and slope_high(live) == 2MiB/s");
        m->facts[RULE_TIME_TO_LIMIT] = INFINITY; /* nothing grows */
        FAILS("time_to_limit < 2h");
        HOLDS("time_to_limit > 3h");
        made_up_free(m);
}

TEST(counters)
{
        struct made_up *m = made_up_new();

        made_push(m, RULE_RESTARTS, 0, 0);
        made_push(m, RULE_RESTARTS, 550 * S, 1);
        made_push(m, RULE_RESTARTS, 560 * S, 2);
        made_push(m, RULE_RESTARTS, 570 * S, 3);
        HOLDS("increase(restarts, 15m) == 3");
        HOLDS("increase(restarts, 45s) == 2");
        HOLDS("increase(restarts, 10s) == 0");
        HOLDS("restarts == 3");
        made_up_free(m);
}

TEST(headlines)
{
        struct made_up *m = rising();
        struct rule_data data = made_data(m);
        struct rule_moment at = made_at(600);
        struct expr_error error;
        struct headline h;
        struct expr e;
        char text[TYPE_VALUE_MAX];

        assert_true(expr_parse("heap > 1GiB or slope(live, 100s) > 10MiB/min", &e, &error));
        expr_headline(&e, &data, &at, 0, &h);
        assert_string_equal(type_value_text(h.type, h.value, text), "1.00 MiB/s");
        assert_string_equal(type_value_text(h.type, h.threshold, text), "171 KiB/s");
        assert_int_equal(h.subject.id, SERIES_HEAP_SIZE);
        expr_destroy(&e);
        /* As when an alert is over: the second comparison alone holds. */
        assert_true(expr_parse("heap > 1GiB and slope(live, 100s) > 10MiB/min", &e, &error));
        expr_headline(&e, &data, &at, 0, &h);
        assert_string_equal(type_value_text(h.type, h.threshold, text), "1.00 GiB");
        expr_destroy(&e);
        assert_true(expr_parse("not (heap > 1GiB or slope(live, 100s) > 10MiB/min)", &e, &error));
        expr_headline(&e, &data, &at, 0, &h);
        assert_string_equal(type_value_text(h.type, h.threshold, text), "1.00 GiB");
        expr_destroy(&e);
        assert_true(expr_parse("leak(live)", &e, &error));
        expr_headline(&e, &data, &at, 0, &h);
        assert_string_equal(type_value_text(h.type, h.value, text), "699 MiB");
        assert_false(h.has_threshold);
        expr_destroy(&e);
        assert_true(expr_parse("crashed", &e, &error));
        expr_headline(&e, &data, &at, 0, &h);
        assert_false(h.has_value);
        expr_destroy(&e);
        made_up_free(m);
}

TEST(value_texts)
{
        static const struct {
                struct type type;
                double value;
                const char *text;
        } cases[] = {
                { { .bytes = 1 }, 1048576, "1.00 MiB" },
                { { .seconds = 1 }, 0.0032, "3.20 ms" },
                { { .seconds = 1 }, INFINITY, "never" },
                { { .bytes = 1, .seconds = -1 }, 100, "5.86 KiB/min" },
                { { .bytes = 1, .seconds = -1 }, 1, "3.52 KiB/h" },
                { { .seconds = -1 }, 0.05, "3/min" },
                { { .sort = SORT_SHARE }, 0.305, "30.5 %" },
                { { .sort = SORT_COUNT }, 12345, "12,345" },
                { { .sort = SORT_PLAIN }, 2.5, "2.50" },
                { { .boolean = true }, 1, "true" },
                { { .bytes = 1, .seconds = 1 }, 5, "5 bytes seconds" },
        };
        char text[TYPE_VALUE_MAX];

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                assert_string_equal(type_value_text(cases[i].type, cases[i].value, text), cases[i].text);
}
