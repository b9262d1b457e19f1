/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collect.h - walks the tables over a world: each sample of each metric, once, metric by metric.
 *
 * Targets of a silent daemon are left out, so that readers see them end; only heapwatch_daemon_up still names it. The
 * samples of a target are limited; those beyond the limit are left out and counted. With several daemons each sample
 * has the label `daemon`: their targets may have the same names.
 */
#pragma once

#include <stdio.h>

#include "client/out/metrics/metric.h"

struct metrics_options {
        size_t bands;  /* per target; 0: METRICS_BANDS. At most BANDS_MOST */
        size_t series; /* samples per target; 0: METRICS_SERIES */
};

#define METRICS_BANDS  20
#define METRICS_SERIES 1000

/* What is remembered from one walk to the next: which bands were shown. */
struct metrics;

/* What `options` points to outlives it. NULL: out of memory. */
struct metrics *metrics_new(const struct metrics_options *options);
void metrics_destroy(struct metrics **m);

/* What is walked over. */
struct metrics_source {
        const struct world *world;
        size_t n_daemons;
        const char *(*daemon_name)(const void *ctx, size_t daemon);
        const void *ctx;
        bool live; /* of daemons, not of files */
        const struct sink_health *sinks;
        size_t n_sinks;
        uint64_t sinks_wall_ns; /* since when they count; 0: not known */
};

/* One sample. Borrowed for the call. */
struct metric_sample {
        const struct metric *metric;
        const char *target;                /* its name; NULL: of no target */
        const struct metric_label *labels; /* with target and daemon; only those that have a value */
        size_t n_labels;
        uint64_t start_wall_ns; /* when a counter began to count; 0: unknown */
        double value;
        bool ended; /* its series has ended: no value, points without values and counts (client/out/export/series.h) */
        const struct metric_points *points; /* of a summary or histogram, instead */
};

/* A part of it as Prometheus flattens histograms and summaries: "_bucket" with le="0.1", "_sum" ... */
struct metric_part {
        const char *suffix;
        struct metric_label label; /* name NULL: none */
        double value;
};

#define METRIC_VALUE_MAX 1024 /* bytes of a label's value with its NUL; a longer one is cut */

/* A label's value as receivers get it: UTF-8 without what steers a terminal. Returns its length. */
size_t metric_label_text(char out[METRIC_VALUE_MAX], const char *value);

typedef void metric_taker(void *ctx, const struct metric_sample *sample);
typedef void metric_part_taker(void *ctx, const struct metric_sample *sample, const struct metric_part *part);

/* Calls `take` for each; samples of one metric follow each other. */
void metrics_collect(struct metrics *m, const struct metrics_source *source, metric_taker *take, void *ctx);

/* A sample as its parts: one, unless it has points. */
void metric_flatten(const struct metric_sample *sample, metric_part_taker *take, void *ctx);

/*
 * bands.c: which bands of a census are shown: the largest, and one sum of all others.
 *
 * A series that comes and goes with each census is useless in a database. So a band that was shown counts as a quarter
 * larger than it is when the largest are chosen: it keeps its place until another is clearly larger. What is shown and
 * the rest add up to the census, including rows that the daemon left out.
 */

#define BANDS_MOST 200

struct bands_shown {
        const struct world_band *bands[BANDS_MOST]; /* largest first */
        size_t n;
        uint64_t other_bytes;
};

/* For the scope's target; chosen_bands remembers them for the next time. False: it has no census. */
bool bands_choose(struct bands_shown *shown, const struct metric_scope *s);

/*
 * text.c: samples as text for scrapers: Prometheus' format 0.0.4, which every scraper reads, or OpenMetrics 1.0.
 *
 * OpenMetrics names a metric's unit, a counter's family has no _total, numbers in labels have a decimal point, and the
 * end is marked, so that a truncated answer is noticed.
 */

#define METRICS_TYPE      "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_OPEN_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Whether an Accept header (NULL: none) asks for OpenMetrics 1.0. */
bool metrics_wants_open(const char *accept);

/* Returns how many samples were written. Errors of the stream stay in it (ferror). */
uint64_t metrics_print(FILE *to, struct metrics *m, const struct metrics_source *source, bool open_metrics);

/* The header of a sample's family. */
void metrics_print_header(FILE *to, const struct metric_sample *m, bool open_metrics);

/* All lines of one sample; `unix_ns`, unless 0, is their time (of OpenMetrics: the older format has other units). */
uint64_t metrics_print_sample(FILE *to, const struct metric_sample *m, bool open_metrics, uint64_t unix_ns);
