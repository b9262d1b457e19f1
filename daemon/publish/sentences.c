/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: tables (proto/base/phrase.h): a row's condition, and what is said then. Every number in a sentence is also a
 * field of the message, and so is the key of its row.
 */
#include "daemon/publish/sentences.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daemon/model/sizing.h"
#include "heapwatch/text.h"
#include "proto/base/ckd.h"
#include "proto/base/phrase.h"
#include "proto/base/time.h"

#define CARRIED_LEAST 0.25 /* of the growth, by the bands that are judged: with less none is named */
#define AT_ANY_TIME_S 1.0  /* less than this until the limit is met by the rate: it may be met at any time */
#define UNEVEN        2.0  /* times its rate and more is what a rise gained in its time: its line is not all of it */
#define OLD_SHARE     0.05 /* of a level: what it may have risen by since it was measured is said when it is more */

/* What the table says; its key, "" where no condition holds. */
static const char *append_keyed(struct phrase *s, const struct phrase_row *table)
{
        const struct phrase_row *row = phrase_append_table(s, table);

        return row ? row->key : "";
}

/* -------------------------------------------------------------- verdict */

PHRASE_WHEN(is_unknown, struct trend_result, r, r->verdict == TREND_UNKNOWN)
PHRASE_WHEN(rises_so_far, struct trend_result, r, r->verdict == TREND_UNKNOWN && r->rises_so_far)
PHRASE_WHEN(is_doubted, struct trend_result, r, r->verdict == TREND_STEADY && r->doubted)
PHRASE_WHEN(is_steady, struct trend_result, r, r->verdict == TREND_STEADY)
PHRASE_WHEN(is_growing, struct trend_result, r, r->verdict == TREND_GROWING)
PHRASE_WHEN(is_leak, struct trend_result, r, r->verdict == TREND_LEAK)

PHRASE_SLOT(put_slope, struct trend_result, r,
            r->has_slope &&phrase_append_rate_within(s, r->slope, r->slope_low, r->slope_high))
PHRASE_SLOT(put_slope_span, struct trend_result, r,
            r->has_slope &&phrase_append_duration(s, (double)r->evidence.span_ns))
PHRASE_SLOT(put_missing, struct trend_result, r,
            r->has_slope && r->evidence.missing < TEST_COUNT &&
                    phrase_printf(s, "%s", window_test_failure(r->evidence.missing)))
PHRASE_SLOT(put_provisional, struct trend_result, r,
            r->provisional.known &&phrase_append_rate_within(s, r->provisional.slope, r->provisional.slope_low,
                                                             r->provisional.slope_high))
PHRASE_SLOT(put_provisional_span, struct trend_result, r,
            r->provisional.known &&phrase_append_duration(s, (double)r->provisional.span_ns))
PHRASE_SLOT(put_too_short, struct trend_result, r,
            r->over && r->verdict_in_ns == 0 &&
                    phrase_printf(s, r->is_part ? "the part of the run that was seen" : "the run"))
PHRASE_SLOT(put_verdict_in, struct trend_result, r,
            !r->over && r->verdict_in_ns && r->verdict_in_ns != UINT64_MAX &&
                    phrase_append_duration(s, (double)r->verdict_in_ns))
PHRASE_SLOT(put_verdict_by, struct trend_result, r,
            r->verdict_by_ns != UINT64_MAX && phrase_append_duration(s, (double)r->verdict_by_ns))
PHRASE_SLOT(if_may_last, struct trend_result, r, ((void)s, r->rises_so_far))
PHRASE_SLOT(if_slow, struct trend_result, r, ((void)s, !r->rises_so_far))
PHRASE_SLOT(if_runs, struct trend_result, r, ((void)s, !r->over))
PHRASE_SLOT(if_confirmed_earlier, struct trend_result, r, ((void)s, r->evidence.basis == TREND_BASIS_HOLDS))
PHRASE_SLOT(if_not_shown_now, struct trend_result, r,
            ((void)s,
             r->evidence.basis != TREND_BASIS_HOLDS && (r->evidence.basis == TREND_BASIS_RECENT || !r->has_slope)))
PHRASE_SLOT(if_shown_now, struct trend_result, r,
            ((void)s,
             r->evidence.basis != TREND_BASIS_HOLDS && r->evidence.basis != TREND_BASIS_RECENT && r->has_slope))

