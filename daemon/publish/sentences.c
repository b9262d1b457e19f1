/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a sequence of short clauses. Every number in them is also a field of the message. All rates of a sentence
 * have the unit of the first and its interval.
 */
#include "daemon/publish/sentences.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "daemon/model/sizing.h"
#include "daemon/publish/label.h"
#include "heapwatch/text.h"
#include "proto/base/rate.h"

/* A text that grows and is cut at its end. */
struct words {
        char *out;
        size_t size, used;
        struct rate_unit rate; /* of this sentence; no name until the first rate */
        bool over;             /* the run is over: past tense */
};

#define TENSE(w, now, then) ((w)->over ? (then) : (now))
#define CARRIED_LEAST       0.25 /* of the growth, by the bands that are judged: with less none is named */

__attribute__((format(printf, 2, 3))) static void append_text(struct words *w, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        int n = vsnprintf(w->out + w->used, w->size - w->used, format, args);
        va_end(args);
        if (n > 0)
                w->used = (size_t)n < w->size - w->used ? w->used + (size_t)n : w->size - 1;
}

static struct words begin(char *out, size_t size)
{
        out[0] = '\0';
        return (struct words){ .out = out, .size = size };
}

static void append_duration(struct words *w, double ns)
{
        char text[HW_NUMBER_MAX];

        append_text(w, "%s", hw_duration_text(text, sizeof(text), ns));
}

static void append_bytes(struct words *w, double bytes)
{
        char text[HW_NUMBER_MAX];

        append_text(w, "%s", hw_bytes_text(text, sizeof(text), bytes));
}

static void append_rate(struct words *w, double rate)
{
        char text[HW_NUMBER_MAX];

        if (!w->rate.name)
                w->rate = rate_unit(rate);
        append_text(w, "%s", rate_text(text, sizeof(text), w->rate, rate));
}

static void append_rate_within(struct words *w, double rate, double low, double high)
{
        char text[RATE_WITHIN_MAX];

        if (!w->rate.name)
                w->rate = rate_unit_within(rate, low, high);
        append_text(w, "%s", rate_within_text(text, w->rate, rate, low, high));
}

/* -------------------------------------------------------------- verdict */

static void append_slope(struct words *w, const struct trend_result *r)
{
        append_rate_within(w, r->slope, r->slope_low, r->slope_high);
        append_text(w, TENSE(w, " over the last ", " over its last "));
        append_duration(w, (double)r->evidence.span_ns);
}

/* Before a verdict: the growth by the few points so far, and when there will be a verdict. */
static void append_provisional(struct words *w, const struct trend_result *r)
{
        if (r->provisional.known) {
                append_text(w, "; provisional growth ");
                append_rate_within(w, r->provisional.slope, r->provisional.slope_low, r->provisional.slope_high);
                append_text(w, " over ");
                append_duration(w, (double)r->provisional.span_ns);
        }
        if (r->over && r->verdict_in_ns == 0)
                append_text(w, "; %s was too short for a verdict at this step",
                            r->is_part ? "the part of the run that was seen" : "the run");
        else if (!r->over && r->verdict_in_ns && r->verdict_in_ns != UINT64_MAX) {
                append_text(w, r->rises_so_far ? "; that is settled in " : "; slow growth is judged in ");
                append_duration(w, (double)r->verdict_in_ns);
                if (r->verdict_by_ns != UINT64_MAX) {
                        append_text(w, " to ");
                        append_duration(w, (double)r->verdict_by_ns);
                }
        }
}

