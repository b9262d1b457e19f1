/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * batcher.h - samples as the bytes that a receiver takes, cut into batches.
 *
 * One walk over the tables goes into one batcher, which gives out batches as they are full. It knows nothing of
 * how its batches travel.
 */
#ifndef HW_CLIENT_EXPORT_BATCHER_H
#define HW_CLIENT_EXPORT_BATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/metrics/collect.h"

/* One thing to be sent. `bytes` is the receiver's form of it. */
struct batch {
        void *bytes; /* malloc'ed */
        size_t size;
        uint64_t samples;
        uint64_t wall_ns; /* when it was collected */
};

/* Takes the bytes. */
typedef void batch_taker(void *ctx, struct batch *batch);

/* What is the same for all samples of one walk. Borrowed; outlives the batcher's use. */
struct encoding {
        uint64_t wall_ns;
        const struct metric_label *labels; /* further ones that every sample gets; a sample's own go before */
        size_t n_labels;
        batch_taker *take;
        void *ctx;
};

struct batcher;

struct batcher_kind {
        const char *type;           /* Content-Type, over HTTP */
        const char *const *headers; /* further ones, ended by NULL */
        struct batcher *(*make)(void);
        void (*sample)(struct batcher *e, const struct metric_sample *sample);
        uint64_t (*flush)(struct batcher *e); /* gives out the rest; returns how many samples found no memory */
        void (*destroy)(struct batcher *e);
};

/* What all batchers begin with. */
struct batcher {
        const struct batcher_kind *kind;
        const struct encoding *now;
        uint64_t no_memory; /* samples of this walk */
};

extern const struct batcher_kind batcher_remote_write, batcher_otlp, batcher_otlp_json, batcher_influx,
        batcher_graphite, batcher_statsd;

/* A walk: NULL when out of memory. */
struct batcher *batcher_new(const struct batcher_kind *kind);
void batcher_destroy(struct batcher **e);

/* Calls encoding->take for each batch. Returns how many samples are in none, for want of memory. */
uint64_t batcher_run(struct batcher *e, const struct encoding *encoding, struct metrics *m,
                     const struct metrics_source *source);

/* For batchers: hands bytes over, or counts their samples as lost when there are none (NULL). */
void batcher_give(struct batcher *e, void *bytes, size_t size, uint64_t samples);

/* The value of a label of the sample, else of the walk; and whether the walk's is hidden by a sample's own. */
bool batcher_has_label(const struct metric_sample *sample, const char *name);

#endif
