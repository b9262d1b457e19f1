/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/metrics/collect.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/world/state/world.h"
#include "heapwatch/text.h"
#include "proto/base/text_out.h"

/* What is kept for one target. */
struct shown {
        struct kept_of of;
        size_t samples; /* in this walk */
        uint64_t left_out;
        uint32_t *bands;
};

struct metrics {
        struct metrics_options options;
        struct kept targets;
};

/* What `put` of a row writes to. */
struct metric_out {
        struct metrics *m;
        const struct metrics_source *source;
        const struct metric *metric;
        struct shown *shown; /* the target's; NULL: of no target */
        struct metric_scope scope;
        size_t daemon;
        metric_taker *take;
        void *ctx;
};

static const struct metric left_out = NUMBER("heapwatch_series_left_out", GAUGE, NONE, NULL,
                                             "Samples of this target beyond the limit.", "this client");

static void shown_drop(void *entry)
{
        free(((struct shown *)entry)->bands);
}

struct metrics *metrics_new(const struct metrics_options *options)
{
        struct metrics *m = calloc(1, sizeof(*m));

        if (!m)
                return NULL;
        m->options = *options;
        m->targets = (struct kept){ .size = sizeof(struct shown), .drop = shown_drop };
        if (!m->options.bands)
                m->options.bands = METRICS_BANDS;
        if (m->options.bands > BANDS_MOST)
                m->options.bands = BANDS_MOST;
        if (!m->options.series)
                m->options.series = METRICS_SERIES;
        return m;
}

void metrics_destroy(struct metrics **m)
{
        if (!*m)
                return;
        kept_clear(&(*m)->targets);
        free(*m);
        *m = NULL;
}

/* ------------------------------------------------- what was shown, by target */

/*
 * Entries of a new run lose their bands, whose ids are new. When out of memory the list is dropped, and all bands are
 * chosen again.
 */
static void follow_world(struct metrics *m, const struct world *w)
{
        if (!kept_follow(&m->targets, w))
                kept_clear(&m->targets);
        for (size_t i = 0; i < m->targets.n; i++) {
                struct shown *s = kept_entry(&m->targets, i);
                uint32_t run = world_target(w, i)->run;

                s->samples = 0;
                s->left_out = 0;
                if (!s->bands)
                        s->bands = calloc(m->options.bands, sizeof(*s->bands));
                else if (s->of.run != run)
                        memset(s->bands, 0, m->options.bands * sizeof(*s->bands));
                s->of.run = run;
        }
}

/* ---------------------------------------------------------------- one sample */

size_t metric_label_text(char out[METRIC_VALUE_MAX], const char *value)
{
        char clean[METRIC_VALUE_MAX];

        (void)hw_utf8_clean(clean, sizeof(clean), value, strlen(value));
        return hw_terminal_text(out, METRIC_VALUE_MAX, clean);
}

static bool room_left(struct metric_out *o, size_t needed)
{
        struct shown *s = o->shown;

        if (!s)
                return true;
        if (s->samples + needed > o->m->options.series) {
                s->left_out += needed;
                return false;
        }
        s->samples += needed;
        return true;
}

static void emit_sample(struct metric_out *o, double value, const struct metric_points *points,
                        const struct metric_label *labels)
{
        struct metric_label all[METRIC_LABELS_MAX + 2];
        const struct world_target *t = o->scope.target;
        const Hw__Run *run = t && t->target ? t->target->run_info : NULL;
        const Hw__DaemonState *d = o->scope.daemon ? o->scope.daemon->state : NULL;
        struct metric_sample s = { .metric = o->metric, .labels = all, .value = value, .points = points };

        if (t) {
                s.target = t->name;
                all[s.n_labels++] = (struct metric_label){ "target", t->name };
        }
        if (o->scope.sink)
                all[s.n_labels++] = (struct metric_label){ "sink", o->scope.sink->name };
        else if (!t || o->source->n_daemons > 1)
                all[s.n_labels++] =
                        (struct metric_label){ "daemon", o->source->daemon_name(o->source->ctx, o->daemon) };
        for (; labels && labels->name && s.n_labels < METRIC_LABELS_MAX + 2; labels++)
                if (labels->value)
                        all[s.n_labels++] = *labels;
        if (o->scope.sink)
                s.start_wall_ns = o->source->sinks_wall_ns;
        else if (run && run->has_start_wall_ns)
                s.start_wall_ns = run->start_wall_ns;
        else if (!t && d && d->has_started_wall_ns)
                s.start_wall_ns = d->started_wall_ns;
        o->take(o->ctx, &s);
}

void metric_put(struct metric_out *out, double value, const struct metric_label *labels)
{
        if (!isnan(value) && room_left(out, 1))
                emit_sample(out, value, NULL, labels);
}

