/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracker.h - the trends of one target: every series and every band, where
 * memory grows, and when it runs out.
 *
 *      model's sink ─▶ tracker ─▶ struct trend per series and band ─▶ verdicts
 *                         └─tick─▶ rules
 *
 * Pure. It is fed by the model's sink (tracker_sink) and reads the model for
 * what it does not keep itself. One tracker per target; tracker_begin_run
 * forgets everything.
 *
 * Time. The event-time watermark W says that all events before it have arrived:
 * it is the model's, of whole blocks, but at most TRACKER_WAIT_MINUTES behind
 * the newest sample (a buffer that is not flushed may be late forever). W
 * advances only with events, so every answer here depends on the bytes and their
 * order alone: a replay and the live run give the same verdicts. Minutes of all
 * series close when W has passed them; later samples are counted as late. At the
 * end of a run all of them close.
 *
 * For rules: judge on `tick`, which comes once for every multiple of tick_ns
 * that W passes. In a gap of more than 600 of them the later ones are emitted
 * at growing distances, a 64th of the gap so far, up to four days, and the last
 * one always: at most TRACKER_TICKS_MAX. At tick T, ask for windows [T - span,
 * T) with tracker_statistics() and for verdicts with tracker_verdict(): both
 * are as of T, and the same in every run of the same log. Later samples may be
 * in the series already; they are not in that window, except within the cell
 * that T cuts when a window is so long that its cells are wider than a
 * second.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/model/limits.h"
#include "daemon/model/model.h"
#include "daemon/judge/trend/growth.h"
#include "daemon/judge/trend/limit.h"
#include "daemon/judge/trend/statistics.h"
#include "daemon/judge/trend/trend.h"

/*
 * How a target's memory stands at one moment: every verdict, where it grows, the rise of the last seconds,
 * and when the limit is met. One record, judged once; faces read it.
 *
 * It is kept where the next samples would deny what was true: at a limit that the growth has met, where nothing can
 * rise any more, and over the last collections of a run that ends, which free all that the program held.
 */

/* What is known within seconds of a rise: of live data, or off the heap. docs/VERDICT.md. */
struct tracked_early {
        enum series_id series;  /* live, foreign or, without a log, RSS: the one that runs out first, else that rises */
        bool rising;            /* provisional: it ends by itself when the rise does */
        bool runs_out;          /* the limit is near, in time or in bytes */
        double level_bytes;     /* the newest sample, */
        uint64_t level_time_ns; /* of then */
        uint64_t until_ns;      /* when the rise had come there: before then where it is flat since */
        double base_bytes;      /* before the rise; NaN unless rising, as the next three */
        double rate, rate_low, rate_high;    /* bytes per second */
        uint64_t onset_from_ns, onset_to_ns; /* event time, an interval; UNKNOWN_U64 unless rising */
        bool since_start;                    /* nothing is known from before the rise */
        struct memory_limit limit;
        bool held_back; /* it is -M, of which live data is near half, and the collector needs the rest to copy it */
        double soonest_s,
                latest_s; /* since as_of_ns, if it continues; NaN: no limit, not rising, or too far off to tell */
        double mid_s;     /* by the rate, however far off that is; NaN: no limit, or not rising */
        bool at_limit;    /* what had risen has met it: the program does little but collect, or has ended of it */
        uint64_t as_of_ns;
        bool ended; /* the run has ended: so it was then */
};

enum {
        STANDING_SERIES = 0 /* series that are judged */
#define X(number, id, name, unit, kind, origin, seconds, minutes, judged, ...) +STANDING_##judged
#define STANDING_JUDGED                                                        1
#define STANDING_UNJUDGED                                                      0
#include "proto/facts/series.def"
#undef X
};

struct standing {
        uint64_t as_of_ns;
        struct growth_series series[STANDING_SERIES]; /* by tracker_judged_place() */
        struct growth growth;
        bool has_limit, has_early;
        struct limit_time limit;
        struct tracked_early early;
        uint64_t live_bytes, heap_bytes; /* the newest then; UNKNOWN_U64 */
        uint64_t live_time_ns;
};

