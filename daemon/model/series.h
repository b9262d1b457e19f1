/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * series.h - one number over time, at four widths: 1 s, 10 s, 1 min, 10 min.
 *
 * Rings grow with the life of the series to a fixed capacity (5 min, 64 min,
 * 6 h, 48 h): a young series takes 1.3 kB, an old one 107 kB, none more. When
 * out of memory a ring stays as it is and forgets sooner.
 */
#ifndef HW_DAEMON_MODEL_SERIES_H
#define HW_DAEMON_MODEL_SERIES_H

#include "daemon/model/window.h"

#define SERIES_WIDTHS 4

enum series_id { /* numbers are those of the wire (hw.Series) */
                 SERIES_LIVE = 1,
                 SERIES_HEAP_SIZE = 2,
                 SERIES_BLOCKS_SIZE = 3,
                 SERIES_ALLOCATED = 4,
                 SERIES_GC_PAUSE = 5,
                 SERIES_COPIED = 6,
                 SERIES_SLOP = 7,
                 SERIES_FRAGMENTATION = 8,
                 SERIES_RSS = 9,
                 SERIES_PSS = 10,
                 SERIES_SWAP = 11,
                 SERIES_CPU = 12,
                 SERIES_CGROUP = 13,
                 SERIES_CENSUS_TOTAL = 14,
                 SERIES_OFF_HEAP = 15,
                 SERIES_COUNT = 16
};

struct series {
        struct window windows[SERIES_WIDTHS]; /* rising width */
        struct bucket total;                  /* since the run began */
        uint64_t late;                        /* samples that came after their finest bucket had gone */
        size_t memory_bytes;                  /* of all rings; 0: not born */
};

/* Returns 0 or -ENOMEM. */
int series_init(struct series *s);
void series_done(struct series *s);

/* Forgets all samples: a new run. */
void series_clear(struct series *s);

/* Allocates only where a ring grows: each doubles until it has its capacity. */
void series_push(struct series *s, uint64_t time_ns, double value);

/* One point of a history: a stretch that holds samples. */
struct series_point {
        uint64_t time_ns; /* start of the stretch */
        uint64_t width_ns;
        struct bucket bucket;
};

/*
 * Points of [from_ns, to_ns) in rising time, at most `max` of them, each at
 * least step_ns wide (0: as fine as is kept). Uses the finest width whose ring
 * still reaches back to from_ns, else the widest. Empty stretches give no
 * point. Returns their number.
 */
size_t series_history(const struct series *s, uint64_t from_ns, uint64_t to_ns, uint64_t step_ns,
                      struct series_point *points, size_t max);

/* The finest ring that has all there is from from_ns on, else the widest. */
unsigned series_ring(const struct series *s, uint64_t from_ns);

/* Merges the buckets of index from .. end - 1 of a ring into *ret. */
void series_merge(const struct series *s, unsigned ring, uint64_t from, uint64_t end, struct bucket *ret);

/*
 * Merge of the buckets that begin in [from_ns, to_ns), of the finest window that
 * still reaches back to from_ns, else of the widest; ret->moments.n == 0 when
 * there are none. From 0 to a time behind the newest sample it is the whole run.
 */
void series_span(const struct series *s, uint64_t from_ns, uint64_t to_ns, struct bucket *ret);

/* Merge of the finest window over the last span_ns before now_ns. */
void series_recent(const struct series *s, uint64_t now_ns, uint64_t span_ns, struct bucket *ret);

#endif
