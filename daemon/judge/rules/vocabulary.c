/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: two tables. docs/RULES.md has the same; a test compares the names. Series are those of
 * proto/facts/series.def; what the table of facts has, too, takes its type from there; numbers that travel by their key
 * (CARRIED) are words by their fact's name.
 */
#include "daemon/judge/rules/vocabulary.h"

#include <string.h>

#include "proto/base/array.h"
#include "proto/base/nearest.h"
#include "proto/facts/facts.h"

#define W  SERIES_HAS_WINDOWS
#define WV (SERIES_HAS_WINDOWS | SERIES_HAS_VERDICT)
#define WC (SERIES_HAS_WINDOWS | SERIES_CUMULATIVE)
#define T  SERIES_OF_TARGET

/* Of the columns of a series. */
#define FLAG_JUDGED   SERIES_HAS_VERDICT
#define FLAG_UNJUDGED 0
#define FLAG_TOTAL    SERIES_CUMULATIVE
#define FLAG_LEVEL    0
#define FLAG_MEASURED 0
#define FLAG_AMOUNT   0

#define BYTES                                                                                                          \
        {                                                                                                              \
                .bytes = 1                                                                                             \
        }
#define SECONDS                                                                                                        \
        {                                                                                                              \
                .seconds = 1                                                                                           \
        }
#define SHARE                                                                                                          \
        {                                                                                                              \
                .sort = SORT_SHARE                                                                                     \
        }
#define COUNT                                                                                                          \
        {                                                                                                              \
                .sort = SORT_COUNT                                                                                     \
        }
#define BOOLEAN                                                                                                        \
        {                                                                                                              \
                .boolean = true                                                                                        \
        }

/* The type of a number of the table of facts, whose times are in ns there and in seconds here. */
#define TYPE_OF(unit)                                                                                                  \
        {                                                                                                              \
                .bytes = (unit) == FACT_BYTES || (unit) == FACT_RATE,                                                  \
                .seconds = (unit) == FACT_NS     ? 1                                                                   \
                           : (unit) == FACT_RATE ? -1                                                                  \
                                                 : 0,                                                                  \
                .sort = (unit) == FACT_SHARE   ? SORT_SHARE                                                            \
                        : (unit) == FACT_COUNT ? SORT_COUNT                                                            \
                                               : SORT_PLAIN                                                            \
        }
