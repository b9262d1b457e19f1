/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * encode_otlp.c - OpenTelemetry's metrics, as protobuf or as JSON: one tree, written in two ways.
 *
 * DESIGN: a target is a resource, with its name as service.name; it is searched from the previous sample's resource on,
 * since a walk visits targets in the same order for each metric. Everything is in an arena until a batch is full.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/export/batcher.h"
#include "client/out/export/limits.h"
#include "client/out/export/otlp.pb-c.h"
#include "client/out/export/sender.h"
#include "client/out/metrics/metric.h"
#include "proto/base/document.h"
#include "proto/wire/message.h"

#define CUMULATIVE 2
#define NO_VALUE   1 /* flag of a point: the series has ended */

/* A list that grows in the arena. */
struct list {
        void **items;
        size_t n, room;
};

struct open_metric {
        HwOtlp__Metric *metric;
        const struct metric *row;
        bool exponential; /* its points are */
        struct list points;
};

struct open_resource {
        const char *target; /* NULL: of no target */
        struct list list;
};

struct otlp {
        struct batcher base;
        struct list resources; /* struct open_resource */
        size_t at;             /* of the previous sample */
        size_t bytes;          /* about, of its samples */
};

static bool list_add(struct arena *a, struct list *l, void *item)
{
        if (!item)
                return false;
        if (l->n == l->room) {
                size_t room = l->room ? l->room * 2 : 4;
                void **items = arena_calloc(a, room, sizeof(*items));

                if (!items)
                        return false;
                if (l->n)
                        memcpy(items, l->items, l->n * sizeof(*items));
                l->items = items;
                l->room = room;
        }
        l->items[l->n++] = item;
        return true;
}

static char *copy_text(struct arena *a, const char *text)
{
        char clean[METRIC_VALUE_MAX];
        size_t n = metric_label_text(clean, text);

        return arena_strndup(a, clean, n);
}

static HwOtlp__KeyValue *make_attribute(struct arena *a, const char *key, const char *value)
{
        HwOtlp__KeyValue *kv = arena_alloc(a, sizeof(*kv));
        HwOtlp__AnyValue *any = arena_alloc(a, sizeof(*any));

        if (!kv || !any)
                return NULL;
        hw_otlp__key_value__init(kv);
        hw_otlp__any_value__init(any);
        kv->key = copy_text(a, key);
        kv->value = any;
        any->string_value = copy_text(a, value);
        return kv->key && any->string_value ? kv : NULL;
}

/* -------------------------------------------------------- where a sample goes */

static struct open_resource *find_resource(struct otlp *o, const char *target)
{
        size_t n = o->resources.n;

        for (size_t i = 0; i < n; i++) {
                struct open_resource *r = o->resources.items[(o->at + i) % n];

                if (target && r->target ? !strcmp(r->target, target) : r->target == target) {
                        o->at = (o->at + i) % n;
                        return r;
                }
        }
        struct open_resource *r = arena_zalloc(&o->base.arena, sizeof(*r));
        char *name = target ? arena_strndup(&o->base.arena, target, strlen(target)) : NULL;
        if ((target && !name) || !list_add(&o->base.arena, &o->resources, r))
                return NULL;
        r->target = name;
        o->at = n;
        return r;
}

static struct open_metric *find_metric(struct otlp *o, struct open_resource *r, const struct metric *row)
{
        struct open_metric *m = r->list.n ? r->list.items[r->list.n - 1] : NULL;

        if (m && m->row == row)
                return m;
        m = arena_zalloc(&o->base.arena, sizeof(*m));
        if (!m || !(m->metric = arena_alloc(&o->base.arena, sizeof(*m->metric))) ||
            !list_add(&o->base.arena, &r->list, m))
                return NULL;
        hw_otlp__metric__init(m->metric);
        m->row = row;
        m->metric->name = (char *)row->name;
        m->metric->description = (char *)metric_help(row);
        m->metric->unit = (char *)metric_unit_ucum(row->unit);
        return m;
}

/* ------------------------------------------------------------------- points */

static HwOtlp__KeyValue **make_attributes(struct otlp *o, const struct metric_sample *s, size_t *ret_n)
{
        HwOtlp__KeyValue **list = arena_calloc(&o->base.arena, s->n_labels + 1, sizeof(HwOtlp__KeyValue *));

        *ret_n = 0;
        for (size_t i = 0; list && i < s->n_labels; i++) {
                list[*ret_n] = make_attribute(&o->base.arena, s->labels[i].name, s->labels[i].value);
                if (!list[(*ret_n)++])
                        return NULL;
        }
        return list;
}

