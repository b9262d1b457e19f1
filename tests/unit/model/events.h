/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * events.h - synthetic events, and a sink that records what it receives.
 *
 *     struct feed f;
 *     feed_open(&f);
 *     ev(&f, HW_GC_START, 0, 1000, "");
 *     ev(&f, HW_HEAP_LIVE, 0, 1500, "48", U(0), U(4096));
 *
 * The layout is one character a field: 1 2 4 8 for that many bytes of a U(),
 * t for a text without, z for one with a NUL at its end.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/model/model.h"

#define U(x)   ((uint64_t)(x))
#define NONE   HW_CAP_NONE
#define SECOND UINT64_C(1000000000)

struct feed {
        struct model *m;
        uint64_t offset;
        uint8_t payload[70000];
        /* what the sink received */
        unsigned n_bands, n_censuses, n_notes, n_collections, n_samples[SERIES_COUNT];
        uint64_t newest_sample[SERIES_COUNT];
        struct band band;
        struct census census;
        struct census_row rows[64];
        struct note note;
        struct collection collection;
};

static inline void told_band(void *ctx, const struct band *band)
{
        struct feed *f = ctx;

        f->n_bands++;
        f->band = *band;
}

static inline void told_census(void *ctx, const struct census *census)
{
        struct feed *f = ctx;

        f->n_censuses++;
        f->census = *census;
        for (uint32_t i = 0; i < census->n_rows && i < 64; i++)
                f->rows[i] = census->rows[i];
}

static inline void told_note(void *ctx, const struct note *note)
{
        struct feed *f = ctx;

        f->n_notes++;
        f->note = *note;
}

static inline void told_collection(void *ctx, const struct collection *collection)
{
        struct feed *f = ctx;

        f->n_collections++;
        f->collection = *collection;
}

static inline void told_sample(void *ctx, enum series_id id, uint64_t time_ns, uint64_t value)
{
        struct feed *f = ctx;

        f->n_samples[id]++;
        f->newest_sample[id] = value;
}

static inline void feed_open(struct feed *f)
{
        memset(f, 0, sizeof(*f));
        struct model_sink sink = {
                .ctx = f,
                .band = told_band,
                .census = told_census,
                .note = told_note,
                .collection = told_collection,
                .sample = told_sample,
        };
        f->m = model_new(&sink);
        assert_non_null(f->m);
        model_begin_run(f->m, 1);
}

static inline void feed_close(struct feed *f)
{
        model_destroy(&f->m);
        assert_null(f->m);
}

/* Makes one event; the payload is kept in the feed until the next one. */
static inline struct hw_event make_event(struct feed *f, uint16_t id, uint16_t cap, uint64_t time_ns,
                                         const char *layout, va_list args)
{
        size_t n = 0;

        for (const char *p = layout; *p; p++) {
                if (*p == 't' || *p == 'z') {
                        const char *text = va_arg(args, const char *);
                        size_t size = strlen(text) + (*p == 'z');
                        memcpy(f->payload + n, text, size);
                        n += size;
                        continue;
                }
                uint64_t value = va_arg(args, uint64_t);
                for (int bytes = *p - '0'; bytes > 0; bytes--)
                        f->payload[n++] = (uint8_t)(value >> (bytes - 1) * 8);
        }
        return (struct hw_event){
                .time_ns = time_ns,
                .offset = f->offset,
                .payload = f->payload,
                .size = (uint32_t)n,
                .id = id,
                .cap = cap,
        };
}

static inline void ev(struct feed *f, uint16_t id, uint16_t cap, uint64_t time_ns, const char *layout, ...)
{
        va_list args;

        va_start(args, layout);
        struct hw_event e = make_event(f, id, cap, time_ns, layout, args);
        va_end(args);
        model_events(f->m, &e, 1);
        f->offset += 12 + e.size;
}
