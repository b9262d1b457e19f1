/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heapwatch-trend: the trend stage alone, as a filter for the leak lab.
 *
 * Reads series from stdin and answers with verdicts, so that the shipped code is
 * scored (tests/leaklab/README.md has the protocol):
 *
 *      S <id> <limit bytes or ->               begins a series
 *      <t_ns> <bytes>                          a sample
 *      E                                       ends it
 *
 * Answers: a line at each change of verdict and 16 closed minutes after the
 * last line, at the time of the sample that made it known. With arguments
 * RESOLUTION_NS [LEAK_AFTER_NS] it judges at another scale. Bad input ends it
 * with status 2 and the line's number.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/judge/trend/trend.h"

#define LINE_EVERY 16u /* closed minutes */

struct detector {
        struct trend_config config;
        struct trend trend;
        double limit; /* NaN: none */
        bool in_series;
        enum trend_verdict told;
        uint64_t told_minute;
};

/* A whole word as an unsigned number: false when it is anything else. */
static bool parse_number(const char *word, uint64_t *ret)
{
        char *end;

        if (word[0] < '0' || word[0] > '9')
                return false;
        errno = 0;
        unsigned long long v = strtoull(word, &end, 10);
        if (errno || *end)
                return false;
        *ret = v;
        return true;
}

static void put_seconds(double v)
{
        if (isfinite(v))
                printf(" %.17g", v);
        else
                fputs(" -", stdout);
}

/* Seconds from now on; the trend counts from its window's end. */
static void put_time_to_limit(struct detector *d, uint64_t time_ns, const struct trend_result *r)
{
        struct time_to_limit ttl = { NAN, NAN };

        if (!isnan(d->limit))
                (void)trend_time_to_limit(&d->trend, d->limit, &ttl); /* stays unknown unless it grows */
        double age_s = ((double)time_ns - (double)r->evidence.ended_ns) / 1e9;
        put_seconds(isnan(ttl.early_s) ? NAN : fmax(ttl.early_s - age_s, 0));
        put_seconds(isnan(ttl.late_s) ? NAN : fmax(ttl.late_s - age_s, 0));
}

static void put_answer(struct detector *d, uint64_t time_ns, const struct trend_result *r)
{
        printf("%" PRIu64 " %s", time_ns, trend_verdict_name(r->verdict));
        put_seconds(r->slope);
        put_seconds(r->slope_low);
        put_seconds(r->slope_high);
        if (r->onset_ns == UINT64_MAX)
                fputs(" -", stdout);
        else
                printf(" %" PRIu64, r->onset_ns);
        put_time_to_limit(d, time_ns, r);
        putchar('\n');
}

static void answer_if_due(struct detector *d, uint64_t time_ns)
{
        uint64_t minute = trend_closed_minutes(&d->trend);
        struct trend_result r;

        trend_result(&d->trend, &r);
        bool changed = r.verdict != d->told;
        bool due = r.verdict != TREND_UNKNOWN && minute - d->told_minute >= LINE_EVERY;
        if (!changed && !due)
                return;
        put_answer(d, time_ns, &r);
        d->told = r.verdict;
        d->told_minute = minute;
}

static bool begin_series(struct detector *d, const char *limit)
{
        uint64_t bytes;

        d->limit = NAN;
        if (strcmp(limit, "-") != 0) {
                if (!parse_number(limit, &bytes))
                        return false;
                d->limit = (double)bytes;
        }
        trend_done(&d->trend);
        trend_init(&d->trend, &d->config);
        d->told = TREND_UNKNOWN;
        d->told_minute = 0;
        d->in_series = true;
        return true;
}

static bool take_sample(struct detector *d, const char *time, const char *bytes)
{
        uint64_t time_ns, value;

        if (!d->in_series || !parse_number(time, &time_ns) || !parse_number(bytes, &value))
                return false;
        while (trend_step(&d->trend, trend_watermark(&d->trend, time_ns)))
                answer_if_due(d, time_ns);
        (void)trend_push(&d->trend, time_ns, (double)value); /* late ones are counted there */
        answer_if_due(d, time_ns);
        return true;
}

static bool take_line(struct detector *d, char *line)
{
        char *save = NULL;
        const char *a = strtok_r(line, " \n", &save), *b = a ? strtok_r(NULL, " \n", &save) : NULL;
        const char *c = b ? strtok_r(NULL, " \n", &save) : NULL;

        if (!a || (c && strtok_r(NULL, " \n", &save)))
                return false;
        if (!strcmp(a, "S"))
                return c && !d->in_series && begin_series(d, c);
        if (!strcmp(a, "E")) {
                if (b || !d->in_series)
                        return false;
                d->in_series = false;
                puts("E");
                return fflush(stdout) == 0;
        }
        return b && !c && take_sample(d, a, b);
}

static bool read_config(int argc, char **argv, struct trend_config *config)
{
        uint64_t resolution_ns = TREND_MINUTE_NS;

        if (argc > 3 || (argc > 1 && !parse_number(argv[1], &resolution_ns)) ||
            resolution_ns > UINT64_MAX / TREND_LEAK_AFTER_MINUTES)
                return false;
        *config = trend_config_scaled(resolution_ns);
        if (argc > 2 && !parse_number(argv[2], &config->leak_after_ns))
                return false;
        return trend_config_valid(config);
}

int main(int argc, char **argv)
{
        static struct detector d;
        char line[512];
        unsigned long number = 0;

        if (!read_config(argc, argv, &d.config)) {
                fputs("usage: heapwatch-trend [RESOLUTION_NS [LEAK_AFTER_NS]]\n"
                      "       LEAK_AFTER_NS must be at least 20 times RESOLUTION_NS\n",
                      stderr);
                return 2;
        }
        while (fgets(line, sizeof(line), stdin)) {
                number++;
                if (!take_line(&d, line)) {
                        fprintf(stderr, "heapwatch-trend: line %lu: expected 'S ID LIMIT', 'TIME_NS BYTES' or 'E'\n",
                                number);
                        return 2;
                }
        }
        return ferror(stdin) || fflush(stdout) != 0;
}
