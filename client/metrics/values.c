/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/metrics/values.h"

#include <math.h>

#define S_PER_NS 1e-9

/* A field of one of the target's messages; of the process; of a message nested in one of them. */
#define FIELD(function, body, field, scale)                                                                            \
        double function(const struct metric_scope *s)                                                                  \
        {                                                                                                              \
                return s->target->body && s->target->body->has_##field ? (double)s->target->body->field * (scale)      \
                                                                       : NAN;                                          \
        }
#define INNER(function, type, body, inner, field, scale)                                                               \
        double function(const struct metric_scope *s)                                                                  \
        {                                                                                                              \
                const type *m = s->target->body ? s->target->body->inner : NULL;                                       \
                                                                                                                       \
                return m && m->has_##field ? (double)m->field * (scale) : NAN;                                         \
        }
#define DAEMON(function, field, scale)                                                                                 \
        double function(const struct metric_scope *s)                                                                  \
        {                                                                                                              \
                const Hw__DaemonState *d = s->daemon ? s->daemon->state : NULL;                                        \
                                                                                                                       \
                return d && d->has_##field ? (double)d->field * (scale) : NAN;                                         \
        }
#define SINK(function, expression)                                                                                     \
        double function(const struct metric_scope *s)                                                                  \
        {                                                                                                              \
                return (double)s->sink->expression;                                                                    \
        }

/* ------------------------------------------------------------ the program */

FIELD(of_runs, target, runs, 1)
FIELD(of_exit_status, target, exit_status, 1)
FIELD(of_exit_signal, target, exit_signal, 1)
INNER(of_start_time, Hw__Run, target, run_info, start_wall_ns, S_PER_NS)
INNER(of_capabilities, Hw__Run, target, run_info, capabilities, 1)
INNER(of_max_heap, Hw__Run, target, run_info, max_heap_bytes, 1)

/* Known of a program that has ended. */
double of_oom_killed(const struct metric_scope *s)
{
        const Hw__Target *t = s->target->target;

        return t && t->has_oom_killed ? (double)t->oom_killed : NAN;
}

/* ------------------------------------------------------- heap and process */

FIELD(of_live, heap, live_bytes, 1)
FIELD(of_live_most, heap, max_live_bytes, 1)
FIELD(of_live_samples, heap, live_samples, 1)
FIELD(of_heap_size, heap, heap_size_bytes, 1)
FIELD(of_heap_size_most, heap, max_heap_size_bytes, 1)
FIELD(of_blocks_size, heap, blocks_size_bytes, 1)
FIELD(of_allocated, heap, allocated_bytes, 1)
FIELD(of_allocation_rate, heap, allocation_rate_bps, 1)
FIELD(of_needed_heap, heap, needed_heap_bytes, 1)
FIELD(of_unneeded, heap, unneeded_bytes, 1)
FIELD(of_megablocks_held, heap, megablocks_held, 1)
FIELD(of_megablocks_needed, heap, megablocks_needed, 1)
FIELD(of_megablocks_returned, heap, megablocks_returned, 1)
INNER(of_rss, Hw__Process, heap, process, rss_bytes, 1)
INNER(of_pss, Hw__Process, heap, process, pss_bytes, 1)
INNER(of_swap, Hw__Process, heap, process, swap_bytes, 1)
INNER(of_cpu, Hw__Process, heap, process, cpu_ns, S_PER_NS)
INNER(of_os_threads, Hw__Process, heap, process, threads, 1)
INNER(of_minor_faults, Hw__Process, heap, process, minor_faults, 1)
INNER(of_major_faults, Hw__Process, heap, process, major_faults, 1)
INNER(of_address_space, Hw__Process, heap, process, address_space_bytes, 1)
INNER(of_address_space_limit, Hw__Process, heap, process, address_space_limit_bytes, 1)
INNER(of_cgroup, Hw__Process, heap, process, cgroup_current_bytes, 1)
INNER(of_cgroup_limit, Hw__Process, heap, process, cgroup_max_bytes, 1)

/* ------------------------------------------------------------ collections */

