/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_trend - the cost of the verdicts on all bands of one target.
 *
 *     bench_trend [BANDS]
 *
 * A day of censuses, one a minute, fills ladders and windows; then an hour with
 * one a second is measured: censuses taken in, windows and quantiles kept, each
 * closed minute judged. Prints the CPU time of that hour, and the bytes that
 * the trend stage holds for a band.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heapwatch/eventlog.h"
#include "daemon/judge/trend/tracker.h"

#define SECOND_NS        UINT64_C(1000000000)
#define OLD_MINUTES      (24u * 60)
#define MEASURED_SECONDS 3600u
#define BANDS_MAX        5000u
#define ROW_MAX          24u /* heap profile's number, bytes, label */

static uint64_t cpu_ns(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* A sawtooth with noise; every eighth band grows. */
static uint64_t value(uint32_t band, uint64_t second, uint32_t *random)
{
        *random = *random * 1664525u + 1013904223u;
        uint64_t bytes = 1000000 + second % 97 * 20000 + (*random >> 12);
        return band % 8 ? bytes : bytes + second * 300;
}

static void put64(uint8_t *to, uint64_t v)
{
        for (unsigned i = 0; i < 8; i++)
                to[i] = (uint8_t)(v >> (56 - 8 * i));
}

struct bench {
        struct model *model;
        struct tracker *tracker;
        uint32_t bands, random;
        uint8_t rows[BANDS_MAX][ROW_MAX];
        struct hw_event events[BANDS_MAX + 2];
};

static void one_census(struct bench *b, uint64_t second)
{
        static uint8_t number[8];
        struct hw_event *e = b->events;
        uint64_t time_ns = second * SECOND_NS;

        *e++ = (struct hw_event){
                .time_ns = time_ns, .id = HW_HEAP_PROF_SAMPLE_BEGIN, .payload = number, .size = 8, .cap = HW_CAP_NONE
        };
        for (uint32_t i = 0; i < b->bands; i++) {
                uint8_t *row = b->rows[i];
                row[0] = 0;
                put64(row + 1, value(i, second, &b->random));
                int label = snprintf((char *)row + 9, ROW_MAX - 9, "band%" PRIu32, i);
                *e++ = (struct hw_event){ .time_ns = time_ns,
                                          .id = HW_HEAP_PROF_SAMPLE_STRING,
                                          .payload = row,
                                          .size = (uint32_t)label + 10,
                                          .cap = HW_CAP_NONE };
        }
        *e++ = (struct hw_event){
                .time_ns = time_ns, .id = HW_HEAP_PROF_SAMPLE_END, .payload = number, .size = 8, .cap = HW_CAP_NONE
        };
        model_events(b->model, b->events, (size_t)(e - b->events));
}

static bool make(struct bench *b, uint32_t bands)
{
        struct tracker_config config = tracker_config_scaled(TREND_MINUTE_NS);

        config.full_bands = bands;
        b->bands = bands;
        b->random = 1;
        b->tracker = tracker_new(&config);
        if (!b->tracker)
                return false;
        struct model_sink sink = tracker_sink(b->tracker);
        b->model = model_new(&sink);
        if (!b->model)
                return false;
        tracker_set_model(b->tracker, b->model);
        model_begin_run(b->model, 1);
        tracker_begin_run(b->tracker);
        for (uint64_t minute = 0; minute < OLD_MINUTES; minute++)
                one_census(b, minute * 60);
        return true;
}

/* Bands with a verdict. */
static uint32_t judged(const struct bench *b)
{
        struct trend_result r;
        uint32_t n = 0;

        for (uint32_t id = 1; id <= b->bands; id++)
                n += tracker_verdict(b->tracker, subject_band(id), &r) && r.verdict != TREND_UNKNOWN;
        return n;
}

int main(int argc, char **argv)
{
        static struct bench b;
        uint32_t bands = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000;

        if (bands == 0 || bands > BANDS_MAX || !make(&b, bands)) {
                fprintf(stderr, "usage: bench_trend [BANDS]\n");
                return 2;
        }
        uint64_t start = cpu_ns();
        for (uint64_t s = 0; s < MEASURED_SECONDS; s++)
                one_census(&b, OLD_MINUTES * 60 + s);
        uint64_t took = cpu_ns() - start;
        printf("bands=%" PRIu32 " state_bytes=%" PRIu64 " cpu_ns=%" PRIu64 " event_ns=%" PRIu64 " judged=%" PRIu32 "\n",
               bands, tracker_held_bytes(b.tracker) / bands, took, MEASURED_SECONDS * SECOND_NS, judged(&b));
        model_destroy(&b.model);
        tracker_destroy(&b.tracker);
        return 0;
}
