/* SPDX-License-Identifier: BSD-3-Clause */
/* functions.c - what a query can compute beside SQLite's own functions. Times are in seconds, NULL is left out. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/commands/query/module.h"
#include "daemon/judge/trend/theil_sen.h"
#include "daemon/judge/trend/trend.h"
#include "daemon/judge/trend/windows.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/cli/pattern/pattern.h"

#define SPARKS        24u /* columns of a sparkline */
#define ONSET_STEPS   120 /* of the span of the samples, as a finished log of that length is judged */
#define SAMPLES_BYTES ((size_t)256 << 20)

const struct query_column query_functions[] = {
        { "bucket(time, width)", QUERY_REAL, "s",
          "the begin of the bucket that the time is in: bucket(time, '500 ms')" },
        { "rate(time, value)", QUERY_REAL, "", "aggregate: last less first value, over the time between" },
        { "slope(time, value)", QUERY_REAL, "", "aggregate: heapwatch's robust slope, per second (docs/VERDICT.md)" },
        { "slope_low(time, value)", QUERY_REAL, "", "aggregate: of its interval, about 95 %" },
        { "slope_high(time, value)", QUERY_REAL, "", "aggregate: likewise" },
        { "onset(time, value)", QUERY_REAL, "s", "aggregate: when growth began; NULL where none is found" },
        { "quantile(value, q)", QUERY_REAL, "", "aggregate: exact, q from 0 to 1" },
        { "sparkline(time, value)", QUERY_TEXT, "", "aggregate: the shape, as a text of blocks" },
        { "bytes(n)", QUERY_TEXT, "", "1536 as '1.50 KiB'" },
        { "duration(seconds)", QUERY_TEXT, "", "0.0025 as '2.50 ms'" },
        { "text REGEXP pattern", QUERY_INTEGER, "", "whether a part of it matches (docs/RULES.md)" },
        { NULL, QUERY_NULL, NULL, NULL },
};

/* -------------------------------------------------------------------- scalars */

/* "500 ms", "1s", or a number of seconds. False: none of these, or not above 0. */
static bool parse_width(sqlite3_value *value, double *ret_s)
{
        char text[32];
        size_t n = 0;
        uint64_t ns = 0;

        *ret_s = sqlite3_value_double(value);
        if (sqlite3_value_numeric_type(value) != SQLITE_TEXT)
                return *ret_s > 0;
        for (const char *at = (const char *)sqlite3_value_text(value); at && *at && n < sizeof(text) - 1; at++)
                if (!isspace((unsigned char)*at))
                        text[n++] = *at;
        text[n] = '\0';
        const bool good = hw_parse_duration(text, &ns) && ns > 0;
        *ret_s = (double)ns / 1e9;
        return good;
}

static void call_bucket(sqlite3_context *to, int n, sqlite3_value **values)
{
        double width;

        if (sqlite3_value_type(values[0]) == SQLITE_NULL)
                return;
        if (parse_width(values[1], &width))
                sqlite3_result_double(to, floor(sqlite3_value_double(values[0]) / width) * width);
        else
                sqlite3_result_error(to, "bucket(time, width): expected a width such as '500 ms' or '1 s', above 0",
                                     -1);
}

static void print_number(sqlite3_context *to, sqlite3_value *value, char *print(char *, size_t, double), double scale)
{
        char text[HW_NUMBER_MAX];

        if (sqlite3_value_type(value) != SQLITE_NULL)
                sqlite3_result_text(to, print(text, sizeof(text), sqlite3_value_double(value) * scale), -1,
                                    SQLITE_TRANSIENT);
}

static void call_bytes(sqlite3_context *to, int n, sqlite3_value **values)
{
        print_number(to, values[0], hw_bytes_text, 1);
}

static void call_duration(sqlite3_context *to, int n, sqlite3_value **values)
{
        print_number(to, values[0], hw_duration_text, 1e9);
}

static void destroy_pattern(void *p)
{
        struct pattern *pattern = p;

        pattern_destroy(&pattern);
}