/* Why a standing is kept. */
enum standing_kept {
        STANDING_NONE,  /* nothing is kept: its memory is for the next one */
        STANDING_READY, /* memory runs out: the next samples may be the last */
        STANDING_MET,   /* the growth has met its limit, and the program does little but collect */
        STANDING_FELL   /* most live data was freed a moment ago: if the run ends now, by its shutdown */
};

struct kept_standing {
        enum standing_kept why;
        bool met;         /* it had met its limit before it fell */
        uint64_t fell_ns; /* event time of the collection that freed most of it */
        double fell_from; /* live data before it */
        struct standing of;
};

struct tracker;

#define TRACKER_WAIT_MINUTES 5u    /* W is at most this many minutes (of the resolution) behind the newest sample */
#define TRACKER_TICKS_MAX    1100u /* ticks of one second emitted after one gap in time */

struct tracker_config {
        struct trend_config trend;  /* valid; its wait is set here */
        bool automatic;             /* the resolution was chosen from the length of a finished log */
        uint64_t tick_ns;           /* 0: no ticks */
        uint64_t given_limit_bytes; /* --limit; UNKNOWN_U64 */
        uint64_t memory_bytes;      /* physical memory of this machine, used if the program runs on it; UNKNOWN_U64 */
        struct memory_limit recorded, recorded_heap; /* of the process and of its heap alone, of a recording */
        uint32_t full_bands;                         /* bands with a ladder of their own */
};

/* One resolution for everything, no limits, LIMIT_FULL_BANDS bands, ticks every second. */
struct tracker_config tracker_config_scaled(uint64_t resolution_ns);

/* NULL when out of memory. The model is set before the first event and is borrowed until tracker_destroy. */
struct tracker *tracker_new(const struct tracker_config *config);
void tracker_destroy(struct tracker **t);
void tracker_set_model(struct tracker *t, const struct model *m);

/* The sink that feeds it; the model's state must be up to date when it is called. */
struct model_sink tracker_sink(struct tracker *t);

/* W has passed a multiple of tick_ns. In a gap, many ticks follow each other with nothing between them. */
struct tracker_tick {
        uint64_t watermark_ns;
        bool follows; /* nothing came since the previous tick */
        bool goes_on; /* nothing comes before the next one */
};

enum tick_answer {
        TICK_TAKEN,
        TICK_COSTLY, /* taken, but this gap has cost enough: the remaining ticks are farther apart */
        TICK_WAIT    /* not (completely) taken yet: tracker_resume() emits it again */
};

/*
 * The tick callback. Called from inside the sink, tracker_end_run and tracker_resume. After TICK_WAIT W stays where it
 * is, the model stops after the current event (its sink's `stop`), and what the tracker is given meanwhile is held.
 */
typedef enum tick_answer tracker_tick_fn(void *ctx, const struct tracker_tick *tick);
void tracker_on_tick(struct tracker *t, tracker_tick_fn *tick, void *ctx);

/* Whether ticks are waiting; and goes on with them: true when none is waiting now and what was held is taken in. */
bool tracker_waits(const struct tracker *t);
bool tracker_resume(struct tracker *t);

void tracker_begin_run(struct tracker *t);

/* The stream ended: closes all minutes up to the newest event, except the one in progress. Call after model_end_run. */
void tracker_end_run(struct tracker *t);

/* It was not the end: the run goes on. Call after model_resume_run. */
void tracker_resume_run(struct tracker *t);

/* Whether the run's process is on this machine: physical memory limits it. */
void tracker_set_local(struct tracker *t, bool local);

/* ----------------------------------------------------------------- reading */

/* A series, or with `band` (its id, from 1) a band. */
struct subject {
        enum series_id series;
        uint32_t band;
};

static inline struct subject subject_series(enum series_id series)
{
        return (struct subject){ .series = series };
}

static inline struct subject subject_band(uint32_t band)
{
        return (struct subject){ .band = band };
}

