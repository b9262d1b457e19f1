/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * encode_remote_write.c - Prometheus remote write 2.0: a snappy block of a Request, one series per sample.
 *
 * DESIGN: series are built in an arena until a batch is full, with each text once, then packed and compressed at once.
 * Histograms are sent as their classic parts, which every receiver and dashboard knows, and those of pauses also as a
 * native one. Receivers that take less get less of it: remote_write.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/export/batcher.h"
#include "client/out/export/limits.h"
#include "client/out/export/remote_write.pb-c.h"
#include "client/out/export/sender.h"
#include "client/out/metrics/metric.h"
#include "proto/base/hash.h"
#include "proto/base/idtable.h"

#define SYMBOLS_MAX    (BATCH_SAMPLES_MAX * 8u) /* more end the batch */
#define SERIES_MAX     (BATCH_SAMPLES_MAX * 2u) /* samples, and native histograms beside them */
#define ZERO_THRESHOLD 1e-9                     /* seconds; pauses are whole nanoseconds */
#define NO_SYMBOL      UINT32_MAX

struct remote_write {
        struct batcher base;
        HwRw__Series *series[SERIES_MAX];
        size_t n_series; /* base.n is without native histograms */
        char *symbols[SYMBOLS_MAX];
        uint32_t n_symbols;
        struct idtable symbol_ids; /* index + 1 */
        uint64_t seed;
};

static void flush_remote_write(struct batcher *e)
{
        struct remote_write *w = (struct remote_write *)e;
        HwRw__Request request = HW_RW__REQUEST__INIT;
        size_t size = 0;

        if (w->n_series) {
                request.symbols = w->symbols;
                request.n_symbols = w->n_symbols;
                request.timeseries = w->series;
                request.n_timeseries = w->n_series;
                void *block = remote_write_seal(&request.base, &size);
                batcher_give(e, block, size, w->base.n);
        }
        arena_reset(&w->base.arena);
        idtable_done(&w->symbol_ids);
        w->n_series = w->n_symbols = 0;
        w->base.n = 0;
}

/* ---------------------------------------------------------------------- texts */

/* The index of a text, or NO_SYMBOL: there is no room for it. */
static uint32_t symbol_of(struct remote_write *w, const char *text)
{
        char clean[METRIC_VALUE_MAX];
        size_t n = metric_label_text(clean, text);
        if (!w->seed)
                w->seed = hash_seed(w) | 1;
        uint64_t hash = hash_bytes(clean, n, w->seed);
        uint32_t at = idtable_start(&w->symbol_ids, hash), id;

        while ((id = idtable_next(&w->symbol_ids, hash, &at)))
                if (!strncmp(w->symbols[id - 1], clean, n) && !w->symbols[id - 1][n])
                        return id - 1;
        if (w->n_symbols == SYMBOLS_MAX)
                return NO_SYMBOL;
        char *copy = arena_strndup(&w->base.arena, clean, n);
        if (!copy || idtable_add(&w->symbol_ids, hash, w->n_symbols + 1) < 0)
                return NO_SYMBOL;
        w->symbols[w->n_symbols] = copy;
        return w->n_symbols++;
}

/* In order of name, as the protocol requires. */
static bool add_label(struct remote_write *w, HwRw__Series *s, const char *name, const char *value)
{
        uint32_t name_ref = symbol_of(w, name), value_ref = symbol_of(w, value), *refs = s->labels_refs;
        size_t at = s->n_labels_refs;

        if (name_ref == NO_SYMBOL || value_ref == NO_SYMBOL)
                return false;
        for (; at > 0 && strcmp(w->symbols[refs[at - 2]], name) > 0; at -= 2) {
                refs[at] = refs[at - 2];
                refs[at + 1] = refs[at - 1];
        }
        refs[at] = name_ref;
        refs[at + 1] = value_ref;
        s->n_labels_refs += 2;
        return true;
}