/* `text REGEXP pattern` is regexp(pattern, text). */
static void call_regexp(sqlite3_context *to, int n, sqlite3_value **values)
{
        struct pattern *p = sqlite3_get_auxdata(to, 0);
        const char *expression = (const char *)sqlite3_value_text(values[0]);
        const char *text = (const char *)sqlite3_value_text(values[1]);
        struct error error;

        if (!expression || !text)
                return;
        const bool is_new = !p;
        if (is_new && !(p = pattern_new(expression, 0, &error))) {
                sqlite3_result_error(to, error.text, -1);
                return;
        }
        sqlite3_result_int(to, pattern_match(p, text) == PATTERN_YES);
        if (is_new)
                sqlite3_set_auxdata(to, 0, p, destroy_pattern);
}

/* ----------------------------------------------------------------- aggregates */

struct sample {
        double time, value;
};

struct samples {
        struct sample *items;
        size_t n, room;
        double quantile, side; /* side: of a slope, how many standard errors away */
        bool failed;
};

static int compare_times(const void *a, const void *b)
{
        const struct sample *x = a, *y = b;

        return (x->time > y->time) - (x->time < y->time);
}

static int compare_values(const void *a, const void *b)
{
        const struct sample *x = a, *y = b;

        return (x->value > y->value) - (x->value < y->value);
}

static void add_sample(sqlite3_context *to, double time, sqlite3_value *value, double quantile)
{
        struct samples *s = sqlite3_aggregate_context(to, sizeof(*s));

        if (!s || s->failed || sqlite3_value_type(value) == SQLITE_NULL)
                return;
        s->failed = s->n * sizeof(*s->items) >= SAMPLES_BYTES || !ARRAY_RESERVE(s->items, s->room, s->n + 1);
        s->quantile = quantile;
        if (!s->failed)
                s->items[s->n++] = (struct sample){ time, sqlite3_value_double(value) };
}

static void step_samples(sqlite3_context *to, int n, sqlite3_value **values)
{
        if (sqlite3_value_type(values[0]) != SQLITE_NULL)
                add_sample(to, sqlite3_value_double(values[0]), values[1], 0);
}

static void step_quantile(sqlite3_context *to, int n, sqlite3_value **values)
{
        const int type = sqlite3_value_numeric_type(values[1]);
        const bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;

        add_sample(to, 0, values[0], is_number ? sqlite3_value_double(values[1]) : NAN);
}

typedef void compute_samples(sqlite3_context *to, struct samples *s);

/* The least value of each of n equal steps of the time of the samples; NaN: none was in it. Returns a step's width. */
static double find_floors(const struct samples *s, unsigned n, double *ret)
{
        const double from = s->items[0].time, width = (s->items[s->n - 1].time - from) / n;

        for (unsigned i = 0; i < n; i++)
                ret[i] = NAN;
        for (size_t i = 0; width > 0 && i < s->n; i++) {
                const unsigned at = (unsigned)fmin((s->items[i].time - from) / width, n - 1);
                ret[at] = fmin(ret[at], s->items[i].value);
        }
        return width;
}

static void compute_rate(sqlite3_context *to, struct samples *s)
{
        const struct sample *first = &s->items[0], *last = &s->items[s->n - 1];

        if (last->time > first->time)
                sqlite3_result_double(to, (last->value - first->value) / (last->time - first->time));
}

static void compute_slope(sqlite3_context *to, struct samples *s)
{
        double floors[THEIL_SEN_MAX];
        const double width = find_floors(s, THEIL_SEN_MAX, floors);
        struct theil_sen fit;

        if (width > 0 && theil_sen_fit(floors, THEIL_SEN_MAX, &fit))
                sqlite3_result_double(to, (fit.slope + s->side * fit.se) / width);
}

static void compute_onset(sqlite3_context *to, struct samples *s)
{
        const double span_s = s->items[s->n - 1].time - s->items[0].time;
        const uint64_t step_ns = (uint64_t)(span_s * 1e9 / ONSET_STEPS);
        struct trend *t = step_ns > 0 && s->items[0].time >= 0 ? malloc(sizeof(*t)) : NULL;
        struct trend_result result;

        if (!t)
                return;
        const struct trend_config config = trend_config_scaled(step_ns);
        trend_init(t, &config);
        for (size_t i = 0; i < s->n; i++) {
                const uint64_t ns = (uint64_t)(s->items[i].time * 1e9);
                trend_close(t, ns);
                (void)trend_push(t, ns, s->items[i].value);
        }
        trend_close(t, (uint64_t)(s->items[s->n - 1].time * 1e9) + step_ns);
        trend_result(t, &result);
        if (result.onset_ns != UINT64_MAX)
                sqlite3_result_double(to, (double)result.onset_ns / 1e9);
        trend_done(t);
        free(t);
}

