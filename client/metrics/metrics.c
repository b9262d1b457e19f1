/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a family is a row of a table: name, type, help and a function that
 * writes the samples of one target. Its header is written with its first
 * sample, so a family that nobody knows anything of is absent, as a value that
 * is not known is absent: never 0.
 *
 * Units are Prometheus' base units: bytes, seconds, ratios. Targets of a
 * daemon that is silent are left out, so that a scraper sees them end; only
 * heapwatch_daemon_up still names it. With several daemons each sample has the
 * label `daemon`: their targets may have the same names.
 */
#include "client/metrics/metrics.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "client/alerts/known.h"
#include "proto/base/decimal.h"
#include "heapwatch/text.h"

#define S_PER_NS    1e-9
#define LABEL_BYTES 1024 /* a longer value is cut */

struct sheet {
        FILE *to;
        const struct state_source *source;
        const struct family *family;
        bool begun; /* its header is written */
};

struct family {
        const char *name, *type, *help;
        void (*put)(struct sheet *s, const struct world_target *t); /* or, */
        double (*value)(const struct world_target *t);              /* when it is one number; NaN: not known */
};

/* ----------------------------------------------------------------- a sample */

static void put_label(struct sheet *s, const char **separator, const char *name, const char *value)
{
        char clean[LABEL_BYTES];

        (void)hw_utf8_clean(clean, sizeof(clean), value, strlen(value));
        (void)fprintf(s->to, "%s%s=\"", *separator, name);
        for (const char *c = clean; *c; c++) {
                if (*c == '\n')
                        (void)fputs("\\n", s->to);
                else if (*c == '"' || *c == '\\')
                        (void)fprintf(s->to, "\\%c", *c);
                else
                        (void)putc(*c, s->to);
        }
        (void)putc('"', s->to);
        *separator = ",";
}

/* One line. Pairs of label and value follow, up to NULL; a value that is NULL leaves its label out. */
__attribute__((sentinel)) static void sample(struct sheet *s, const struct world_target *t, const char *suffix,
                                             double value, ...)
{
        const struct family *f = s->family;
        const char *separator = "{", *name;
        char number[DECIMAL_MAX];
        va_list pairs;

        if (isnan(value))
                return;
        if (!s->begun)
                (void)fprintf(s->to, "# HELP %s %s\n# TYPE %s %s\n", f->name, f->help, f->name, f->type);
        s->begun = true;
        (void)fprintf(s->to, "%s%s", f->name, suffix);
        if (t)
                put_label(s, &separator, "target", t->name);
        if (t && s->source->n_daemons > 1)
                put_label(s, &separator, "daemon", feed_endpoint(s->source->feed, t->daemon));
        va_start(pairs, value);
        while ((name = va_arg(pairs, const char *))) {
                const char *text = va_arg(pairs, const char *);

                if (text)
                        put_label(s, &separator, name, text);
        }
        va_end(pairs);
        (void)fputs(*separator == ',' ? "} " : " ", s->to);
        if (isinf(value))
                (void)fputs(value > 0 ? "+Inf" : "-Inf", s->to);
        else
                (void)fputs(decimal_short(number, value), s->to);
        (void)putc('\n', s->to);
}

/* "closure_type" of "BREAKDOWN_CLOSURE_TYPE", behind its prefix. */
static const char *lower(char out[64], const ProtobufCEnumDescriptor *e, int value, size_t prefix)
{
        const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(e, value);
        const char *from = v && strlen(v->name) > prefix ? v->name + prefix : "unknown";
        size_t n = 0;

        for (; from[n] && n < 63; n++)
                out[n] = (char)tolower((unsigned char)from[n]);
        out[n] = '\0';
        return out;
}

/* One sample for each value of an enum: 1 for the one that is, 0 for the others. */
static void state_set(struct sheet *s, const struct world_target *t, const ProtobufCEnumDescriptor *e, int is,
                      size_t prefix, const char *label, const char *other, const char *value)
{
        char name[64];

        for (unsigned i = 0; i < e->n_values; i++)
                sample(s, t, "", e->values[i].value == is, label, lower(name, e, e->values[i].value, prefix), other,
                       value, NULL);
}