static const struct phrase_slot verdict_slots[] = {
        { "slope", put_slope },
        { "slope_span", put_slope_span },
        { "missing", put_missing },
        { "provisional", put_provisional },
        { "provisional_span", put_provisional_span },
        { "too_short", put_too_short },
        { "verdict_in", put_verdict_in },
        { "verdict_by", put_verdict_by },
        { "if_may_last", if_may_last },
        { "if_slow", if_slow },
        { "if_runs", if_runs },
        { "if_confirmed_earlier", if_confirmed_earlier },
        { "if_not_shown_now", if_not_shown_now },
        { "if_shown_now", if_shown_now },
        { NULL, NULL },
};

/* Before a verdict: the growth by the few points so far, and when there will be a verdict. */
#define PROVISIONAL_WITHOUT(VERDICT)                                                                                   \
        "[; provisional growth {provisional} over {provisional_span}]"                                                 \
        "[; {too_short} was too short for " VERDICT                                                                    \
        " at this step]"                                                                                               \
        "[{if_may_last}; that is settled in {verdict_in}[ to {verdict_by}]]"                                           \
        "[{if_slow}; slow growth is judged in {verdict_in}[ to {verdict_by}]]"
#define PROVISIONAL PROVISIONAL_WITHOUT("a verdict")
#define SLOPE       "{slope} over {the|its} last {slope_span}"
#define BASIS                                                                                                          \
        "[{if_confirmed_earlier}; confirmed earlier{ and still rising|, and it rose to the end}]"                      \
        "[{if_not_shown_now}; at {present no window shows|its end no window showed} the growth]"

static const struct phrase_row verdicts[] = {
        { "rises-so-far", rises_so_far,
          .text = "{rises, and it is not clear yet whether that lasts|"
                  "rose to its end, not clearly enough for a verdict}" PROVISIONAL_WITHOUT("one") },
        { "too-little-data", is_unknown, .text = "too little data for a verdict" PROVISIONAL_WITHOUT("one") },
        { "steady-in-doubt", is_doubted,
          .text = "no lasting growth{ so far; whether it is flat while other memory grows is not clear yet|; "
                  "whether it was flat while other memory grew is not clear}[{if_runs}" PROVISIONAL "]" },
        { "steady", is_steady, .text = "no lasting growth[: {missing}][{if_runs}" PROVISIONAL "]" },
        { "growing", is_growing,
          .text = "{grows|grew} to new highs[, by " SLOPE "]" BASIS "[{if_shown_now}; not called a leak: {missing}]" },
        { "leak", is_leak, .text = "a leak: {grows and does|grew and did} not slow down[, by " SLOPE "]" BASIS },
        { .key = NULL },
};

const char *sentence_verdict_key(char *out, size_t size, const struct trend_result *r)
{
        struct phrase s = phrase_begin(out, size, r->over, verdict_slots, r);

        return append_keyed(&s, verdicts);
}

char *sentence_verdict(char *out, size_t size, const struct trend_result *r)
{
        (void)sentence_verdict_key(out, size, r);
        return out;
}

/* --------------------------------------------------------------- growth */

/* What a sentence about growth is of. */
struct subject_of_growth {
        const struct growth *g;
        const struct bands *bands;
        const struct growth_series *s; /* that grows, or rises */
};

#define WHEN_GROWTH(function, expression) PHRASE_WHEN(function, struct subject_of_growth, o, expression)
#define SLOT_GROWTH(function, expression) PHRASE_SLOT(function, struct subject_of_growth, o, expression)

/* The time of day first, as on all faces. */
static bool append_moment(struct phrase *s, uint64_t time_ns, uint64_t start_wall_ns)
{
        char wall[HW_NUMBER_MAX];
        const bool known = start_wall_ns != UNKNOWN_U64 && time_ns <= UINT64_MAX - start_wall_ns;

        if (known)
                (void)phrase_printf(s, "%s (", hw_time_text(wall, sizeof(wall), start_wall_ns + time_ns));
        (void)phrase_append_duration(s, (double)time_ns);
        return phrase_printf(s, " into the run%s", known ? ")" : "");
}

/* Bands that carry little of the growth say nothing about it: the one that carries most is not judged yet. */
static bool bands_carry(const struct growth *g)
{
        double sum = 0;

        for (uint32_t i = 0; i < g->n_bands; i++)
                sum += g->bands[i].slope;
        return !g->live.trend.has_slope || sum >= CARRIED_LEAST * g->live.trend.slope;
}

