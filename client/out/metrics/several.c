/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/metrics/metric.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client/answers/alerts/known.h"
#include "client/out/metrics/collect.h"
#include "proto/wire/message.h"
#include "proto/wire/resident_parts.h"

#define S_PER_NS     1e-9
#define NUMBER_BYTES 24

static const char *format_number(char out[NUMBER_BYTES], uint64_t value)
{
        (void)snprintf(out, NUMBER_BYTES, "%" PRIu64, value);
        return out;
}

static const char *known_text(char out[ENUM_TEXT_MAX], const ProtobufCEnumDescriptor *e, int value)
{
        const char *text = enum_text(out, e, value);

        return text ? text : "unknown";
}

/* One sample for each value of an enum: 1 for the one that is, 0 for the others. */
static void put_word(struct metric_out *out, const ProtobufCEnumDescriptor *e, int is, const char *label,
                     const char *other, const char *value)
{
        char name[ENUM_TEXT_MAX];

        for (unsigned i = 0; i < e->n_values; i++)
                metric_put(out, e->values[i].value == is,
                           LABELS({ label, enum_text(name, e, e->values[i].value) }, { other, value }));
}

/* ------------------------------------------------------------- the program */

void put_info(struct metric_out *out, const struct metric_scope *s)
{
        const Hw__Run *r = s->target->target ? s->target->target->run_info : NULL;
        const char *breakdown = NULL;
        char by[ENUM_TEXT_MAX];

        if (!r)
                return;
        if (r->has_breakdown)
                breakdown = known_text(by, &hw__breakdown__descriptor, (int)r->breakdown);
        metric_put(out, 1,
                   LABELS({ "program", r->program }, { "ghc_version", r->ghc_version }, { "rts_way", r->rts_way },
                          { "breakdown", breakdown }));
}

void put_state(struct metric_out *out, const struct metric_scope *s)
{
        const Hw__Target *t = s->target->target;

        if (t && t->has_state)
                put_word(out, &hw__target__state__descriptor, (int)t->state, "state", "", NULL);
}

/* ------------------------------------------------------------- collections */

void put_pauses(struct metric_out *out, const struct metric_scope *s)
{
        static const double quantiles[] = { 0.5, 0.99, 1 };
        const Hw__Gc *gc = s->target->gc;

        for (size_t i = 0; gc && i < gc->n_generations; i++) {
                const Hw__Generation *g = gc->generations[i];
                double values[] = { g->has_pause_p50_ns ? (double)g->pause_p50_ns * S_PER_NS : NAN,
                                    g->has_pause_p99_ns ? (double)g->pause_p99_ns * S_PER_NS : NAN,
                                    g->has_pause_max_ns ? (double)g->pause_max_ns * S_PER_NS : NAN };
                struct metric_points p = { .n = 3,
                                           .at = quantiles,
                                           .values = values,
                                           .sum = g->has_pause_total_ns ? (double)g->pause_total_ns * S_PER_NS : NAN,
                                           .count = g->has_count ? (double)g->count : NAN };
                char generation[NUMBER_BYTES];

                if (gc->counted) /* its collections are no pauses that are known */
                        continue;
                metric_put_points(out, &p, LABELS({ "generation", format_number(generation, g->generation) }));
        }
}

void put_pause_histogram(struct metric_out *out, const struct metric_scope *s)
{
        const Hw__Gc *gc = s->target->gc;

        for (size_t i = 0; gc && i < gc->n_generations; i++) {
                const Hw__Generation *g = gc->generations[i];
                double counts[HISTOGRAM_BOUNDS];
                struct metric_points p = {
                        .n = HISTOGRAM_BOUNDS, .at = histogram_bounds, .values = counts, .pauses = g
                };
                char generation[NUMBER_BYTES];

                if (!g->n_bucket || !g->has_pause_total_ns)
                        continue;
                p.count = histogram_of_pauses(counts, g);
                p.sum = (double)g->pause_total_ns * S_PER_NS;
                metric_put_points(out, &p, LABELS({ "generation", format_number(generation, g->generation) }));
        }
}

void put_collections(struct metric_out *out, const struct metric_scope *s)
{
        const Hw__Gc *gc = s->target->gc;

        for (size_t i = 0; gc && i < gc->n_generations; i++) {
                const Hw__Generation *g = gc->generations[i];
                char generation[NUMBER_BYTES];

                metric_put(out, g->has_count ? (double)g->count : NAN,
                           LABELS({ "generation", format_number(generation, g->generation) }));
        }
}

