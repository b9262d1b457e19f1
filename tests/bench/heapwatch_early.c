/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heapwatch-early: the early warning alone, as a filter for its benchmark.
 *
 * Reads series from stdin and answers with what is known, so that the shipped code is scored
 * (tests/leaklab/fast/README.md has the protocol):
 *
 *      S <id> <limit_heap> <limit_rss> <nursery>      begins a series; - unknown
 *      <t_ns> L|H|R <bytes>                           live data, heap size, RSS, in order of time
 *      E                                              ends it
 *
 * Answers with a line when something changes. Bad input ends it with status 2 and the line's number.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/judge/trend/early_warning.h"

#define HEAP_RESERVE 0.015 /* of -M, at least the nursery: resize_generations in rts/sm/GC.c */

#define NOTHING "quiet - - - - - - - 0 - -"

struct detector {
        struct early_warning warning;
        bool in_series;
        char reported[256];
};

/* A whole word as an unsigned number, or "-" as NaN; false when it is anything else. */
static bool parse_number(const char *word, double *ret)
{
        char *end;

        *ret = NAN;
        if (!strcmp(word, "-"))
                return true;
        if (word[0] < '0' || word[0] > '9')
                return false;
        errno = 0;
        unsigned long long v = strtoull(word, &end, 10);
        *ret = (double)v;
        return !errno && !*end;
}

static void format_seconds(char *to, size_t size, double v)
{
        if (isfinite(v))
                snprintf(to, size, "%.3f", v);
        else
                snprintf(to, size, "-");
}

static void report_if_changed(struct detector *d, uint64_t time_ns)
{
        const struct early_series *s = early_warning_worst(&d->warning);
        char line[sizeof(d->reported)] = NOTHING, soonest[32], latest[32];

        if (s && !s->rise.rising) {
                snprintf(line, sizeof(line), "quiet %c - - - - - - 1 - -", s == &d->warning.live ? 'L' : 'R');
        } else if (s) {
                double low, high;
                early_rise_rate(&s->rise, &low, &high);
                format_seconds(soonest, sizeof(soonest), s->out.warned ? s->out.soonest_s : NAN);
                format_seconds(latest, sizeof(latest), s->out.warned ? s->out.latest_s : NAN);
                snprintf(line, sizeof(line), "rising %c %.0f %.0f %.0f %.0f %.0f %.0f %d %s %s",
                         s == &d->warning.live ? 'L' : 'R', s->rise.widest.slope, low, high, s->rise.onset.from_s * 1e9,
                         s->rise.onset.to_s * 1e9, s->rise.last - s->rise.onset.base, s->out.warned, soonest, latest);
        }
        if (!strcmp(line, d->reported))
                return;
        memcpy(d->reported, line, sizeof(line));
        printf("%" PRIu64 " %s\n", time_ns, line);
}

static bool begin_series(struct detector *d, const char *heap, const char *process, const char *nursery)
{
        struct early_limits limits;
        double max_heap;

        if (d->in_series || !parse_number(heap, &max_heap) || !parse_number(process, &limits.process) ||
            !parse_number(nursery, &limits.nursery))
                return false;
        if (isnan(limits.nursery))
                limits.nursery = 0;
        limits.live = max_heap - fmax(limits.nursery, HEAP_RESERVE * max_heap);
        early_warning_init(&d->warning, &limits);
        snprintf(d->reported, sizeof(d->reported), "%s", NOTHING);
        d->in_series = true;
        return true;
}

static bool add_sample(struct detector *d, const char *time, const char *kind, const char *bytes)
{
        double t, v;

        if (!d->in_series || !parse_number(time, &t) || !parse_number(bytes, &v) || isnan(t) || isnan(v) || kind[1])
                return false;
        early_warning_advance(&d->warning, t / 1e9);
        switch (kind[0]) {
        case 'L':
                early_warning_live(&d->warning, t / 1e9, v);
                break;
        case 'H':
                early_warning_heap(&d->warning, v);
                break;
        case 'R':
                early_warning_rss(&d->warning, t / 1e9, v);
                break;
        default:
                return false;
        }
        report_if_changed(d, strtoull(time, NULL, 10));
        return true;
}

int main(void)
{
        static struct detector d;
        char line[512], word[5][128];

        for (unsigned long number = 1; fgets(line, sizeof(line), stdin); number++) {
                int n = sscanf(line, "%127s %127s %127s %127s %127s", word[0], word[1], word[2], word[3], word[4]);
                bool good = false;
                if (n == 5 && !strcmp(word[0], "S"))
                        good = begin_series(&d, word[2], word[3], word[4]);
                else if (n == 1 && !strcmp(word[0], "E") && d.in_series)
                        good = printf("E\n") > 0 && fflush(stdout) == 0 && (d.in_series = false, true);
                else if (n == 3)
                        good = add_sample(&d, word[0], word[1], word[2]);
                if (!good) {
                        fprintf(stderr,
                                "heapwatch-early: line %lu: expected S ID LIMIT LIMIT NURSERY, T_NS L|H|R BYTES or E\n",
                                number);
                        return 2;
                }
        }
        return 0;
}
