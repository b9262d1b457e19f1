/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.h - what the model's sink hands over between two messages: samples,
 * collections, bands to define, notes to pass on.
 *
 * Samples and collections are copied, into arrays that grow to the size of one
 * message and stay until gathered_shrink. Bands and notes are only remembered
 * by number: the model keeps them. "Full" always means: send, then continue.
 */
#ifndef HW_DAEMON_PUBLISH_GATHER_H
#define HW_DAEMON_PUBLISH_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/publish/limits.h"
#include "daemon/model/gc.h"
#include "daemon/model/series.h"

/* Samples of one series, ready to be packed. */
struct gathered_samples {
        uint64_t *times_ns, *values;
        uint32_t n, capacity;
        uint64_t dropped; /* when out of memory */
};

struct gathered_collections {
        struct collection *rows;
        uint32_t n, capacity;
        uint64_t dropped;
};

struct gathered {
        struct gathered_samples samples[SERIES_COUNT]; /* by enum series_id */
        bool any_samples;
        struct gathered_collections collections;
        uint32_t bands[LIMIT_BANDS_PER_UPDATE];
        uint32_t n_bands;
        uint64_t notes_sent, notes_last; /* numbers; those in between wait */
};

void gathered_init(struct gathered *g);
void gathered_done(struct gathered *g);

/* A run begins: empties everything, keeps the memory. */
void gathered_clear(struct gathered *g);

/* False when the message is full. When out of memory the sample is counted as dropped, and the result is true. */
bool gather_sample(struct gathered *g, enum series_id series, uint64_t time_ns, uint64_t value);
bool gather_collection(struct gathered *g, const struct collection *collection);
bool gather_band(struct gathered *g, uint32_t id);

/* Frees arrays that a burst has made large and that are empty now. */
void gathered_shrink(struct gathered *g);

/* Empties what has been sent. */
void gathered_samples_sent(struct gathered *g);
void gathered_collections_sent(struct gathered *g);

#endif