/* By the definition of numpy's default: linear between the two nearest. */
static void compute_quantile(sqlite3_context *to, struct samples *s)
{
        if (!(s->quantile >= 0 && s->quantile <= 1)) {
                sqlite3_result_error(to, "quantile(value, q): expected q from 0 to 1", -1);
                return;
        }
        ARRAY_SORT(s->items, s->n, compare_values);
        const double place = s->quantile * (double)(s->n - 1);
        const size_t below = (size_t)place, above = below + 1 < s->n ? below + 1 : below;
        const double part = place - (double)below;
        sqlite3_result_double(to, s->items[below].value * (1 - part) + s->items[above].value * part);
}

static void compute_sparkline(sqlite3_context *to, struct samples *s)
{
        static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
        double floors[SPARKS], low = INFINITY, high = -INFINITY;
        char text[SPARKS * 3 + 1]; /* each block is three bytes */

        if (!(find_floors(s, SPARKS, floors) > 0))
                return;
        for (unsigned i = 0; i < SPARKS; i++) {
                low = fmin(low, floors[i]);
                high = fmax(high, floors[i]);
        }
        for (unsigned i = 0; i < SPARKS; i++) {
                if (isnan(floors[i])) /* nothing new: as it was */
                        floors[i] = floors[i - 1];
                const double share = high > low ? (floors[i] - low) / (high - low) : 0.5;
                memcpy(text + 3 * i, blocks[(unsigned)(share * 7.0 + 0.5)], sizeof("▁"));
        }
        sqlite3_result_text(to, text, -1, SQLITE_TRANSIENT);
}

struct function {
        const char *name;
        int n;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
        compute_samples *compute; /* of an aggregate */
        double side;
};

/* Computes the result of an aggregate from its samples, sorted by time; of none it is NULL. */
static void finish_samples(sqlite3_context *to)
{
        const struct function *f = sqlite3_user_data(to);
        struct samples *s = sqlite3_aggregate_context(to, 0);

        if (!s)
                return;
        if (s->failed) {
                sqlite3_result_error(to, "too many samples for one group: use fewer, by bucket() or a bound on time",
                                     -1);
        } else if (s->n > 0) {
                ARRAY_SORT(s->items, s->n, compare_times);
                s->side = f->side;
                f->compute(to, s);
        }
        free(s->items);
}

bool query_add_functions(sqlite3 *db)
{
        static const struct function functions[] = {
                { "bucket", 2, call_bucket, NULL, 0 },
                { "bytes", 1, call_bytes, NULL, 0 },
                { "duration", 1, call_duration, NULL, 0 },
                { "regexp", 2, call_regexp, NULL, 0 },
                { "rate", 2, step_samples, compute_rate, 0 },
                { "slope", 2, step_samples, compute_slope, 0 },
                { "slope_low", 2, step_samples, compute_slope, -WINDOW_INTERVAL_SE },
                { "slope_high", 2, step_samples, compute_slope, WINDOW_INTERVAL_SE },
                { "onset", 2, step_samples, compute_onset, 0 },
                { "quantile", 2, step_quantile, compute_quantile, 0 },
                { "sparkline", 2, step_samples, compute_sparkline, 0 },
        };
        int status = SQLITE_OK;

        for (size_t i = 0; status == SQLITE_OK && i < ARRAY_SIZE(functions); i++) {
                const struct function *f = &functions[i];
                status = sqlite3_create_function_v2(
                        db, f->name, f->n, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, (void *)(uintptr_t)f,
                        f->compute ? NULL : f->call, f->compute ? f->call : NULL, f->compute ? finish_samples : NULL,
                        NULL);
        }
        return status == SQLITE_OK;
}
