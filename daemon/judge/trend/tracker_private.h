/* SPDX-License-Identifier: BSD-3-Clause */
/* tracker_private.h - the inside of struct tracker, shared only by the files of the tracker. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/judge/trend/band_sketch.h"
#include "daemon/judge/trend/band_windows.h"
#include "daemon/judge/trend/early_warning.h"
#include "daemon/judge/trend/series_sketch.h"
#include "daemon/judge/trend/tracker.h"

/*
 * The newest samples of all bands, before they go into windows and
 * ladders: a census gives every band a sample of the same time.
 *
 * An interval is a sequence of censuses in order of time that crosses no
 * boundary of a slice of band_windows.h: then it goes into the windows. Each of
 * its minutes goes into the ladders when it is over. Times and counts belong to
 * the interval; what differs from band to band is one cache line per band, so
 * that a sample costs a few additions. Sums are about the first value: they
 * keep their precision at any level.
 */

struct band_interval {
        uint64_t begin_ns; /* time of the first sample */
        uint64_t end_ns;   /* of the interval; exclusive */
        uint64_t newest_ns;
        double t_sum, tt_sum; /* of seconds since begin_ns, and of their squares */
        uint32_t n;           /* samples of each band; 0: not begun */
        uint32_t n_before;    /* of these before its last minute */
};

struct band_now {
        double first;               /* value at begin_ns */
        double sum, vv_sum, tv_sum; /* of deviations from it: themselves, squared, times seconds since begin_ns */
        double min, max;            /* the least of the last minute; INFINITY: it is over */
        double last;                /* newest value, also of intervals before; NaN: none yet */
        double area;                /* under the lines between samples, unit x s */
};

/* Whether a sample of this time belongs to the interval. */
static inline bool band_interval_accepts(const struct band_interval *s, uint64_t time_ns)
{
        return s->n > 0 && time_ns >= s->newest_ns && time_ns < s->end_ns;
}

/* An interval without samples; the first will come at begin_ns. */
void band_interval_begin(struct band_interval *s, uint64_t begin_ns);

/* For a band that has no sample yet. */
void band_now_init(struct band_now *now);

/* Gives bands[i] the value values[i], for all i < n. `gap_s`: seconds since the previous sample. */
void band_now_add(struct band_interval *s, struct band_now *bands, const double *values, uint32_t n, uint64_t time_ns,
                  double gap_s);

/* The samples of an interval, the least value that of its last minute alone. s->n > 0. */
struct band_samples band_now_samples(const struct band_interval *s, const struct band_now *now);

/* Their sum. */
double band_now_sum(const struct band_interval *s, const struct band_now *now);

/* What was last published about a subject. */
struct published {
        uint64_t at_ns; /* W then */
        uint32_t word;
        bool ever;
        bool fresh; /* a sample came since, or its minute was still open */
};

struct series_state {
        struct series_sketch sketch;
        struct trend *trend; /* NULL: not judged */
        struct published published;
};

struct band_state {
        struct trend trend;
        struct band_windows windows;
        struct published published;
        uint64_t published_censuses; /* tracker.censuses at that time */
        struct band_sketch sketch;
        double sum_before, min_before; /* of the interval's minutes before its last; valid when there are any */
};

/* Threads that wait at one place (tracker_threads.c). */
struct waiting_group {
        uint32_t band; /* its name */
        uint32_t threads;
        uint64_t bytes;      /* theirs, in the newest census that has them */
        struct trend number; /* of threads */
};

/*
 * What a band had before each of the last few seconds (or censuses, where these are rarer): a tick is often emitted
 * when later censuses have already come. The times are common to all bands.
 */
#define BAND_RECENT 8u

struct band_recent {
        float bytes[BAND_RECENT]; /* NaN: no ladder at that time */
};

struct recent_time {
        uint64_t time_ns, until_ns; /* of that census, and of the next; until_ns 0: none */
};

/* What came from the model while ticks waited, or what caused them. */
struct held {
        enum { HELD_SAMPLE, HELD_CENSUS, HELD_WATERMARK } what;
        bool seen; /* it has already moved W */
        enum series_id series;
        uint64_t time_ns, value;
        struct census census; /* its rows are the model's until its next census */
};

#define HELD_MAX 64u /* more than one event can cause */

/* The ticks after a silence. */
struct gap {
        uint64_t from_ns, to_ns, last_ns; /* W before and after it; its last tick */
        struct tracker_tick tick;         /* the newest */
        bool costly, again;               /* the last tick was costly; has to be emitted again */
};

struct tracker {
        struct tracker_config config;
        const struct model *model;
        tracker_tick_fn *tick;
        void *tick_ctx;
        uint64_t watermark_ns; /* W */
        uint64_t blocks_ns;    /* the model's watermark of whole blocks */
        uint64_t newest_ns;    /* of the log's samples */
        uint64_t next_tick_ns;
        bool started, ended, local;
        bool scan;  /* something may be due */
        bool waits; /* ticks of the gap are waiting */
        struct gap gap;
        struct held *held; /* HELD_MAX; NULL until needed */
        uint32_t held_from, n_held;

