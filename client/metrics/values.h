/* SPDX-License-Identifier: BSD-3-Clause */
/* values.h - single numbers of a target, daemon or sink, in base units; NAN: unknown. */
#ifndef HW_CLIENT_METRICS_VALUES_H
#define HW_CLIENT_METRICS_VALUES_H

#include "client/metrics/metric.h"

typedef double metric_value(const struct metric_scope *s);

/* the program */
metric_value of_runs, of_start_time, of_oom_killed, of_exit_status, of_exit_signal, of_capabilities;
/* heap */
metric_value of_live, of_live_most, of_live_samples, of_heap_size, of_heap_size_most, of_blocks_size, of_allocated,
        of_allocation_rate, of_needed_heap, of_unneeded, of_megablocks_held, of_megablocks_needed,
        of_megablocks_returned, of_max_heap;
/* process */
metric_value of_rss, of_pss, of_swap, of_cpu, of_os_threads, of_cgroup, of_cgroup_limit;
metric_value of_minor_faults, of_major_faults, of_address_space, of_address_space_limit;
/* collections; totals are of all generations */
metric_value of_copied, of_slop, of_slop_most, of_fragmentation, of_gc_share, of_gc_share_run, of_gc_pauses, of_gc_sync,
        of_gc_census, of_gc_unmatched, of_gc_count, of_gc_major_count, of_gc_parallel_count, of_gc_balance, of_mutator,
        of_elapsed;
/* of the nonmoving collector */
metric_value of_nm_cycles, of_nm_mark, of_nm_sync, of_nm_sync_most, of_nm_sweep;
metric_value of_census, of_census_bands, of_profile_ticks, of_threads_created, of_threads_finished, of_migrations,
        of_wakeups;
/* trends and alerts */
metric_value of_limit, of_alerts_left_out;
/* the stream */
metric_value of_stream_bytes, of_stream_events, of_stream_blocks, of_stream_lost, of_stream_resyncs, of_stream_unknown,
        of_stream_short, of_stream_late, of_stream_anomalies, of_stream_lag, of_stream_quiet, of_reconnects,
        of_stream_gaps, of_stream_gap, of_bands_left_out, of_state_bytes, of_recorded, of_record_lost, of_record_paused;
/* a daemon */
metric_value of_daemon_up, of_daemon_start, of_daemon_targets, of_daemon_rss, of_daemon_budget, of_daemon_pressure,
        of_daemon_requests, of_daemon_bad_requests, of_daemon_refused, of_daemon_controls, of_daemon_forbidden,
        of_daemon_strangers, of_daemon_keys, of_daemon_admitted, of_daemon_handshakes_refused,
        of_daemon_handshakes_failed, of_daemon_shut, of_daemon_descriptors, of_daemon_actions_done,
        of_daemon_actions_failed, of_daemon_actions_dropped, of_daemon_notifier_restarts, of_daemon_longest_turn,
        of_daemon_recent_turn, of_daemon_left_out;
/* a sink of `heapwatch export` */
metric_value of_sink_sent, of_sink_lost, of_sink_refused, of_sink_batches, of_sink_failures, of_sink_queued_bytes,
        of_sink_queued_samples, of_sink_queued_s, of_sink_sent_ago, of_sink_journal, of_sink_journal_failures;

#endif
