/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * data.h - what expressions see of a target: a table of functions, so that
 * rules do not depend on where data comes from and tests can provide their own.
 *
 * NaN and false mean "not known". Event time is nanoseconds since the run's
 * runtime began. Series about the target itself (SERIES_OF_TARGET) are on the
 * target's own clock, which continues across runs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/model/bands.h"
#include "daemon/model/series.h"
#include "proto/facts/cell.h"
#include "daemon/judge/rules/matcher.h"
#include "daemon/judge/rules/vocabulary.h"
#include "daemon/judge/trend/statistics.h"
#include "daemon/judge/trend/trend.h"

#define RULE_WORDS_MAX 1024
#define BAND_TEXT_ROOM 128 /* of a constructed label or name, NUL included */

/* A series, or with id RULE_BAND one band. */
struct rule_subject {
        enum rule_series id;
        uint32_t band; /* 0 unless id is RULE_BAND */
};

/* The moment at which rules are judged: all samples before it count, none after. */
struct rule_moment {
        uint64_t time_ns;   /* event time; UNKNOWN_U64 outside of a run */
        uint64_t target_ns; /* the target's clock; never goes back */
        uint64_t wall_ns;   /* the same as Unix time; UNKNOWN_U64 when not known */
        uint64_t beyond_ns; /* how far time_ns is past the newest event, which dates what changes */
        uint32_t run;       /* 0 before the first */
};

/* Texts that explain an alert. */
enum rule_words {
        WORDS_WHERE,         /* where memory grows */
        WORDS_TIME_TO_LIMIT, /* "between 1h 10m and 2h 05m" */
        WORDS_RUNS_OUT,      /* what rises towards which limit, and when it is met */
        WORDS_THREADS,       /* how many threads pile up, where, and how fast */
        WORDS_SIZING,        /* what the heap may hold for its live data, and why */
        WORDS_REASON,        /* the probable reason for a stalled stream or a paused recording; how the run ended */
        WORDS_VERDICT        /* verdict of a subject with its evidence */
};

/* The texts of a band; those that are constructed, label and name, have their room here. */
struct band_texts {
        const char *of[BAND_TEXTS]; /* NULL: not known */
        char label[BAND_TEXT_ROOM], name[BAND_TEXT_ROOM];
};

struct rule_data {
        void *ctx;

        /* Statistics of the samples in the range; false when there are none. */
        bool (*span)(void *ctx, struct rule_subject s, struct time_range range, struct trend_cell *ret);

        /* The newest sample before before_ns, and the oldest in a range (each as a cell of one or a few). */
        bool (*newest)(void *ctx, struct rule_subject s, uint64_t before_ns, struct trend_cell *ret);
        bool (*oldest)(void *ctx, struct rule_subject s, struct time_range range, struct trend_cell *ret);

        /* Area under the values in unit * s; the q-quantile. NaN when not known. */
        double (*integral)(void *ctx, struct rule_subject s, struct time_range range);
        double (*quantile)(void *ctx, struct rule_subject s, struct time_range range, double q);

        /* Facts without a history: stream_idle, crashed, time_to_limit ... Booleans are 0 or 1. */
        double (*fact)(void *ctx, enum rule_series id, const struct rule_moment *at);

        /* The verdict alone, and with its evidence, which costs much more; false: nothing is known. */
        enum trend_verdict (*verdict)(void *ctx, struct rule_subject s);
        bool (*trend)(void *ctx, struct rule_subject s, struct trend_result *ret);

        /*
         * A lower bound on how long all of the above stay the same if nothing comes while the range advances with time:
         * for the newest sample before its end (an empty range), for a range, or for the verdict. 0: not known.
         */
        uint64_t (*still_ns)(void *ctx, struct rule_subject s, struct time_range range, bool verdict);

        /* Since when the run (of_target: the target) has been watched; UNKNOWN_U64. */
        uint64_t (*began_ns)(void *ctx, bool of_target);

        /* Bands have ids 1 .. bands(). Texts are valid as long as *ret and the run. False: there is no such band. */
        uint32_t (*bands)(void *ctx);
        bool (*band)(void *ctx, uint32_t id, struct band_texts *ret);

        /* A sentence, or "" when there is nothing to say; always NUL-terminated. */
        void (*words)(void *ctx, enum rule_words what, struct rule_subject s, char out[RULE_WORDS_MAX]);

        /* Text of the note nearest to an event time, raw, and its time; NULL when there is none. */
        const char *(*note)(void *ctx, uint64_t time_ns, uint64_t *ret_time_ns);
};

/*
 * history.c: ranges of a series, exact to the second at their newer end.
 *
 * A moment of judging is a multiple of HISTORY_STEP_NS, the width of the finest
 * level, so later samples can be recognized and left out: the answer depends
 * only on samples before it, however far the stream is ahead. The older end is
 * that of a cell of the level that reaches that far back, so a range may be a
 * little longer than requested.
 */

#define HISTORY_STEP_NS UINT64_C(1000000000)

/* Merge of all samples in a range. False when there are none. */
bool history_span(const struct series *s, struct time_range range, struct trend_cell *ret);

/* The cell with the newest sample before before_ns; with the oldest sample of a range. */
bool history_newest(const struct series *s, uint64_t before_ns, struct trend_cell *ret);
bool history_oldest(const struct series *s, struct time_range range, struct trend_cell *ret);

/* Area under the values, each held until the next, in unit * s. NaN without samples. */
double history_integral(const struct series *s, struct time_range range);

/*
 * The same for a band (NULL: none) and its history, whose points become wider as the run goes on; newest: the newest
 * that ends before.
 */
bool history_band_span(const struct band *band, struct time_range range, struct range_samples *ret);
bool history_band_newest(const struct band *band, uint64_t before_ns, struct trend_cell *ret);
