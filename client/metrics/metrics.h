/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * metrics.h - what a world knows as Prometheus' text format (version 0.0.4),
 * for /metrics: any scraper can keep it and draw it.
 */
#ifndef HW_CLIENT_METRICS_METRICS_H
#define HW_CLIENT_METRICS_METRICS_H

#include <stdio.h>

#include "client/api/state_json.h"

#define METRICS_TYPE  "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_BANDS 20 /* of a target, the largest ones */

/* A failure of the stream stays in it (ferror). */
void metrics_print(FILE *to, const struct state_source *s);

#endif
