/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracker_early.c - the early warning of a target: fed with its samples, moved on with the watermark.
 *
 * DESIGN: live data and heap are the log's and are judged as of W, so that a finished log and its live run agree. RSS
 * and its account are sampled from the process and judged at their own times. Limits may become known late or change,
 * so they are looked up before each judgement.
 */
#include <math.h>

#include "daemon/model/sizing.h"
#include "daemon/judge/trend/early_rise.h"
#include "daemon/judge/trend/tracker_private.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/limits.h"
#include "proto/base/outside_census.h"
#include "proto/base/time.h"

#define COPIED_UP_TO      0.25 /* of -M: the old generation is compacted when its blocks are 30 % of that (-c N) */
#define COPIED_TO_COMPACT 0.6  /* share of live data: with less, half of -M is met before the threshold */
#define HELD_BACK_FROM    0.4  /* share of -M: near the half that the collector leaves to live data */
#define HELD_BACK_TO      0.6
#define LINE_POINTS       384u      /* cells of any level of a series' pyramid */
#define ONSET_STEPS       2u        /* that a verdict's onset may be off */
#define EARLY_PART        0.01      /* of what all bands gained: a band with less is not named */
#define NEW_GROUND        0.5       /* of a rise */
#define STOOD_SHARE       0.5       /* of what a line gains */
#define NURSERY_USUAL     4194304.0 /* bytes, where its size is not known: -A of GHC 9.2 and newer */
#define FLAT_PART         0.03      /* of a rise: with less at its level it has not come to an end */
#define STOOD_PART        4u        /* of its length: a rise is the same that far after where it was seen last */

static double seconds_of(uint64_t time_ns)
{
        return (double)time_ns / 1e9;
}

static uint64_t nanoseconds_of(double seconds)
{
        return u64_sat(seconds * 1e9);
}

/* Large objects are not copied: while they are most of the live data nothing is compacted in place. */
static bool copies_all(const struct tracker *t, const struct sizing *s)
{
        return sizing_copies(s) && t->early_copied_share < COPIED_TO_COMPACT;
}

/*
 * Most live data that -M allows. The old generation is compacted in place once what it would have to copy is 30 % of
 * -M; until then a major collection needs its live data twice. Large objects are never copied and do not count, so a
 * heap of few small objects dies at half of -M (resize_generations and GarbageCollect in rts/sm/GC.c).
 */
static double most_live(const struct tracker *t)
{
        struct sizing s = sizing_of(model_run(t->model), model_heap(t->model));
        uint64_t most = sizing_most_live(&s);
        double half = (double)most / 2;

        if (most == UNKNOWN_U64)
                return NAN; /* no -M, or a collector that is not modelled */
        return !copies_all(t, &s) || t->early.live.rise.last > half ? (double)most : half;
}

static struct early_limits limits_now(const struct tracker *t)
{
        const struct run *run = model_run(t->model);
        const struct memory_limit of_heap = tracker_heap_limit(t);
        const double left = tracker_space_left(t);
        const bool is_mixed = isnan(left) && run->process_only && of_heap.source == LIMIT_SOURCE_RESERVED;
        const double space = is_mixed ? (double)of_heap.bytes : t->early.off_heap.rise.last + left;

        return (struct early_limits){
                .live = most_live(t),
                .process = tracker_limit_room(t, tracker_process_limit(t)),
                .reserved = of_heap.source == LIMIT_SOURCE_RESERVED ? (double)of_heap.bytes : 0,
                .space = t->early.off_heap.rise.samples && !isnan(space) ? fmax(space, 1) : 0,
                .nursery = run->allocation_area_bytes == UNKNOWN_U64
                                   ? 0
                                   : (double)run->allocation_area_bytes * (run->capabilities ? run->capabilities : 1),
        };
}

void tracker_early_clear(struct tracker *t)
{
        early_warning_init(&t->early, &(struct early_limits){ .live = NAN, .process = NAN });
        t->early_copied_share = NAN;
        t->early_published_ns = 0;
        t->early_rises = false;
        tracker_standing_clear(t);
        early_rise_init(&t->threads);
}