#define FILL(p, o, s)                                                                                                  \
        do {                                                                                                           \
                (p)->has_time_unix_nano = 1;                                                                           \
                (p)->time_unix_nano = (o)->base.now->wall_ns;                                                          \
                (p)->has_start_time_unix_nano = (s)->start_wall_ns && (s)->metric->type != METRIC_GAUGE;               \
                (p)->start_time_unix_nano = (s)->start_wall_ns;                                                        \
                (p)->has_flags = (s)->ended;                                                                           \
                (p)->flags = NO_VALUE;                                                                                 \
                (p)->attributes = make_attributes(o, s, &(p)->n_attributes);                                           \
        } while (0)

static void *number_point(struct otlp *o, const struct metric_sample *s)
{
        HwOtlp__NumberDataPoint *p = arena_alloc(&o->base.arena, sizeof(*p));

        if (!p)
                return NULL;
        hw_otlp__number_data_point__init(p);
        FILL(p, o, s);
        p->has_as_double = !s->ended;
        p->as_double = s->value;
        return p->attributes ? p : NULL;
}

/* With the count of each bucket, where ours are cumulative. */
static void *histogram_point(struct otlp *o, const struct metric_sample *s)
{
        HwOtlp__HistogramDataPoint *p = arena_alloc(&o->base.arena, sizeof(*p));
        const struct metric_points *of = s->points;
        double before = 0;

        if (!p)
                return NULL;
        hw_otlp__histogram_data_point__init(p);
        FILL(p, o, s);
        p->explicit_bounds = arena_calloc(&o->base.arena, of->n + 1, sizeof(double));
        p->bucket_counts = arena_calloc(&o->base.arena, of->n + 1, sizeof(uint64_t));
        if (!p->attributes || !p->explicit_bounds || !p->bucket_counts)
                return NULL;
        p->n_explicit_bounds = of->n;
        p->n_bucket_counts = of->n + 1;
        for (size_t i = 0; i < of->n; i++) {
                p->explicit_bounds[i] = of->at[i]; /* of ended ones, too: receivers end the series of each bound */
                if (s->ended)
                        continue;
                p->bucket_counts[i] = (uint64_t)(of->values[i] - before);
                before = of->values[i];
        }
        if (!s->ended)
                p->bucket_counts[of->n] = (uint64_t)(of->count - before);
        p->has_count = 1;
        p->count = (uint64_t)of->count;
        p->has_sum = !isnan(of->sum);
        p->sum = of->sum;
        return p;
}

static bool is_native(const struct otlp *o, const struct metric_sample *s)
{
        return o->base.kind->native && s->points && s->points->pauses;
}

/* A bucket's index is one below that of a native histogram of Prometheus: there it names the upper bound. */
static void *exponential_point(struct otlp *o, const struct metric_sample *s)
{
        HwOtlp__ExponentialHistogramDataPoint *p = arena_alloc(&o->base.arena, sizeof(*p));
        HwOtlp__Buckets *buckets = arena_alloc(&o->base.arena, sizeof(*buckets));
        struct native_histogram from;

        if (!p || !buckets)
                return NULL;
        native_of_pauses(&from, s->points->pauses);
        hw_otlp__exponential_histogram_data_point__init(p);
        hw_otlp__buckets__init(buckets);
        FILL(p, o, s);
        buckets->bucket_counts = arena_calloc(&o->base.arena, from.n + 1, sizeof(uint64_t));
        if (!p->attributes || !buckets->bucket_counts)
                return NULL;
        memcpy(buckets->bucket_counts, from.counts, from.n * sizeof(uint64_t));
        buckets->n_bucket_counts = from.n;
        buckets->has_offset = p->has_count = p->has_scale = p->has_zero_count = 1;
        buckets->offset = from.first - 1;
        p->positive = buckets;
        p->scale = NATIVE_SCHEMA;
        p->zero_count = from.zero;
        p->count = from.count;
        p->has_sum = !isnan(s->points->sum);
        p->sum = s->points->sum;
        return p;
}

static void *summary_point(struct otlp *o, const struct metric_sample *s)
{
        HwOtlp__SummaryDataPoint *p = arena_alloc(&o->base.arena, sizeof(*p));
        HwOtlp__ValueAtQuantile *values = arena_calloc(&o->base.arena, s->points->n + 1, sizeof(*values));

        if (!p || !values)
                return NULL;
        hw_otlp__summary_data_point__init(p);
        FILL(p, o, s);
        p->quantile_values = arena_calloc(&o->base.arena, s->points->n + 1, sizeof(HwOtlp__ValueAtQuantile *));
        if (!p->attributes || !p->quantile_values)
                return NULL;
        for (size_t i = 0; i < s->points->n; i++) {
                if (!s->ended && isnan(s->points->values[i]))
                        continue;
                hw_otlp__value_at_quantile__init(&values[i]);
                values[i].has_quantile = values[i].has_value = 1;
                values[i].quantile = s->points->at[i];
                values[i].value = s->ended ? 0 : s->points->values[i];
                p->quantile_values[p->n_quantile_values++] = &values[i];
        }
        p->has_count = 1;
        p->count = (uint64_t)s->points->count;
        p->has_sum = !isnan(s->points->sum);
        p->sum = s->points->sum;
        return p;
}

