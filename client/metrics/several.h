/* SPDX-License-Identifier: BSD-3-Clause */
/* several.h - metrics with several samples each: states, generations, bands, verdicts, alerts. */
#ifndef HW_CLIENT_METRICS_SEVERAL_H
#define HW_CLIENT_METRICS_SEVERAL_H

#include "client/metrics/metric.h"

typedef void metric_putter(struct metric_out *out, const struct metric_scope *s);

metric_putter put_info, put_state, put_pauses, put_pause_histogram, put_collections, put_bands, put_capability_run,
        put_capability_gc, put_sparks, put_verdicts, put_slopes, put_gained, put_onset, put_growth, put_time_to_limit,
        put_alerts, put_resident_parts, put_daemon_info, put_loop_time, put_loop_turns, put_notifier;

#endif