enum {
#define X(id, stem, unit, kind, place, source, help) UNIT_OF_##id = FACT_##unit,
#include "proto/facts/facts.def"
#undef X
};
#define NUMBER(name, id, fact, flags, words)                                                                           \
        {                                                                                                              \
                name, (enum rule_series)(id), TYPE_OF((enum fact_unit)UNIT_OF_##fact), flags, words                    \
        }

static const struct series_word series_words[] = {
#define X(number, id, name, unit, kind, origin, seconds, minutes, judged, word, phrase, ...)                           \
        { word, (enum rule_series)(number), TYPE_OF(FACT_##unit), W | FLAG_##judged | FLAG_##kind, phrase },
#include "proto/facts/series.def"
#undef X
        { "off_heap", (enum rule_series)SERIES_FOREIGN, BYTES, WV, "the foreign memory" },
        NUMBER("allocation_rate", RULE_ALLOCATION_RATE, ALLOCATION, W, "the allocation rate"),
        { "gc_share", RULE_GC_SHARE, SHARE, W, "the share of time in collections" },
        { "census_share", RULE_CENSUS_SHARE, SHARE, W, "the heap profile's share of the time in collections" },
        { "threads", RULE_THREADS, COUNT, W, "the Haskell threads" },
        NUMBER("limit", RULE_LIMIT, LIMIT, W, "the memory limit"),
        { "need", RULE_NEED, BYTES, W, "the memory that counts against the limit" },
        NUMBER("unneeded", RULE_UNNEEDED, UNNEEDED, W, "the heap beyond what its live data needs"),
        NUMBER("stream_lag", RULE_STREAM_LAG, STREAM_LAG, T, "the delay of the stream"),
        NUMBER("stream_idle", RULE_STREAM_IDLE, STREAM_QUIET, T, "the time without a byte from the stream"),
        { "stream_gap", RULE_STREAM_GAP, SECONDS, T, "its longest earlier pause" },
        NUMBER("lost_bytes", RULE_LOST_BYTES, STREAM_LOST, WC | T, "the damaged bytes"),
        { "restarts", RULE_RESTARTS, COUNT, WC | T, "the restarts" },
        { "crashes", RULE_CRASHES, COUNT, WC | T, "the crashes" },
        { "failures", RULE_FAILURES, COUNT, WC | T, "the failures" },
        { "crashed", RULE_CRASHED, BOOLEAN, T, "the last run crashed" },
        { "failed", RULE_FAILED, BOOLEAN, T, "the last run failed" },
        { "gc_events_missing", RULE_GC_EVENTS_MISSING, BOOLEAN, 0, "collections are not in the log" },
        { "process_only", RULE_PROCESS_ONLY, BOOLEAN, 0, "only its process is watched" },
        { "recording_paused", RULE_RECORDING_PAUSED, BOOLEAN, T, "its recording is paused" },
        { "recording_paused_first", RULE_RECORDING_PAUSED_FIRST, BOOLEAN, T,
          "its recording is paused, the first to be" },
        { "time_to_limit", RULE_TIME_TO_LIMIT, SECONDS, 0, "the time to the limit, at the earliest" },
        { "time_to_limit_late", RULE_TIME_TO_LIMIT_LATE, SECONDS, 0, "the time to the limit, at the latest" },
        { "runs_out", RULE_RUNS_OUT, BOOLEAN, 0, "memory runs out" },
        { "threads_pile_up", RULE_THREADS_PILE_UP, BOOLEAN, 0, "threads pile up" },
        { "band", RULE_BAND, BYTES, WV, "the band" },
#define X(id, stem, unit, kind, place, source, help)                                                                   \
        FACT_IF_##place({ stem FACT_SUFFIX_##unit, RULE_OF_CARRIED(CARRIED_##id), TYPE_OF(FACT_##unit), 0,             \
                          stem FACT_SUFFIX_##unit }, )
#include "proto/facts/facts.def"
#undef X
};

enum { SERIES_WORDS = ARRAY_SIZE(series_words) };

static const struct function_word function_words[] = {
        { "last", FN_LAST, GIVES_SAME, WINDOW_MAY, W, false, "the newest value of" },
        { "age", FN_AGE, GIVES_SECONDS, WINDOW_NONE, W, false, "the age of" },
        { "min", FN_MIN, GIVES_SAME, WINDOW_MAY, W, false, "the minimum of" },
        { "max", FN_MAX, GIVES_SAME, WINDOW_MAY, W, false, "the maximum of" },
        { "mean", FN_MEAN, GIVES_SAME, WINDOW_MAY, W, false, "the mean of" },
        { "stddev", FN_STDDEV, GIVES_SAME, WINDOW_MAY, W, false, "the standard deviation of" },
        { "quantile", FN_QUANTILE, GIVES_SAME, WINDOW_MAY, W, true, "the quantile of" },
        { "p50", FN_P50, GIVES_SAME, WINDOW_MAY, W, false, "the median of" },
        { "p99", FN_P99, GIVES_SAME, WINDOW_MAY, W, false, "the 99th percentile of" },
        { "count", FN_COUNT, GIVES_COUNT, WINDOW_MAY, W, false, "the number of samples of" },
        { "rate", FN_RATE, GIVES_PER_SECOND, WINDOW_MAY, W, false, "the rate of" },
        { "increase", FN_INCREASE, GIVES_SAME, WINDOW_MAY, W, false, "the increase of" },
        { "slope", FN_SLOPE, GIVES_PER_SECOND, WINDOW_MAY, W, false, "the slope of" },
        { "slope_low", FN_SLOPE_LOW, GIVES_PER_SECOND, WINDOW_MAY, W, false, "the lower bound of the slope of" },
        { "slope_high", FN_SLOPE_HIGH, GIVES_PER_SECOND, WINDOW_MAY, W, false, "the upper bound of the slope of" },
        { "fit", FN_FIT, GIVES_SHARE, WINDOW_MAY, W, false, "how well a line fits" },
        { "integral", FN_INTEGRAL, GIVES_TIMES_SECONDS, WINDOW_MAY, W, false, "the integral of" },
        { "leak", FN_LEAK, GIVES_BOOLEAN, WINDOW_NONE, WV, false, "there is a leak in" },
        { "growing", FN_GROWING, GIVES_BOOLEAN, WINDOW_NONE, WV, false, "there is growth of" },
        { "steady", FN_STEADY, GIVES_BOOLEAN, WINDOW_NONE, WV, false, "there is no growth of" },
        { "absent", FN_ABSENT, GIVES_BOOLEAN, WINDOW_MUST, W, false, "there is no sample of" },
};

enum { FUNCTION_WORDS = ARRAY_SIZE(function_words) };

static bool is_same_word(const char *word, const char *name, size_t size)
{
        return strlen(word) == size && !memcmp(word, name, size);
}

const struct series_word *series_word_find(const char *name, size_t size)
{
        for (size_t i = 0; i < SERIES_WORDS; i++)
                if (is_same_word(series_words[i].name, name, size))
                        return &series_words[i];
        return NULL;
}

const struct function_word *function_word_find(const char *name, size_t size)
{
        for (size_t i = 0; i < FUNCTION_WORDS; i++)
                if (is_same_word(function_words[i].name, name, size))
                        return &function_words[i];
        return NULL;
}

const struct series_word *series_word_at(size_t i)
{
        return i < SERIES_WORDS ? &series_words[i] : NULL;
}

const struct function_word *function_word_at(size_t i)
{
        return i < FUNCTION_WORDS ? &function_words[i] : NULL;
}

const char *series_word_nearest(const char *typed)
{
        struct nearest near = { .typed = typed };

        for (size_t i = 0; i < SERIES_WORDS; i++)
                nearest_try(&near, series_words[i].name);
        return near.found;
}

const char *function_word_nearest(const char *typed)
{
        struct nearest near = { .typed = typed };

        for (size_t i = 0; i < FUNCTION_WORDS; i++)
                nearest_try(&near, function_words[i].name);
        return near.found;
}

bool function_type(const struct function_word *f, struct type t, struct type *ret)
{
        switch (f->result) {
        case GIVES_SAME:
                *ret = t;
                return true;
        case GIVES_PER_SECOND:
                return type_divide(t, TYPE_SECONDS, ret);
        case GIVES_TIMES_SECONDS:
                return type_multiply(t, TYPE_SECONDS, ret);
        case GIVES_SHARE:
                *ret = TYPE_SHARE;
                return true;
        case GIVES_COUNT:
                *ret = TYPE_COUNT;
                return true;
        case GIVES_SECONDS:
                *ret = TYPE_SECONDS;
                return true;
        case GIVES_BOOLEAN:
                *ret = TYPE_BOOLEAN;
                return true;
        }
        return false;
}