/* ------------------------------------------------------------ single numbers */

#define NUMBER(function, body, field, scale)                                                                           \
        static double function(const struct world_target *t)                                                           \
        {                                                                                                              \
                return t->body && t->body->has_##field ? (double)t->body->field * (scale) : NAN;                       \
        }

#define PROCESS_NUMBER(function, field, scale)                                                                         \
        static double function(const struct world_target *t)                                                           \
        {                                                                                                              \
                const Hw__Process *p = t->heap ? t->heap->process : NULL;                                              \
                                                                                                                       \
                return p && p->has_##field ? (double)p->field * (scale) : NAN;                                         \
        }

NUMBER(runs, target, runs, 1)
NUMBER(live, heap, live_bytes, 1)
NUMBER(live_most, heap, max_live_bytes, 1)
NUMBER(heap_size, heap, heap_size_bytes, 1)
NUMBER(blocks_size, heap, blocks_size_bytes, 1)
NUMBER(allocated, heap, allocated_bytes, 1)
PROCESS_NUMBER(rss, rss_bytes, 1)
PROCESS_NUMBER(pss, pss_bytes, 1)
PROCESS_NUMBER(swap, swap_bytes, 1)
PROCESS_NUMBER(cpu, cpu_ns, S_PER_NS)
PROCESS_NUMBER(cgroup, cgroup_current_bytes, 1)
PROCESS_NUMBER(cgroup_limit, cgroup_max_bytes, 1)
NUMBER(copied, gc, copied_bytes, 1)
NUMBER(slop, gc, slop_bytes, 1)
NUMBER(fragmentation, gc, fragmentation_bytes, 1)
NUMBER(gc_share, gc, gc_share, 1)
NUMBER(gc_sync, gc, sync_total_ns, S_PER_NS)
NUMBER(census, census, total_bytes, 1)
NUMBER(threads_created, sched, threads_created, 1)
NUMBER(threads_finished, sched, threads_finished, 1)
NUMBER(stream_bytes, health, bytes, 1)
NUMBER(stream_events, health, events, 1)
NUMBER(stream_lost, health, lost_bytes, 1)
NUMBER(stream_late, health, late_samples, 1)
NUMBER(stream_lag, health, lag_ns, S_PER_NS)
NUMBER(reconnects, health, reconnects, 1)
NUMBER(stream_gap, health, gap_ns, S_PER_NS)
NUMBER(bands_left_out, health, bands_left_out, 1)

/* ---------------------------------------------------------- several at a time */

static void put_info(struct sheet *s, const struct world_target *t)
{
        const Hw__Run *r = t->target ? t->target->run_info : NULL;
        const char *breakdown = NULL;
        char by[64];

        if (!r)
                return;
        if (r->has_breakdown)
                breakdown = lower(by, &hw__breakdown__descriptor, (int)r->breakdown, strlen("BREAKDOWN_"));
        sample(s, t, "", 1, "program", r->program, "ghc_version", r->ghc_version, "rts_way", r->rts_way, "breakdown",
               breakdown, NULL);
}

static void put_state(struct sheet *s, const struct world_target *t)
{
        if (t->target && t->target->has_state)
                state_set(s, t, &hw__target__state__descriptor, (int)t->target->state, strlen("STATE_"), "state", NULL,
                          NULL);
}

static void put_pauses(struct sheet *s, const struct world_target *t)
{
        for (size_t i = 0; t->gc && i < t->gc->n_generations; i++) {
                const Hw__Generation *g = t->gc->generations[i];
                double p50 = g->has_pause_p50_ns ? (double)g->pause_p50_ns * S_PER_NS : NAN;
                double p99 = g->has_pause_p99_ns ? (double)g->pause_p99_ns * S_PER_NS : NAN;
                double most = g->has_pause_max_ns ? (double)g->pause_max_ns * S_PER_NS : NAN;
                double total = g->has_pause_total_ns ? (double)g->pause_total_ns * S_PER_NS : NAN;
                char number[16];

                (void)snprintf(number, sizeof(number), "%" PRIu32, g->generation);
                sample(s, t, "", p50, "generation", number, "quantile", "0.5", NULL);
                sample(s, t, "", p99, "generation", number, "quantile", "0.99", NULL);
                sample(s, t, "", most, "generation", number, "quantile", "1", NULL);
                sample(s, t, "_sum", total, "generation", number, NULL);
                sample(s, t, "_count", g->has_count ? (double)g->count : NAN, "generation", number, NULL);
        }
}