static bool add_labels(struct remote_write *w, HwRw__Series *s, const struct metric_sample *sample,
                       const struct metric_part *part)
{
        const struct encoding *now = w->base.now;
        char name[METRIC_NAME_MAX + 16];
        bool whole;

        s->labels_refs = arena_calloc(&w->base.arena, (sample->n_labels + now->n_labels + 2) * 2, sizeof(uint32_t));
        if (!s->labels_refs)
                return false;
        (void)snprintf(name, sizeof(name), "%s%s", sample->metric->name, part->suffix);
        whole = add_label(w, s, "__name__", name);
        for (size_t i = 0; whole && i < sample->n_labels; i++)
                if (*sample->labels[i].value) /* an empty value means no label, and would be refused */
                        whole = add_label(w, s, sample->labels[i].name, sample->labels[i].value);
        for (size_t i = 0; whole && i < now->n_labels; i++)
                if (!batcher_has_label(sample, now->labels[i].name))
                        whole = add_label(w, s, now->labels[i].name, now->labels[i].value);
        if (whole && part->label.name)
                whole = add_label(w, s, part->label.name, part->label.value);
        return whole;
}

/* --------------------------------------------------------------------- series */

/* Prometheus' marker of an ended series. A signalling NaN, which must never be loaded as a number. */
static void put_stale_marker(double *to)
{
        static const uint64_t marker = UINT64_C(0x7ff0000000000002);

        memcpy(to, &marker, sizeof(marker));
}

static int64_t now_ms(const struct remote_write *w)
{
        return (int64_t)(w->base.now->wall_ns / 1000000u);
}

static bool describe_series(struct remote_write *w, HwRw__Series *s, const struct metric_sample *sample)
{
        static const int types[] = { [METRIC_COUNTER] = 1,
                                     [METRIC_GAUGE] = 2,
                                     [METRIC_HISTOGRAM] = 3,
                                     [METRIC_SUMMARY] = 5,
                                     [METRIC_INFO] = 6 };
        HwRw__Metadata *m = arena_alloc(&w->base.arena, sizeof(*m));
        bool counts = sample->metric->type != METRIC_GAUGE && sample->metric->type != METRIC_INFO;

        if (!m)
                return false;
        hw_rw__metadata__init(m);
        m->has_type = m->has_help_ref = m->has_unit_ref = true;
        m->type = types[sample->metric->type];
        m->help_ref = symbol_of(w, metric_help(sample->metric) ? metric_help(sample->metric) : "");
        m->unit_ref = symbol_of(w, metric_unit_name(sample->metric->unit));
        s->metadata = m;
        if (counts && sample->start_wall_ns && sample->start_wall_ns < w->base.now->wall_ns) {
                s->has_created_timestamp = true;
                s->created_timestamp = (int64_t)(sample->start_wall_ns / 1000000u);
        }
        return m->help_ref != NO_SYMBOL && m->unit_ref != NO_SYMBOL;
}

/* A series without its values. NULL: there is no room for it. */
static HwRw__Series *make_series(struct remote_write *w, const struct metric_sample *sample,
                                 const struct metric_part *part)
{
        HwRw__Series *s = arena_alloc(&w->base.arena, sizeof(*s));

        if (!s || symbol_of(w, "") != 0)
                return NULL;
        hw_rw__series__init(s);
        return add_labels(w, s, sample, part) && describe_series(w, s, sample) ? s : NULL;
}

static HwRw__Series *with_value(struct remote_write *w, const struct metric_sample *sample,
                                const struct metric_part *part)
{
        HwRw__Series *s = make_series(w, sample, part);
        HwRw__Sample *value = arena_alloc(&w->base.arena, sizeof(*value));
        HwRw__Sample **list = arena_alloc(&w->base.arena, sizeof(*list));

        if (!s || !value || !list)
                return NULL;
        hw_rw__sample__init(value);
        value->has_value = value->has_timestamp = 1;
        value->value = part->value;
        if (sample->ended)
                put_stale_marker(&value->value);
        value->timestamp = now_ms(w);
        *list = value;
        s->samples = list;
        s->n_samples = 1;
        return s;
}

/* ---------------------------------------------------------- native histograms */

