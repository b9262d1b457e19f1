/* SPDX-License-Identifier: BSD-3-Clause */
/* tables.h - the rows of all name sets; each list ends with METRICS_END. */
#ifndef HW_CLIENT_METRICS_TABLES_H
#define HW_CLIENT_METRICS_TABLES_H

#include "client/metrics/metric.h"

extern const struct metric heapwatch_of_target[], heapwatch_of_daemon[], heapwatch_of_sink[];
extern const struct metric prometheus_ghc_of_target[], ekg_of_target[], otel_of_target[], eventlog_live_of_target[];

#endif
