/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/export/batcher.h"

#include <stdlib.h>
#include <string.h>

#include "client/out/export/limits.h"

struct batcher *batcher_new(const struct batcher_kind *kind)
{
        struct batcher *e = calloc(1, kind->size);

        if (!e)
                return NULL;
        e->kind = kind;
        arena_init(&e->arena, BATCHER_BYTES_MAX);
        return e;
}

void batcher_destroy(struct batcher **ep)
{
        struct batcher *e = *ep;

        *ep = NULL;
        if (!e)
                return;
        if (e->kind->release)
                e->kind->release(e);
        series_list_done(&e->series);
        arena_done(&e->arena);
        free(e);
}

static void on_sample(void *ctx, const struct metric_sample *sample)
{
        struct batcher *e = ctx;

        e->kind->sample(e, sample);
}

uint64_t batcher_run(struct batcher *e, const struct encoding *encoding, struct metrics *m,
                     const struct metrics_source *source)
{
        e->now = encoding;
        e->no_memory = 0;
        if (m)
                metrics_collect(m, source, on_sample, e);
        series_end_unmarked(&e->series, e->kind->end, e);
        e->kind->flush(e);
        e->now = NULL;
        return e->no_memory;
}

void batcher_give(struct batcher *e, void *bytes, size_t size, uint64_t samples)
{
        struct batch b = { .bytes = bytes, .size = size, .samples = samples, .wall_ns = e->now->wall_ns };

        if (bytes)
                e->now->take(e->now->ctx, &b);
        else
                e->no_memory += samples;
}

bool batcher_has_label(const struct metric_sample *sample, const char *name)
{
        for (size_t i = 0; i < sample->n_labels; i++)
                if (!strcmp(sample->labels[i].name, name))
                        return true;
        return false;
}