void tracker_early_sample(struct tracker *t, enum series_id series, uint64_t time_ns, uint64_t value)
{
        switch (series) {
        case SERIES_LIVE:
                tracker_standing_live(t, time_ns, (double)value);
                early_warning_live(&t->early, seconds_of(time_ns), (double)value);
                break;
        case SERIES_HEAP_SIZE:
                t->heap_before = t->newest_heap;
                t->newest_heap = (double)value;
                early_warning_heap(&t->early, (double)value);
                break;
        case SERIES_RSS:
                early_warning_rss(&t->early, seconds_of(time_ns), (double)value);
                break;
        case SERIES_FOREIGN:
                early_warning_foreign(&t->early, seconds_of(time_ns), (double)value);
                break;
        default:
                break;
        }
}

/*
 * What live data can have gained since then at most: what was allocated, the nursery being counted when it is full, and
 * what is in blocks beyond those that the collection left. The past is kept in cells that may be wide, so both count
 * from the least of what was around that moment. Infinite: neither is known.
 */
static double most_gained(const struct tracker *t, uint64_t since_ns)
{
        struct series_view room, other;
        const struct series *allocated = model_series(t->model, SERIES_ALLOCATED, &room);
        const struct series *blocks = model_series(t->model, SERIES_BLOCKS_SIZE, &other);
        const double nursery = t->early.limits.nursery > 0 ? t->early.limits.nursery : NURSERY_USUAL;
        struct trend_cell then;
        const struct time_range around = { sub_sat(since_ns, NS_PER_S), since_ns + NS_PER_S };
        double most = INFINITY;

        series_span(allocated, around, &then);
        if (then.cell.n)
                most = allocated->total.cell.max - then.cell.min + nursery;
        series_span(blocks, around, &then);
        return then.cell.n ? fmin(most, fmax(blocks->total.cell.last - then.cell.min, 0) + nursery) : most;
}

void tracker_early_advance(struct tracker *t, uint64_t time_ns)
{
        /* Only while the collector surely has copied: compacted data do not count as copied. */
        const struct heap *heap = model_heap(t->model);
        struct series_view view;
        const double highest = model_series(t->model, SERIES_LIVE, &view)->total.cell.max;
        uint64_t copied = model_gc(t->model)->major_copied_bytes, limit = tracker_heap_limit(t).bytes;

        if (copied != UNKNOWN_U64 && heap->live_bytes != UNKNOWN_U64 && heap->live_bytes > 0 && limit != UNKNOWN_U64 &&
            highest < COPIED_UP_TO * (double)limit)
                t->early_copied_share = (double)copied / (double)heap->live_bytes;
        const struct early_limits limits = limits_now(t);

        early_warning_set_limits(&t->early, &limits);
        early_warning_advance(&t->early, seconds_of(time_ns));
        if (t->early.live.rise.rising)
                early_warning_bound_live(&t->early, most_gained(t, nanoseconds_of(t->early.live.rise.last_s)));
        tracker_standing_advance(t);
        tracker_threads_advance(t, time_ns);
        t->scan |= tracker_early_is_due(t);
}

/* The limit that is met, as people know it. */
static struct memory_limit limit_met(const struct tracker *t, const struct early_series *s)
{
        if (isnan(s->out.limit))
                return (struct memory_limit){ UNKNOWN_U64, LIMIT_SOURCE_UNKNOWN };
        switch (early_warning_limit(&t->early, s)) {
        case EARLY_MAX_HEAP:
                return (struct memory_limit){ model_run(t->model)->max_heap_bytes, LIMIT_SOURCE_MAX_HEAP };
        case EARLY_RESERVED:
                return tracker_heap_limit(t);
        case EARLY_SPACE:
                if (isnan(tracker_space_left(t)))
                        return tracker_heap_limit(t);
                return (struct memory_limit){ model_heap(t->model)->process.address_space_limit_bytes,
                                              LIMIT_SOURCE_ADDRESS_SPACE };
        case EARLY_PROCESS:
                break;
        }
        return tracker_process_limit(t);
}

