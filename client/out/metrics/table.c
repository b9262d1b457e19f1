/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.c - all metrics under heapwatch's own names, in the order in which they are written. If a target has more
 * samples than the limit, the last rows are left out: what a dashboard needs most comes first.
 */
#include "client/out/metrics/metric.h"

/* The facts of a target that are metrics of its own, with names by Prometheus' rules. */
#define UNIT_OF_COUNT UNIT_NONE
#define UNIT_OF_BYTES UNIT_BYTES
#define UNIT_OF_NS    UNIT_SECONDS
#define UNIT_OF_SHARE UNIT_RATIO
#define UNIT_OF_RATE  UNIT_BYTES_PER_SECOND
#define UNIT_OF_WALL  UNIT_SECONDS
#define NAME_OF_COUNT ""
#define NAME_OF_BYTES "_bytes"
#define NAME_OF_NS    "_seconds"
#define NAME_OF_SHARE "_ratio"
#define NAME_OF_RATE  "_bytes_per_second"
#define NAME_OF_WALL  "_seconds"

#define FACT_AS(end, t, id, stem, u)                                                                                   \
        { .name = "heapwatch_" stem NAME_OF_##u end, .type = t, .unit = UNIT_OF_##u, .fact = FACT_##id, .labels = "" },
#define AS_GAUGE(...)   FACT_AS("", METRIC_GAUGE, __VA_ARGS__)
#define AS_COUNTER(...) FACT_AS("_total", METRIC_COUNTER, __VA_ARGS__)
#define AS_HIDDEN(...)
#define X(id, stem, unit, kind, place, source, help) AS_##kind(id, stem, unit)

const struct metric metrics_of_target[] = {
        SEVERAL("heapwatch_target_info", INFO, NONE, put_info, "program, ghc_version, rts_way, breakdown",
                "The program.", "PROGRAM_ARGS, RTS_IDENTIFIER, HEAP_PROF_BEGIN"),
        SEVERAL("heapwatch_target_state", GAUGE, NONE, put_state, "state", "1 for the state that a target is in.",
                "the source"),
#include "proto/facts/facts.def"
        SEVERAL("heapwatch_resident_part_bytes", GAUGE, BYTES, put_resident_parts, "part",
                "What resident memory is made of, by the words of docs/GLOSSARY.md; what is not known is absent. With "
                "the part “not known” they add up to RSS.",
                "/proc/PID/smaps, HEAP_SIZE, HEAP_LIVE, MEM_RETURN"),
        SEVERAL("heapwatch_gc_pause_seconds", SUMMARY, SECONDS, put_pauses, "generation",
                "Pauses of this run by generation.", "GC_START, GC_END"),
        SEVERAL("heapwatch_gc_pause_duration_seconds", HISTOGRAM, SECONDS, put_pause_histogram, "generation",
                "The same pauses, counted by their length.", "GC_START, GC_END"),
        SEVERAL("heapwatch_gc_collections_total", COUNTER, NONE, put_collections, "generation",
                "Collections of this run by generation.", "GC_START, GC_END"),
        SEVERAL("heapwatch_verdict", GAUGE, NONE, put_verdicts, "verdict, series", "1 for the verdict on a series.",
                "computed: docs/VERDICT.md"),
        SEVERAL("heapwatch_slope_bytes_per_second", GAUGE, BYTES_PER_SECOND, put_slopes, "series, bound",
                "Robust slope and its interval.", "computed: docs/VERDICT.md"),
        SEVERAL("heapwatch_gained_bytes", GAUGE, BYTES, put_gained, "series", "Rise over the window of the verdict.",
                "computed: docs/VERDICT.md"),
        SEVERAL("heapwatch_onset_time_seconds", GAUGE, SECONDS, put_onset, "series",
                "Unix time at which growth began; absent unless something grows.", "computed: docs/VERDICT.md"),
        SEVERAL("heapwatch_growth", GAUGE, NONE, put_growth, "where", "1 for where memory grows.",
                "computed: docs/VERDICT.md"),
        SEVERAL("heapwatch_time_to_limit_seconds", GAUGE, SECONDS, put_time_to_limit, "bound",
                "Time until the limit is reached.", "computed: docs/VERDICT.md"),
        SEVERAL("heapwatch_alert", GAUGE, NONE, put_alerts, "alertname, severity, state, band, id, part_of",
                "1 for each alert that is pending or firing.", "rules: docs/RULES.md"),
        SEVERAL("heapwatch_capability_run_seconds_total", COUNTER, SECONDS, put_capability_run, "capability",
                "Time that a capability ran Haskell threads.", "RUN_THREAD, STOP_THREAD"),
        SEVERAL("heapwatch_capability_gc_seconds_total", COUNTER, SECONDS, put_capability_gc, "capability",
                "Time that a capability collected.", "GC_START, GC_END"),
        SEVERAL("heapwatch_sparks_total", COUNTER, NONE, put_sparks, "fate", "Sparks by their fate.", "SPARK_COUNTERS"),
        SEVERAL("heapwatch_band_bytes", GAUGE, BYTES, put_bands, "band, id",
                "The largest bands of the newest heap profile sample, and one that is the sum of the others.",
                "HEAP_PROF_SAMPLE_STRING, HEAP_PROF_SAMPLE_COST_CENTRE"),
        METRICS_END,
};
#undef X

const struct metric metrics_of_daemon[] = {
        NUMBER("heapwatch_daemon_up", GAUGE, NONE, of_daemon_up, "1 while the daemon sends heartbeats.",
               "its heartbeat"),
        SEVERAL("heapwatch_daemon_info", INFO, NONE, put_daemon_info, "version", "Which daemon.", "the daemon"),
        NUMBER("heapwatch_daemon_start_time_seconds", GAUGE, SECONDS, of_daemon_start, "Unix time at which it started.",
               "the daemon"),
        NUMBER("heapwatch_daemon_targets", GAUGE, NONE, of_daemon_targets, "Targets that it watches.", "the daemon"),
        NUMBER("heapwatch_daemon_resident_bytes", GAUGE, BYTES, of_daemon_rss, "Its own memory.", "the daemon"),
        NUMBER("heapwatch_daemon_memory_budget_bytes", GAUGE, BYTES, of_daemon_budget, "Its memory budget.",
               "the daemon"),
        NUMBER("heapwatch_daemon_memory_pressure", GAUGE, NONE, of_daemon_pressure,
               "1 while something is left out for lack of memory.", "the daemon"),
        NUMBER("heapwatch_daemon_requests_total", COUNTER, NONE, of_daemon_requests, "Requests answered.",
               "the daemon"),
        NUMBER("heapwatch_daemon_bad_requests_total", COUNTER, NONE, of_daemon_bad_requests,
               "Requests refused: malformed or not allowed.", "the daemon"),
        NUMBER("heapwatch_daemon_paced_requests_total", COUNTER, NONE, of_daemon_paced_requests,
               "Requests put off: a client sent more at once than one may, and sends them again later.", "the daemon"),
        NUMBER("heapwatch_daemon_connections_refused_total", COUNTER, NONE, of_daemon_refused,
               "Connections closed: too few descriptors or places were left, a request did not end, or replies were "
               "not read.",
               "the daemon"),
        NUMBER("heapwatch_daemon_control_requests_total", COUNTER, NONE, of_daemon_controls,
               "Requests that changed something, or tried to.", "the daemon"),
        NUMBER("heapwatch_daemon_forbidden_requests_total", COUNTER, NONE, of_daemon_forbidden,
               "Requests that the role of their key does not allow.", "the daemon"),
        NUMBER("heapwatch_daemon_strangers_refused_total", COUNTER, NONE, of_daemon_strangers,
               "Connections over ipc by another user, closed at once.", "the daemon"),
        NUMBER("heapwatch_daemon_authorized_keys", GAUGE, NONE, of_daemon_keys, "Keys that are let in over TCP.",
               "the daemon, with --listen"),
        NUMBER("heapwatch_daemon_handshakes_admitted_total", COUNTER, NONE, of_daemon_admitted,
               "Handshakes by authorised keys.", "the daemon, with --listen"),
        NUMBER("heapwatch_daemon_handshakes_refused_total", COUNTER, NONE, of_daemon_handshakes_refused,
               "Handshakes by keys that are not authorised.", "the daemon, with --listen"),
        NUMBER("heapwatch_daemon_handshakes_failed_total", COUNTER, NONE, of_daemon_handshakes_failed,
               "Handshakes without CURVE, meant for another server key, or broken off.", "the daemon, with --listen"),
        NUMBER("heapwatch_daemon_connections_shut_total", COUNTER, NONE, of_daemon_shut,
               "Connections that were closed because keys were revoked.", "the daemon, with --listen"),
        NUMBER("heapwatch_daemon_descriptors_limit", GAUGE, NONE, of_daemon_descriptors, "Descriptors it may open.",
               "the daemon"),
        NUMBER("heapwatch_daemon_actions_done_total", COUNTER, NONE, of_daemon_actions_done, "Actions of alerts done.",
               "heapwatch notify"),
        NUMBER("heapwatch_daemon_actions_failed_total", COUNTER, NONE, of_daemon_actions_failed,
               "Actions that failed, after all attempts.", "heapwatch notify"),
        NUMBER("heapwatch_daemon_actions_dropped_total", COUNTER, NONE, of_daemon_actions_dropped,
               "Actions that were not tried: too many at once, or more than could be passed on.", "heapwatch notify"),
        SEVERAL("heapwatch_daemon_notifier_state", GAUGE, NONE, put_notifier, "state",
                "1 for the state of the process that acts on alerts.", "the daemon"),
        NUMBER("heapwatch_daemon_notifier_restarts_total", COUNTER, NONE, of_daemon_notifier_restarts,
               "Times that it was started again.", "the daemon"),
        NUMBER("heapwatch_daemon_messages_left_out_total", COUNTER, NONE, of_daemon_left_out,
               "Messages of targets beyond the limit of this client.", "this client"),
        NUMBER("heapwatch_daemon_longest_turn_seconds", GAUGE, SECONDS, of_daemon_longest_turn,
               "Processor time of the longest turn of its loop since its start.", "the daemon's watchdog"),
        NUMBER("heapwatch_daemon_recent_turn_seconds", GAUGE, SECONDS, of_daemon_recent_turn,
               "The same over the last minute or two.", "the daemon's watchdog"),
        SEVERAL("heapwatch_daemon_loop_seconds_total", COUNTER, SECONDS, put_loop_time, "kind",
                "Where the time of its loop went.", "the daemon's watchdog"),
        SEVERAL("heapwatch_daemon_loop_turns_total", COUNTER, NONE, put_loop_turns, "kind",
                "Turns that did some of that work.", "the daemon's watchdog"),
        METRICS_END,
};

const struct metric metrics_of_sink[] = {
        NUMBER("heapwatch_export_samples_sent_total", COUNTER, NONE, of_sink_sent,
               "Samples that the receiver accepted.", "heapwatch export"),
        NUMBER("heapwatch_export_samples_lost_total", COUNTER, NONE, of_sink_lost,
               "Samples dropped: the queue was full, or they had waited too long.", "heapwatch export"),
        NUMBER("heapwatch_export_samples_refused_total", COUNTER, NONE, of_sink_refused,
               "Samples that the receiver refused with an error that retrying does not fix.", "heapwatch export"),
        NUMBER("heapwatch_export_batches_sent_total", COUNTER, NONE, of_sink_batches,
               "Batches that the receiver accepted.", "heapwatch export"),
        NUMBER("heapwatch_export_failures_total", COUNTER, NONE, of_sink_failures, "Attempts that failed.",
               "heapwatch export"),
        NUMBER("heapwatch_export_queued_bytes", GAUGE, BYTES, of_sink_queued_bytes, "Bytes waiting to be sent.",
               "heapwatch export"),
        NUMBER("heapwatch_export_queued_samples", GAUGE, NONE, of_sink_queued_samples, "Samples waiting to be sent.",
               "heapwatch export"),
        NUMBER("heapwatch_export_queued_seconds", GAUGE, SECONDS, of_sink_queued_s, "Age of the oldest waiting sample.",
               "heapwatch export"),
        NUMBER("heapwatch_export_last_success_seconds", GAUGE, SECONDS, of_sink_sent_ago,
               "Time since a batch was last accepted.", "heapwatch export"),
        NUMBER("heapwatch_export_journal_bytes", GAUGE, BYTES, of_sink_journal, "Bytes kept on disk for a restart.",
               "heapwatch export"),
        NUMBER("heapwatch_export_journal_failures_total", COUNTER, NONE, of_sink_journal_failures,
               "Times that they could not be written.", "heapwatch export"),
        METRICS_END,
};

const char *metric_help(const struct metric *m)
{
        return m->help || !m->fact ? m->help : fact_rows[m->fact].help;
}

const char *metric_unit_name(enum metric_unit unit)
{
        static const char *const names[] = { "", "bytes", "seconds", "ratio", "bytes_per_second" };

        return names[unit];
}

const char *metric_unit_ucum(enum metric_unit unit)
{
        static const char *const names[] = { "", "By", "s", "1", "By/s" };

        return names[unit];
}
