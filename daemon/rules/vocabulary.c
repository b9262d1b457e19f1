/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: two tables. docs/RULES.md has the same; a test compares the names. */
#include "daemon/rules/vocabulary.h"
#include "proto/base/array.h"

#include <string.h>

#include "proto/base/nearest.h"

#define W  SERIES_HAS_WINDOWS
#define WV (SERIES_HAS_WINDOWS | SERIES_HAS_VERDICT)
#define WC (SERIES_HAS_WINDOWS | SERIES_CUMULATIVE)
#define T  SERIES_OF_TARGET

#define BYTES                                                                                                          \
        {                                                                                                              \
                .bytes = 1                                                                                             \
        }
#define SECONDS                                                                                                        \
        {                                                                                                              \
                .seconds = 1                                                                                           \
        }
#define RATE                                                                                                           \
        {                                                                                                              \
                .bytes = 1, .seconds = -1                                                                              \
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

static const struct series_word series_words[] = {
        { "live", (enum rule_series)SERIES_LIVE, BYTES, WV, "live bytes",
          "what the program could still reach at its last major collection" },
        { "heap", (enum rule_series)SERIES_HEAP_SIZE, BYTES, WV, "the heap size",
          "memory that the runtime holds in megablocks" },
        { "blocks", (enum rule_series)SERIES_BLOCKS_SIZE, BYTES, WV, "the blocks in use",
          "the part of the heap that is in blocks in use" },
        { "rss", (enum rule_series)SERIES_RSS, BYTES, WV, "the resident memory",
          "memory of the process as the system counts it, judged without given_back; of a local program" },
        { "foreign", (enum rule_series)SERIES_FOREIGN, BYTES, WV, "the foreign memory",
          "resident memory of C code, FFI and malloc, stacks included; of a local program" },
        { "off_heap", (enum rule_series)SERIES_FOREIGN, BYTES, WV, "the foreign memory", "an older name of foreign" },
        { "live_resident", (enum rule_series)SERIES_LIVE_RESIDENT, BYTES, W, "the resident live data",
          "live data as a part of rss" },
        { "reserve", (enum rule_series)SERIES_RESERVE, BYTES, W, "the slop and copy reserve",
          "resident heap that the runtime needs besides its live data" },
        { "kept", (enum rule_series)SERIES_KEPT, BYTES, W, "the memory kept by the runtime",
          "resident heap beyond what the runtime needs" },
        { "given_back", (enum rule_series)SERIES_GIVEN_BACK, BYTES, W, "the memory given back",
          "freed by the runtime, and resident until the kernel needs it" },
        { "files", (enum rule_series)SERIES_FILES, BYTES, W, "the memory of files",
          "resident pages of the binary and of libraries" },
        { "pss", (enum rule_series)SERIES_PSS, BYTES, W, "the proportional memory",
          "the same with shared pages divided among their users" },
        { "swap", (enum rule_series)SERIES_SWAP, BYTES, W, "the swapped memory", "memory of the process in swap" },
        { "cgroup", (enum rule_series)SERIES_CGROUP, BYTES, W, "the memory of the cgroup",
          "memory that the program's cgroup is charged for" },
        { "census_total", (enum rule_series)SERIES_CENSUS_TOTAL, BYTES, W, "the bytes of a census",
          "sum of all bands of a census" },
        { "allocated", (enum rule_series)SERIES_ALLOCATED, BYTES, WC, "the allocated bytes",
          "all that was allocated since the run began" },
        { "copied", (enum rule_series)SERIES_COPIED, BYTES, W, "the bytes copied by a collection",
          "one sample a collection" },
        { "slop", (enum rule_series)SERIES_SLOP, BYTES, W, "the slop",
          "space lost inside blocks; one sample a collection" },
        { "fragmentation", (enum rule_series)SERIES_FRAGMENTATION, BYTES, W, "the free blocks of the heap",
          "what the runtime calls fragmentation, the room to copy to included; one sample a collection; see unneeded" },
        { "gc_pause", (enum rule_series)SERIES_GC_PAUSE, SECONDS, W, "the pause of a collection",
          "time that a collection stopped the program; one sample a collection" },
        { "cpu", (enum rule_series)SERIES_CPU, SECONDS, WC, "the CPU time", "user and system time of a local program" },
        { "allocation_rate", RULE_ALLOCATION_RATE, RATE, W, "the allocation rate", "over the last 10 s" },
        { "gc_share", RULE_GC_SHARE, SHARE, W, "the share of time in collections",
          "over the last 10 s, without those of the heap profile's censuses" },
        { "census_share", RULE_CENSUS_SHARE, SHARE, W, "the heap profile's share of the time in collections",
          "over the last 5 min: what its own censuses take" },
        { "threads", RULE_THREADS, COUNT, W, "the Haskell threads", "created and not finished" },
        { "limit", RULE_LIMIT, BYTES, W, "the memory limit",
          "the smallest of the cgroup's limit, -M, --limit and the machine's memory" },
        { "need", RULE_NEED, BYTES, W, "the memory that counts against the limit",
          "resident memory of a local program without what is given back, else the heap size" },
        { "unneeded", RULE_UNNEEDED, BYTES, W, "the heap beyond what its live data needs",
          "heap size less what the collector's own sizing holds for the live data" },
        { "stream_lag", RULE_STREAM_LAG, SECONDS, T, "the delay of the stream",
          "how old the newest event was when it arrived; live only" },
        { "stream_idle", RULE_STREAM_IDLE, SECONDS, T, "the time without a byte from the stream",
          "since bytes last arrived while the run goes on; live only" },
        { "stream_gap", RULE_STREAM_GAP, SECONDS, T, "its longest earlier pause",
          "longest time between bytes in this run, except the current one; live only" },
        { "lost_bytes", RULE_LOST_BYTES, BYTES, WC | T, "the damaged bytes", "bytes of the stream that were skipped" },
        { "restarts", RULE_RESTARTS, COUNT, WC | T, "the restarts", "starts under this name after the first one" },
        { "crashes", RULE_CRASHES, COUNT, WC | T, "the crashes", "runs that crashed" },
        { "failures", RULE_FAILURES, COUNT, WC | T, "the failures", "runs that ended with another status than 0" },
        { "crashed", RULE_CRASHED, BOOLEAN, T, "the last run crashed",
          "the newest run was killed, ran out of heap or vanished, and no other has begun" },
        { "failed", RULE_FAILED, BOOLEAN, T, "the last run failed",
          "the newest run ended with another status than 0 (251 is a crash), and no other has begun" },
        { "gc_events_missing", RULE_GC_EVENTS_MISSING, BOOLEAN, 0, "collections are not in the log",
          "event class g is switched off" },
        { "process_only", RULE_PROCESS_ONLY, BOOLEAN, 0, "its process alone is watched",
          "the program has no log that can be read (a source pid:N)" },
        { "recording_paused", RULE_RECORDING_PAUSED, BOOLEAN, T, "its recording is paused",
          "the disk takes nothing of the stream, or not all of it; live, with --record" },
        { "time_to_limit", RULE_TIME_TO_LIMIT, SECONDS, 0, "the time to the limit, at the earliest",
          "early end of the interval; never when nothing grows" },
        { "time_to_limit_late", RULE_TIME_TO_LIMIT_LATE, SECONDS, 0, "the time to the limit, at the latest",
          "late end of the interval; never when nothing certainly grows" },
        { "runs_out", RULE_RUNS_OUT, BOOLEAN, 0, "memory runs out",
          "live data or memory off the heap rises towards a limit, or is near it: known within seconds" },
        { "band", RULE_BAND, BYTES, WV, "the band", "bytes of one band of the heap profile" },
};

enum { SERIES_WORDS = ARRAY_SIZE(series_words) };

static const struct function_word function_words[] = {
        { "last", FN_LAST, GIVES_SAME, WINDOW_MAY, W, false, "the newest value of", "the newest sample" },
        { "age", FN_AGE, GIVES_SECONDS, WINDOW_NONE, W, false, "the age of", "time since the newest sample" },
        { "min", FN_MIN, GIVES_SAME, WINDOW_MAY, W, false, "the minimum of", "the smallest sample" },
        { "max", FN_MAX, GIVES_SAME, WINDOW_MAY, W, false, "the maximum of", "the largest sample" },
        { "mean", FN_MEAN, GIVES_SAME, WINDOW_MAY, W, false, "the mean of", "mean of the samples" },
        { "stddev", FN_STDDEV, GIVES_SAME, WINDOW_MAY, W, false, "the standard deviation of",
          "standard deviation of the samples" },
        { "quantile", FN_QUANTILE, GIVES_SAME, WINDOW_MAY, W, true, "the quantile of",
          "quantile(0.9, x, 5m): the value that nine tenths of the samples do not exceed" },
        { "p50", FN_P50, GIVES_SAME, WINDOW_MAY, W, false, "the median of", "the median of the samples" },
        { "p99", FN_P99, GIVES_SAME, WINDOW_MAY, W, false, "the 99th percentile of",
          "the value that 99 % of the samples do not exceed" },
        { "count", FN_COUNT, GIVES_COUNT, WINDOW_MAY, W, false, "the number of samples of", "the number of samples" },
        { "rate", FN_RATE, GIVES_PER_SECOND, WINDOW_MAY, W, false, "the rate of",
          "increase over the time between its two samples" },
        { "increase", FN_INCREASE, GIVES_SAME, WINDOW_MAY, W, false, "the increase of",
          "newest sample less the one before the window" },
        { "slope", FN_SLOPE, GIVES_PER_SECOND, WINDOW_MAY, W, false, "the slope of",
          "by least squares over the window; without one the slope of the verdict" },
        { "slope_low", FN_SLOPE_LOW, GIVES_PER_SECOND, WINDOW_MAY, W, false, "the lower bound of the slope of",
          "low end of the slope's interval" },
        { "slope_high", FN_SLOPE_HIGH, GIVES_PER_SECOND, WINDOW_MAY, W, false, "the upper bound of the slope of",
          "high end of the slope's interval" },
        { "fit", FN_FIT, GIVES_SHARE, WINDOW_MAY, W, false, "how well a line fits",
          "R squared of the least-squares line, 0 to 1" },
        { "integral", FN_INTEGRAL, GIVES_TIMES_SECONDS, WINDOW_MAY, W, false, "the integral of", "value times time" },
        { "leak", FN_LEAK, GIVES_BOOLEAN, WINDOW_NONE, WV, false, "there is a leak in", "the verdict is leak" },
        { "growing", FN_GROWING, GIVES_BOOLEAN, WINDOW_NONE, WV, false, "there is growth of",
          "the verdict is growing or leak" },
        { "steady", FN_STEADY, GIVES_BOOLEAN, WINDOW_NONE, WV, false, "there is no growth of",
          "the verdict is steady" },
        { "absent", FN_ABSENT, GIVES_BOOLEAN, WINDOW_MUST, W, false, "there is no sample of",
          "no sample in the window" },
};

enum { FUNCTION_WORDS = ARRAY_SIZE(function_words) };

static bool same(const char *word, const char *name, size_t size)
{
        return strlen(word) == size && !memcmp(word, name, size);
}

const struct series_word *series_word_find(const char *name, size_t size)
{
        for (size_t i = 0; i < SERIES_WORDS; i++)
                if (same(series_words[i].name, name, size))
                        return &series_words[i];
        return NULL;
}

const struct function_word *function_word_find(const char *name, size_t size)
{
        for (size_t i = 0; i < FUNCTION_WORDS; i++)
                if (same(function_words[i].name, name, size))
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
        const char *names[SERIES_WORDS];

        for (size_t i = 0; i < SERIES_WORDS; i++)
                names[i] = series_words[i].name;
        return nearest(typed, names, SERIES_WORDS);
}

const char *function_word_nearest(const char *typed)
{
        const char *names[FUNCTION_WORDS];

        for (size_t i = 0; i < FUNCTION_WORDS; i++)
                names[i] = function_words[i].name;
        return nearest(typed, names, FUNCTION_WORDS);
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
