/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/target/pipeline_internal.h"

#include <assert.h>

#define EACH(f, call, ...)                                                                                             \
        do {                                                                                                           \
                const struct fanout *each_f = (f);                                                                     \
                for (unsigned i = 0; i < each_f->n; i++)                                                               \
                        if (each_f->sinks[i].call)                                                                     \
                                each_f->sinks[i].call(each_f->sinks[i].ctx, __VA_ARGS__);                              \
        } while (0)

static void on_band(void *ctx, const struct band *band)
{
        EACH(ctx, band, band);
}

static void on_census(void *ctx, const struct census *census)
{
        EACH(ctx, census, census);
}

static void on_note(void *ctx, const struct note *note)
{
        EACH(ctx, note, note);
}

static void on_collection(void *ctx, const struct collection *collection)
{
        EACH(ctx, collection, collection);
}

static void on_sample(void *ctx, enum series_id series, uint64_t time_ns, uint64_t value)
{
        EACH(ctx, sample, series, time_ns, value);
}

static void on_recorded_end(void *ctx, const char *text, size_t size)
{
        EACH(ctx, recorded_end, text, size);
}

static void on_watermark(void *ctx, uint64_t time_ns)
{
        EACH(ctx, watermark, time_ns);
}

void fanout_add(struct fanout *f, const struct model_sink *sink)
{
        assert(f->n < FANOUT_MAX);
        f->sinks[f->n++] = *sink;
        if (sink->stop)
                f->stop = sink->stop;
}

struct model_sink fanout_sink(struct fanout *f)
{
        return (struct model_sink){
                .ctx = f,
                .band = on_band,
                .census = on_census,
                .note = on_note,
                .collection = on_collection,
                .sample = on_sample,
                .recorded_end = on_recorded_end,
                .watermark = on_watermark,
                .stop = f->stop,
        };
}
