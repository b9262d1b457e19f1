/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vocabulary.h - the names that an expression may use: series, facts and
 * functions, each with its type and what it means in words.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/model/series.h"
#include "daemon/judge/rules/type.h"

/* What a rule can refer to. The first are the model's series, by their own numbers; then gauges, facts, and bands. */
enum rule_series {
        RULE_ALLOCATION_RATE = SERIES_COUNT,
        RULE_GC_SHARE,
        RULE_CENSUS_SHARE,
        RULE_THREADS,
        RULE_LIMIT,
        RULE_NEED,
        RULE_UNNEEDED,
        RULE_LOST_BYTES, /* from here on gauges of the target, not of a run */
        RULE_RESTARTS,
        RULE_CRASHES,
        RULE_FAILURES,
        RULE_STREAM_LAG, /* the first fact */
        RULE_STREAM_IDLE,
        RULE_STREAM_GAP,
        RULE_CRASHED,
        RULE_FAILED,
        RULE_GC_EVENTS_MISSING,
        RULE_PROCESS_ONLY,
        RULE_RECORDING_PAUSED,
        RULE_RECORDING_PAUSED_FIRST,
        RULE_TIME_TO_LIMIT,
        RULE_TIME_TO_LIMIT_LATE,
        RULE_RUNS_OUT,
        RULE_THREADS_PILE_UP,
        RULE_BAND,
        RULE_SERIES_COUNT /* from here on carried numbers of the table of facts, which are facts of a run */
};
#define RULE_OF_CARRIED(id) ((enum rule_series)(RULE_SERIES_COUNT + (unsigned)(id)))

enum series_flag {
        SERIES_HAS_WINDOWS = 1 << 0, /* window functions apply to it */
        SERIES_HAS_VERDICT = 1 << 1, /* leak(), growing() ... apply to it */
        SERIES_OF_TARGET = 1 << 2,   /* about the stream or the target: continues when a run has ended */
        SERIES_CUMULATIVE = 1 << 3   /* only rises within a run */
};

struct series_word {
        const char *name;
        enum rule_series id;
        struct type type;
        unsigned flags;
        const char *words; /* "live bytes": its name in --explain */
};

enum function_id {
        FN_LAST,
        FN_AGE,
        FN_MIN,
        FN_MAX,
        FN_MEAN,
        FN_STDDEV,
        FN_QUANTILE,
        FN_P50,
        FN_P99,
        FN_COUNT,
        FN_RATE,
        FN_INCREASE,
        FN_SLOPE,
        FN_SLOPE_LOW,
        FN_SLOPE_HIGH,
        FN_FIT,
        FN_INTEGRAL,
        FN_LEAK,
        FN_GROWING,
        FN_STEADY,
        FN_ABSENT
};

/* The type of a function's result, from that of its series. */
enum function_result {
        GIVES_SAME,
        GIVES_PER_SECOND,
        GIVES_TIMES_SECONDS,
        GIVES_SHARE,
        GIVES_COUNT,
        GIVES_SECONDS,
        GIVES_BOOLEAN
};

enum function_window { WINDOW_NONE, WINDOW_MAY, WINDOW_MUST };

struct function_word {
        const char *name;
        enum function_id id;
        enum function_result result;
        enum function_window window;
        unsigned needs;      /* flags that its series must have */
        bool takes_quantile; /* a first argument from 0 to 1 */
        const char *words;   /* "the mean of" */
};

const struct series_word *series_word_find(const char *name, size_t size);
const struct function_word *function_word_find(const char *name, size_t size);

/* By index, for listings; NULL after the last. */
const struct series_word *series_word_at(size_t i);
const struct function_word *function_word_at(size_t i);

/* The series, or the function, nearest to a mistyped name; NULL when none is near. */
const char *series_word_nearest(const char *typed);
const char *function_word_nearest(const char *typed);

/* The type of a function's result for a series of type `t`. False when there is none (powers out of range). */
bool function_type(const struct function_word *f, struct type t, struct type *ret);