/* Whether a limit may be met though it seems to have room for as much again. */
static bool is_held_back(const struct tracker *t, const struct early_series *s)
{
        const struct sizing sizing = sizing_of(model_run(t->model), model_heap(t->model));
        const struct memory_limit limit = limit_met(t, s);
        const double most = (double)limit.bytes;

        if (limit.source == LIMIT_SOURCE_MAX_HEAP ? sizing_most_live(&sizing) == UNKNOWN_U64 || !copies_all(t, &sizing)
                                                  : limit.source != LIMIT_SOURCE_RESERVED || !sizing_copies(&sizing) ||
                                                            t->early_copied_share < COPIED_TO_COMPACT)
                return false;
        return s->rise.last > HELD_BACK_FROM * most && s->rise.last < HELD_BACK_TO * most;
}

/* Of a process without a log no heap is known, so what is "off" it is all of its resident memory. */
static enum series_id series_of(const struct tracker *t, const struct early_series *s)
{
        if (s == &t->early.live)
                return SERIES_LIVE;
        return model_run(t->model)->process_only ? SERIES_RSS : SERIES_FOREIGN;
}

/* By the largest size of the heap, which has room to copy in: its live data may still rise for a while. */
static bool heap_met_limit(const struct tracker *t, struct memory_limit limit)
{
        return limit_is_of_heap(limit.source) && model_heap(t->model)->facts[CARRIED_HEAP_LIMIT_USED] >= 1;
}

/* When the newest sample was taken: one that came late counts as of then for the line, not for its age. */
static uint64_t level_time_ns(const struct tracker *t, const struct early_series *s)
{
        const struct heap *heap = model_heap(t->model);
        const bool is_newest = s == &t->early.live && heap->live_bytes == u64_sat(s->rise.last);

        return is_newest ? heap->live_time_ns : nanoseconds_of(s->rise.last_s);
}

static void set_early(const struct tracker *t, const struct early_series *s, struct tracked_early *ret)
{
        ret->series = series_of(t, s);
        ret->rising = s->rise.rising;
        ret->runs_out = s->out.warned;
        ret->limit = limit_met(t, s);
        ret->at_limit = heap_met_limit(t, ret->limit);
        ret->held_back = is_held_back(t, s);
        ret->level_bytes = s->rise.last;
        ret->level_time_ns = level_time_ns(t, s);
        ret->soonest_s = s->out.soonest_s;
        ret->latest_s = s->out.latest_s;
        ret->as_of_ns = nanoseconds_of(s->rise.now_s);
        if (!ret->rising)
                return;
        const double rose_s = s->rise.last_s - (s->rise.onset.from_s + s->rise.onset.to_s) / 2;
        ret->until_ns = s->rise.last_s - s->rise.high_s > FLAT_PART * rose_s ? nanoseconds_of(s->rise.high_s)
                                                                             : ret->level_time_ns;
        ret->base_bytes = s->rise.onset.base;
        ret->since_start = s->rise.onset.first;
        ret->rate = s->rise.widest.slope;
        early_rise_rate(&s->rise, &ret->rate_low, &ret->rate_high);
        const double level = s->rise.last + ret->rate * (s->rise.now_s - s->rise.last_s);
        ret->mid_s = fmax(s->out.limit - level, 0) / ret->rate;
        ret->soonest_s = fmin(ret->soonest_s, ret->mid_s);
        ret->latest_s = isnan(ret->latest_s) ? NAN : fmax(ret->latest_s, ret->mid_s);
        ret->onset_from_ns = nanoseconds_of(s->rise.onset.from_s);
        ret->onset_to_ns = nanoseconds_of(s->rise.onset.to_s);
        double age_s = s->rise.now_s - (s->rise.onset.from_s + s->rise.onset.to_s) / 2;
        if (!ret->runs_out && !(s->out.latest_s <= EARLY_REACH * age_s))
                ret->latest_s = NAN;
        if (!ret->runs_out && !(s->out.soonest_s <= EARLY_REACH * age_s))
                ret->soonest_s = NAN;
}

static bool find_line_of_span(const struct tracker *t, enum series_id series, uint64_t span_ns, struct rise_line *ret)
{
        struct series_view room;
        const uint64_t newest_ns = tracker_newest_ns(t, subject_series(series));
        const struct time_range range = { sub_sat(newest_ns, span_ns),
                                          newest_ns == UINT64_MAX ? newest_ns : newest_ns + 1 };
        struct point history[LINE_POINTS];
        struct rise_point points[LINE_POINTS];
        const size_t n = series_history(model_series(t->model, series, &room), range, 0, history, LINE_POINTS);

        for (size_t i = 0; i < n; i++)
                points[i] = (struct rise_point){ history[i].cell.last_ns, history[i].cell.max };
        return rise_find(points, n, t->newest_ns, ret) &&
               (ret->began_after_ns > points[0].time_ns || range.from_ns == 0);
}