static void *make_point(struct otlp *o, const struct metric_sample *s)
{
        if (s->metric->type == METRIC_HISTOGRAM)
                return is_native(o, s) ? exponential_point(o, s) : histogram_point(o, s);
        return s->metric->type == METRIC_SUMMARY ? summary_point(o, s) : number_point(o, s);
}

/* --------------------------------------------------------------- the message */

/* Puts the points into the metric, in the message for its type. */
static bool finish_metric(struct arena *a, struct open_metric *m)
{
        HwOtlp__Metric *to = m->metric;
        HwOtlp__Gauge *gauge = arena_alloc(a, sizeof(*gauge));
        HwOtlp__Sum *sum = arena_alloc(a, sizeof(*sum));
        HwOtlp__Histogram *histogram = arena_alloc(a, sizeof(*histogram));
        HwOtlp__ExponentialHistogram *exponential = arena_alloc(a, sizeof(*exponential));
        HwOtlp__Summary *summary = arena_alloc(a, sizeof(*summary));

        if (!gauge || !sum || !histogram || !exponential || !summary)
                return false;
        hw_otlp__gauge__init(gauge);
        hw_otlp__sum__init(sum);
        hw_otlp__histogram__init(histogram);
        hw_otlp__exponential_histogram__init(exponential);
        hw_otlp__summary__init(summary);
        switch (m->row->type) {
        case METRIC_COUNTER:
                to->sum = sum;
                sum->has_aggregation_temporality = sum->has_is_monotonic = 1;
                sum->aggregation_temporality = CUMULATIVE;
                sum->is_monotonic = 1;
                sum->data_points = (HwOtlp__NumberDataPoint **)m->points.items;
                sum->n_data_points = m->points.n;
                break;
        case METRIC_HISTOGRAM:
                if (m->exponential) {
                        to->exponential_histogram = exponential;
                        exponential->has_aggregation_temporality = 1;
                        exponential->aggregation_temporality = CUMULATIVE;
                        exponential->data_points = (HwOtlp__ExponentialHistogramDataPoint **)m->points.items;
                        exponential->n_data_points = m->points.n;
                        break;
                }
                to->histogram = histogram;
                histogram->has_aggregation_temporality = 1;
                histogram->aggregation_temporality = CUMULATIVE;
                histogram->data_points = (HwOtlp__HistogramDataPoint **)m->points.items;
                histogram->n_data_points = m->points.n;
                break;
        case METRIC_SUMMARY:
                to->summary = summary;
                summary->data_points = (HwOtlp__SummaryDataPoint **)m->points.items;
                summary->n_data_points = m->points.n;
                break;
        default:
                to->gauge = gauge;
                gauge->data_points = (HwOtlp__NumberDataPoint **)m->points.items;
                gauge->n_data_points = m->points.n;
        }
        return true;
}

/* The target's name is the service's; labels common to the walk belong to the resource. */
static HwOtlp__Resource *describe_resource(struct otlp *o, const char *target)
{
        const struct encoding *now = o->base.now;
        HwOtlp__Resource *r = arena_alloc(&o->base.arena, sizeof(*r));

        if (!r)
                return NULL;
        hw_otlp__resource__init(r);
        r->attributes = arena_calloc(&o->base.arena, now->n_labels + 1, sizeof(HwOtlp__KeyValue *));
        if (!r->attributes)
                return NULL;
        r->attributes[r->n_attributes++] =
                make_attribute(&o->base.arena, "service.name", target ? target : "heapwatch");
        for (size_t i = 0; i < now->n_labels; i++) {
                const char *name = now->labels[i].name;

                r->attributes[r->n_attributes++] =
                        make_attribute(&o->base.arena, strcmp(name, "host") ? name : "host.name", now->labels[i].value);
        }
        for (size_t i = 0; i < r->n_attributes; i++)
                if (!r->attributes[i])
                        return NULL;
        return r;
}