void put_resident_parts(struct metric_out *out, const struct metric_scope *s)
{
        const Hw__Resident *r = s->target->heap ? s->target->heap->resident : NULL;
        uint64_t bytes;

        for (size_t i = 0; i < RESIDENT_PARTS_N; i++)
                if (resident_part_bytes(r, i, &bytes))
                        metric_put(out, (double)bytes, LABELS({ "part", resident_part_name(i) }));
        if (r && r->has_unknown_bytes)
                metric_put(out, (double)r->unknown_bytes, LABELS({ "part", "not known" }));
}

/* ------------------------------------------------------ profiles, threads */

/* Bands with the same label differ by id. */
void put_bands(struct metric_out *out, const struct metric_scope *s)
{
        struct bands_shown shown;

        if (!bands_choose(&shown, s))
                return;
        for (size_t i = 0; i < shown.n; i++) {
                char id[NUMBER_BYTES];

                metric_put(out, (double)shown.bands[i]->bytes,
                           LABELS({ "band", shown.bands[i]->def->label },
                                  { "id", format_number(id, shown.bands[i]->id) }));
        }
        metric_put(out, (double)shown.other_bytes, LABELS({ "band", "other" }, { "id", "other" }));
}

static void put_capabilities(struct metric_out *out, const struct metric_scope *s, bool collecting)
{
        const Hw__Sched *sched = s->target->sched;

        for (size_t i = 0; sched && i < sched->n_capabilities; i++) {
                const Hw__Capability *c = sched->capabilities[i];
                bool known = collecting ? c->has_gc_ns : c->has_run_ns;
                double ns = (double)(collecting ? c->gc_ns : c->run_ns);
                char name[NUMBER_BYTES];

                metric_put(out, known ? ns * S_PER_NS : NAN, LABELS({ "capability", format_number(name, c->number) }));
        }
}

void put_capability_run(struct metric_out *out, const struct metric_scope *s)
{
        put_capabilities(out, s, false);
}

void put_capability_gc(struct metric_out *out, const struct metric_scope *s)
{
        put_capabilities(out, s, true);
}

void put_sparks(struct metric_out *out, const struct metric_scope *s)
{
        const Hw__Sparks *k = s->target->sched ? s->target->sched->sparks : NULL;

        if (!k)
                return;
        metric_put(out, k->has_created ? (double)k->created : NAN, LABELS({ "fate", "created" }));
        metric_put(out, k->has_dud ? (double)k->dud : NAN, LABELS({ "fate", "dud" }));
        metric_put(out, k->has_overflowed ? (double)k->overflowed : NAN, LABELS({ "fate", "overflowed" }));
        metric_put(out, k->has_converted ? (double)k->converted : NAN, LABELS({ "fate", "converted" }));
        metric_put(out, k->has_collected ? (double)k->collected : NAN, LABELS({ "fate", "collected" }));
        metric_put(out, k->has_fizzled ? (double)k->fizzled : NAN, LABELS({ "fate", "fizzled" }));
}

/* ------------------------------------------------------------------ trends */

/* Of the series whose unit is bytes. */
static void each_trend(struct metric_out *out, const struct metric_scope *s,
                       void (*put)(struct metric_out *, const char *, const Hw__Trend *))
{
        for (size_t i = 0; i < SERIES_COUNT; i++) {
                const Hw__Trend *trend = s->target->trends[i];

                if (trend && !strcmp(hw_series_unit((Hw__Series)i), "B"))
                        put(out, hw_series_name((Hw__Series)i), trend);
        }
}

static void put_verdict_of(struct metric_out *out, const char *series, const Hw__Trend *trend)
{
        if (trend->has_verdict)
                put_word(out, &hw__verdict__descriptor, (int)trend->verdict, "verdict", "series", series);
}

void put_verdicts(struct metric_out *out, const struct metric_scope *s)
{
        each_trend(out, s, put_verdict_of);
}

static void put_slope_of(struct metric_out *out, const char *series, const Hw__Trend *t)
{
        metric_put(out, t->has_slope_low ? t->slope_low : NAN, LABELS({ "series", series }, { "bound", "low" }));
        metric_put(out, t->has_slope ? t->slope : NAN, LABELS({ "series", series }, { "bound", "mid" }));
        metric_put(out, t->has_slope_high ? t->slope_high : NAN, LABELS({ "series", series }, { "bound", "high" }));
}

