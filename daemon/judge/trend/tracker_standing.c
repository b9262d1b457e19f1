/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracker_standing.c - a target's standing: one record of all answers, and when the last one is kept.
 *
 * DESIGN: at its limit a program can only collect: its live data is flat then, and no window sees a rise. And the
 * runtime's shutdown collects once more, when all that the program held is garbage. Neither is the end of growth. So
 * while memory runs out the standing of each second is held ready, and is what is said while the program, at its
 * limit, does little but collect. A collection that frees most of the live data keeps it as it was before, for some
 * seconds: if the run ends in them, that was the shutdown. While they last nothing tells which it is, so only a
 * warning that memory runs out stays for so long.
 */
#include <math.h>
#include <stdlib.h>

#include "daemon/judge/trend/tracker_private.h"
#include "proto/base/ckd.h"
#include "proto/base/time.h"

#define FALL_SHARE      0.5             /* of the live data before: what leaves less has freed most of it */
#define FALL_LEAST      1048576.0       /* bytes; smaller falls free nothing that matters */
#define RECOVERED_SHARE 0.75            /* of the live data before a fall: it was a wave */
#define FALL_NS         (10 * NS_PER_S) /* from the fall to the end of its run, at most; */
#define FALL_PART       8u              /* of a short run, this part of it */
#define MET_SHARE       0.95            /* of the limit */
#define STILL_NS        (10 * NS_PER_S)
#define STILL_SHARE     0.5 /* of that time, in collections */

/* In the order of their ids, which no version changes: checkpoints have it. */
unsigned tracker_judged_place(enum series_id series)
{
        unsigned place = 0;

        if ((unsigned)series >= SERIES_COUNT || !series_rows[series].judged)
                return STANDING_SERIES;
        for (unsigned i = 1; i < (unsigned)series; i++)
                place += series_rows[i].judged;
        return place;
}

static void read_judged(const struct tracker *t,
                        bool (*verdict)(const struct tracker *, struct subject, struct trend_result *),
                        struct standing *ret)
{
        for (unsigned i = 1, place = 0; i < SERIES_COUNT; i++) {
                if (!series_rows[i].judged)
                        continue;
                struct growth_series *s = &ret->series[place++];
                s->known = verdict(t, subject_series((enum series_id)i), &s->trend);
        }
}

static void read_standing(const struct tracker *t, struct standing *ret)
{
        *ret = (struct standing){ .as_of_ns = t->watermark_ns, .live_bytes = UNKNOWN_U64, .heap_bytes = UNKNOWN_U64 };
        read_judged(t, tracker_verdict_now, ret);
        tracker_growth_now(t, &ret->growth);
        ret->has_limit = tracker_time_to_limit_now(t, &ret->limit);
        ret->has_early = tracker_early_now(t, &ret->early);
        /* what is not known may hold anything, and a checkpoint has all of it */
        for (unsigned i = 0; i < STANDING_SERIES; i++)
                if (!ret->series[i].known)
                        ret->series[i].trend = (struct trend_result){ .verdict = TREND_UNKNOWN };
        if (!ret->has_limit)
                ret->limit = (struct limit_time){ .as_of_ns = 0 };
        if (!ret->has_early)
                ret->early = (struct tracked_early){ .as_of_ns = 0 };
        if (t->early.live.rise.samples > 0) {
                ret->live_bytes = u64_sat(t->early.live.rise.last);
                ret->live_time_ns = u64_sat(t->early.live.rise.last_s * 1e9);
        }
        if (!isnan(t->newest_heap))
                ret->heap_bytes = u64_sat(t->newest_heap);
}

void tracker_standing(const struct tracker *t, struct standing *ret)
{
        const struct standing *kept = tracker_standing_kept(t);

        if (!kept) {
                read_standing(t, ret);
                return;
        }
        *ret = *kept;
        read_judged(t, tracker_verdict, ret);
        tracker_growth(t, &ret->growth);
        ret->has_limit = tracker_time_to_limit(t, &ret->limit);
        ret->has_early = tracker_early(t, &ret->early);
}

/* NULL: nothing is kept now. */
static struct kept_standing *find_kept(const struct tracker *t)
{
        return t->kept && t->kept->why != STANDING_NONE ? t->kept : NULL;
}

const struct standing *tracker_standing_kept(const struct tracker *t)
{
        const struct kept_standing *k = find_kept(t);

        if (!k || k->why == STANDING_READY || (k->why == STANDING_FELL && !t->ended && !k->of.early.runs_out))
                return NULL;
        return &k->of;
}

bool tracker_has_last_values(const struct tracker *t)
{
        return t->ended && t->kept && t->kept->why == STANDING_FELL;
}

/* -------------------------------------------------------------------- keeping */