/* "+3.0/s (+2.8/s to +3.2/s), " */
static void append_thread_rate(struct phrase *s, const struct growing_band *b)
{
        char rate[COUNT_RATE_MAX], low[COUNT_RATE_MAX], high[COUNT_RATE_MAX];

        if (!b->threads || !isfinite(b->thread_slope))
                return;
        (void)phrase_printf(s, "%s", count_rate_text(rate, b->thread_slope));
        if (strcmp(count_rate_text(low, b->thread_slope_low), count_rate_text(high, b->thread_slope_high)) != 0)
                (void)phrase_printf(s, " (%s to %s)", low, high);
        (void)phrase_printf(s, ", ");
}

static bool put_bands(struct phrase *s, const void *of)
{
        const struct subject_of_growth *o = of;

        for (uint32_t i = 0; i < o->g->n_bands && i < 3; i++) {
                const struct growing_band *b = &o->g->bands[i];
                char label[LABEL_MAX], number[HW_NUMBER_MAX];

                (void)phrase_printf(s, "%s", i ? ", " : "");
                if (b->threads)
                        (void)phrase_printf(s, "%s ", hw_count_text(number, sizeof(number), b->threads));
                (void)phrase_printf(s, "%.127s (", label_of_growing(label, o->bands, o->g, i));
                append_thread_rate(s, b);
                (void)phrase_append_rate(s, b->slope);
                (void)phrase_printf(s, ")");
        }
        return o->g->n_bands > 0;
}

static bool append_known(struct phrase *s, uint64_t bytes)
{
        return bytes != UNKNOWN_U64 && phrase_append_bytes(s, (double)bytes);
}

static bool append_number(struct phrase *s, uint64_t n)
{
        return n != UNKNOWN_U64 && phrase_printf(s, "%llu", (unsigned long long)n);
}

/* It is steady, and its newest steps rise: the next ones will show whether that is growth. */
static bool rises_lately(const struct growth_series *s)
{
        return s->known && s->trend.provisional.known && s->trend.provisional.slope > 0;
}

SLOT_GROWTH(put_growth_slope, put_slope(s, &o->s->trend))
SLOT_GROWTH(put_growth_span, put_slope_span(s, &o->s->trend))
SLOT_GROWTH(put_growth_onset,
            o->s->trend.onset_ns != UINT64_MAX && append_moment(s, o->s->trend.onset_ns, o->g->start_wall_ns))
SLOT_GROWTH(if_bands_carry, ((void)s, bands_carry(o->g)))
SLOT_GROWTH(put_held, append_number(s, o->g->megablocks_held))
SLOT_GROWTH(put_needed, append_number(s, o->g->megablocks_needed))
SLOT_GROWTH(put_returned, append_number(s, o->g->megablocks_returned))
SLOT_GROWTH(put_slop, append_known(s, o->g->slop_bytes))
SLOT_GROWTH(put_free, append_known(s, o->g->fragmentation_bytes))
SLOT_GROWTH(put_segments, append_known(s, o->g->nonmoving_bytes))
SLOT_GROWTH(put_segments_live, append_known(s, o->g->nonmoving_live_bytes))
SLOT_GROWTH(put_foreign, append_known(s, o->g->foreign_bytes))
SLOT_GROWTH(put_growth_provisional, put_provisional(s, &o->s->trend))
SLOT_GROWTH(put_growth_provisional_span, put_provisional_span(s, &o->s->trend))
SLOT_GROWTH(put_growth_too_short, put_too_short(s, &o->s->trend))
SLOT_GROWTH(put_growth_verdict_in, !o->g->over && put_verdict_in(s, &o->s->trend))
SLOT_GROWTH(put_growth_verdict_by, put_verdict_by(s, &o->s->trend))
SLOT_GROWTH(if_growth_may_last, ((void)s, o->s->trend.rises_so_far))
SLOT_GROWTH(if_growth_slow, ((void)s, !o->s->trend.rises_so_far))
SLOT_GROWTH(put_which, phrase_printf(s, o->g->live.known ? "live data" : "the heap"))