/* Two bands may have one label: the id tells them apart. */
static void put_bands(struct sheet *s, const struct world_target *t)
{
        const struct world_band *bands[METRICS_BANDS];
        size_t n = world_top_bands(t, bands, METRICS_BANDS);

        for (size_t i = 0; i < n; i++) {
                char id[16];

                (void)snprintf(id, sizeof(id), "%" PRIu32, bands[i]->id);
                sample(s, t, "", (double)bands[i]->bytes, "band", bands[i]->def->label, "id", id, NULL);
        }
}

/* Of the series whose unit is bytes. */
static void each_trend(struct sheet *s, const struct world_target *t,
                       void (*put)(struct sheet *, const struct world_target *, const char *, const Hw__Trend *))
{
        for (size_t i = 0; i < WORLD_SERIES; i++) {
                if (t->trends[i] && !strcmp(hw_series_unit((Hw__Series)i), "B"))
                        put(s, t, hw_series_name((Hw__Series)i), t->trends[i]);
        }
}

static void put_verdict_of(struct sheet *s, const struct world_target *t, const char *series, const Hw__Trend *trend)
{
        if (trend->has_verdict)
                state_set(s, t, &hw__verdict__descriptor, (int)trend->verdict, strlen("VERDICT_"), "verdict", "series",
                          series);
}

static void put_verdicts(struct sheet *s, const struct world_target *t)
{
        each_trend(s, t, put_verdict_of);
}

static void put_slope_of(struct sheet *s, const struct world_target *t, const char *series, const Hw__Trend *trend)
{
        if (trend->has_slope_low)
                sample(s, t, "", trend->slope_low, "series", series, "bound", "low", NULL);
        if (trend->has_slope)
                sample(s, t, "", trend->slope, "series", series, "bound", "mid", NULL);
        if (trend->has_slope_high)
                sample(s, t, "", trend->slope_high, "series", series, "bound", "high", NULL);
}

static void put_slopes(struct sheet *s, const struct world_target *t)
{
        each_trend(s, t, put_slope_of);
}

static void put_time_to_limit(struct sheet *s, const struct world_target *t)
{
        const Hw__TimeToLimit *l = t->trend_state ? t->trend_state->time_to_limit : NULL;

        if (l && l->has_low_ns) {
                sample(s, t, "", (double)l->low_ns * S_PER_NS, "bound", "low", NULL);
                sample(s, t, "", l->has_high_ns ? (double)l->high_ns * S_PER_NS : INFINITY, "bound", "high", NULL);
        }
}

static double limit(const struct world_target *t)
{
        const Hw__Trends *l = t->trend_state;

        return l && l->has_limit_bytes ? (double)l->limit_bytes : NAN;
}

/* As Prometheus' own ALERTS: pending and firing ones. */
static void put_alerts(struct sheet *s, const struct world_target *t)
{
        for (size_t i = 0; t->alerts && i < t->alerts->n_alerts; i++) {
                const Hw__Alert *a = t->alerts->alerts[i];
                char band[16];

                if (a->state != HW__ALERT__STATE__STATE_PENDING && a->state != HW__ALERT__STATE__STATE_FIRING)
                        continue;
                (void)snprintf(band, sizeof(band), "%" PRIu32, a->band);
                sample(s, t, "", 1, "alertname", a->rule ? a->rule : "", "severity", a->severity, "state",
                       known_state_name(a), "band", a->has_band ? a->band_label : NULL, "id", a->has_band ? band : NULL,
                       "part_of", a->part_of, NULL);
        }
}

