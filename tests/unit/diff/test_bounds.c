/* SPDX-License-Identifier: BSD-3-Clause */
/* "No worse than": what is read as a bound, and that the decision looks at the whole interval. */
#include <math.h>
#include <string.h>

#include "tests/unit/test.h"

#include "client/past/diff/print.h"
#include "proto/base/array.h"
#include "proto/base/error.h"

TEST(test_read)
{
        struct bounds b = { .n = 0 };
        struct error error;

        assert_true(bounds_parse(&b, "peak(live) 5%, p99(gc_pause)  10ms ,mean(band:Map a, b (x)) 20MiB", &error));
        assert_int_equal(b.n, 3);
        assert_string_equal(b.items[0].text, "peak(live) 5%");
        assert_true(b.items[0].relative);
        assert_float_equal(b.items[0].most, 0.05, 1e-12);
        assert_false(b.items[1].relative);
        assert_float_equal(b.items[1].most, 10e6, 1e-6);
        assert_null(b.items[2].quantity);
        assert_string_equal(b.items[2].band, "Map a, b (x)");
        assert_false(b.items[2].peak);
        assert_float_equal(b.items[2].most, 20 * 1048576.0, 1e-6);
        bounds_done(&b);
}

TEST(test_refused)
{
        static const char *const bad[][2] = {
                { "", "expected a quantity and a bound" },
                { "peak(live)", "expected a quantity and a bound" },
                { "peak(live) 5%,", "expected a quantity and a bound" },
                { "peak(lives) 5%", "is not a quantity" },
                { "mean(band:) 5%", "is not a quantity" },
                { "peak(live) 5 %", "is not a quantity" },
                { "peak(live) -5%", "is not a bound" },
                { "peak(live) inf%", "is not a bound" },
                { "peak(live) nan%", "is not a bound" },
                { "p99(gc_pause) 5MiB", "is not a bound" },
                { "gc_share 0.05", "is not a bound" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                struct bounds b = { .n = 0 };
                struct error error;
                print_message("%s\n", bad[i][0]);
                assert_false(bounds_parse(&b, bad[i][0], &error));
                assert_non_null(strstr(error.text, bad[i][1]));
                bounds_done(&b);
        }
}

/* a against b = 100, with an interval; 5 % more is allowed. */
static enum decision judge(double low, double high, enum shift_basis basis)
{
        struct row_change row = {
                .kind = ROW_BAND,
                .name = "Receipt",
                .value = { .a = 100 + (low + high) / 2,
                           .b = 100,
                           .shift = { true, (low + high) / 2, low, high, 0.95, basis } },
        };
        const struct comparison c = { .rows = &row, .n_rows = 1 };
        const struct bound b = { .band = (char[]){ "Receipt" }, .relative = true, .most = 0.05 };

        return bound_judge(&b, &c).decision;
}

TEST(test_decision)
{
        assert_int_equal(judge(-2, 4, SHIFT_STUDENT), BOUND_KEPT);
        assert_int_equal(judge(-2, 5, SHIFT_STUDENT), BOUND_KEPT); /* the bound itself is allowed */
        assert_int_equal(judge(4, 6, SHIFT_STUDENT), BOUND_UNDECIDED);
        assert_int_equal(judge(5.5, 9, SHIFT_STUDENT), BOUND_BROKEN);
        assert_int_equal(judge(50, 50, SHIFT_NONE), BOUND_UNDECIDED);
}

/* A band that neither side has is no kept bound. */
TEST(test_unknown_band)
{
        const struct comparison c = { .n_rows = 0 };
        const struct bound b = { .band = (char[]){ "Receipt" }, .relative = true, .most = 0.05 };
        const struct judgement j = bound_judge(&b, &c);

        assert_int_equal(j.decision, BOUND_UNDECIDED);
        assert_null(j.change);
        assert_true(isnan(j.most));
}
