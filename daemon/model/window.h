/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.h - rolling windows: a ring of event-time buckets, all of one width.
 *
 * A bucket keeps count, min, max, last and the co-moments of (time, value).
 * Moments merge exactly (Chan, Golub, LeVeque 1979), so a regression over any
 * stretch is a merge of buckets. Samples may come late, as long as their
 * bucket is still in the ring; what comes later than that is the caller's to
 * count. Pure: time is an argument. Nothing is allocated.
 */
#ifndef HW_DAEMON_MODEL_WINDOW_H
#define HW_DAEMON_MODEL_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

struct window {
        struct bucket *buckets; /* capacity of them; bucket of time t is (t / width) % capacity */
        uint64_t width_ns;
        uint32_t capacity;
        uint64_t newest; /* index t / width of the newest bucket; meaningful when !empty */
        uint64_t from;   /* buckets of index from..newest are made; what other slots hold is noise */
        bool empty;
        bool rolled; /* a bucket with samples has left the ring */
};

/*
 * `buckets` (capacity of them, contents do not matter, owned by the caller)
 * outlive the window or the next window_move.
 */
void window_init(struct window *w, struct bucket *buckets, uint32_t capacity, uint64_t width_ns);

/* Goes on in `buckets` of a capacity that is not smaller; the old ones are the caller's again. */
void window_move(struct window *w, struct bucket *buckets, uint32_t capacity);

/* Forgets all samples; touches no bucket. */
void window_clear(struct window *w);

/* False when the sample is older than the ring's oldest bucket: nothing was changed. */
bool window_add(struct window *w, uint64_t time_ns, double value);

/* The bucket of index t / width_ns, or NULL when it is outside the ring or empty. */
const struct bucket *window_at(const struct window *w, uint64_t index);

/* Index of the oldest bucket that the ring could hold now; 0 when it is empty. */
uint64_t window_oldest(const struct window *w);

/* Index of the first bucket that begins at a time or behind it. */
uint64_t window_first(const struct window *w, uint64_t time_ns);

/* Adds the buckets of index from .. end - 1 to *ret, those that there are. */
void window_add_up(const struct window *w, uint64_t from, uint64_t end, struct bucket *ret);

/* Merges all buckets that begin in [from_ns, to_ns) into *ret; ret->moments.n == 0 when there are none. */
void window_merge(const struct window *w, uint64_t from_ns, uint64_t to_ns, struct bucket *ret);

/* Adds a sample to a bucket. */
void bucket_add(struct bucket *b, uint64_t time_ns, double value);

/* The same, for many samples of one time: t_s is time_ns in seconds. */
void bucket_add_at(struct bucket *b, uint64_t time_ns, double t_s, double value);

/* Adds one bucket to another. */
void bucket_merge(struct bucket *b, const struct bucket *other);

#endif
