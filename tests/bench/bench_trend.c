/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_trend - what the verdicts on all bands of one target cost.
 *
 *     bench_trend [BANDS]
 *
 * Every band is first a day old (a sample a minute), so that its ladder and
 * windows are full; then an hour with a census a second is measured, each
 * closed minute judged, windows and quantiles kept. Prints processor time of that
 * hour, and the bytes of all state of a band.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "trend/tracker_private.h"

#define SECOND_NS UINT64_C(1000000000)
#define OLD_MINUTES (24u * 60)
#define MEASURED_SECONDS 3600u
#define KINDS 8u                /* bands with a day of their own */

static uint64_t cpu_ns(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* A sawtooth with noise; every eighth band grows. */
static double value(uint32_t band, uint64_t second, uint32_t *random)
{
        *random = *random * 1664525u + 1013904223u;
        double bytes = 1e6 + (double)(second % 97) * 2e4 + (double)(*random >> 12);
        return band % 8 ? bytes : bytes + (double)second * 300;
}

static void add(struct band_state *s, uint64_t time_ns, double bytes)
{
        (void)trend_push(&s->trend, time_ns, bytes);
        band_windows_push(&s->windows, time_ns, bytes);
        band_spread_push(&s->spread, band_spread_index(time_ns), bytes);
}

/* Returns verdicts other than unknown, so that nothing is left out by the compiler. */
static uint64_t one_census(struct band_state *states, uint32_t bands, uint64_t second, uint32_t *random)
{
        uint64_t known = 0, time_ns = second * SECOND_NS;

        for (uint32_t i = 0; i < bands; i++) {
                struct trend_result r;
                struct band_state *s = &states[i];
                uint64_t closed = trend_closed_minutes(&s->trend);
                add(s, time_ns, value(i, second, random));
                if (trend_closed_minutes(&s->trend) == closed)
                        continue;
                trend_result(&s->trend, &r);
                known += r.verdict != TREND_UNKNOWN;
        }
        return known;
}

/* A day of samples, a minute apart. Bands that are told apart only by their noise share it. */
static void make_old(struct band_state *states, uint32_t bands, uint32_t *random)
{
        struct trend_config config = trend_config_scaled(TREND_MINUTE_NS);

        for (uint32_t i = 0; i < bands; i++) {
                if (i >= KINDS) {
                        states[i] = states[i % KINDS];
                        continue;
                }
                trend_init(&states[i].trend, &config);
                for (uint64_t minute = 0; minute < OLD_MINUTES; minute++)
                        add(&states[i], minute * 60 * SECOND_NS, value(i, minute * 60, random));
        }
}

int main(int argc, char **argv)
{
        uint32_t bands = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000, random = 1;
        struct band_state *states = calloc(bands, sizeof(*states));
        uint64_t known = 0;

        if (!states || bands == 0) {
                fprintf(stderr, "usage: bench_trend [BANDS]\n");
                return 2;
        }
        make_old(states, bands, &random);
        uint64_t start = cpu_ns();
        for (uint64_t s = 0; s < MEASURED_SECONDS; s++)
                known += one_census(states, bands, OLD_MINUTES * 60 + s, &random);
        uint64_t took = cpu_ns() - start;
        printf("bands=%" PRIu32 " state_bytes=%zu cpu_ns=%" PRIu64 " event_ns=%" PRIu64 " judged=%" PRIu64 "\n", bands,
               sizeof(struct band_state), took, MEASURED_SECONDS * SECOND_NS, known);
        free(states);
        return 0;
}