static HwOtlp__ResourceMetrics *finish_resource(struct otlp *o, const struct open_resource *from)
{
        static HwOtlp__Scope scope = HW_OTLP__SCOPE__INIT;
        HwOtlp__ResourceMetrics *r = arena_alloc(&o->base.arena, sizeof(*r));
        HwOtlp__ScopeMetrics *s = arena_alloc(&o->base.arena, sizeof(*s));
        HwOtlp__ScopeMetrics **list = arena_alloc(&o->base.arena, sizeof(*list));

        if (!r || !s || !list)
                return NULL;
        scope.name = (char *)"heapwatch";
        scope.version = (char *)HEAPWATCH_VERSION;
        hw_otlp__resource_metrics__init(r);
        hw_otlp__scope_metrics__init(s);
        r->resource = describe_resource(o, from->target);
        r->scope_metrics = list;
        r->n_scope_metrics = 1;
        *list = s;
        s->scope = &scope;
        s->metrics = arena_calloc(&o->base.arena, from->list.n, sizeof(HwOtlp__Metric *));
        if (!s->metrics || !r->resource)
                return NULL;
        for (size_t i = 0; i < from->list.n; i++) {
                struct open_metric *m = from->list.items[i];

                if (!finish_metric(&o->base.arena, m))
                        return NULL;
                s->metrics[s->n_metrics++] = m->metric;
        }
        return r;
}

static void *print_request(const HwOtlp__ExportMetricsServiceRequest *request, bool json, size_t *ret_size)
{
        struct document d;

        if (!json) {
                *ret_size = hw_otlp__export_metrics_service_request__get_packed_size(request);
                void *bytes = malloc(*ret_size);
                if (bytes)
                        (void)hw_otlp__export_metrics_service_request__pack(request, bytes);
                return bytes;
        }
        document_open(&d);
        if (d.to)
                json_message(&(struct json_out){ .to = d.to }, &request->base, false);
        bool whole = document_close(&d);
        *ret_size = d.size;
        void *text = whole ? document_detach(&d) : NULL;
        document_done(&d);
        return text;
}

static void flush_otlp(struct batcher *e)
{
        struct otlp *o = (struct otlp *)e;
        HwOtlp__ExportMetricsServiceRequest request = HW_OTLP__EXPORT_METRICS_SERVICE_REQUEST__INIT;
        bool whole = true;
        size_t size = 0;

        if (o->base.n) {
                o->base.arena.max_bytes = 0; /* the batch must be finished, even if little memory is left */
                request.resource_metrics = arena_calloc(&o->base.arena, o->resources.n, sizeof(void *));
                for (size_t i = 0; request.resource_metrics && whole && i < o->resources.n; i++) {
                        HwOtlp__ResourceMetrics *r = finish_resource(o, o->resources.items[i]);

                        request.resource_metrics[request.n_resource_metrics++] = r;
                        whole = r != NULL;
                }
                whole &= request.resource_metrics != NULL;
                void *bytes = whole ? print_request(&request, e->kind->json, &size) : NULL;
                batcher_give(e, bytes, size, o->base.n);
                o->base.arena.max_bytes = BATCHER_BYTES_MAX;
        }
        arena_reset(&o->base.arena);
        o->resources = (struct list){ 0 };
        o->at = 0;
        o->base.n = 0;
        o->bytes = 0;
}

static bool add_point(struct otlp *o, const struct metric_sample *s)
{
        struct open_resource *r = find_resource(o, s->target);
        struct open_metric *m = r ? find_metric(o, r, s->metric) : NULL;

        if (m)
                m->exponential = is_native(o, s);
        return m && list_add(&o->base.arena, &m->points, make_point(o, s));
}

static void add_sample(struct batcher *e, const struct metric_sample *s)
{
        struct otlp *o = (struct otlp *)e;
        size_t bytes = 192 + (s->points ? 1024 + 64 * s->points->n : 0); /* about, as JSON, which is the longest form */

        for (size_t i = 0; i < s->n_labels; i++)
                bytes += 48 + strlen(s->labels[i].name) + strlen(s->labels[i].value);
        if (!s->ended)
                series_mark(&e->series, s, NULL);
        if (o->base.n == BATCH_SAMPLES_MAX || o->bytes + bytes > OTLP_BYTES_MAX)
                flush_otlp(e);
        bool added = add_point(o, s);
        if (!added && o->base.n) {
                flush_otlp(e);
                added = add_point(o, s);
        }
        if (added) {
                o->base.n++;
                o->bytes += bytes;
        } else {
                e->no_memory++;
        }
}

static void end_series(void *ctx, const struct metric_sample *s, const struct metric_part *part)
{
        add_sample(ctx, s);
}

#define KIND(of, ...)                                                                                                  \
        {                                                                                                              \
                .size = sizeof(struct otlp), .type = of, .sender = &sender_otlp, .sample = add_sample,                 \
                .end = end_series, .flush = flush_otlp, __VA_ARGS__                                                    \
        }

const struct batcher_kind batcher_otlp = KIND("application/x-protobuf", .native = false);
const struct batcher_kind batcher_otlp_native = KIND("application/x-protobuf", .native = true);
const struct batcher_kind batcher_otlp_json = KIND("application/json", .json = true);
const struct batcher_kind batcher_otlp_json_native = KIND("application/json", .json = true, .native = true);