void put_slopes(struct metric_out *out, const struct metric_scope *s)
{
        each_trend(out, s, put_slope_of);
}

static void put_gained_of(struct metric_out *out, const char *series, const Hw__Trend *t)
{
        metric_put(out, t->has_gained_bytes ? t->gained_bytes : NAN, LABELS({ "series", series }));
}

void put_gained(struct metric_out *out, const struct metric_scope *s)
{
        each_trend(out, s, put_gained_of);
}

/* Unix time, from the run's own clock. */
void put_onset(struct metric_out *out, const struct metric_scope *s)
{
        const Hw__Run *r = s->target->target ? s->target->target->run_info : NULL;

        for (size_t i = 0; r && r->has_start_wall_ns && i < SERIES_COUNT; i++) {
                const Hw__Trend *t = s->target->trends[i];

                if (t && t->has_onset_ns)
                        metric_put(out, (double)(r->start_wall_ns + t->onset_ns) * S_PER_NS,
                                   LABELS({ "series", hw_series_name((Hw__Series)i) }));
        }
}

void put_growth(struct metric_out *out, const struct metric_scope *s)
{
        const Hw__Growth *g = s->target->trend_state ? s->target->trend_state->growth : NULL;

        if (g && g->has_where)
                put_word(out, &hw__growth__where__descriptor, (int)g->where, "where", "", NULL);
}

void put_time_to_limit(struct metric_out *out, const struct metric_scope *s)
{
        const Hw__TimeToLimit *l = s->target->trend_state ? s->target->trend_state->time_to_limit : NULL;

        if (!l || !l->has_low_ns)
                return;
        metric_put(out, (double)l->low_ns * S_PER_NS, LABELS({ "bound", "low" }));
        metric_put(out, l->has_high_ns ? (double)l->high_ns * S_PER_NS : INFINITY, LABELS({ "bound", "high" }));
}

/* Like Prometheus' own ALERTS: pending and firing ones. */
void put_alerts(struct metric_out *out, const struct metric_scope *s)
{
        const Hw__Alerts *list = s->target->alerts;

        for (size_t i = 0; list && i < list->n_alerts; i++) {
                const Hw__Alert *a = list->alerts[i];
                char band[NUMBER_BYTES];

                if (a->state != HW__ALERT__STATE__STATE_PENDING && a->state != HW__ALERT__STATE__STATE_FIRING)
                        continue;
                metric_put(out, 1,
                           LABELS({ "alertname", a->rule ? a->rule : "" }, { "severity", a->severity },
                                  { "state", known_state_name(a) }, { "band", a->has_band ? a->band_label : NULL },
                                  { "id", a->has_band ? format_number(band, a->band) : NULL },
                                  { "part_of", a->part_of }));
        }
}

/* ----------------------------------------------------------------- a daemon */

void put_daemon_info(struct metric_out *out, const struct metric_scope *s)
{
        const Hw__DaemonState *d = s->daemon ? s->daemon->state : NULL;

        if (d && d->version)
                metric_put(out, 1, LABELS({ "version", d->version }));
}

static void each_share(struct metric_out *out, const struct metric_scope *s, bool turns)
{
        const Hw__DaemonState *d = s->daemon ? s->daemon->state : NULL;
        const ProtobufCEnumDescriptor *e = &hw__loop_turn__kind__descriptor;

        for (size_t i = 0; d && i < d->n_loop; i++) {
                const Hw__LoopShare *share = d->loop[i];
                bool known = turns ? share->has_turns : share->has_time_ns;
                char kind[ENUM_TEXT_MAX];

                if (share->kind > 0 && known)
                        metric_put(out, turns ? (double)share->turns : (double)share->time_ns * S_PER_NS,
                                   LABELS({ "kind", known_text(kind, e, (int)share->kind) }));
        }
}

void put_loop_time(struct metric_out *out, const struct metric_scope *s)
{
        each_share(out, s, false);
}

void put_loop_turns(struct metric_out *out, const struct metric_scope *s)
{
        each_share(out, s, true);
}

void put_notifier(struct metric_out *out, const struct metric_scope *s)
{
        const Hw__Notifier *n = s->daemon && s->daemon->state ? s->daemon->state->notifier : NULL;

        if (n && n->has_state)
                put_word(out, &hw__notifier__state__descriptor, (int)n->state, "state", "", NULL);
}