/* W; 0 before the first event. */
uint64_t tracker_watermark_ns(const struct tracker *t);
const struct tracker_config *tracker_config_of(const struct tracker *t);

/* The end of a subject's samples: the newest sample of the log, or its own if newer (the process's). */
uint64_t tracker_newest_ns(const struct tracker *t, struct subject s);

/*
 * The verdict as of W; unknown while the first one is in doubt between steady and growing. False: nothing is known
 * about the subject (no sample yet, a series that is not judged, a band without a ladder of its own).
 */
bool tracker_verdict(const struct tracker *t, struct subject s, struct trend_result *ret);

/* The verdict alone; unknown where that is false. It completes no evidence, so it costs next to nothing. */
enum trend_verdict tracker_verdict_alone(const struct tracker *t, struct subject s);

/* The trend itself, or NULL, for trend_time_to_limit() and the like. Borrowed until the next event. */
struct trend *tracker_trend(const struct tracker *t, struct subject s);

/*
 * Plain statistics of the samples in [from_ns, to_ns), to the width of a
 * cell: 1 s for the last 5 min of a series, 10 s for the last hour, 1 min for
 * 6 h, 10 min for 48 h (one that nobody has asked for: 10 s for the last
 * hour, 10 min for 48 h); for a band a sixth of the least of 10 min, 1 h, 6 h, 24
 * h that reaches that far. from_ns 0: since the run began. False: no sample in
 * the range.
 */
bool tracker_statistics(const struct tracker *t, struct subject s, struct time_range range, struct statistics *ret);

/*
 * The q-quantile (0..1) in [from_ns, to_ns), to the width of a slice; for its precision see series_sketch.h,
 * band_sketch.h. NaN when not known.
 */
double tracker_quantile(const struct tracker *t, struct subject s, struct time_range range, double q);

/*
 * A band's windows, for rules: the samples of a range, and the newest slice that ends at or before a time. To the width
 * of a slice (above). False when there is none.
 */
bool tracker_band_span(const struct tracker *t, uint32_t band, struct time_range range, struct range_samples *ret);
bool tracker_band_before(const struct tracker *t, uint32_t band, uint64_t time_ns, struct trend_cell *ret);

/*
 * A band's newest sample before a time, which is a whole second or after the newest census. False: not known; only the
 * last eight seconds with a census are kept.
 */
bool tracker_band_newest(const struct tracker *t, uint32_t band, uint64_t before_ns, uint64_t *ret_time_ns,
                         double *ret_bytes);

/*
 * Whether a band's windows have all samples since a time: the band had its ladder by then, or from its first census on,
 * and the time is at most about a day ago.
 */
bool tracker_band_is_known(const struct tracker *t, uint32_t band, uint64_t from_ns);

/*
 * tracker_band_still: a lower bound, in ns, on how long all of these answers, and the band's quantiles, stay the same
 * while both ends of the interval advance and nothing comes; UINT64_MAX: forever. tracker_verdicts_still: the same for
 * every verdict.
 */
uint64_t tracker_band_still(const struct tracker *t, uint32_t band, struct time_range range);
uint64_t tracker_verdicts_still(const struct tracker *t);

/* All of what follows in one record, as of W; of a run that is over, as it was while the program lived. */
void tracker_standing(const struct tracker *t, struct standing *ret);

/*
 * Whether the run is over and its last collections, of its shutdown, freed what the program held: then live data and
 * heap of its standing are those before them.
 */
bool tracker_has_last_values(const struct tracker *t);

/* Where memory grows, and when it meets the limit, as of W. */
void tracker_growth(const struct tracker *t, struct growth *ret);
bool tracker_time_to_limit(const struct tracker *t, struct limit_time *ret); /* false: nothing grows, or no limit */

/*
 * False: nothing rises, and no limit is near. Of a run that is over it is what it ended with, also a rise of live data
 * or resident memory that came too late or too fast to be seen while the run went on (rise.c).
 */
bool tracker_early(const struct tracker *t, struct tracked_early *ret);