FIELD(of_copied, gc, copied_bytes, 1)
FIELD(of_slop, gc, slop_bytes, 1)
FIELD(of_slop_most, gc, max_slop_bytes, 1)
FIELD(of_fragmentation, gc, fragmentation_bytes, 1)
FIELD(of_gc_share, gc, gc_share, 1)
FIELD(of_gc_share_run, gc, gc_share_run, 1)
FIELD(of_gc_pauses, gc, pause_total_ns, S_PER_NS)
FIELD(of_gc_sync, gc, sync_total_ns, S_PER_NS)
FIELD(of_gc_census, gc, census_pause_ns, S_PER_NS)
FIELD(of_gc_unmatched, gc, unmatched, 1)
FIELD(of_gc_balance, gc, parallel_balance, 1)
INNER(of_nm_cycles, Hw__Nonmoving, gc, nonmoving, cycles, 1)
INNER(of_nm_mark, Hw__Nonmoving, gc, nonmoving, mark_total_ns, S_PER_NS)
INNER(of_nm_sync, Hw__Nonmoving, gc, nonmoving, sync_total_ns, S_PER_NS)
INNER(of_nm_sync_most, Hw__Nonmoving, gc, nonmoving, sync_max_ns, S_PER_NS)
INNER(of_nm_sweep, Hw__Nonmoving, gc, nonmoving, sweep_total_ns, S_PER_NS)

double of_gc_count(const struct metric_scope *s)
{
        const Hw__Gc *gc = s->target->gc;
        double sum = 0;
        bool known = false;

        for (size_t i = 0; gc && i < gc->n_generations; i++) {
                known |= gc->generations[i]->has_count;
                sum += gc->generations[i]->has_count ? (double)gc->generations[i]->count : 0;
        }
        return known ? sum : NAN;
}

double of_gc_parallel_count(const struct metric_scope *s)
{
        const Hw__Gc *gc = s->target->gc;
        double sum = 0;
        bool known = false;

        for (size_t i = 0; gc && i < gc->n_generations; i++) {
                known |= gc->generations[i]->has_parallel_count;
                sum += gc->generations[i]->has_parallel_count ? (double)gc->generations[i]->parallel_count : 0;
        }
        return known ? sum : NAN;
}

/* Of the oldest generation, which is unknown if their number is. */
double of_gc_major_count(const struct metric_scope *s)
{
        const Hw__Gc *gc = s->target->gc;
        const Hw__Run *run = s->target->target ? s->target->target->run_info : NULL;

        if (!gc || !run || !run->has_generations || run->generations == 0)
                return NAN;
        for (size_t i = 0; i < gc->n_generations; i++)
                if (gc->generations[i]->has_count && gc->generations[i]->generation == run->generations - 1)
                        return (double)gc->generations[i]->count;
        return 0;
}

/* Event time, that is since the runtime started. */
double of_elapsed(const struct metric_scope *s)
{
        return s->target->event_time_ns ? (double)s->target->event_time_ns * S_PER_NS : NAN;
}

double of_mutator(const struct metric_scope *s)
{
        double left = of_elapsed(s) - of_gc_pauses(s);

        return left < 0 ? 0 : left;
}

/* --------------------------------------------------- profiles and threads */

FIELD(of_census, census, total_bytes, 1)
FIELD(of_threads_created, sched, threads_created, 1)
FIELD(of_threads_finished, sched, threads_finished, 1)
FIELD(of_migrations, sched, migrations, 1)
FIELD(of_wakeups, sched, wakeups, 1)

double of_census_bands(const struct metric_scope *s)
{
        return s->target->census ? (double)s->target->census->n_band : NAN;
}

double of_profile_ticks(const struct metric_scope *s)
{
        return s->target->n_stacks ? (double)s->target->ticks : NAN;
}

/* -------------------------------------------------------- trends, alerts */

FIELD(of_limit, trend_state, limit_bytes, 1)
FIELD(of_alerts_left_out, alerts, left_out, 1)

/* ------------------------------------------------------------- the stream */

FIELD(of_stream_bytes, health, bytes, 1)
FIELD(of_stream_events, health, events, 1)
FIELD(of_stream_blocks, health, blocks, 1)
FIELD(of_stream_lost, health, lost_bytes, 1)
FIELD(of_stream_resyncs, health, resyncs, 1)
FIELD(of_stream_unknown, health, unknown_events, 1)
FIELD(of_stream_short, health, short_events, 1)
FIELD(of_stream_late, health, late_samples, 1)
FIELD(of_stream_anomalies, health, time_anomalies, 1)
FIELD(of_stream_lag, health, lag_ns, S_PER_NS)
FIELD(of_reconnects, health, reconnects, 1)
FIELD(of_stream_gaps, health, gaps, 1)
FIELD(of_stream_gap, health, gap_ns, S_PER_NS)
FIELD(of_bands_left_out, health, bands_left_out, 1)
FIELD(of_state_bytes, health, state_bytes, 1)
INNER(of_recorded, Hw__Recording, health, recording, bytes, 1)
INNER(of_record_lost, Hw__Recording, health, recording, lost_bytes, 1)

