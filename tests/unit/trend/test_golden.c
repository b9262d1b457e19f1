/* SPDX-License-Identifier: BSD-3-Clause */
/* The golden series of the leak lab: changes of verdict at the expected times, the last line digit by digit. */
#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test.h"

#include "daemon/judge/trend/trend.h"

#define GOLDEN     "tests/leaklab/golden/"
#define CHANGES    16
#define LINE_EVERY 16u /* minutes */

struct change {
        double time_s;
        char verdict[16];
};

struct line {
        struct change change;
        double slope, low, high, onset_s, early_s, late_s;
};

struct timeline {
        struct change changes[CHANGES];
        unsigned n;
        struct line last;
        bool has_last;
        double tolerance_s;
};

static char *read_text(const char *name)
{
        static char text[65536];
        char path[256];

        (void)snprintf(path, sizeof(path), GOLDEN "%s", name);
        FILE *f = fopen(path, "r");
        if (!f)
                fail_msg("cannot open %s", path);
        size_t n = fread(text, 1, sizeof(text) - 1, f);
        (void)fclose(f);
        text[n] = '\0';
        return text;
}

/* Just enough of JSON for these files. */
static void read_expected(const char *name, struct timeline *want)
{
        const char *json = read_text(name), *at = strstr(json, "\"timeline\"");
        int used;

        memset(want, 0, sizeof(*want));
        assert_non_null(at);
        at = strchr(at, '[') + 1;
        while (want->n < CHANGES && sscanf(at, " [ %lf , \"%15[a-z]\" ]%n", &want->changes[want->n].time_s,
                                           want->changes[want->n].verdict, &used) == 2) {
                at += used;
                at += *at == ',';
                want->n++;
        }
        at = strstr(json, "\"tolerance_s\":");
        assert_non_null(at);
        want->tolerance_s = strtod(at + strlen("\"tolerance_s\":"), NULL);
        at = strstr(json, "\"last_line\": [");
        if (!at)
                return;
        struct line *l = &want->last;
        at += strlen("\"last_line\": [");
        want->has_last =
                sscanf(at, " %lf , \"%15[a-z]\" , %lf , %lf , %lf , %lf , %lf , %lf", &l->change.time_s,
                       l->change.verdict, &l->slope, &l->low, &l->high, &l->onset_s, &l->early_s, &l->late_s) == 8;
        assert_true(want->has_last);
}

static void take_answer(struct trend *t, uint64_t time_ns, double limit, struct timeline *got, uint64_t *told_minute)
{
        struct time_to_limit ttl = { NAN, NAN };
        struct trend_result r;

        trend_result(t, &r);
        const char *name = trend_verdict_name(r.verdict), *told = got->n ? got->changes[got->n - 1].verdict : "unknown";
        bool changed = strcmp(name, told) != 0;
        if (!changed && (r.verdict == TREND_UNKNOWN || trend_closed_minutes(t) - *told_minute < LINE_EVERY))
                return;
        *told_minute = trend_closed_minutes(t);
        (void)trend_time_to_limit(t, limit, &ttl);
        got->last = (struct line){ { (double)time_ns / 1e9, "" }, r.slope,     r.slope_low, r.slope_high,
                                   (double)r.onset_ns / 1e9,      ttl.early_s, ttl.late_s };
        (void)snprintf(got->last.change.verdict, sizeof(got->last.change.verdict), "%s", name);
        if (changed && got->n < CHANGES)
                got->changes[got->n++] = got->last.change;
}

static void assert_near(double got, double want)
{
        if (!(fabs(got - want) <= 1e-7 * fabs(want)))
                fail_msg("got %.17g, expected %.17g", got, want);
}

static void compare(const char *series, const char *expected)
{
        struct timeline got, want;

        read_expected(expected, &want);
        static struct trend t;
        struct trend_config c = trend_config_scaled(TREND_MINUTE_NS);
        uint64_t limit = 0, time, bytes, told_minute = 0;
        char *at = read_text(series);
        int used = 0;

        memset(&got, 0, sizeof(got));
        trend_done(&t);
        trend_init(&t, &c);
        assert_int_equal(sscanf(at, "S %*s %" SCNu64 "%n", &limit, &used), 1);
        at += used;
        while (sscanf(at, " %" SCNu64 " %" SCNu64 "%n", &time, &bytes, &used) == 2) {
                while (trend_step(&t, time))
                        take_answer(&t, time, (double)limit, &got, &told_minute);
                assert_int_equal(trend_push(&t, time, (double)bytes), TREND_PUSH_OK);
                at += used;
        }
        assert_true(t.samples > 100);
        assert_true(want.n > 0);
        assert_int_equal(got.n, want.n);
        for (unsigned k = 0; k < want.n; k++) {
                assert_string_equal(got.changes[k].verdict, want.changes[k].verdict);
                assert_true(fabs(got.changes[k].time_s - want.changes[k].time_s) <= want.tolerance_s);
        }
        if (!want.has_last)
                return;
        assert_string_equal(got.last.change.verdict, want.last.change.verdict);
        assert_near(got.last.change.time_s, want.last.change.time_s);
        assert_near(got.last.slope, want.last.slope);
        assert_near(got.last.low, want.last.low);
        assert_near(got.last.high, want.last.high);
        assert_near(got.last.onset_s, want.last.onset_s);
        assert_near(got.last.early_s, want.last.early_s);
        assert_near(got.last.late_s, want.last.late_s);
}

TEST(flat)
{
        compare("1-flat.txt", "1-flat.json");
}

TEST(linear)
{
        compare("2-linear.txt", "2-linear.json");
}

TEST(warm_up)
{
        compare("3-warm-up.txt", "3-warm-up.json");
}

TEST(onset)
{
        compare("4-onset.txt", "4-onset.json");
}

TEST(saw)
{
        compare("5-saw.txt", "5-saw.json");
}