        struct early_warning early;
        double early_copied_share;       /* of live data, by a major collection; NaN: not known */
        uint64_t early_published_ns;     /* W when it was last published; 0: not in this run */
        bool early_rises;                /* what it was then */
        struct kept_standing *kept;      /* NULL: none */
        double newest_heap, heap_before; /* the two newest samples of the heap's size; NaN: not known */
        struct early_rise threads;       /* their number, as bytes (tracker_threads.c) */

        struct series_state *series[SERIES_COUNT]; /* NULL until their first sample */
        uint32_t *places;           /* by id - 1: where the band's ladder is in `full`, from 1; 0: no ladder */
        float *refused_bytes;       /* by id - 1: bytes when a band first found no place; 0: never */
        uint32_t n_bands;           /* length of both */
        struct band_state **full;   /* the ladders */
        struct band_now *now;       /* in the same places: samples of `interval` */
        double *values;             /* in the same places: of the current census */
        struct band_recent *recent; /* in the same places */
        struct recent_time recent_times[BAND_RECENT];
        uint32_t n_recent; /* kept so far; the newest is in place (n_recent - 1) % BAND_RECENT */
        uint32_t n_full;
        uint32_t full_room;
        struct band_interval interval;
        uint64_t bands_newest_ns; /* of the newest finished census */
        uint64_t censuses;        /* finished ones */
        size_t bands_held;        /* by what the ladders own, as of the newest closed minute */
        struct waiting_group *groups;
        uint64_t groups_time_ns; /* of the census that they are of */
        uint32_t n_groups;
        uint32_t n_refused; /* bands without a ladder for want of a place or memory */
};

/* tracker_bands.c */
void tracker_bands_census(struct tracker *t, const struct census *census);
void tracker_bands_close(struct tracker *t, uint64_t time_ns);
void tracker_bands_clear(struct tracker *t);
const struct band_state *tracker_band(const struct tracker *t, uint32_t id); /* NULL: no ladder */
struct band_state *tracker_band_state(const struct tracker *t, uint32_t id); /* the same */

/* Samples not in the band's windows yet, in *room; NULL: none. The band must have a ladder. */
const struct band_samples *tracker_band_waiting(const struct tracker *t, uint32_t id, struct band_samples *room);

/* tracker_threads.c */
void tracker_threads_census(struct tracker *t, const struct census *census);
void tracker_threads_close(struct tracker *t, uint64_t time_ns);
void tracker_threads_clear(struct tracker *t);
struct waiting_group *tracker_waiting_group(const struct tracker *t, uint32_t band); /* NULL: none */
void tracker_threads_advance(struct tracker *t, uint64_t time_ns);                   /* to a new second of W */
bool tracker_threads_grow_beside(const struct tracker *t, uint32_t i, struct growing_band *ret);
void tracker_threads_growing(struct waiting_group *g, struct growing_band *ret); /* their number, and its rate */

/* tracker_early.c */
void tracker_early_clear(struct tracker *t);
void tracker_early_sample(struct tracker *t, enum series_id series, uint64_t time_ns, uint64_t value);
void tracker_early_advance(struct tracker *t, uint64_t time_ns); /* to a new second of W */
/* How exact an onset is by the rise that the growth began as, whose onset it becomes if that is exact to a step. */
/* The early warning stands for that series. */
bool tracker_rises_now(const struct tracker *t, enum series_id series);
void tracker_early_refine_onset(const struct tracker *t, enum series_id series, struct trend_result *r);
bool tracker_early_is_sound(const struct tracker *t);

/* tracker_standing.c */
void tracker_standing_clear(struct tracker *t);
void tracker_standing_live(struct tracker *t, uint64_t time_ns, double bytes); /* before the sample counts */
void tracker_standing_advance(struct tracker *t);                              /* to a new second of W */
const struct standing *tracker_standing_kept(const struct tracker *t);         /* NULL: as of W */
bool tracker_standing_is_sound(const struct tracker *t);                       /* what is kept, read from a file */
unsigned tracker_judged_place(enum series_id series);                          /* STANDING_SERIES: not judged */

/* The same answers as of W, whatever is kept. */
bool tracker_verdict_now(const struct tracker *t, struct subject s, struct trend_result *ret);
bool tracker_early_now(const struct tracker *t, struct tracked_early *ret);
void tracker_growth_now(const struct tracker *t, struct growth *ret);
bool tracker_time_to_limit_now(const struct tracker *t, struct limit_time *ret);

/* tracker_read.c */

struct memory_limit tracker_heap_limit(const struct tracker *t);
double tracker_limit_room(const struct tracker *t, struct memory_limit limit); /* for resident memory; NaN: no limit */
double tracker_space_left(const struct tracker *t);
void tracker_top_bands(const struct tracker *t, struct growth *g);
