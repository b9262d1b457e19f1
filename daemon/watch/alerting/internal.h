/* SPDX-License-Identifier: BSD-3-Clause */
/* internal.h - the inside of the alerting: its moments (alerting.c), what rules see (_data.c), words (_words.c). */
#pragma once

#include "daemon/watch/alerting/alerting.h"
#include "daemon/model/series.h"
#include "daemon/judge/rules/data.h"
#include "daemon/judge/rules/rule.h"
#include "daemon/judge/trend/tracker.h"

/*
 * gauges.c: numbers that the model has no history of, one sample a second, kept as long and as finely as the rules
 * require.
 *
 * Only rules read gauges, so their windows determine what is kept: the level that a window lies in
 * (daemon/model/series.h) is as long as the longest such window; the levels below it cover one of its intervals, for
 * the window's newer end. So a window has the same samples as if everything was kept; only in a run younger than the
 * window its first intervals may be wider. Gauges that no rule reads are kept for 6 h in steps of 10 min, for rules
 * that are loaded later.
 * A gauge with a window of 15 min takes 7.5 kB, one without 2.5 kB; all of it would be 52 kB.
 */

#define GAUGES    ((unsigned)RULE_STREAM_LAG - SERIES_COUNT)
#define GAUGE(id) ((unsigned)(id)-SERIES_COUNT)

struct rule_gauge {
        struct series series;
        uint32_t cells[PYRAMID_LEVELS]; /* at most, of each level */
};

/* Determines from the rules what is kept from now on. What was kept before stays until newer samples replace it. */
void gauges_require(struct rule_gauge gauges[GAUGES], const struct ruleset *rules);

/* Does nothing when the value is unknown (NaN), or when out of memory. */
void gauge_push(struct rule_gauge *g, uint64_t time_ns, double value);

struct alerting {
        const struct model *model;
        struct tracker *tracker;
        struct publisher *publisher;
        struct alert_hooks hooks;
        struct alerts *alerts;
        bool live, in_run;
        bool agent;            /* it flushes the log, whatever the program's options are */
        bool in_unix_time;     /* of a finished log: its target's clock */
        uint64_t turn_ends_ns; /* monotonic; UINT64_MAX: never */
        bool hurry;            /* when the turn ends, leave out the rest instead of waiting */
        bool judging;          /* some rules have not judged the run's newest moment yet */
        bool published_any;    /* the last published list had alerts: an empty one still has to follow */
        bool changed;          /* an alert has changed since the last list */
        uint32_t run;

        /* The target's clock: Unix time if known, else the event time of all runs added up. */
        uint64_t target_ns;  /* as last read; never goes back */
        uint64_t base_ns;    /* of the current run, when its Unix time is not known */
        uint64_t stepped_ns; /* live: Unix time is that much ahead of it, modulo 2^64, since the clock was set */
        uint64_t began_ns;   /* since when the target has been watched; UNKNOWN_U64 */

        /* About the target. */
        enum alerting_end end;
        char end_words[RULE_WORDS_MAX];     /* how the last run ended */
        char crash_words[RULE_WORDS_MAX];   /* how the last one that crashed did: its alert outlives the next start */
        char failure_words[RULE_WORDS_MAX]; /* likewise, of the last one that failed */
        char pause[256];                    /* why recording is paused; "": it is not */
        bool pause_first;                   /* of all targets whose recording is paused, this one says so */
        uint64_t pause_others;              /* how many these are without it */
        uint64_t restarts, crashes, failures, lost_bytes;
        uint64_t last_bytes_wall_ns, gap_ns, lag_ns, heartbeat_wall_ns; /* UNKNOWN_U64; gap 0 at first */
        uint64_t cpu_at_bytes_ns; /* of the process, when bytes last came; UNKNOWN_U64 */

        /* Numbers that the model has no history of: one sample per tick. */
        struct rule_gauge gauges[GAUGES];
};

/* The table for the rules. */
struct rule_data alerting_data(struct alerting *a);

/* Functions of that table; ctx is the alerting. */
bool alerting_trend(void *ctx, struct rule_subject s, struct trend_result *ret);
void alerting_words(void *ctx, enum rule_words what, struct rule_subject s, char out[RULE_WORDS_MAX]);
const char *alerting_note(void *ctx, uint64_t time_ns, uint64_t *ret_time_ns);

/* What rules see of a band. */
struct range_samples alerting_band_span(const struct alerting *a, uint32_t id, struct time_range range);
bool alerting_band_newest(const struct alerting *a, uint32_t id, uint64_t before_ns, struct trend_cell *ret);

/* A lower bound on how long these, except the integral, stay the same while the range advances and nothing comes. */
uint64_t alerting_band_still(const struct alerting *a, uint32_t id, struct time_range range);

/* Samples the gauges for the second before time_ns, or the counters of the target at its clock. */
void alerting_sample_run(struct alerting *a, uint64_t time_ns);
void alerting_sample_target(struct alerting *a);