/* ------------------------------------------------------------------ the sheet */

static const struct family families[] = {
        { "heapwatch_target_info", "gauge", "Who runs.", put_info, NULL },
        { "heapwatch_target_state", "gauge", "1 for the state that a target is in.", put_state, NULL },
        { "heapwatch_runs_total", "counter", "Runs of the program seen.", NULL, runs },
        { "heapwatch_live_bytes", "gauge", "Live data after the last major collection.", NULL, live },
        { "heapwatch_live_max_bytes", "gauge", "Maximum residency of this run.", NULL, live_most },
        { "heapwatch_heap_size_bytes", "gauge", "Memory that the runtime holds in megablocks.", NULL, heap_size },
        { "heapwatch_blocks_size_bytes", "gauge", "Memory in blocks in use.", NULL, blocks_size },
        { "heapwatch_allocated_bytes_total", "counter", "Bytes allocated by the program.", NULL, allocated },
        { "heapwatch_resident_bytes", "gauge", "Resident set size of the process.", NULL, rss },
        { "heapwatch_proportional_bytes", "gauge", "Proportional set size of the process.", NULL, pss },
        { "heapwatch_swap_bytes", "gauge", "Swapped out memory of the process.", NULL, swap },
        { "heapwatch_cpu_seconds_total", "counter", "User and system time of the process.", NULL, cpu },
        { "heapwatch_cgroup_bytes", "gauge", "Memory of the cgroup that limits the process.", NULL, cgroup },
        { "heapwatch_cgroup_limit_bytes", "gauge", "Its limit; absent when there is none.", NULL, cgroup_limit },
        { "heapwatch_gc_pause_seconds", "summary", "Pauses of this run by generation.", put_pauses, NULL },
        { "heapwatch_gc_share_ratio", "gauge", "Share of time in collections, last 10 s.", NULL, gc_share },
        { "heapwatch_gc_sync_seconds_total", "counter", "Waiting for capabilities to stop.", NULL, gc_sync },
        { "heapwatch_gc_copied_bytes_total", "counter", "Bytes copied by collections.", NULL, copied },
        { "heapwatch_gc_slop_bytes", "gauge", "Slop at the last collection.", NULL, slop },
        { "heapwatch_gc_fragmentation_bytes", "gauge", "Fragmentation at the last collection.", NULL, fragmentation },
        { "heapwatch_census_bytes", "gauge", "Sum of the newest heap profile sample.", NULL, census },
        { "heapwatch_band_bytes", "gauge", "The largest bands of the newest heap profile sample.", put_bands, NULL },
        { "heapwatch_threads_created_total", "counter", "Haskell threads made.", NULL, threads_created },
        { "heapwatch_threads_finished_total", "counter", "Haskell threads that ended.", NULL, threads_finished },
        { "heapwatch_verdict", "gauge", "1 for the verdict on a series.", put_verdicts, NULL },
        { "heapwatch_slope_bytes_per_second", "gauge", "Robust slope and its interval.", put_slopes, NULL },
        { "heapwatch_limit_bytes", "gauge", "The least memory limit that is known.", NULL, limit },
        { "heapwatch_time_to_limit_seconds", "gauge", "Until the limit is met.", put_time_to_limit, NULL },
        { "heapwatch_alert", "gauge", "1 for each alert that is pending or firing.", put_alerts, NULL },
        { "heapwatch_stream_bytes_total", "counter", "Bytes of eventlog read.", NULL, stream_bytes },
        { "heapwatch_stream_events_total", "counter", "Events decoded.", NULL, stream_events },
        { "heapwatch_stream_lost_bytes_total", "counter", "Bytes lost to damage.", NULL, stream_lost },
        { "heapwatch_stream_late_samples_total", "counter", "Samples too late for their bucket.", NULL, stream_late },
        { "heapwatch_stream_lag_seconds", "gauge", "How far the stream is behind.", NULL, stream_lag },
        { "heapwatch_stream_reconnects_total", "counter", "Times that the source came back.", NULL, reconnects },
        { "heapwatch_stream_gap_seconds", "gauge",
          "Event time of this run that passed while its connection was broken.", NULL, stream_gap },
        { "heapwatch_bands_left_out", "gauge", "Bands beyond the daemon's limit.", NULL, bands_left_out },
};

