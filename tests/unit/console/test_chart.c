/* SPDX-License-Identifier: BSD-3-Clause */
/* test_chart.c - axes, dots, marks; SVG and CSV. */
#include <math.h>
#include "tests/unit/test.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/console/draw/chart.h"

#define S   UINT64_C(1000000000)
#define MIB (1024.0 * 1024)

static struct past past_of(struct point *points, size_t n)
{
        return (struct past){ .points = points, .n = n };
}

TEST(axes_are_round)
{
        struct chart_axis a = chart_axis(UNIT_BYTES, 0, 100 * MIB, 4);

        assert_true(a.low == 0 && a.high == 128 * MIB && a.step == 32 * MIB);
        a = chart_axis(UNIT_NS, 0, 1234567, 5);
        assert_true(a.low == 0 && a.step == 500000 && a.high == 1500000);
        a = chart_axis(UNIT_BYTES, 0, 0, 5); /* nothing known */
        assert_true(a.high > a.low && a.step > 0);
        a = chart_axis(UNIT_BYTES, 100 * MIB, 100 * MIB, 5); /* a constant */
        assert_true(a.low <= 100 * MIB && a.high >= 100 * MIB && a.high - a.low < 10 * MIB);
        assert_int_equal(chart_time_step(600 * S, 10), 60 * S);
        assert_int_equal(chart_time_step(601 * S, 10), 120 * S);
        assert_int_equal(chart_time_step(S / 2, 10), 50000000);
        assert_true(chart_time_step(UINT64_MAX / 2, 10) > 0);
        assert_int_equal(chart_time_step(0, 0), 1);
}

static char *row_of(const struct canvas *c, int row)
{
        char *text = canvas_row_text(c, row);

        assert_non_null(text);
        return text;
}

/* A rising line begins low at the left and ends high at the right. */
TEST(a_line_rises)
{
        struct point points[100];
        struct past r = past_of(points, 100);
        struct chart c = { .unit = UNIT_BYTES, .range = { 0, 100 * S }, .from_zero = true };
        struct canvas *canvas = canvas_new(16, 80, false);
        struct area area = canvas_area(canvas), plot = chart_plot(area);
        char *text;

        for (uint64_t i = 0; i < 100; i++)
                points[i] = past_sample(i * S, (double)i * MIB);
        chart_line(&c, "live", &r, SPARK_GAUGE, TINT_LINE_1);
        chart_mark(&c, 50 * S, "half time", true);
        chart_mark(&c, 50 * S + 1, "less important", false);
        chart_mark(&c, 500 * S, "outside", true);
        chart_draw(canvas, area, &c);
        assert_int_equal(c.n_marks, 2);
        assert_int_equal(canvas_cell(canvas, plot.row + plot.height - 1, plot.column)->tint, TINT_LINE_1);
        assert_int_not_equal(canvas_cell(canvas, plot.row, plot.column)->tint, TINT_LINE_1);
        assert_int_not_equal(canvas_cell(canvas, plot.row + plot.height - 1, plot.column + plot.width - 1)->tint,
                             TINT_LINE_1);
        text = row_of(canvas, 0);
        assert_non_null(strstr(text, "live 99.0 MiB"));
        free(text);
        text = row_of(canvas, plot.row);
        assert_non_null(strstr(text, "128 MiB"));
        free(text);
        text = row_of(canvas, plot.row + plot.height - 1);
        assert_non_null(strstr(text, "0 B"));
        free(text);
        text = row_of(canvas, 13);
        assert_non_null(strstr(text, "▲"));
        free(text);
        text = row_of(canvas, 14);
        assert_non_null(strstr(text, "1m 00s")); /* event time, as the start is not known */
        free(text);
        c.has_cursor = true;
        c.cursor_ns = 50 * S;
        chart_draw(canvas, area, &c);
        text = row_of(canvas, 15);
        assert_non_null(strstr(text, "half time"));
        free(text);
        text = row_of(canvas, 0);
        assert_non_null(strstr(text, "live 50.0 MiB"));
        free(text);
        canvas_destroy(&canvas);
}