static const struct phrase_slot growth_slots[] = {
        { "slope", put_growth_slope },
        { "slope_span", put_growth_span },
        { "onset", put_growth_onset },
        { "bands", put_bands },
        { "if_bands_carry", if_bands_carry },
        { "held", put_held },
        { "needed", put_needed },
        { "returned", put_returned },
        { "slop", put_slop },
        { "free", put_free },
        { "segments", put_segments },
        { "segments_live", put_segments_live },
        { "foreign", put_foreign },
        { "provisional", put_growth_provisional },
        { "provisional_span", put_growth_provisional_span },
        { "too_short", put_growth_too_short },
        { "verdict_in", put_growth_verdict_in },
        { "verdict_by", put_growth_verdict_by },
        { "if_may_last", if_growth_may_last },
        { "if_slow", if_growth_slow },
        { "which", put_which },
        { NULL, NULL },
};

static bool is_of(const struct subject_of_growth *o, enum growth_where where)
{
        return o->g->where == where;
}

static bool is_unknown_of_process(const struct subject_of_growth *o)
{
        return is_of(o, GROWTH_UNKNOWN) && o->g->process_only;
}

WHEN_GROWTH(process_grows, is_unknown_of_process(o) && growth_rises(&o->g->rss))
WHEN_GROWTH(process_rises, is_unknown_of_process(o) && o->g->rss.known && o->g->rss.trend.rises_so_far)
WHEN_GROWTH(process_unknown, is_unknown_of_process(o))
WHEN_GROWTH(live_unmeasured, is_of(o, GROWTH_UNKNOWN) && !o->g->live.known)
WHEN_GROWTH(live_rises,
            is_of(o, GROWTH_UNKNOWN) && o->g->live.trend.verdict == TREND_UNKNOWN && o->g->live.trend.rises_so_far)
WHEN_GROWTH(live_unjudged, is_of(o, GROWTH_UNKNOWN) && o->g->live.trend.verdict == TREND_UNKNOWN)
WHEN_GROWTH(live_in_doubt, is_of(o, GROWTH_UNKNOWN) && o->g->live_in_doubt)
WHEN_GROWTH(heap_in_doubt, is_of(o, GROWTH_UNKNOWN) && o->g->heap_in_doubt)
WHEN_GROWTH(bands_grow, is_of(o, GROWTH_UNKNOWN) && o->g->bands_rise)
WHEN_GROWTH(where_unknown, is_of(o, GROWTH_UNKNOWN))
WHEN_GROWTH(process_steady, is_of(o, GROWTH_NOWHERE) && o->g->process_only)
WHEN_GROWTH(steady_but_rises, is_of(o, GROWTH_NOWHERE) && rises_lately(o->s))
WHEN_GROWTH(nowhere, is_of(o, GROWTH_NOWHERE))
WHEN_GROWTH(in_live_data, is_of(o, GROWTH_LIVE))
WHEN_GROWTH(retained, is_of(o, GROWTH_RETENTION))
WHEN_GROWTH(foreign, is_of(o, GROWTH_FOREIGN) && o->g->foreign.known)
WHEN_GROWTH(outside, is_of(o, GROWTH_FOREIGN))

#define GROWS "{grows|grew}[ by " SLOPE "][, since {onset}]"