/* Over the shortest span, of those that a series is kept of at one width, in which the rise's beginning is. */
static bool find_line(const struct tracker *t, enum series_id series, struct rise_line *ret)
{
        static const uint64_t spans_ns[] = { 5 * NS_PER_MINUTE, NS_PER_HOUR, 6 * NS_PER_HOUR, 48 * NS_PER_HOUR };

        for (size_t i = 0; i < ARRAY_SIZE(spans_ns); i++)
                if (find_line_of_span(t, series, spans_ns[i], ret))
                        return true;
        return false;
}

/*
 * Whether it is the rise that stood until the last collections took it back: what it gained is most of the line, which
 * may go back to an earlier rise, such as the loading of the program.
 */
static bool stood_as(const struct early_rise *rise, const struct rise_line *line)
{
        const uint64_t near_ns = (line->to_ns - line->began_by_ns) / STOOD_PART;

        return rise->has_onset && line->to_ns <= nanoseconds_of(rise->ended_s) + near_ns &&
               (line->began_by_ns >= nanoseconds_of(rise->onset.from_s) ||
                line->to_bytes - rise->onset.base >= STOOD_SHARE * (line->to_bytes - line->from_bytes));
}

/* Half of it is more than the run had held before: the next batch of a program that works in batches is no rise. */
static bool is_new_ground(const struct tracker *t, enum series_id series, const struct rise_line *line)
{
        struct series_view room;
        struct trend_cell before;

        series_span(model_series(t->model, series, &room), (struct time_range){ 0, line->began_after_ns + 1 }, &before);
        return !before.cell.n || line->to_bytes - before.cell.max >= NEW_GROUND * (line->to_bytes - line->from_bytes);
}

/* What the kernel can take back at the end, pages of files that were mapped meanwhile, is no rise. */
static bool is_held(const struct tracker *t, enum series_id series, const struct rise_line *line)
{
        const double held = model_heap(t->model)->facts[CARRIED_RESIDENT_HELD];

        return series != SERIES_RSS || isnan(held) ||
               held - line->from_bytes >= NEW_GROUND * (line->to_bytes - line->from_bytes);
}

/* Live data was measured in the newer half of the line: then that tells what the program held, not all of its heap. */
static bool is_live_known(const struct tracker *t, const struct rise_line *line)
{
        const struct early_rise *live = &t->early.live.rise;
        const uint64_t middle_ns = line->began_by_ns + sub_sat(line->to_ns, line->began_by_ns) / 2;

        return live->samples > 0 && nanoseconds_of(live->last_s) > middle_ns;
}

/* The line through the last samples of a run that is over. When it began stays as it was said while it went on. */
static bool set_last_rise(const struct tracker *t, struct tracked_early *ret)
{
        struct rise_line line;
        const bool is_live = find_line(t, SERIES_LIVE, &line);

        const enum series_id series = is_live ? SERIES_LIVE : SERIES_RSS;
        if ((!is_live && (!find_line(t, series, &line) || is_live_known(t, &line))) ||
            !is_new_ground(t, series, &line) || !is_held(t, series, &line))
                return false;
        ret->series = series;
        ret->rising = true;
        ret->since_start = line.began_after_ns == line.began_by_ns;
        ret->base_bytes = line.from_bytes;
        ret->level_bytes = line.to_bytes;
        ret->level_time_ns = ret->until_ns = line.to_ns;
        ret->rate = line.slope;
        ret->onset_from_ns = line.began_after_ns;
        ret->onset_to_ns = line.began_by_ns;
        ret->as_of_ns = line.to_ns;
        const struct early_rise *before = &t->early.live.rise;
        if (is_live && stood_as(before, &line)) {
                ret->since_start = before->onset.first;
                ret->base_bytes = before->onset.base;
                ret->onset_from_ns = nanoseconds_of(before->onset.from_s);
                ret->onset_to_ns = nanoseconds_of(before->onset.to_s);
        }
        return true;
}