TEST(limit_is_drawn_when_near)
{
        struct point points[] = { past_sample(0, 60 * MIB), past_sample(10 * S, 60 * MIB) };
        struct past r = past_of(points, 2);
        struct chart c = { .unit = UNIT_BYTES, .range.to_ns = 10 * S, .from_zero = true, .limit_name = "-M" };
        bool near[] = { true, false };
        double limits[] = { 100 * MIB, 4000 * MIB };

        chart_line(&c, "heap", &r, SPARK_GAUGE, TINT_LINE_1);
        for (int i = 0; i < 2; i++) {
                struct canvas *canvas = canvas_new(20, 80, false);
                bool drawn = false;

                c.limit = limits[i];
                chart_draw(canvas, canvas_area(canvas), &c);
                for (int row = 1; row < 17; row++)
                        drawn = drawn || canvas_cell(canvas, row, 40)->tint == TINT_BAD;
                assert_int_equal(drawn, near[i]);
                char *text = row_of(canvas, 0);
                assert_non_null(strstr(text, "-M"));
                free(text);
                canvas_destroy(&canvas);
        }
}

/* Without colours each line, and the sign before its name, has its own character. */
TEST(lines_differ_by_shape)
{
        struct point points[4][2];
        struct past pasts[4];
        struct chart c = { .unit = UNIT_BYTES, .range.to_ns = 10 * S, .from_zero = true };
        static const char *const names[] = { "live", "blocks", "heap", "RSS" };
        static const char *const dots[] = { "⠒⠒⠒ live", "⠒ ⠒ blocks", "⠂⠂⠂ heap", "⠒ ⠂ RSS" };
        static const char *const letters[] = { "* live", "o blocks", "+ heap", "x RSS" };
        static const unsigned periods[] = { 0xff, 0x33, 0x55, 0x13 };
        bool seen[2][4] = { { false } };

        for (int i = 0; i < 4; i++) {
                points[i][0] = past_sample(0, (i + 1) * 25.0 * MIB);
                points[i][1] = past_sample(10 * S, (i + 1) * 25.0 * MIB);
                pasts[i] = past_of(points[i], 2);
                chart_line(&c, names[i], &pasts[i], SPARK_GAUGE, TINT_LINE_1);
        }
        for (int ascii = 0; ascii < 2; ascii++) {
                struct canvas *canvas = canvas_new(20, 90, ascii);
                char *legend;

                canvas->mono = true;
                chart_draw(canvas, canvas_area(canvas), &c);
                legend = row_of(canvas, 0);
                for (int i = 0; i < 4; i++)
                        assert_non_null(strstr(legend, ascii ? letters[i] : dots[i]));
                free(legend);
                for (int row = 1; row < 17; row++) {
                        unsigned columns = 0; /* of dots in four cells, the line being level */

                        for (int i = 0; i < 4; i++) {
                                const char *text = canvas_cell(canvas, row, CHART_LEFT + 40 + i)->text;
                                unsigned bits = (text[1] & 0x03u) << 6 | (text[2] & 0x3fu);
                                bool dotted = (uint8_t)text[0] == 0xe2 && ((uint8_t)text[1] & 0xfc) == 0xa0;

                                columns |= dotted && bits & 0x47 ? 1u << 2 * i : 0;
                                columns |= dotted && bits & 0xb8 ? 2u << 2 * i : 0;
                                seen[1][0] |= *text == '*';
                                seen[1][1] |= *text == 'o';
                                seen[1][2] |= *text == '+';
                                seen[1][3] |= *text == 'x';
                        }
                        for (int i = 0; i < 4; i++)
                                seen[0][i] |= columns == periods[i];
                }
                canvas_destroy(&canvas);
        }
        for (int i = 0; i < 8; i++)
                assert_true(seen[i / 4][i % 4]);
}

TEST(nothing_breaks_it)
{
        struct point points[] = { past_sample(UINT64_MAX - 1, 1e300), past_sample(0, -5), past_sample(7, 0) };
        struct past r = past_of(points, 3), none = { .n = 0 };
        static const int sizes[][2] = { { 1, 1 }, { 4, 12 }, { 5, 13 }, { 30, 100 }, { 100, 20 } };

        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                uint64_t ends[] = { 0, 1, UINT64_MAX };

                for (size_t k = 0; k < 3; k++) {
                        struct chart c = { .unit = UNIT_NS, .range.to_ns = ends[k], .has_cursor = true };
                        struct canvas *canvas = canvas_new(sizes[i][0], sizes[i][1], k == 1);

                        chart_line(&c, "a", &r, SPARK_EVENTS, TINT_LINE_1);
                        chart_line(&c, "b", &none, SPARK_GAUGE, TINT_LINE_2);
                        chart_line(&c, "c", &r, SPARK_GAUGE, TINT_LINE_2);
                        chart_draw(canvas, canvas_area(canvas), &c);
                        canvas_destroy(&canvas);
                }
        }
}

