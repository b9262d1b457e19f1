/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trend.h - one series of a run: samples in, verdict out.
 *
 *      push ─▶ open minutes ─close─▶ ladder, life ─▶ windows ─▶ verdict
 *
 * Pure: time and values are arguments, nothing is looked up. Memory is made as
 * time goes on: 0.7 kB at first, 3 kB after an hour, 5 kB after a month. What
 * finds none is as if it had no sample.
 * docs/VERDICT.md explains what the verdict means and how it is found.
 *
 * A "minute" is config.resolution_ns long and begins at a multiple of it. It
 * closes, and only then counts, when a sample of a later minute comes or when
 * the caller says that time has passed it (trend_close); an answer never
 * depends on later samples. A sample of a closed minute is only counted, as
 * late.
 *
 * A new run of the program begins with trend_init(): a restart is not a release
 * of memory.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/judge/trend/ladder.h"
#include "daemon/judge/trend/life.h"
#include "daemon/judge/trend/limit.h"
#include "daemon/judge/trend/verdict.h"
#include "daemon/judge/trend/windows.h"

/*
 * The verdict's window for samples that are too rare to fill any other.
 *
 * A program that grows fast is sampled ever more rarely: a copying collector
 * looks at all of the old generation when it has doubled, and a census is taken
 * as often as its share of time allows, both at distances that grow with the
 * heap. Such samples come at times in a geometric series, and fill two thirds
 * of no window of equal steps, however long the run. But few points are enough
 * for a line that fits well.
 *
 * The window is the newest 16, 12, 8, 6 or 5 samples, wherever they lie,
 * judged by the same tests, with the halves by samples instead of time. It is
 * judged while no other window decides, or while samples thin out and only wide
 * windows do, at a minute with a sample or when the last other one no longer
 * does, and is only ever evidence of growth: that there is none is not said from
 * so few.
 */

#define RARE_SAMPLES 16u

/* The newest minutes with a sample, at their own times: where the ladder keeps them depends on their age. */
struct rare {
        uint32_t minutes[RARE_SAMPLES]; /* of the run; the newest is at (n - 1) % RARE_SAMPLES */
        float floors[RARE_SAMPLES];
        uint64_t n; /* so far */
};

/* Takes in the minute that was closed last, NaN when it had no sample. */
void rare_push(struct rare *rare, uint64_t minute, double floor);

/* Whether the samples come at rising minutes before minute `minutes`: for those from a file. */
bool rare_is_sound(const struct rare *rare, uint64_t minutes);

/* Whether no other window decides about the newest samples. */
bool rare_is_needed(const struct windows *w, const struct rare *rare, const struct ladder *ladder);

/* Judges RARE_WINDOW after rare_push() and windows_judge(). Without growth it has no result. was_needed: before. */
void rare_judge(struct windows *w, const struct rare *rare, const struct ladder *ladder, const struct life *life,
                bool was_needed);

/* Minutes without a sample until the result is too old and dropped, at least 1; UINT64_MAX: there is none. */
uint64_t rare_lasts(const struct windows *w, const struct rare *rare, const struct ladder *ladder);

/* What is known before a verdict is possible: the line through the few points so far. */

struct trend_provisional {
        bool known;
        double slope, slope_low, slope_high; /* per s */
        uint64_t span_ns;
};

/* Of the newest buckets of the lowest level that has a line, whose narrowest ones are resolution_ns wide. */
struct trend_provisional provisional_line(const struct ladder *ladder, uint64_t resolution_ns);

/* Of a series that is steady as yet: the line of its newest buckets if they rise to new highs, else not known. */
struct trend_provisional provisional_rise(const struct ladder *ladder, uint64_t resolution_ns);

#define TREND_MINUTE_NS          60000000000u /* resolution for services */
#define TREND_LEAK_AFTER_MINUTES 180u         /* growth of this length that has not slowed down is a leak */
#define TREND_LEAK_AFTER_LEAST   20u          /* minutes; with fewer, windows are too short */
#define TREND_OPEN_MINUTES       6u
#define TREND_VALUE_MAX          18446744073709551616.0 /* 2^64: samples of larger magnitude are refused */

struct trend_config {
        uint64_t resolution_ns; /* length of a "minute"; all times of the verdict scale with it */
        uint64_t leak_after_ns;
        uint32_t wait_minutes; /* minutes kept open before the newest sample, for late ones; < TREND_OPEN_MINUTES */
};

/* The standard proportions at another resolution: 1 s makes leak_after three minutes. */
struct trend_config trend_config_scaled(uint64_t resolution_ns);

/* False for a resolution of 0, for a leak_after below 20 of these minutes or above 34 days, for too long a wait. */
bool trend_config_valid(const struct trend_config *config);

struct trend_open_minute {
        double floor; /* smallest sample; NaN = none yet */
        double sum;
        uint64_t n;
};

struct trend {
        struct trend_config config;
        struct ladder ladder;
        struct rare rare;
        struct life life;
        struct windows windows;
        struct verdict verdict;
        struct recent_average average;
        struct trend_open_minute open[TREND_OPEN_MINUTES]; /* minute m of the run at m % TREND_OPEN_MINUTES */
        double waiting[LADDER_FAN - 1]; /* floors of closed minutes that are not judged yet, n_waiting of them */
        uint32_t n_waiting;
        uint64_t first_minute; /* time / resolution of the run's minute 0 */
        uint64_t first_ns;     /* of the first sample; valid when started */
        uint64_t onset_ns;     /* of the newest growth; UINT64_MAX = not known */
        uint64_t left;         /* minute when that growth was left, or VERDICT_NEVER */
        uint64_t samples;      /* taken in */
        uint64_t late;         /* came after their minute was closed */
        uint64_t refused;      /* not a number of bytes */
        uint64_t jumps;        /* gaps in time longer than the ladder: it started over */
        bool started;
};