bool tracker_early_now(const struct tracker *t, struct tracked_early *ret)
{
        const struct early_series *s = early_warning_worst(&t->early);

        *ret = (struct tracked_early){
                .limit = { UNKNOWN_U64, LIMIT_SOURCE_UNKNOWN },
                .base_bytes = NAN,
                .rate = NAN,
                .rate_low = NAN,
                .rate_high = NAN,
                .soonest_s = NAN,
                .latest_s = NAN,
                .mid_s = NAN,
                .onset_from_ns = UNKNOWN_U64,
                .onset_to_ns = UNKNOWN_U64,
                .ended = t->ended,
        };
        if (s)
                set_early(t, s, ret);
        return (t->ended && !ret->rising && set_last_rise(t, ret)) || s;
}

bool tracker_early(const struct tracker *t, struct tracked_early *ret)
{
        const struct standing *kept = tracker_standing_kept(t);

        if (!kept || !kept->has_early || !kept->early.rising)
                return tracker_early_now(t, ret);
        *ret = kept->early;
        ret->at_limit = heap_met_limit(t, ret->limit);
        if (t->kept->why == STANDING_MET || t->kept->met) { /* it does little but collect: by now, not in some time */
                ret->at_limit = true;
                ret->soonest_s = ret->mid_s = ret->latest_s = 0;
        }
        ret->ended = t->ended;
        return true;
}

bool tracker_rises_now(const struct tracker *t, enum series_id series)
{
        struct tracked_early early;

        return tracker_early(t, &early) && early.rising && early.series == series;
}

void tracker_early_refine_onset(const struct tracker *t, enum series_id series, struct trend_result *r)
{
        const bool is_foreign = series == SERIES_FOREIGN && t->early.has_foreign;
        const struct early_rise *rise = is_foreign ? &t->early.off_heap.rise : &t->early.live.rise;

        if ((series != SERIES_LIVE && !is_foreign) || r->onset_ns == UINT64_MAX || !rise->has_onset ||
            rise->onset.first)
                return;
        const uint64_t from_ns = nanoseconds_of(rise->onset.from_s), to_ns = nanoseconds_of(rise->onset.to_s);
        const uint64_t reach_ns = ONSET_STEPS * t->config.trend.resolution_ns, error_ns = (to_ns - from_ns) / 2;

        if (sub_sat(from_ns, r->onset_ns) > reach_ns || sub_sat(r->onset_ns, to_ns) > reach_ns)
                return;
        if (error_ns < t->config.trend.resolution_ns) {
                r->onset_ns = from_ns + error_ns;
                r->onset_error_ns = error_ns;
                return;
        }
        /* its interval is wider than a step, as of a log with short ones or an archive: the onset stays, within that */
        const uint64_t before_ns = sub_abs(r->onset_ns, from_ns), after_ns = sub_abs(to_ns, r->onset_ns);
        r->onset_error_ns = before_ns > after_ns ? before_ns : after_ns;
}

/*
 * The cell of the newest census that was over when a rise began, or else the first one: cells get wider while a run
 * goes on, and then the least of it was before, or as early in the rise as there is a census. NULL: the first census
 * came in the second half of the rise, and tells little of it. The first one is that from which on all are alike.
 */
static const struct cell *cell_before(const struct census_history *h, uint64_t onset_ns, uint64_t now_ns,
                                      uint64_t *ret_start_ns)
{
        for (uint32_t i = h->fold.n; i-- > 0;) {
                const struct cell *cell = census_history_at(h, i);

                *ret_start_ns = fold_time_ns(&h->fold, i);
                if (cell && cell->last_ns <= onset_ns && cell->last_ns >= h->first_ns)
                        return cell;
                if (cell && *ret_start_ns <= h->first_ns &&
                    sub_sat(h->first_ns, onset_ns) <= sub_sat(now_ns, onset_ns) / 2)
                        return cell;
        }
        return NULL;
}