/* Thinned: the last value where it was, a peak before it; what only rises is drawn rising. */
TEST(points_of_many_samples)
{
        struct point points[] = { past_sample(0, 10), past_sample(10 * S, 30), past_sample(20 * S, 5) };
        struct past rising = past_of(points, 2), peak = past_of(points, 3);
        double values[20];
        bool known[20];

        points[0] = (struct point){ 0, 9 * S, { 10, 5, 1, 10, 10, 9 * S } };
        points[1] = (struct point){ 10 * S, 9 * S, { 10, 15, 11, 20, 20, 19 * S } };
        points[2] = (struct point){ 20 * S, 20 * S, { 10, 40, 0, 90, 2, 39 * S } };
        spark_sample(&rising, (struct time_range){ 0, 40 * S - 1 }, SPARK_GAUGE, 20, values, known);
        assert_false(known[3]);
        assert_true(known[4] && values[4] == 10 && values[8] == 10 && values[9] == 20 && values[19] == 20);
        spark_sample(&peak, (struct time_range){ 0, 40 * S - 1 }, SPARK_EVENTS, 20, values, known);
        assert_true(known[14] && values[14] == 90 && !known[19] && !known[16]);
}

/* A total that grows evenly has the same rate in each column, whether points are wider than columns or narrower. */
TEST(rates_do_not_depend_on_columns)
{
        static const int widths[] = { 7, 16, 19, 32, 200 };
        struct point points[30];
        struct past total = past_of(points, 30), one = past_of(points, 1), none = past_of(points, 0);
        const struct time_range range = { 15 * S, 330 * S };
        double values[200];
        bool known[200];

        for (uint64_t i = 0; i < 30;
             i++) { /* the last sample of ten seconds comes at an uneven time; from 10 s to 300 s */
                uint64_t last = (i + 1) * 10 * S - (i > 0 && i < 29 ? i * 7919 % 9 * S : 0);
                points[i] = (struct point){ i * 10 * S, 10 * S, { 4, 0, 0, 0, (double)last / 1e6, last } };
        }
        for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
                double column_ns = ((double)(range.to_ns - range.from_ns) + 1) / widths[w];

                spark_sample(&total, range, SPARK_RATE, widths[w], values, known);
                for (int i = 0; i < widths[w]; i++) {
                        assert_int_equal(known[i], (double)range.from_ns + i * column_ns < 300e9);
                        assert_true(!known[i] || fabs(values[i] - column_ns / 1e6) < 1e-6 * column_ns / 1e6);
                }
        }
        points[3].cell.last = 0; /* a total never falls: what is wrong with it is no growth */
        spark_sample(&total, range, SPARK_RATE, 32, values, known);
        for (int i = 0; i < 32; i++)
                assert_true(!known[i] || values[i] >= 0);
        spark_sample(&one, range, SPARK_RATE, 32, values, known);
        assert_false(known[0] || known[31]);
        spark_sample(&none, range, SPARK_RATE, 32, values, known);
        assert_false(known[0] || known[31]);
}

TEST(axis_in_time_of_day)
{
        struct chart c = { .range.to_ns = 600 * S, .start_wall_ns = 1700000000 * S };
        char text[64];

        (void)setenv("TZ", "UTC", 1);
        tzset();
        assert_string_equal(chart_time_text(text, sizeof(text), &c, 60 * S), "22:14:20");
        c.start_wall_ns = 0;
        assert_string_equal(chart_time_text(text, sizeof(text), &c, 60 * S), "1m 00s");
}

static int begin_tests(void **state)
{
        (void)setlocale(LC_ALL, "C.UTF-8");
        return 0;
}

TEST_GROUP(begin_tests, NULL)