static const struct phrase_row growths[] = {
        { "resident-grows", process_grows,
          .text = "resident memory " GROWS "; whether data of the program or memory outside of its heap is not known: "
                  "the program has no log, its process alone is watched" },
        { "resident-rises", process_rises,
          .text = "not known{ yet|}: resident memory {rises, and whether that lasts is not clear yet|"
                  "rose to the end, not clearly enough for a verdict}" PROVISIONAL },
        { "resident-unknown", process_unknown,
          .text = "not known{ yet|}: resident memory has too few steps" PROVISIONAL },
        { "live-unmeasured", live_unmeasured,
          .text = "not known{ yet|}: no major collection has measured what is live" },
        { "live-rises", live_rises,
          .text = "not known{ yet|}: live data {rises, and whether that lasts is not clear yet|"
                  "rose to the end, not clearly enough for a verdict}" PROVISIONAL },
        { "live-unjudged", live_unjudged,
          .text = "not known{ yet|}: too few steps with major collections" PROVISIONAL },
        { "live-in-doubt", live_in_doubt,
          .text = "not known{ yet|}: the heap " GROWS ", and live data has not been flat over that time" },
        { "heap-in-doubt", heap_in_doubt,
          .text = "not known{ yet|}: resident memory {grows|grew}, and the heap {has|was} not {been |}flat over that "
                  "time" },
        { "bands-grow", bands_grow,
          .text = "not known{ yet|}: live data {has shown|showed} no lasting growth, and bands that {carry|carried} "
                  "much of it {grow|grew}[; what {grows|grew} most: {bands}]" },
        { "where-unknown", where_unknown, .text = "not known{ yet|}: too little data" },
        { "resident-steady", process_steady,
          .text = "resident memory {shows|showed} no lasting growth; of the heap nothing is known" },
        { "steady-but-rises", steady_but_rises,
          .text = "no lasting growth{ so far|}, but {which} {rises|rose to its end} by {provisional} over "
                  "{provisional_span}[; called growing in {verdict_in} if it goes on]" },
        { "nowhere", nowhere, .text = "memory {shows|showed} no lasting growth" },
        { "live", in_live_data,
          .text = "the program {retains|retained} more and more data: live data " GROWS
                  "[{if_bands_carry}; what {grows|grew} most: {bands}]" },
        { "retention", retained,
          .text = "the runtime {keeps|kept} more and more memory while live data {does|did} not grow (fragmentation, "
                  "or "
                  "data that is kept for later): the heap " GROWS "[; {held} megablocks held, {needed} needed]"
                  "[, {returned} returned at the last major collection][; slop {slop}][; free blocks {free}]"
                  "[; nonmoving segments {segments}[; of which live {segments_live}]]" },
        { "foreign", foreign,
          .text = "foreign memory (C code, malloc, shared memory) {grows|grew} while the heap {does|did} not: it " GROWS
                  "[; foreign {foreign}]" },
        { "outside", outside,
          .text = "resident memory outside of the heap {grows|grew}, foreign (C code, malloc, shared memory) or given "
                  "back by "
                  "the "
                  "runtime, which {cannot|could not} be told apart{ here|}: it " GROWS "[; foreign {foreign}]" },
        { .key = NULL },
};

/* The series that a sentence gives the growth or rise of. */
static const struct growth_series *find_subject_series(const struct growth *g)
{
        if (g->process_only)
                return &g->rss;
        if (g->where == GROWTH_FOREIGN)
                return growth_outside(g);
        if (g->where == GROWTH_LIVE || (g->where == GROWTH_UNKNOWN && !g->live_in_doubt))
                return &g->live;
        if (g->where == GROWTH_NOWHERE)
                return g->live.known ? &g->live : &g->heap;
        return g->heap.trend.verdict >= TREND_GROWING ? &g->heap : &g->blocks;
}

const char *sentence_growth_key(char *out, size_t size, const struct growth *g, const struct bands *bands)
{
        const struct subject_of_growth o = { g, bands, find_subject_series(g) };
        struct phrase s = phrase_begin(out, size, g->over, growth_slots, &o);

        return append_keyed(&s, growths);
}

char *sentence_growth(char *out, size_t size, const struct growth *g, const struct bands *bands)
{
        (void)sentence_growth_key(out, size, g, bands);
        return out;
}

/* ---------------------------------------------------------------- limit */

static const char *series_words(enum series_id series)
{
        switch (series) {
        case SERIES_LIVE:
                return "live data";
        case SERIES_RSS:
                return "resident memory";
        case SERIES_FOREIGN:
                return "foreign memory";
        default:
                return "the heap";
        }
}

static bool same_duration(double low_s, double high_s)
{
        char low[HW_NUMBER_MAX], high[HW_NUMBER_MAX];

        return !strcmp(hw_duration_text(low, sizeof(low), low_s * 1e9),
                       hw_duration_text(high, sizeof(high), high_s * 1e9));
}

static bool append_limit(struct phrase *s, struct memory_limit limit)
{
        return limit.bytes != UNKNOWN_U64 && phrase_printf(s, "%s (", limit_source_words(limit.source)) &&
               phrase_append_bytes(s, (double)limit.bytes) && phrase_printf(s, ")");
}

PHRASE_WHEN(may_be_met, struct limit_time, l, l->low_s <= 0 && !(l->high_s > 0))
PHRASE_WHEN(met_within, struct limit_time, l, l->low_s <= 0)
PHRASE_WHEN(met_never_perhaps, struct limit_time, l, isnan(l->high_s))
PHRASE_SLOT(put_limit_series, struct limit_time, l, phrase_printf(s, "%s", series_words(l->series)))
PHRASE_SLOT(put_limit_low, struct limit_time, l, phrase_append_duration(s, l->low_s * 1e9))
PHRASE_SLOT(put_limit_high, struct limit_time, l,
            !isnan(l->high_s) && !same_duration(l->low_s, l->high_s) && phrase_append_duration(s, l->high_s * 1e9))