/* What a band had in the last census, or at its least, of the cell that begins at start_ns; 0: it was not in it. */
static double band_before(const struct band *band, uint64_t start_ns, uint64_t width_ns, bool least)
{
        const struct fold *f = band->history;
        struct cell c;

        for (uint32_t i = f ? f->n : 0; i-- > 0 && fold_time_ns(f, i) >= start_ns;)
                if (fold_time_ns(f, i) < start_ns + width_ns && band_point(band, i, &c))
                        return least ? c.min : c.last;
        return 0;
}

bool tracker_early_bands(const struct tracker *t, const struct tracked_early *early, struct early_bands *ret)
{
        const struct census *now = model_census(t->model);
        const struct census_history *history = model_census_history(t->model);
        const struct bands *bands = model_bands(t->model);
        uint64_t start_ns;

        if (!early->rising || early->series != SERIES_LIVE || !now->number || now->unfinished ||
            now->time_ns <= early->onset_to_ns)
                return false;
        const uint64_t onset_ns = early->since_start ? early->onset_to_ns : early->onset_from_ns;
        const struct cell *before = cell_before(history, onset_ns, now->time_ns, &start_ns);
        if (!before)
                return false;
        const bool least = before->last_ns > onset_ns;
        const uint64_t before_ns = least ? history->first_ns : before->last_ns;
        /* Live data has gone on rising since the census; what it was at a first one in the rise is not known. */
        const double since_s = now->time_ns < early->as_of_ns ? seconds_of(early->as_of_ns - now->time_ns) : 0;
        const double rise = before_ns > early->onset_to_ns
                                    ? early->rate * seconds_of(sub_sat(now->time_ns, before_ns))
                                    : early->level_bytes - early->rate * since_s - early->base_bytes;
        const double gained = (double)now->total_bytes - (least ? before->min : before->last);

        *ret = (struct early_bands){ .before_ns = before_ns, .census_ns = now->time_ns };
        ret->explained = rise > 0 ? fmin(fmax(gained, 0) / rise, 1) : NAN;
        for (uint32_t i = 0; i < now->n_rows; i++) {
                const struct census_row *row = &now->rows[i];
                const struct band *band = bands_get(bands, row->band);

                if (!band || (double)row->bytes < EARLY_PART * gained)
                        continue; /* most bands are small: their histories are not searched */
                const double had = band_before(band, start_ns, history->fold.width_ns, least);
                const double more = (double)row->bytes - had;
                const double surely = more - census_gain_margin(history->spread, fmax((double)row->bytes, had),
                                                                (double)now->total_bytes);
                if (more >= EARLY_PART * gained && surely > 0)
                        growing_bands_insert(ret->bands, &ret->n, EARLY_BANDS,
                                             &(struct growing_band){ .band = row->band,
                                                                     .bytes = row->bytes,
                                                                     .threads = row->threads,
                                                                     .gained_bytes = more,
                                                                     .gained_low_bytes = surely });
        }
        return true;
}

void tracker_rising(const struct tracker *t, struct rising_subjects *ret)
{
        struct tracked_early early;
        struct early_bands gained;

        *ret = (struct rising_subjects){ .any = tracker_early(t, &early) && early.rising };
        if (!ret->any)
                return;
        ret->series = early.series;
        if (!tracker_early_bands(t, &early, &gained))
                return;
        for (; ret->n < gained.n; ret->n++)
                ret->bands[ret->n] = gained.bands[ret->n].band;
}

unsigned tracker_word(const struct rising_subjects *rising, struct subject s, enum trend_verdict verdict)
{
        bool rises = rising->any && !s.band && s.series == rising->series;

        for (uint32_t i = 0; s.band && i < rising->n; i++)
                rises |= rising->bands[i] == s.band;
        return rises && verdict < TREND_GROWING ? TREND_WORD_RISING : verdict;
}

static bool any_rises(const struct tracker *t)
{
        return early_warning_worst(&t->early) || tracker_standing_kept(t) || t->threads.rising;
}

bool tracker_early_is_due(const struct tracker *t)
{
        const bool rises = any_rises(t);

        return rises != t->early_rises || (rises && t->watermark_ns != t->early_published_ns);
}

void tracker_early_was_published(struct tracker *t)
{
        t->early_rises = any_rises(t);
        t->early_published_ns = t->watermark_ns;
}

bool tracker_early_is_sound(const struct tracker *t)
{
        return early_warning_is_sound(&t->early) && early_rise_is_sound(&t->threads);
}