/* Buckets that are not empty, in as many spans as there are gaps between them. */
static bool put_buckets(struct remote_write *w, HwRw__Histogram *to, const struct native_histogram *from)
{
        HwRw__BucketSpan *spans = arena_calloc(&w->base.arena, from->n / 2 + 1, sizeof(*spans));
        uint64_t before = 0;
        int next = 0; /* index of the bucket behind the newest span */

        to->positive_spans = arena_calloc(&w->base.arena, from->n / 2 + 1, sizeof(*to->positive_spans));
        to->positive_deltas = arena_calloc(&w->base.arena, from->n + 1, sizeof(*to->positive_deltas));
        if (!spans || !to->positive_spans || !to->positive_deltas)
                return false;
        for (size_t i = 0; i < from->n; i++) {
                if (!from->counts[i])
                        continue;
                int index = from->first + (int)i;
                HwRw__BucketSpan *span = &spans[to->n_positive_spans ? to->n_positive_spans - 1 : 0];
                if (!to->n_positive_spans || index != next) {
                        span = &spans[to->n_positive_spans];
                        hw_rw__bucket_span__init(span);
                        span->has_offset = span->has_length = true;
                        span->offset = index - next;
                        to->positive_spans[to->n_positive_spans++] = span;
                }
                span->length++;
                next = index + 1;
                to->positive_deltas[to->n_positive_deltas++] = (int64_t)(from->counts[i] - before);
                before = from->counts[i];
        }
        return true;
}

static HwRw__Series *with_histogram(struct remote_write *w, const struct metric_sample *sample)
{
        static const struct metric_part whole = { .suffix = "" };
        HwRw__Series *s = make_series(w, sample, &whole);
        HwRw__Histogram *h = arena_alloc(&w->base.arena, sizeof(*h));
        HwRw__Histogram **list = arena_alloc(&w->base.arena, sizeof(*list));
        struct native_histogram from;

        if (!s || !h || !list)
                return NULL;
        native_of_pauses(&from, sample->points->pauses);
        hw_rw__histogram__init(h);
        h->has_count_int = h->has_sum = h->has_schema = h->has_zero_threshold = h->has_zero_count_int = true;
        h->has_timestamp = true;
        h->count_int = from.count;
        h->sum = sample->points->sum;
        if (sample->ended)
                put_stale_marker(&h->sum);
        h->schema = NATIVE_SCHEMA;
        h->zero_threshold = ZERO_THRESHOLD;
        h->zero_count_int = from.zero;
        h->timestamp = now_ms(w);
        *list = h;
        s->histograms = list;
        s->n_histograms = 1;
        return put_buckets(w, h, &from) ? s : NULL;
}

/* ----------------------------------------------------------------- the batcher */

/* A value of the sample, or (NULL) its native histogram. */
static HwRw__Series *series_of(struct remote_write *w, const struct metric_sample *sample,
                               const struct metric_part *part)
{
        return part ? with_value(w, sample, part) : with_histogram(w, sample);
}

static void add_part(void *ctx, const struct metric_sample *sample, const struct metric_part *part)
{
        struct remote_write *w = ctx;

        if (!sample->ended)
                series_mark(&w->base.series, sample, part);
        if (w->base.n == BATCH_SAMPLES_MAX || w->n_series == SERIES_MAX)
                flush_remote_write(&w->base);
        HwRw__Series *s = series_of(w, sample, part);
        if (!s && w->n_series) { /* there is no more room: emit the batch to make some */
                flush_remote_write(&w->base);
                s = series_of(w, sample, part);
        }
        if (s) {
                w->series[w->n_series++] = s;
                w->base.n += part != NULL;
        } else if (part) {
                w->base.no_memory++;
        }
}

static void add_sample(struct batcher *e, const struct metric_sample *sample)
{
        metric_flatten(sample, add_part, e);
        if (sample->points && sample->points->pauses && !isnan(sample->points->sum))
                add_part(e, sample, NULL);
}

static void release_symbols(struct batcher *e)
{
        idtable_done(&((struct remote_write *)e)->symbol_ids);
}

const struct batcher_kind batcher_remote_write = {
        .size = sizeof(struct remote_write),
        .sender = &sender_remote_write,
        .sample = add_sample,
        .end = add_part,
        .flush = flush_remote_write,
        .release = release_symbols,
};
