/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * metric.h - one row of a table of metrics: its name, type, unit, help, the
 * event that it comes from, its labels, and how its value is found.
 *
 * The tables are in table.c (heapwatch's own names) and set_*.c (names that
 * other tools gave the same numbers). Every face reads them: /metrics of the
 * page, each sink of `heapwatch export`; docs/METRICS.md is made of them by
 * scripts/metrics, which reads these macros: a row is one of them, with plain
 * strings, and nothing else is between the rows.
 *
 * Values are of Prometheus' base units: bytes, seconds, ratios. What is not
 * known is NAN and has no sample.
 */
#ifndef HW_CLIENT_METRICS_METRIC_H
#define HW_CLIENT_METRICS_METRIC_H

#include <stddef.h>
#include <stdint.h>

#include "client/state/world.h"

enum metric_type {
        METRIC_GAUGE,
        METRIC_COUNTER,   /* rises, and begins again with each run */
        METRIC_INFO,      /* 1, and labels that say something */
        METRIC_SUMMARY,   /* quantiles, sum and count */
        METRIC_HISTOGRAM, /* cumulative buckets, sum and count */
};

enum metric_unit {
        UNIT_NONE,
        UNIT_BYTES,
        UNIT_SECONDS,
        UNIT_RATIO,
        UNIT_BYTES_PER_SECOND,
        UNIT_MILLISECONDS, /* these are for name sets that have no better ones */
        UNIT_NANOSECONDS,
        UNIT_MEGABYTES,
        UNIT_MEGABLOCKS,
};

/* What one sink of `heapwatch export` has done since it began. */
struct sink_health {
        const char *name, *kind;
        uint64_t samples_sent, samples_lost, samples_refused; /* refused: the receiver will not have them, ever */
        uint64_t batches_sent, attempts_failed;
        uint64_t queued_bytes, queued_samples;
        double queued_s;   /* age of the oldest that waits; NAN: none does */
        double sent_ago_s; /* since the newest success; NAN: none yet */
        uint64_t journal_bytes, journal_failures;
};

/* What a row is asked about: one of the three. */
struct metric_scope {
        const struct world_target *target;
        const struct world_daemon *daemon; /* NULL: never heard */
        const struct sink_health *sink;
        size_t bands;           /* at most so many, and one for the rest */
        uint32_t *chosen_bands; /* ids of those that were shown last, 0 behind them; `bands` entries; or NULL */
};

struct metric_out;

struct metric {
        const char *name;
        const char *help;
        const char *source;                            /* the event, file or computation that it comes from */
        const char *labels;                            /* besides target and daemon: "a, b" */
        const char *absent;                            /* why there is no such number; else NULL */
        double (*value)(const struct metric_scope *s); /* of one sample, or */
        void (*put)(struct metric_out *out, const struct metric_scope *s); /* several */
        double scale;                                                      /* of `value`, into `unit` */
        enum metric_type type;
        enum metric_unit unit;
};

/* Rows. The order of the arguments is that of docs/METRICS.md. */
#define NUMBER(n, t, u, f, h, src)                                                                                     \
        {                                                                                                              \
                .name = n, .type = METRIC_##t, .unit = UNIT_##u, .value = f, .scale = 1, .help = h, .source = src,     \
                .labels = ""                                                                                           \
        }
#define SCALED(n, t, u, f, by, h, src)                                                                                 \
        {                                                                                                              \
                .name = n, .type = METRIC_##t, .unit = UNIT_##u, .value = f, .scale = by, .help = h, .source = src,    \
                .labels = ""                                                                                           \
        }
#define SEVERAL(n, t, u, f, l, h, src)                                                                                 \
        {                                                                                                              \
                .name = n, .type = METRIC_##t, .unit = UNIT_##u, .put = f, .labels = l, .help = h, .source = src       \
        }
#define ABSENT(n, why)                                                                                                 \
        {                                                                                                              \
                .name = n, .absent = why                                                                               \
        }
#define METRICS_END                                                                                                    \
        {                                                                                                              \
                .name = NULL                                                                                           \
        }

/* Names of one tool. Rows of each scope end with METRICS_END; NULL: none. */
struct metric_set {
        const char *name;
        const char *about;
        const struct metric *of_target, *of_daemon, *of_sink;
        bool suffixed; /* in Prometheus a unit and _total are added to its names, as OpenTelemetry's rules have it */
};

/* Ended by one without a name; the first is heapwatch's own. */
extern const struct metric_set metric_sets[];

/* NULL: there is none. And the n-th one's name, NULL after the last. */
const struct metric_set *metric_set_find(const char *name);
const char *metric_set_nth(size_t n);

/* "bytes", "seconds" ... "" of none; and as UCUM has it, for OpenTelemetry: "By", "s", "1". */
const char *metric_unit_name(enum metric_unit unit);
const char *metric_unit_ucum(enum metric_unit unit);

#define METRIC_NAME_MAX 160

/* The name as Prometheus may have it: of its characters, with the suffixes of the set. */
void metric_prometheus_name(char out[METRIC_NAME_MAX], const struct metric_set *set, const struct metric *m);

/* --------------------------------------------------------------- for `put` */

#define METRIC_LABELS_MAX 8

struct metric_label {
        const char *name, *value; /* value NULL: there is no such label */
};

/* Points of a histogram (upper bounds, cumulative counts) or of a summary (quantiles, values). */
struct metric_points {
        size_t n;
        const double *at, *values;
        double sum, count; /* NAN: not known */
};

/* One sample with these labels, up to one without a name, besides those of the scope. */
void metric_put(struct metric_out *out, double value, const struct metric_label *labels);
void metric_put_points(struct metric_out *out, const struct metric_points *points, const struct metric_label *labels);

#define LABELS(...) ((const struct metric_label[]){ __VA_ARGS__, { NULL, NULL } })

#endif