static void drop_standing(struct tracker *t)
{
        if (t->kept)
                t->kept->why = STANDING_NONE;
}

void tracker_standing_clear(struct tracker *t)
{
        free(t->kept);
        t->kept = NULL;
        t->newest_heap = t->heap_before = NAN;
}

/* False: out of memory; then nothing is kept, and what is said at the end is as of the end. */
static bool keep_standing(struct tracker *t, enum standing_kept why)
{
        if (!t->kept)
                t->kept = malloc(sizeof(*t->kept));
        if (!t->kept)
                return false;
        t->kept->why = why;
        t->kept->met = false;
        t->kept->fell_ns = 0;
        t->kept->fell_from = NAN;
        read_standing(t, &t->kept->of);
        return true;
}

static uint64_t fall_lasts_ns(const struct tracker *t)
{
        const uint64_t first_ns = model_first_time_ns(t->model);
        const uint64_t part_ns = sub_sat(t->kept->fell_ns, first_ns == UNKNOWN_U64 ? 0 : first_ns) / FALL_PART;

        return part_ns < FALL_NS ? part_ns : FALL_NS;
}

/* Whether collections take most of the time: the program does hardly anything else. */
static bool only_collects(const struct tracker *t)
{
        struct series_view room;
        const uint64_t from_ns = sub_sat(t->watermark_ns, STILL_NS);
        struct trend_cell pauses;

        series_span(model_series(t->model, SERIES_GC_PAUSE, &room), (struct time_range){ from_ns, t->watermark_ns },
                    &pauses);
        return pauses.cell.n &&
               pauses.cell.mean * (double)pauses.cell.n >= STILL_SHARE * (double)(t->watermark_ns - from_ns);
}

static bool has_met_limit(const struct tracker *t)
{
        const struct early_series *s = early_warning_worst(&t->early);

        return s && s->out.warned && (s->rise.last >= MET_SHARE * s->out.limit || only_collects(t));
}

static bool is_running_out(const struct tracker *t)
{
        const struct early_series *s = early_warning_worst(&t->early);

        return s && s->out.warned && s->rise.rising;
}

void tracker_standing_advance(struct tracker *t)
{
        if (t->kept && t->kept->why == STANDING_FELL) {
                if (sub_sat(t->watermark_ns, t->kept->fell_ns) <= fall_lasts_ns(t))
                        return;
                drop_standing(t);
        }
        if (is_running_out(t))
                (void)keep_standing(t, STANDING_READY);
        else if (find_kept(t) && has_met_limit(t))
                t->kept->why = STANDING_MET;
        else
                drop_standing(t);
}

/* Of the collection in which the live data fell, or the one before: its size may have come before its live data. */
static uint64_t heap_before_fall(const struct tracker *t)
{
        const double bytes = fmax(t->newest_heap, t->heap_before);

        return isnan(bytes) ? UNKNOWN_U64 : u64_sat(bytes);
}

void tracker_standing_live(struct tracker *t, uint64_t time_ns, double bytes)
{
        const double before = t->early.live.rise.samples > 0 ? t->early.live.rise.last : 0;

        if (t->kept && t->kept->why == STANDING_FELL) {
                if (bytes >= RECOVERED_SHARE * t->kept->fell_from)
                        drop_standing(t);
                return;
        }
        if (before < FALL_LEAST || bytes >= FALL_SHARE * before)
                return;
        const bool met = find_kept(t) && t->kept->why == STANDING_MET;
        if ((!find_kept(t) || (!met && is_running_out(t))) && !keep_standing(t, STANDING_FELL))
                return; /* what was kept ready is from before the newest collections */
        t->kept->met = met;
        t->kept->why = STANDING_FELL;
        t->kept->fell_ns = time_ns;
        t->kept->fell_from = before;
        t->kept->of.live_bytes = u64_sat(before);
        t->kept->of.live_time_ns = u64_sat(t->early.live.rise.last_s * 1e9);
        t->kept->of.heap_bytes = heap_before_fall(t);
}

bool tracker_standing_is_sound(const struct tracker *t)
{
        const struct kept_standing *k = t->kept;
        const struct growth *g = &k->of.growth;

        for (unsigned i = 0; i < STANDING_SERIES; i++)
                if (k->of.series[i].trend.verdict > TREND_LEAK || k->of.series[i].trend.evidence.missing > TEST_COUNT)
                        return false;
        return k->why <= STANDING_FELL && g->n_bands <= GROWTH_BANDS && g->where <= GROWTH_FOREIGN &&
               k->of.limit.limit.source <= LIMIT_SOURCE_DATA && k->of.early.limit.source <= LIMIT_SOURCE_DATA &&
               (unsigned)k->of.early.series < SERIES_COUNT && (unsigned)k->of.limit.series < SERIES_COUNT;
}
