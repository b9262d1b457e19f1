/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/metrics/metric.h"

#include <math.h>

#define S_PER_NS 1e-9

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
DAEMON(of_daemon_paced_requests, paced_requests, 1)
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