static const struct family daemon_up = { "heapwatch_daemon_up", "gauge", "1 while a daemon is heard.", NULL, NULL };
static const struct family longest_turn = { "heapwatch_daemon_longest_turn_seconds", "gauge",
                                            "Processor time of the longest turn of its loop since its start.", NULL,
                                            NULL };
static const struct family recent_turn = { "heapwatch_daemon_recent_turn_seconds", "gauge",
                                           "The same of the last minute or two.", NULL, NULL };
static const struct family loop_time = { "heapwatch_daemon_loop_seconds_total", "counter",
                                         "What the time of its loop went to.", NULL, NULL };

static bool is_stale(const struct sheet *s, size_t daemon)
{
        const struct world_daemon *d = world_daemon(s->source->world, daemon);

        return !d || d->stale;
}

static void print_family(struct sheet *s, const struct family *f)
{
        s->family = f;
        s->begun = false;
        for (size_t i = 0; i < world_targets(s->source->world); i++) {
                const struct world_target *t = world_target(s->source->world, i);

                if (s->source->live && is_stale(s, t->daemon))
                        continue;
                if (f->put)
                        f->put(s, t);
                else
                        sample(s, t, "", f->value(t), NULL);
        }
}

static void put_up(struct sheet *s, const char *endpoint, const struct world_daemon *d)
{
        sample(s, NULL, "", d && !d->stale, "daemon", endpoint, NULL);
}

static double turn_seconds(const Hw__LoopTurn *t)
{
        return t && t->has_cpu_ns ? (double)t->cpu_ns / 1e9 : NAN;
}

static void put_longest_turn(struct sheet *s, const char *endpoint, const struct world_daemon *d)
{
        sample(s, NULL, "", turn_seconds(d->state->longest_turn), "daemon", endpoint, NULL);
}

static void put_recent_turn(struct sheet *s, const char *endpoint, const struct world_daemon *d)
{
        sample(s, NULL, "", turn_seconds(d->state->recent_turn), "daemon", endpoint, NULL);
}

static void put_loop_time(struct sheet *s, const char *endpoint, const struct world_daemon *d)
{
        static const char *const kinds[] = { NULL,      "source", "rules",   "publish",
                                             "request", "reload", "removal", "housekeeping" };

        for (size_t i = 0; i < d->state->n_loop; i++) {
                const Hw__LoopShare *share = d->state->loop[i];
                if (share->kind > 0 && (size_t)share->kind < sizeof(kinds) / sizeof(kinds[0]) && share->has_time_ns)
                        sample(s, NULL, "", (double)share->time_ns / 1e9, "daemon", endpoint, "kind",
                               kinds[share->kind], NULL);
        }
}

typedef void put_daemon(struct sheet *s, const char *endpoint, const struct world_daemon *d);

/* One family of all daemons; those that are silent only say so. */
static void print_daemons_as(struct sheet *s, const struct family *family, put_daemon *put)
{
        s->family = family;
        s->begun = false;
        for (size_t i = 0; s->source->live && i < s->source->n_daemons; i++) {
                const struct world_daemon *d = world_daemon(s->source->world, i);
                if (put == put_up || (d && d->state && !d->stale))
                        put(s, feed_endpoint(s->source->feed, i), d);
        }
}

static void print_daemons(struct sheet *s)
{
        print_daemons_as(s, &daemon_up, put_up);
        print_daemons_as(s, &longest_turn, put_longest_turn);
        print_daemons_as(s, &recent_turn, put_recent_turn);
        print_daemons_as(s, &loop_time, put_loop_time);
}

void metrics_print(FILE *to, const struct state_source *source)
{
        struct sheet s = { .to = to, .source = source };

        print_daemons(&s);
        for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
                print_family(&s, &families[i]);
}