/*
 * What the bands of the newest census have gained since the last one before a rise of live data began, or since the
 * first one, early in the rise.
 */
#define EARLY_BANDS 5u
struct early_bands {
        uint64_t before_ns, census_ns; /* event times of the two censuses */
        double explained;              /* gain of all bands, of the rise up to the newest census; NaN: not known */
        uint32_t n;
        struct growing_band bands[EARLY_BANDS]; /* that gained most, most first: what they have and gained */
};

/* False: off the heap, or there are no two such censuses. */
bool tracker_early_bands(const struct tracker *t, const struct tracked_early *early, struct early_bands *ret);

/* Haskell threads that pile up: their number is judged by the second, as live data is. Event times. */
struct thread_rise {
        double threads, base;             /* now, and before the rise */
        double rate, rate_low, rate_high; /* threads per second */
        uint64_t onset_from_ns, onset_to_ns, as_of_ns;
        uint64_t age_ns;  /* of the number of threads, where it is not of now; 0: it is */
        bool since_start; /* nothing is known from before the rise */
        uint32_t band;    /* the largest group that waits at one place in the newest census that tells; 0: none */
        uint32_t band_threads;
        uint64_t band_time_ns; /* of that census */
        bool ended;            /* the run has ended: so it was then */
};

/* False: their number does not rise, or is not known. */
bool tracker_thread_rise(const struct tracker *t, struct thread_rise *ret);

/* What rises by it, without a verdict of growth: a series, and the bands that gained most. */
struct rising_subjects {
        bool any;
        enum series_id series;
        uint32_t n, bands[EARLY_BANDS];
};
void tracker_rising(const struct tracker *t, struct rising_subjects *ret);

/* The one word for a subject with that verdict, which every face shows. */
enum trend_word { /* numbers of the wire (hw.Word); the first four are those of the verdict */
                  TREND_WORD_RISING = 4
};
unsigned tracker_word(const struct rising_subjects *rising, struct subject s, enum trend_verdict verdict);

/* Whether there is something new to publish of it; and that it was. */
bool tracker_early_is_due(const struct tracker *t);
void tracker_early_was_published(struct tracker *t);

/* The least limit that is known and what sets it; bytes UNKNOWN_U64 when there is none. */
struct memory_limit tracker_limit(const struct tracker *t);
struct memory_limit tracker_process_limit(const struct tracker *t); /* without those of the heap alone */

/* The note nearest to an onset (markers first, then messages): at or before it, and after; NULL: none. */
const struct note *tracker_note_before(const struct tracker *t, uint64_t time_ns);
const struct note *tracker_note_after(const struct tracker *t, uint64_t time_ns);

/* Counters. */
uint64_t tracker_late(const struct tracker *t);           /* samples that came after their minute was closed */
uint64_t tracker_bands_left_out(const struct tracker *t); /* bands without a ladder of their own */
uint64_t tracker_held_bytes(const struct tracker *t);

/*
 * What to publish: at most `max` subjects with something new since they were taken; marks them as taken. Series come
 * first, then bands by id. A subject is due when its word has changed, and otherwise when a minute (a steady band:
 * 16 minutes) has closed since. When the run ends, all that were published as of an earlier W are due: the final
 * verdict does not depend on who asked when.
 */
uint32_t tracker_collect_due(struct tracker *t, struct subject *subjects, uint32_t max);
bool tracker_any_due(const struct tracker *t);

/* Iterates over all known subjects; *at is 0 at first; false at the end. */
bool tracker_next(const struct tracker *t, uint32_t *at, struct subject *ret);

/*
 * tracker_image.c: the image of a tracker, see daemon/model/image/image.h.
 *
 * Reading needs a new tracker; its model, tick callback and limits stay. A
 * different resolution or leak_after is refused: the past cannot be judged
 * again.
 */

struct image;
#include "daemon/judge/trend/tracker.h"

/* Comes after the image of its model. */
void tracker_image(struct image *im, struct tracker *t);