PHRASE_SLOT(put_limit, struct limit_time, l, append_limit(s, l->limit))
PHRASE_SLOT(put_need, struct limit_time, l,
            !isnan(l->heap_over_live) && phrase_printf(s, "%.1f times", l->heap_over_live))

static const struct phrase_slot limit_slots[] = {
        { "series", put_limit_series }, { "low", put_limit_low }, { "high", put_limit_high },
        { "limit", put_limit },         { "need", put_need },     { NULL, NULL },
};

#define NEED "[, the collector needing {need} the live bytes]"

static const struct phrase_row limits[] = {
        { "may-be-met", may_be_met, .text = "{|had it gone on: }{series} {may be|might have been} at {limit}" NEED },
        { "met-within", met_within,
          .text = "{|had it gone on: }within {high} {series} {meets|would have met} {limit}" NEED },
        { "met-at-the-earliest", met_never_perhaps,
          .text = "{|had it gone on: }at the earliest in {low} {series} {meets|would have met} {limit}" NEED },
        { "met-in", NULL,
          .text = "{|had it gone on: }in {low}[ to {high}] {series} {meets|would have met} {limit}" NEED },
        { .key = NULL },
};

char *sentence_limit(char *out, size_t size, const struct limit_time *l)
{
        struct phrase s = phrase_begin(out, size, l->ended, limit_slots, l);

        (void)phrase_append_table(&s, limits);
        return out;
}

/* ----------------------------------------------------------------- rise */

/* The moment that every face shows (client/answers, onset_moment). */
static uint64_t onset_ns(const struct tracked_early *r)
{
        return r->since_start ? r->onset_to_ns : r->onset_from_ns + sub_sat(r->onset_to_ns, r->onset_from_ns) / 2;
}

static double level_age_s(const struct tracked_early *r)
{
        return (double)sub_sat(r->as_of_ns, r->level_time_ns) / 1e9;
}

/* The level is not of now: it may be higher by more than a reader would think. */
static bool is_level_old(const struct tracked_early *r)
{
        return !r->ended && r->rising && r->rate * level_age_s(r) > OLD_SHARE * r->level_bytes;
}

static bool is_limited(const struct tracked_early *r)
{
        return r->limit.bytes != UNKNOWN_U64;
}

/* When the limit is met may be said: it is not farther off than a rise of this age foretells. */
static bool is_foretold(const struct tracked_early *r)
{
        return is_limited(r) && r->rising && !isnan(r->soonest_s) && !isnan(r->mid_s) &&
               (r->runs_out || !isnan(r->latest_s));
}

PHRASE_WHEN(is_met, struct tracked_early, r, r->rising && r->at_limit)
PHRASE_WHEN(is_met_now, struct tracked_early, r, !r->ended && is_foretold(r) && r->mid_s < AT_ANY_TIME_S)
PHRASE_WHEN(is_foretold_rise, struct tracked_early, r, is_foretold(r))
PHRASE_WHEN(is_rising_near, struct tracked_early, r, r->rising &&is_limited(r) && r->runs_out)
PHRASE_WHEN(is_rising, struct tracked_early, r, r->rising)
PHRASE_SLOT(put_early_series, struct tracked_early, r, phrase_printf(s, "%s", series_words(r->series)))
PHRASE_SLOT(put_age, struct tracked_early, r, phrase_append_duration(s, (double)sub_sat(r->level_time_ns, onset_ns(r))))
PHRASE_SLOT(if_since_start, struct tracked_early, r, ((void)s, r->since_start))
PHRASE_SLOT(put_base, struct tracked_early, r, phrase_append_bytes(s, r->base_bytes))
PHRASE_SLOT(put_level, struct tracked_early, r, phrase_append_bytes(s, r->level_bytes))
PHRASE_SLOT(put_early_rate, struct tracked_early, r, phrase_append_rate_within(s, r->rate, r->rate_low, r->rate_high))
/* A part of the rise was far steeper than its line: who divides gets another rate. */
PHRASE_SLOT(if_uneven, struct tracked_early, r,
            ((void)s, r->level_bytes - r->base_bytes > UNEVEN * (isnan(r->rate_high) ? r->rate : r->rate_high) *
                                                               (double)sub_sat(r->level_time_ns, onset_ns(r)) / 1e9))
