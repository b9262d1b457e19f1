/* SPDX-License-Identifier: BSD-3-Clause */
/* one_band.h - samples of one band on their way into its windows, as tracker_bands.c sends them. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "daemon/judge/trend/tracker_private.h"

struct one_band {
        struct band_windows windows;
        struct band_interval interval;
        struct band_now now;
};

static inline void one_band_init(struct one_band *b)
{
        *b = (struct one_band){ .interval.n = 0 };
        band_now_init(&b->now);
}

static inline void one_band_end(struct band_windows *w, const struct band_interval *s, const struct band_now *now)
{
        const struct band_samples samples = band_now_samples(s, now);

        if (s->n)
                band_windows_add(w, &samples);
}

static inline void one_band_push(struct one_band *b, uint64_t time_ns, double value)
{
        uint64_t newest_ns = b->interval.newest_ns;

        if (b->interval.n && time_ns < newest_ns) {
                struct band_interval late;
                struct band_now now;
                band_interval_begin(&late, time_ns);
                band_now_init(&now);
                band_now_add(&late, &now, &value, 1, time_ns, 0);
                one_band_end(&b->windows, &late, &now);
                return;
        }
        if (!band_interval_accepts(&b->interval, time_ns)) {
                one_band_end(&b->windows, &b->interval, &b->now);
                b->now.area = 0;
                band_interval_begin(&b->interval, time_ns);
        }
        band_now_add(&b->interval, &b->now, &value, 1, time_ns, (double)(time_ns - newest_ns) / 1e9);
}

static inline void one_band_done(struct one_band *b)
{
        band_windows_done(&b->windows);
}

/* With what waits; to be freed. */
static inline struct band_windows one_band_windows(const struct one_band *b)
{
        struct band_windows w = b->windows;

        w.slices.cells = malloc(rings_held(&w.slices) + 1);
        assert_non_null(w.slices.cells);
        if (b->windows.slices.cells)
                memcpy(w.slices.cells, b->windows.slices.cells, rings_held(&w.slices));
        one_band_end(&w, &b->interval, &b->now);
        return w;
}