void metric_put_points(struct metric_out *out, const struct metric_points *points, const struct metric_label *labels)
{
        if (!isnan(points->count) && room_left(out, points->n + 3))
                emit_sample(out, NAN, points, labels);
}

/* ---------------------------------------------------------------- the walk */

/* In seconds where the fact is in nanoseconds. */
static double base_value(const struct world_target *t, enum fact id)
{
        const enum fact_unit unit = fact_rows[id].unit;

        return facts_get(t, id) * (unit == FACT_NS || unit == FACT_WALL ? 1e-9 : 1);
}

static void put_metric(struct metric_out *o)
{
        const struct metric *m = o->metric;

        if (m->put)
                m->put(o, &o->scope);
        else
                metric_put(o, m->fact ? base_value(o->scope.target, m->fact) : m->value(&o->scope), NULL);
}

static bool is_silent(const struct metrics_source *source, size_t daemon)
{
        const struct world_daemon *d = world_daemon(source->world, daemon);

        return source->live && (!d || d->stale);
}

static void of_targets(struct metric_out *o)
{
        for (size_t i = 0; i < o->m->targets.n; i++) {
                const struct world_target *t = world_target(o->source->world, i);

                if (is_silent(o->source, t->daemon))
                        continue;
                o->shown = kept_entry(&o->m->targets, i);
                o->daemon = t->daemon;
                o->scope = (struct metric_scope){ .target = t,
                                                  .daemon = world_daemon(o->source->world, t->daemon),
                                                  .bands = o->m->options.bands,
                                                  .chosen_bands = o->shown->bands };
                put_metric(o);
        }
        o->shown = NULL;
}

/* For a silent daemon only the first row, which says so. */
static void of_daemons(struct metric_out *o)
{
        for (size_t i = 0; o->source->live && i < o->source->n_daemons; i++) {
                if (o->metric != metrics_of_daemon && is_silent(o->source, i))
                        continue;
                o->daemon = i;
                o->scope = (struct metric_scope){ .daemon = world_daemon(o->source->world, i) };
                put_metric(o);
        }
}

static void of_sinks(struct metric_out *o)
{
        for (size_t i = 0; i < o->source->n_sinks; i++) {
                o->scope = (struct metric_scope){ .sink = &o->source->sinks[i] };
                put_metric(o);
        }
}

static void each_row(struct metric_out *o, const struct metric *rows, void (*of)(struct metric_out *))
{
        for (; rows->name; rows++) {
                o->metric = rows;
                of(o);
        }
}

void metrics_collect(struct metrics *m, const struct metrics_source *source, metric_taker *take, void *ctx)
{
        struct metric_out o = { .m = m, .source = source, .take = take, .ctx = ctx };

        follow_world(m, source->world);
        each_row(&o, metrics_of_daemon, of_daemons);
        each_row(&o, metrics_of_target, of_targets);
        each_row(&o, metrics_of_sink, of_sinks);
        /* After all others, and beyond any limit. */
        o.metric = &left_out;
        for (size_t i = 0; i < o.m->targets.n; i++) {
                const struct world_target *t = world_target(o.source->world, i);
                const struct shown *s = kept_entry(&o.m->targets, i);

                o.daemon = t->daemon;
                o.scope = (struct metric_scope){ .target = t };
                if (s->left_out && !is_silent(o.source, t->daemon))
                        emit_sample(&o, (double)s->left_out, NULL, NULL);
        }
}

/* ------------------------------------------------------------------ its parts */

static void pass_part(const struct metric_sample *s, metric_part_taker *take, void *ctx, const char *suffix,
                      const char *label, const char *at, double value)
{
        struct metric_part part = { .suffix = suffix, .label = { label, at }, .value = value };

        if (!isnan(value))
                take(ctx, s, &part);
}

void metric_flatten(const struct metric_sample *s, metric_part_taker *take, void *ctx)
{
        const struct metric_points *p = s->points;
        bool histogram = s->metric->type == METRIC_HISTOGRAM;
        char at[DECIMAL_MAX];

        if (!p) {
                pass_part(s, take, ctx, "", NULL, NULL, s->value);
                return;
        }
        for (size_t i = 0; i < p->n; i++)
                pass_part(s, take, ctx, histogram ? "_bucket" : "", histogram ? "le" : "quantile",
                          decimal_shortest(at, p->at[i]), p->values[i]);
        if (histogram)
                pass_part(s, take, ctx, "_bucket", "le", "+Inf", p->count);
        pass_part(s, take, ctx, "_sum", NULL, NULL, p->sum);
        pass_part(s, take, ctx, "_count", NULL, NULL, p->count);
}
