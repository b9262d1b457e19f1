/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * batcher.h - samples as the bytes that a receiver expects, cut into batches.
 *
 * One walk over the tables goes into one batcher, which emits batches as they are full. It knows nothing of how
 * batches are sent.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/out/metrics/collect.h"
#include "proto/base/arena.h"
#include "proto/base/idtable.h"

/*
 * The series of the previous walk, so that the end of each is sent once: a stale marker.
 *
 * Without one a receiver takes the newest value of a series for its current one for minutes. Both versions of remote
 * write demand markers, OpenTelemetry has a flag for them:
 * https://prometheus.io/docs/specs/prw/remote_write_spec/ ("Stale Markers"),
 * https://opentelemetry.io/docs/specs/otel/metrics/data-model/ ("Data point flags").
 *
 * At most SERIES_STORED_MAX (limits.h) are stored, about 250 bytes each. Further ones, and those for which memory is
 * short, end without a marker; none has a marker while it continues.
 */

struct series;

/* All zero: empty. */
struct series_list {
        struct series **items;
        size_t n;
        struct idtable ids; /* index + 1 */
        uint64_t seed, walk;
};

void series_list_done(struct series_list *l);

/* Marks the series of a sample's part, or (NULL) of the sample as a whole, as present in the current walk. */
void series_mark(struct series_list *l, const struct metric_sample *sample, const struct metric_part *part);

/*
 * Ends a walk: calls `take` for each series that was not marked in it, and removes them. The sample is `ended` and has
 * neither values nor counts; the part is NULL where it was.
 */
void series_end_unmarked(struct series_list *l, metric_part_taker *take, void *ctx);

/* One unit to send. `bytes` is in the receiver's format. */
struct batch {
        void *bytes; /* malloc'ed */
        size_t size;
        uint64_t samples;
        uint64_t wall_ns; /* when it was collected */
};

/* Takes over the bytes. */
typedef void batch_taker(void *ctx, struct batch *batch);

/* What all samples of one walk have in common. Borrowed; outlives the walk. */
struct encoding {
        uint64_t wall_ns;
        const struct metric_label *labels; /* further ones for every sample; a sample's own take precedence */
        size_t n_labels;
        batch_taker *take;
        void *ctx;
};

struct batcher;
struct sender_kind;

struct batcher_kind {
        size_t size;      /* of its state, which begins with a struct batcher; the rest is zero at first */
        const char *type; /* Content-Type */
        const struct sender_kind *sender; /* how a batch is sent */
        bool json, native;                /* of OTLP: written as JSON; pauses as exponential histograms */
        void (*sample)(struct batcher *e, const struct metric_sample *sample); /* marks its series */
        metric_part_taker *end;             /* the marker of a series that has ended; ctx is the batcher */
        void (*flush)(struct batcher *e);   /* emits the rest */
        void (*release)(struct batcher *e); /* frees what its state owns besides the arena; NULL: nothing */
};

/* The first member of every batcher. */
struct batcher {
        const struct batcher_kind *kind;
        const struct encoding *now;
        uint64_t no_memory; /* samples of this walk that were lost */
        struct series_list series;
        struct arena arena; /* of the batch that is being made */
        uint64_t n;         /* samples in it */
};

extern const struct batcher_kind batcher_otlp_json, batcher_otlp_native, batcher_otlp_json_native;
#define PULLED(...)
#define SENT(id, kind, batcher, ...) extern const struct batcher_kind batcher;
#include "client/out/export/sinks.def"
#undef PULLED
#undef SENT

/* NULL when out of memory. */
struct batcher *batcher_new(const struct batcher_kind *kind);
void batcher_destroy(struct batcher **e);

/*
 * One walk: calls encoding->take for each batch. Series that the walk before had and this one has not end with a
 * marker; all of them if `m` is NULL. Returns how many samples were lost for lack of memory.
 */
uint64_t batcher_run(struct batcher *e, const struct encoding *encoding, struct metrics *m,
                     const struct metrics_source *source);

/* For batchers: hands over bytes, or counts their samples as lost if there are none (NULL). */
void batcher_give(struct batcher *e, void *bytes, size_t size, uint64_t samples);

/* Whether the sample has a label of its own of that name, which hides the walk's. */
bool batcher_has_label(const struct metric_sample *sample, const char *name);