PHRASE_SLOT(put_level_age, struct tracked_early, r, is_level_old(r) && phrase_append_duration(s, level_age_s(r) * 1e9))
PHRASE_SLOT(put_level_now, struct tracked_early, r, phrase_append_bytes(s, r->level_bytes + r->rate * level_age_s(r)))
PHRASE_SLOT(if_unconfirmed, struct tracked_early, r, ((void)s, !r->ended && !r->runs_out))
PHRASE_SLOT(put_early_limit, struct tracked_early, r, append_limit(s, r->limit))
/* Of a run that ended at that moment the time is no news. */
PHRASE_SLOT(put_mid, struct tracked_early, r,
            !(r->ended && r->mid_s < AT_ANY_TIME_S) && phrase_append_duration(s, r->mid_s * 1e9))
PHRASE_SLOT(put_soonest, struct tracked_early, r,
            !isnan(r->latest_s) && !same_duration(r->soonest_s, r->latest_s) &&
                    phrase_append_duration(s, r->soonest_s * 1e9))
PHRASE_SLOT(put_latest, struct tracked_early, r,
            r->latest_s >= AT_ANY_TIME_S && phrase_append_duration(s, r->latest_s * 1e9))
PHRASE_SLOT(if_held_back, struct tracked_early, r, ((void)s, is_limited(r) && r->held_back))

static const struct phrase_slot early_slots[] = {
        { "series", put_early_series },
        { "age", put_age },
        { "if_since_start", if_since_start },
        { "base", put_base },
        { "level", put_level },
        { "rate", put_early_rate },
        { "if_uneven", if_uneven },
        { "level_age", put_level_age },
        { "level_now", put_level_now },
        { "if_unconfirmed", if_unconfirmed },
        { "limit", put_early_limit },
        { "mid", put_mid },
        { "soonest", put_soonest },
        { "latest", put_latest },
        { "if_held_back", if_held_back },
        { NULL, NULL },
};

#define RISEN                                                                                                          \
        "{series} {has|had} risen for {age}[{if_since_start}, from the start], from {base} to {level}, by {rate}"      \
        "[{if_uneven} for most of it]"                                                                                 \
        "[; measured {level_age} ago, about {level_now} now][{if_unconfirmed}; not confirmed yet]"
#define HELD_BACK "[{if_held_back}; half of it {is|was} held back by the runtime, to copy live data in a collection]"

static const struct phrase_row rises[] = {
        { "rise-met-limit", is_met, .text = RISEN "; it {has met|had met} {limit}" HELD_BACK },
        { "rise-meets-limit-now", is_met_now,
          .text = RISEN "; if it continues, it meets {limit} at any time[, in {latest} at the latest]" HELD_BACK },
        { "rise-meets-limit", is_foretold_rise,
          .text = RISEN "; {if it continues, it meets|it was about to meet} {limit}[ in {mid}[ ({soonest} to "
                        "{latest})]]" HELD_BACK },
        { "rise-near-limit", is_rising_near, .text = RISEN "; near what {limit} {allows|allowed}" HELD_BACK },
        { "rise", is_rising, .text = RISEN HELD_BACK },
        { "near-limit", NULL, .text = "{series} {is|was} {level}[; near what {limit} {allows|allowed}]" HELD_BACK },
        { .key = NULL },
};

const char *sentence_early_key(char *out, size_t size, const struct tracked_early *r)
{
        struct phrase s = phrase_begin(out, size, r->ended, early_slots, r);

        return append_keyed(&s, rises);
}

char *sentence_early(char *out, size_t size, const struct tracked_early *r)
{
        (void)sentence_early_key(out, size, r);
        return out;
}

/* -------------------------------------------------------------- threads */

struct subject_of_threads {
        const struct thread_rise *r;
        const struct bands *bands;
};

