/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * encode_remote_write.c - Prometheus remote write 1.0: a snappy block of a WriteRequest, one series per sample.
 *
 * DESIGN: series are built in an arena until a batch is full, then packed and compressed at once. Histograms are
 * sent as their classic parts.
 */
#include <math.h>
#include <snappy-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/export/batcher.h"
#include "client/export/limits.h"
#include "client/export/remote_write.pb-c.h"
#include "heapwatch/text.h"
#include "proto/base/arena.h"

#define VALUE_BYTES 1024 /* of a label; longer ones are cut */

struct remote_write {
        struct batcher base;
        struct arena arena;
        HwRw__TimeSeries *series[BATCH_SAMPLES_MAX];
        size_t n;
};

static struct batcher *make(void)
{
        struct remote_write *w = calloc(1, sizeof(*w));

        if (!w)
                return NULL;
        arena_init(&w->arena, BATCHER_BYTES_MAX);
        return &w->base;
}

static void destroy(struct batcher *e)
{
        struct remote_write *w = (struct remote_write *)e;

        arena_done(&w->arena);
        free(w);
}

static uint64_t flush(struct batcher *e)
{
        struct remote_write *w = (struct remote_write *)e;
        HwRw__WriteRequest request = HW_RW__WRITE_REQUEST__INIT;

        if (w->n) {
                request.timeseries = w->series;
                request.n_timeseries = w->n;
                size_t size = hw_rw__write_request__get_packed_size(&request);
                size_t room = snappy_max_compressed_length(size);
                uint8_t *packed = malloc(size);
                char *block = malloc(room);

                if (packed && block) {
                        (void)hw_rw__write_request__pack(&request, packed);
                        if (snappy_compress((const char *)packed, size, block, &room) != SNAPPY_OK) {
                                free(block);
                                block = NULL;
                        }
                }
                if (!packed) {
                        free(block);
                        block = NULL;
                }
                free(packed);
                batcher_give(e, block, room, w->n);
        }
        arena_reset(&w->arena);
        w->n = 0;
        return 0;
}

static char *copy(struct remote_write *w, const char *text)
{
        char clean[VALUE_BYTES];
        size_t n = hw_utf8_clean(clean, sizeof(clean), text, strlen(text));

        return arena_strndup(&w->arena, clean, n);
}

/* In order of name, as the protocol requires. */
static bool add_label(struct remote_write *w, HwRw__TimeSeries *t, const char *name, const char *value)
{
        HwRw__Label *label = arena_alloc(&w->arena, sizeof(*label));
        size_t at = t->n_labels;

        if (!label)
                return false;
        hw_rw__label__init(label);
        label->name = copy(w, name);
        label->value = copy(w, value);
        for (; at > 0 && strcmp(t->labels[at - 1]->name, name) > 0; at--)
                t->labels[at] = t->labels[at - 1];
        t->labels[at] = label;
        t->n_labels++;
        return label->name && label->value;
}

static HwRw__TimeSeries *make_series(struct remote_write *w, const struct metric_sample *sample,
                                     const struct metric_part *part)
{
        HwRw__TimeSeries *t = arena_alloc(&w->arena, sizeof(*t));
        HwRw__Sample *s = arena_alloc(&w->arena, sizeof(*s));
        HwRw__Sample **list = arena_alloc(&w->arena, sizeof(*list));
        const struct encoding *now = w->base.now;
        char name[METRIC_NAME_MAX + 16];
        bool whole = t && s && list;

        if (!whole)
                return NULL;
        hw_rw__time_series__init(t);
        hw_rw__sample__init(s);
        s->has_value = s->has_timestamp = 1;
        s->value = part->value;
        s->timestamp = (int64_t)(now->wall_ns / 1000000u);
        *list = s;
        t->samples = list;
        t->n_samples = 1;
        t->labels = arena_calloc(&w->arena, sample->n_labels + now->n_labels + 2, sizeof(HwRw__Label *));
        if (!t->labels)
                return NULL;
        (void)snprintf(name, sizeof(name), "%s%s", sample->name, part->suffix);
        whole = add_label(w, t, "__name__", name);
        for (size_t i = 0; whole && i < sample->n_labels; i++)
                if (*sample->labels[i].value) /* an empty value means no label, and would be refused */
                        whole = add_label(w, t, sample->labels[i].name, sample->labels[i].value);
        for (size_t i = 0; whole && i < now->n_labels; i++)
                if (!batcher_has_label(sample, now->labels[i].name))
                        whole = add_label(w, t, now->labels[i].name, now->labels[i].value);
        if (whole && part->label.name)
                whole = add_label(w, t, part->label.name, part->label.value);
        return whole ? t : NULL;
}

static void take_part(void *ctx, const struct metric_sample *sample, const struct metric_part *part)
{
        struct remote_write *w = ctx;

        if (w->n == BATCH_SAMPLES_MAX)
                (void)flush(&w->base);
        HwRw__TimeSeries *t = make_series(w, sample, part);
        if (!t && w->n) { /* the arena is full: emit the batch to make room */
                (void)flush(&w->base);
                t = make_series(w, sample, part);
        }
        if (t)
                w->series[w->n++] = t;
        else
                w->base.no_memory++;
}

static void take(struct batcher *e, const struct metric_sample *sample)
{
        metric_flatten(sample, take_part, e);
}

static const char *const headers[] = { "Content-Encoding: snappy", "X-Prometheus-Remote-Write-Version: 0.1.0", NULL };

const struct batcher_kind batcher_remote_write = {
        .type = "application/x-protobuf",
        .headers = headers,
        .make = make,
        .sample = take,
        .flush = flush,
        .destroy = destroy,
};