double of_record_paused(const struct metric_scope *s)
{
        const Hw__Recording *r = s->target->health ? s->target->health->recording : NULL;

        return r ? r->has_paused && r->paused : NAN;
}

/* By the daemon's clock: how long before it published this bytes last arrived. */
double of_stream_quiet(const struct metric_scope *s)
{
        const Hw__Health *h = s->target->health;
        uint64_t now = s->target->published_wall_ns;

        if (!h || !h->has_last_bytes_wall_ns || h->last_bytes_wall_ns == 0)
                return NAN;
        return now > h->last_bytes_wall_ns ? (double)(now - h->last_bytes_wall_ns) * S_PER_NS : 0;
}

/* --------------------------------------------------------------- a daemon */

double of_daemon_up(const struct metric_scope *s)
{
        return s->daemon && !s->daemon->stale;
}

DAEMON(of_daemon_start, started_wall_ns, S_PER_NS)
DAEMON(of_daemon_rss, rss_bytes, 1)
DAEMON(of_daemon_budget, memory_budget_bytes, 1)
DAEMON(of_daemon_requests, requests, 1)
DAEMON(of_daemon_bad_requests, bad_requests, 1)
DAEMON(of_daemon_refused, connections_refused, 1)
DAEMON(of_daemon_controls, control_requests, 1)
DAEMON(of_daemon_forbidden, forbidden_requests, 1)
DAEMON(of_daemon_strangers, strangers_refused, 1)
DAEMON(of_daemon_keys, authorized_keys, 1)
DAEMON(of_daemon_admitted, handshakes_admitted, 1)
DAEMON(of_daemon_handshakes_refused, handshakes_refused, 1)
DAEMON(of_daemon_handshakes_failed, handshakes_failed, 1)
DAEMON(of_daemon_shut, connections_shut, 1)
DAEMON(of_daemon_descriptors, descriptors_limit, 1)
DAEMON(of_daemon_actions_done, actions_done, 1)
DAEMON(of_daemon_actions_failed, actions_failed, 1)
DAEMON(of_daemon_actions_dropped, actions_dropped, 1)

double of_daemon_targets(const struct metric_scope *s)
{
        return s->daemon && s->daemon->state ? (double)s->daemon->state->n_targets : NAN;
}

double of_daemon_left_out(const struct metric_scope *s)
{
        return s->daemon ? (double)s->daemon->left_out : NAN;
}

double of_daemon_pressure(const struct metric_scope *s)
{
        const Hw__DaemonState *d = s->daemon ? s->daemon->state : NULL;

        return d && d->has_memory_budget_bytes ? d->memory_pressure && *d->memory_pressure : NAN;
}

double of_daemon_notifier_restarts(const struct metric_scope *s)
{
        const Hw__Notifier *n = s->daemon && s->daemon->state ? s->daemon->state->notifier : NULL;

        return n && n->has_restarts ? (double)n->restarts : NAN;
}

static double turn_seconds(const Hw__LoopTurn *t)
{
        return t && t->has_cpu_ns ? (double)t->cpu_ns * S_PER_NS : NAN;
}

double of_daemon_longest_turn(const struct metric_scope *s)
{
        return s->daemon && s->daemon->state ? turn_seconds(s->daemon->state->longest_turn) : NAN;
}

double of_daemon_recent_turn(const struct metric_scope *s)
{
        return s->daemon && s->daemon->state ? turn_seconds(s->daemon->state->recent_turn) : NAN;
}

/* ----------------------------------------------------------------- a sink */

SINK(of_sink_sent, samples_sent)
SINK(of_sink_lost, samples_lost)
SINK(of_sink_refused, samples_refused)
SINK(of_sink_batches, batches_sent)
SINK(of_sink_failures, attempts_failed)
SINK(of_sink_queued_bytes, queued_bytes)
SINK(of_sink_queued_samples, queued_samples)
SINK(of_sink_queued_s, queued_s)
SINK(of_sink_sent_ago, sent_ago_s)
SINK(of_sink_journal, journal_bytes)
SINK(of_sink_journal_failures, journal_failures)
