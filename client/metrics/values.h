/* SPDX-License-Identifier: BSD-3-Clause */
/* values.h - single numbers of a daemon or sink, in base units; NAN: unknown. Those of a target are facts. */
#ifndef HW_CLIENT_METRICS_VALUES_H
#define HW_CLIENT_METRICS_VALUES_H

#include "client/metrics/metric.h"

typedef double metric_value(const struct metric_scope *s);

/* a daemon */
metric_value of_daemon_up, of_daemon_start, of_daemon_targets, of_daemon_rss, of_daemon_budget, of_daemon_pressure,
        of_daemon_requests, of_daemon_bad_requests, of_daemon_paced_requests, of_daemon_refused, of_daemon_controls,
        of_daemon_forbidden, of_daemon_strangers, of_daemon_keys, of_daemon_admitted, of_daemon_handshakes_refused,
        of_daemon_handshakes_failed, of_daemon_shut, of_daemon_descriptors, of_daemon_actions_done,
        of_daemon_actions_failed, of_daemon_actions_dropped, of_daemon_notifier_restarts, of_daemon_longest_turn,
        of_daemon_recent_turn, of_daemon_left_out;
/* a sink of `heapwatch export` */
metric_value of_sink_sent, of_sink_lost, of_sink_refused, of_sink_batches, of_sink_failures, of_sink_queued_bytes,
        of_sink_queued_samples, of_sink_queued_s, of_sink_sent_ago, of_sink_journal, of_sink_journal_failures;

#endif
