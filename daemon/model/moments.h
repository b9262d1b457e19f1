/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * moments.h - what the model keeps of the samples of an interval: count, min, max, last and the co-moments of (time,
 * value). Moments merge exactly (Chan, Golub, LeVeque 1979), so a regression over any range is a merge of buckets.
 */
#ifndef HW_DAEMON_MODEL_MOMENTS_H
#define HW_DAEMON_MODEL_MOMENTS_H

#include "proto/base/cell.h"

/* Moments of the pairs (t, v): t in seconds since the run began, v in the series' unit. */
struct moments {
        uint64_t n;
        double t_mean, v_mean;
        double m_tt, m_tv, m_vv; /* sums of products of deviations from the means */
};

void moments_add(struct moments *m, double t_s, double v);

/* *m becomes the moments of both sets together. */
void moments_merge(struct moments *m, const struct moments *other);

struct bucket {
        struct moments moments; /* moments.n == 0: empty */
        double min, max;
        double last; /* value at last_time_ns */
        uint64_t last_time_ns;
};

/* Adds a sample; t_s is time_ns in seconds, computed once for the buckets of all levels. */
void bucket_add_at(struct bucket *b, uint64_t time_ns, double t_s, double value);

static inline void bucket_add(struct bucket *b, uint64_t time_ns, double value)
{
        bucket_add_at(b, time_ns, (double)time_ns / 1e9, value);
}

/* Adds one bucket to another. */
void bucket_merge(struct bucket *b, const struct bucket *other);

/* A bucket as a cell of a pyramid. */
bool bucket_cell_is_empty(const void *cell);
void bucket_cell_reset(void *cell);
void bucket_cell_merge(void *to, const void *from);

#define BUCKET_CELL                                                                                                    \
        {                                                                                                              \
                sizeof(struct bucket), bucket_cell_is_empty, bucket_cell_reset, bucket_cell_merge, NULL                \
        }

#endif