char *sentence_verdict(char *out, size_t size, const struct trend_result *r)
{
        struct words w = begin(out, size);
        const struct trend_evidence *e = &r->evidence;

        w.over = r->over;
        switch (r->verdict) {
        case TREND_UNKNOWN:
                if (r->rises_so_far)
                        append_text(&w, TENSE(&w, "rises, and it is not clear yet whether that lasts",
                                              "rose to its end, not clearly enough for a verdict"));
                else
                        append_text(&w, "too little data for a verdict");
                append_provisional(&w, r);
                return out;
        case TREND_STEADY:
                append_text(&w, "no lasting growth");
                if (r->doubted)
                        append_text(&w,
                                    TENSE(&w, " so far; whether it is flat while other memory grows is not clear yet",
                                          "; whether it was flat while other memory grew is not clear"));
                else if (r->has_slope && e->missing < TEST_COUNT)
                        append_text(&w, ": %s", window_test_failure(e->missing));
                if (!r->over)
                        append_provisional(&w, r);
                return out;
        case TREND_GROWING:
                append_text(&w, TENSE(&w, "grows to new highs", "grew to new highs"));
                break;
        case TREND_LEAK:
                append_text(&w,
                            TENSE(&w, "a leak: grows and does not slow down", "a leak: grew and did not slow down"));
                break;
        }
        if (r->has_slope) {
                append_text(&w, ", by ");
                append_slope(&w, r);
        }
        if (e->basis == TREND_BASIS_HOLDS)
                append_text(&w, TENSE(&w, "; confirmed earlier and still rising",
                                      "; confirmed earlier, and it rose to the end"));
        else if (e->basis == TREND_BASIS_RECENT || !r->has_slope)
                append_text(&w, TENSE(&w, "; at present no window shows the growth",
                                      "; at its end no window showed the growth"));
        else if (r->verdict == TREND_GROWING && e->missing < TEST_COUNT)
                append_text(&w, "; not called a leak: %s", window_test_failure(e->missing));
        return out;
}

/* --------------------------------------------------------------- growth */

/* The time of day first, as on all faces. */
static void append_moment(struct words *w, uint64_t time_ns, uint64_t start_wall_ns)
{
        char wall[HW_NUMBER_MAX];
        const bool known = start_wall_ns != UNKNOWN_U64 && time_ns <= UINT64_MAX - start_wall_ns;

        if (known)
                append_text(w, "%s (", hw_time_text(wall, sizeof(wall), start_wall_ns + time_ns));
        append_duration(w, (double)time_ns);
        append_text(w, " into the run%s", known ? ")" : "");
}