/* A number that is not of now has its age: it may have become another by more than a reader would think. */
static bool put_waiting(struct phrase *s, const void *of)
{
        const struct subject_of_threads *o = of;
        const struct band *band = o->r->band ? bands_get(o->bands, o->r->band) : NULL;
        const uint64_t age_ns = sub_sat(o->r->as_of_ns, o->r->band_time_ns);
        char number[HW_NUMBER_MAX], label[LABEL_MAX];

        if (!band)
                return false;
        if (age_ns > OLD_NUMBER_NS)
                (void)(phrase_printf(s, ", ") && phrase_append_duration(s, (double)age_ns) &&
                       phrase_printf(s, " before,"));
        return phrase_printf(s, " %s %.127s", hw_count_text(number, sizeof(number), o->r->band_threads),
                             label_of_row(label, o->bands, band));
}

char *sentence_threads(char *out, size_t size, const struct thread_rise *r, const struct bands *bands)
{
        static const struct phrase_slot slots[] = { { "waiting", put_waiting }, { NULL, NULL } };
        const struct subject_of_threads o = { r, bands };
        struct phrase s = phrase_begin(out, size, r->ended, slots, &o);
        char number[HW_NUMBER_MAX], rate[COUNT_RATE_MAX];

        (void)phrase_printf(&s, "%s threads, %s", hw_count_text(number, sizeof(number), (uint64_t)r->threads),
                            count_rate_text(rate, r->rate));
        (void)phrase_append_text(&s, "[; at the last census{waiting}]");
        return out;
}

/* --------------------------------------------------------- sizing, scale */

struct sized {
        struct sizing s;
        const struct heap *heap;
};

PHRASE_WHEN(is_sized, struct sized, z, z->heap->live_bytes != UNKNOWN_U64 && z->heap->heap_size_bytes != UNKNOWN_U64)
PHRASE_SLOT(put_live, struct sized, z, append_known(s, z->heap->live_bytes))
PHRASE_SLOT(put_heap, struct sized, z, append_known(s, z->heap->heap_size_bytes))
PHRASE_SLOT(put_most, struct sized, z, append_known(s, sizing_heap(&z->s, z->heap->live_bytes)))
PHRASE_SLOT(put_areas, struct sized, z, phrase_append_bytes(s, (double)z->s.areas))
PHRASE_SLOT(put_factor, struct sized, z, phrase_printf(s, "%.2g", z->s.factor))
PHRASE_SLOT(put_collector, struct sized, z,
            phrase_printf(s, "a %s collector",
                          (const char *const[]){ "copying", "compacting", "nonmoving" }[z->s.collector]))
PHRASE_SLOT(put_source, struct sized, z,
            phrase_printf(s, "%s",
                          z->s.measured ? "as its major collections say"
                                        : "by the flags in the log; for those given elsewhere, the defaults are "
                                          "taken"))

static const struct phrase_slot sizing_slots[] = {
        { "live", put_live },     { "heap", put_heap },           { "most", put_most },     { "areas", put_areas },
        { "factor", put_factor }, { "collector", put_collector }, { "source", put_source }, { NULL, NULL },
};

static const struct phrase_row sizings[] = {
        { "sizing", is_sized,
          .text = "{live} of live data needs a heap of up to {most} with {collector}: {factor} times the live data and "
                  "{areas} for allocation ({source}); the heap is {heap}" },
        { .key = NULL },
};

char *sentence_sizing(char *out, size_t size, const struct run *run, const struct heap *heap)
{
        const struct sized z = { sizing_of(run, heap), heap };
        struct phrase s = phrase_begin(out, size, false, sizing_slots, &z);

        (void)phrase_append_table(&s, sizings);
        return out;
}

PHRASE_SLOT(put_step, struct tracker_config, c, phrase_append_duration(s, (double)c->trend.resolution_ns))
PHRASE_SLOT(put_leak_after, struct tracker_config, c, phrase_append_duration(s, (double)c->trend.leak_after_ns))
PHRASE_SLOT(if_automatic, struct tracker_config, c, ((void)s, c->automatic))

char *sentence_scale(char *out, size_t size, const struct tracker_config *c)
{
        static const struct phrase_slot slots[] = {
                { "step", put_step },
                { "leak_after", put_leak_after },
                { "if_automatic", if_automatic },
                { NULL, NULL },
        };
        struct phrase s = phrase_begin(out, size, false, slots, c);

        (void)phrase_append_text(
                &s,
                "judged in steps of {step}[{if_automatic} (chosen from the length of the log)]: growth that "
                "lasts {leak_after} without slowing down is called a leak");
        return out;
}
