/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * series_sketch.h - quantile sketches of one series, and the area under it.
 *
 * A pyramid of four levels (1 min, 5 min, 30 min, 2 h wide; a little longer than 10 min, 1 h, 6 h, 24 h) and one cell
 * for the whole run. A cell is a sketch of 5 bits (proto/base/sketch.h): a quantile is within 1/64 of an actual value.
 * Memory grows with the number of distinct values, to about 10 kB for a day's series.
 *
 * Values are counted where they come in one minute, then in the cells that this minute lies in: see `minute`.
 *
 * The area is that under the line through the samples as they came, in the cell of the later one; a sample older than
 * its predecessor adds nothing.
 *
 * All bytes 0 is a series without samples.
 */
#pragma once

#include "daemon/model/image/containers.h"
#include "proto/facts/pyramid.h"
#include "proto/base/sketch.h"

struct sketch_slice {
        struct sketch sketch;
        double area;
};

struct series_sketch {
        struct pyramid slices;
        struct sketch_slice total;
        uint64_t last_ns; /* newest sample; valid when there is one */
        double last;
        struct sketch minute; /* of the samples that came last, all of one minute: no cell has counted them yet */
        double minute_area;   /* below them */
        uint64_t minute_ns;   /* time of one of them */
        size_t cells_bytes;   /* held by the cells' sketches; that of `minute` depends on who has read when */
};

void series_sketch_done(struct series_sketch *s);

void series_sketch_push(struct series_sketch *s, uint64_t time_ns, uint64_t value);

/* Over the slices that begin in a range, at least the newest of these; from 0: the whole run. NaN without samples. */
double series_sketch_quantile(struct series_sketch *s, struct time_range range, double q);
double series_sketch_area(struct series_sketch *s, struct time_range range);

/* See daemon/model/image/image.h; the struct itself has been walked. */
void series_sketch_image(struct image *im, struct series_sketch *s);

/* Memory beside the struct. */
size_t series_sketch_held(const struct series_sketch *s);