static void append_growing(struct words *w, const struct growth *g, const struct growth_series *s)
{
        if (s->trend.has_slope) {
                append_text(w, " by ");
                append_slope(w, &s->trend);
        }
        if (s->trend.onset_ns != UINT64_MAX) {
                append_text(w, ", since ");
                append_moment(w, s->trend.onset_ns, g->start_wall_ns);
        }
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
static void append_thread_rate(struct words *w, const struct growing_band *b)
{
        char rate[COUNT_RATE_MAX], low[COUNT_RATE_MAX], high[COUNT_RATE_MAX];

        if (!b->threads || !isfinite(b->thread_slope))
                return;
        append_text(w, "%s", count_rate_text(rate, b->thread_slope));
        if (strcmp(count_rate_text(low, b->thread_slope_low), count_rate_text(high, b->thread_slope_high)) != 0)
                append_text(w, " (%s to %s)", low, high);
        append_text(w, ", ");
}

static void append_bands(struct words *w, const struct growth *g, const struct bands *bands)
{
        for (uint32_t i = 0; i < g->n_bands && i < 3; i++) {
                char label[LABEL_MAX], number[HW_NUMBER_MAX];
                append_text(w, i ? ", " : TENSE(w, "; what grows most: ", "; what grew most: "));
                if (g->bands[i].threads)
                        append_text(w, "%s ", hw_count_text(number, sizeof(number), g->bands[i].threads));
                append_text(w, "%.127s (", label_of_growing(label, bands, g, i));
                append_thread_rate(w, &g->bands[i]);
                append_rate(w, g->bands[i].slope);
                append_text(w, ")");
        }
}

static void append_number(struct words *w, const char *what, uint64_t bytes)
{
        if (bytes == UNKNOWN_U64)
                return;
        append_text(w, "; %s ", what);
        append_bytes(w, (double)bytes);
}

static void append_retention(struct words *w, const struct growth *g)
{
        const struct growth_series *s = g->heap.trend.verdict >= TREND_GROWING ? &g->heap : &g->blocks;

        append_text(w, TENSE(w, "the runtime keeps more and more memory while live data does not grow",
                             "the runtime kept more and more memory while live data did not grow"));
        append_text(w, " (fragmentation, or data that is kept for later): ");
        append_text(w, TENSE(w, "the heap grows", "the heap grew"));
        append_growing(w, g, s);
        if (g->megablocks_held != UNKNOWN_U64 && g->megablocks_needed != UNKNOWN_U64)
                append_text(w, "; %llu megablocks held, %llu needed", (unsigned long long)g->megablocks_held,
                            (unsigned long long)g->megablocks_needed);
        if (g->megablocks_returned != UNKNOWN_U64)
                append_text(w, ", %llu returned at the last major collection",
                            (unsigned long long)g->megablocks_returned);
        append_number(w, "slop", g->slop_bytes);
        append_number(w, "free blocks", g->fragmentation_bytes);
        if (g->nonmoving_bytes != UNKNOWN_U64) {
                append_number(w, "nonmoving segments", g->nonmoving_bytes);
                append_number(w, "of which live", g->nonmoving_live_bytes);
        }
}

/* Of a process without a log only its resident memory is known. */
static void append_resident(struct words *w, const struct growth *g)
{
        if (growth_rises(&g->rss)) {
                append_text(w, TENSE(w, "resident memory grows", "resident memory grew"));
                append_growing(w, g, &g->rss);
                append_text(
                        w,
                        "; whether data of the program or memory outside of its heap is not known: the program has no "
                        "log, its process alone is watched");
                return;
        }
        append_text(w, g->over ? "not known: " : "not known yet: ");
        append_text(w, g->rss.known && g->rss.trend.rises_so_far
                               ? TENSE(w, "resident memory rises, and whether that lasts is not clear yet",
                                       "resident memory rose to the end, not clearly enough for a verdict")
                               : "resident memory has too few steps");
        if (g->rss.known)
                append_provisional(w, &g->rss.trend);
}

static void append_unknown(struct words *w, const struct growth *g, const struct bands *bands)
{
        if (g->process_only) {
                append_resident(w, g);
                return;
        }
        append_text(w, g->over ? "not known: " : "not known yet: ");
        if (!g->live.known)
                append_text(w, "no major collection has measured what is live");
        else if (g->live.trend.verdict == TREND_UNKNOWN) {
                append_text(w, g->live.trend.rises_so_far
                                       ? TENSE(w, "live data rises, and whether that lasts is not clear yet",
                                               "live data rose to the end, not clearly enough for a verdict")
                                       : "too few steps with major collections");
                append_provisional(w, &g->live.trend);
        } else if (g->live_in_doubt) {
                append_text(w, TENSE(w, "the heap grows", "the heap grew"));
                append_growing(w, g, g->heap.trend.verdict >= TREND_GROWING ? &g->heap : &g->blocks);
                append_text(w, ", and live data has not been flat over that time");
        } else if (g->heap_in_doubt) {
                append_text(w, TENSE(w, "resident memory grows, and the heap has not been flat over that time",
                                     "resident memory grew, and the heap was not flat over that time"));
        } else if (g->bands_rise) {
                append_text(w, TENSE(w, "live data has shown no lasting growth, and bands that carry much of it grow",
                                     "live data showed no lasting growth, and bands that carried much of it grew"));
                append_bands(w, g, bands);
        } else {
                append_text(w, "too little data");
        }
}

/* It is steady, and its newest steps rise: the next ones will show whether that is growth. */
static bool rises_lately(const struct growth_series *s)
{
        return s->known && s->trend.provisional.known && s->trend.provisional.slope > 0;
}

static void append_nowhere(struct words *w, const struct growth *g)
{
        const struct growth_series *s = g->live.known ? &g->live : &g->heap;
        const struct trend_provisional *p = &s->trend.provisional;

        if (g->process_only) {
                append_text(w, TENSE(w, "resident memory shows no lasting growth; of the heap nothing is known",
                                     "resident memory showed no lasting growth; of the heap nothing is known"));
                return;
        }
        if (g->over || !rises_lately(s)) {
                append_text(w, TENSE(w, "memory shows no lasting growth", "memory showed no lasting growth"));
                return;
        }
        append_text(w, "no lasting growth so far, but %s rises by ", g->live.known ? "live data" : "the heap");
        append_rate_within(w, p->slope, p->slope_low, p->slope_high);
        append_text(w, " over ");
        append_duration(w, (double)p->span_ns);
        if (s->trend.verdict_in_ns == UINT64_MAX)
                return;
        append_text(w, "; called growing in ");
        append_duration(w, (double)s->trend.verdict_in_ns);
        append_text(w, " if it goes on");
}

static void append_foreign(struct words *w, const struct growth *g)
{
        if (g->foreign.known)
                append_text(w, TENSE(w, "foreign memory (C code, FFI, malloc) grows while the heap does not: it grows",
                                     "foreign memory (C code, FFI, malloc) grew while the heap did not: it grew"));
        else
                append_text(w, TENSE(w,
                                     "resident memory outside of the heap grows, foreign (C code, FFI, malloc) or "
                                     "given back by "
                                     "the runtime, which cannot be told apart here: it grows",
                                     "resident memory outside of the heap grew, foreign (C code, FFI, malloc) or given "
                                     "back by "
                                     "the runtime, which could not be told apart: it grew"));
        append_growing(w, g, growth_outside(g));
        append_number(w, "foreign", g->foreign_bytes);
}

char *sentence_growth(char *out, size_t size, const struct growth *g, const struct bands *bands)
{
        struct words w = begin(out, size);

        w.over = g->over;
        switch (g->where) {
        case GROWTH_UNKNOWN:
                append_unknown(&w, g, bands);
                break;
        case GROWTH_NOWHERE:
                append_nowhere(&w, g);
                break;
        case GROWTH_LIVE:
                append_text(&w, TENSE(&w, "the program retains more and more data: live data grows",
                                      "the program retained more and more data: live data grew"));
                append_growing(&w, g, &g->live);
                if (bands_carry(g))
                        append_bands(&w, g, bands);
                break;
        case GROWTH_RETENTION:
                append_retention(&w, g);
                break;
        case GROWTH_FOREIGN:
                append_foreign(&w, g);
                break;
        }
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

char *sentence_limit(char *out, size_t size, const struct limit_time *l)
{
        struct words w = begin(out, size);

        w.over = l->ended;
        if (l->ended)
                append_text(&w, "had it gone on: ");
        if (l->low_s <= 0 && (isnan(l->high_s) || l->high_s <= 0))
                append_text(&w, TENSE(&w, "%s may be at ", "%s might have been at "), series_words(l->series));
        else if (l->low_s <= 0) {
                append_text(&w, "within ");
                append_duration(&w, l->high_s * 1e9);
                append_text(&w, TENSE(&w, " %s meets ", " %s would have met "), series_words(l->series));
        } else {
                append_text(&w, isnan(l->high_s) ? "at the earliest in " : "in ");
                append_duration(&w, l->low_s * 1e9);
                if (!isnan(l->high_s) && !same_duration(l->low_s, l->high_s)) {
                        append_text(&w, " to ");
                        append_duration(&w, l->high_s * 1e9);
                }
                append_text(&w, TENSE(&w, " %s meets ", " %s would have met "), series_words(l->series));
        }
        append_text(&w, "%s (", limit_source_words(l->limit.source));
        append_bytes(&w, (double)l->limit.bytes);
        append_text(&w, ")");
        if (!isnan(l->heap_over_live))
                append_text(&w, ", the collector needing %.1f times the live bytes", l->heap_over_live);
        return out;
}

static void append_early_rise(struct words *w, const struct tracked_early *r)
{
        double from_ns = r->onset_from_ns == UNKNOWN_U64 ? 0 : (double)r->onset_from_ns;
        double age_ns = (double)r->as_of_ns - (from_ns + (double)r->onset_to_ns) / 2;

        append_text(w, TENSE(w, "%s has risen for ", "%s had risen for "), series_words(r->series));
        append_duration(w, fmax(age_ns, 0));
        append_text(w, r->since_start ? ", from the start, from " : ", from ");
        append_bytes(w, r->base_bytes);
        append_text(w, " to ");
        append_bytes(w, r->level_bytes);
        append_text(w, ", by ");
        append_rate_within(w, r->rate, r->rate_low, r->rate_high);
}

char *sentence_early(char *out, size_t size, const struct tracked_early *r)
{
        struct words w = begin(out, size);
        bool limited = r->limit.bytes != UNKNOWN_U64;

        w.over = r->ended;
        if (r->rising) {
                append_early_rise(&w, r);
                if (!r->ended)
                        append_text(&w, "; not confirmed yet");
        } else {
                append_text(&w, TENSE(&w, "%s is ", "%s was "), series_words(r->series));
                append_bytes(&w, r->level_bytes);
        }
        if (limited && r->rising && !isnan(r->soonest_s) && (r->runs_out || !isnan(r->latest_s))) {
                append_text(&w, TENSE(&w, "; if it continues, it meets %s (", "; it was about to meet %s ("),
                            limit_source_words(r->limit.source));
                append_bytes(&w, (double)r->limit.bytes);
                append_text(&w, ") in ");
                append_duration(&w, r->soonest_s * 1e9);
                if (!isnan(r->latest_s) && !same_duration(r->soonest_s, r->latest_s)) {
                        append_text(&w, " to ");
                        append_duration(&w, r->latest_s * 1e9);
                }
        } else if (limited && (!r->rising || r->runs_out)) {
                append_text(&w, "; near what %s (", limit_source_words(r->limit.source));
                append_bytes(&w, (double)r->limit.bytes);
                append_text(&w, TENSE(&w, ") allows", ") allowed"));
        }
        if (limited && r->held_back)
                append_text(&w, TENSE(&w, "; half of it is held back by the runtime, to copy live data in a collection",
                                      "; half of it was held back by the runtime, to copy live data in a collection"));
        return out;
}

char *sentence_threads(char *out, size_t size, const struct thread_rise *r, const struct bands *bands)
{
        struct words w = begin(out, size);
        char number[HW_NUMBER_MAX], rate[COUNT_RATE_MAX], label[LABEL_MAX];
        const struct band *band = r->band ? bands_get(bands, r->band) : NULL;

        append_text(&w, "%s threads, %s", hw_count_text(number, sizeof(number), (uint64_t)r->threads),
                    count_rate_text(rate, r->rate));
        if (!band)
                return out;
        append_text(&w, "; at the last census %s %.127s", hw_count_text(number, sizeof(number), r->band_threads),
                    label_of_row(label, bands, band));
        return out;
}

char *sentence_sizing(char *out, size_t size, const struct run *run, const struct heap *heap)
{
        static const char *const collectors[] = { "a copying collector", "a compacting collector",
                                                  "a nonmoving collector" };
        struct sizing s = sizing_of(run, heap);
        struct words w = begin(out, size);

        if (heap->live_bytes == UNKNOWN_U64 || heap->heap_size_bytes == UNKNOWN_U64)
                return out;
        append_bytes(&w, (double)heap->live_bytes);
        append_text(&w, " of live data needs a heap of up to ");
        append_bytes(&w, (double)sizing_heap(&s, heap->live_bytes));
        append_text(&w, " with %s: %.2g times the live data and ", collectors[s.collector], s.factor);
        append_bytes(&w, (double)s.areas);
        append_text(&w, " for allocation (%s)",
                    s.measured ? "as its major collections say"
                               : "by the flags in the log; for those given elsewhere, the defaults are taken");
        append_text(&w, "; the heap is ");
        append_bytes(&w, (double)heap->heap_size_bytes);
        return out;
}

char *sentence_scale(char *out, size_t size, const struct tracker_config *c)
{
        struct words w = begin(out, size);

        append_text(&w, "judged in steps of ");
        append_duration(&w, (double)c->trend.resolution_ns);
        if (c->automatic)
                append_text(&w, " (chosen from the length of the log)");
        append_text(&w, ": growth that lasts ");
        append_duration(&w, (double)c->trend.leak_after_ns);
        append_text(&w, " without slowing down is called a leak");
        return out;
}