/* `config` must be valid. */
void trend_init(struct trend *t, const struct trend_config *config);

/* Frees all: what trend_init() made is as it was then, but for the counters. */
void trend_done(struct trend *t);

/* Memory beside the struct. */
size_t trend_held(const struct trend *t);

enum trend_push_status {
        TREND_PUSH_OK,
        TREND_PUSH_LATE,   /* counted, otherwise ignored */
        TREND_PUSH_REFUSED /* NaN or beyond 2^64: counted, otherwise ignored */
};

/* Adds a sample, after closing the minutes that it ends, one by one. */
enum trend_push_status trend_push(struct trend *t, uint64_t time_ns, double value);

/* Sets the time of the first sample, before it is pushed. */
void trend_begin(struct trend *t, uint64_t time_ns);

/* The same as trend_push() of n samples of one minute, any of them at time_ns: least value and sum. */
enum trend_push_status trend_push_many(struct trend *t, uint64_t time_ns, uint64_t n, double least, double sum);

/* Closes every minute that ends at or before watermark_ns: no sample from before then is still to come. */
void trend_close(struct trend *t, uint64_t watermark_ns);

/*
 * For callers that want the answer after each minute: closes the oldest open minute if it ends at or before
 * watermark_ns, else returns false. Before trend_push() of a sample, repeat up to trend_watermark().
 */
bool trend_step(struct trend *t, uint64_t watermark_ns);

/* The watermark that a sample of this time implies: time_ns less the configured wait. */
uint64_t trend_watermark(const struct trend *t, uint64_t time_ns);

/* Minutes closed since the run began: it changes when there may be a new answer. */
uint64_t trend_closed_minutes(const struct trend *t);

/* Whether a minute that is not closed yet has samples, with which there will be a new answer. */
bool trend_has_open(const struct trend *t);

/* What the answer is based on. */
enum trend_basis {
        TREND_BASIS_NONE,  /* no window has enough points, or none shows a rise although the verdict is still growth */
        TREND_BASIS_LEAKS, /* the widest that passes all tests of a leak */
        TREND_BASIS_HOLDS, /* the widest that still supports an earlier `leak` */
        TREND_BASIS_GROWS, /* the widest that grows */
        TREND_BASIS_RECENT /* none of these: the widest recent one with a result; for growth, with a certain rise */
};

/* A collector holds up to four times the live data: growth of less than an eighth explains at most half. */
#define TREND_EXPLAINS 8

/*
 * Whether the series was flat over the newest span_ns, compared with another that rose by `slope` (per s) there: it
 * certainly rose too little to explain that, or showed no rise and certainly rose by less than half of it.
 */
bool trend_is_flat(struct trend *t, uint64_t span_ns, double slope);

struct trend_evidence {
        enum trend_basis basis;
        uint32_t passed;          /* TEST_BIT()s of that window */
        enum window_test missing; /* first test that keeps it from the next stronger verdict; TEST_COUNT: none */
        unsigned window;          /* which one, 0 .. RARE_WINDOW */
        uint64_t span_ns;
        uint64_t ended_ns;      /* event time at its end */
        uint32_t points;        /* filled ones */
        double z;               /* slope over its standard error */
        double level_bytes;     /* the line at its end */
        double sure_rise_bytes; /* low end of its rise; may be negative */
        double record_bytes;    /* highest level held before it; -INFINITY = none */
        double life_ratio;
};

struct trend_result {
        enum trend_verdict verdict;
        uint64_t since_ns;                   /* event time at which this verdict was reached */
        uint64_t as_of_ns;                   /* end of the newest closed minute */
        bool has_slope;                      /* else the next three and the evidence's numbers are NaN or 0 */
        double slope, slope_low, slope_high; /* bytes per second; all above 0 unless the verdict is steady */
        uint64_t onset_ns;                   /* when growth began; UINT64_MAX unless growing or leak */
        uint64_t onset_error_ns;             /* which is exact to so much, more or less; UINT64_MAX: not known */
        struct trend_evidence evidence;
        struct trend_provisional provisional; /* while the verdict is unknown, or steady and it rises (tracker.h) */
        uint64_t verdict_in_ns;               /* event time until slow growth is judged; UINT64_MAX: not known */
        uint64_t verdict_by_ns;               /* until there is one at the latest; UINT64_MAX: as above */
        bool rises_so_far;                    /* unknown only because it is not clear whether that lasts */
        bool doubted;                         /* steady, while other growth is not known to leave it flat (growth.h) */
        bool over;                            /* the run has ended: nothing will change (tracker.h) */
        bool is_part;                         /* the run was not seen from its start (tracker.h) */
};

/*
 * Judges the closed minutes that wait for it, as every answer does. They wait only while the verdict is steady and
 * remains so, so `verdict.now` needs none.
 */
void trend_settle(struct trend *t);

/* The answer as of the newest closed minute. */
void trend_result(struct trend *t, struct trend_result *ret);

/*
 * Seconds until the growth meets `limit`, in the series' own bytes, counted
 * from the end of the evidence's window. False unless growing or leak. For live
 * bytes under a copying collector divide the limit by the observed heap/live
 * ratio first.
 */
bool trend_time_to_limit(struct trend *t, double limit, struct time_to_limit *ret);

/* onset.c: when growth began: the window's line, followed back for as long as the past is on it. */

/*
 * The minute of the run (0 = its first) at which the growth of window `index`
 * began; its result must exist. At most the window's own start.
 */
uint64_t onset_minute(const struct ladder *l, const struct windows *w, unsigned index);
