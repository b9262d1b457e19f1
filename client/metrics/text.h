/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text.h - samples as text for scrapers: Prometheus' format 0.0.4, which every scraper reads, or OpenMetrics 1.0.
 *
 * OpenMetrics names a metric's unit, a counter's family has no _total, numbers in labels have a decimal point, and the
 * end is marked, so that a truncated answer is noticed.
 */
#ifndef HW_CLIENT_METRICS_TEXT_H
#define HW_CLIENT_METRICS_TEXT_H

#include <stdio.h>

#include "client/metrics/collect.h"

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

/* A value as these formats have it: +Inf, 0.25, 12345678. */
void metrics_print_value(FILE *to, double value);

#endif
