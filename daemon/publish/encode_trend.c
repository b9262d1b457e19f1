/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: the tracker's answers one to one; NaN is absent. Sentences are made here, where texts can be allocated. */
#include "daemon/publish/encode.h"

#include <math.h>

#include "daemon/publish/sentences.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/time.h"

/* Sets an optional field from a double that is NaN or infinite when not known. */
#define PUT_FINITE(message, field, value)                                                                              \
        do {                                                                                                           \
                double put_value = (value);                                                                            \
                if (isfinite(put_value))                                                                               \
                        PUT(message, field, put_value);                                                                \
        } while (0)

/* ----------------------------------------------------------- statistics */

static const uint64_t windows_ns[] = { 10 * NS_PER_MINUTE, 60 * NS_PER_MINUTE, 360 * NS_PER_MINUTE,
                                       1440 * NS_PER_MINUTE, 0 };

#define WINDOWS_PUBLISHED ARRAY_SIZE(windows_ns)

static void put_statistics(Hw__WindowStatistics *out, const struct statistics *s)
{
        PUT(out, from_ns, s->from_ns);
        PUT(out, to_ns, s->to_ns);
        PUT(out, count, s->count);
        PUT_FINITE(out, min, s->min);
        PUT_FINITE(out, max, s->max);
        PUT_FINITE(out, mean, s->mean);
        PUT_FINITE(out, stddev, s->stddev);
        PUT_FINITE(out, last, s->last);
        PUT_FINITE(out, p50, s->p50);
        PUT_FINITE(out, p90, s->p90);
        PUT_FINITE(out, p99, s->p99);
        PUT_FINITE(out, integral, s->integral);
        PUT_FINITE(out, intercept, s->intercept);
        PUT_FINITE(out, slope, s->slope);
        PUT_FINITE(out, fit, s->fit);
        PUT_FINITE(out, normalised_slope, s->normalised_slope);
        PUT_FINITE(out, normalised_intercept, s->normalised_intercept);
        PUT_FINITE(out, normalised_fit, s->normalised_fit);
        PUT_FINITE(out, sum, s->sum);
}

/* ---------------------------------------------------------------- trend */

static Hw__Evidence *encode_evidence(struct encoder *e, const struct trend_result *r)
{
        const struct trend_evidence *v = &r->evidence;
        Hw__Evidence *out = encoder_message(e, &hw__evidence__descriptor);

        if (!out)
                return NULL;
        PUT(out, basis, (Hw__Evidence__Basis)v->basis);
        if (!r->has_slope)
                return out;
        PUT(out, span_ns, v->span_ns);
        PUT(out, ended_ns, v->ended_ns);
        PUT(out, points, v->points);
        PUT_FINITE(out, z, v->z);
        PUT_FINITE(out, level_bytes, v->level_bytes);
        PUT_FINITE(out, sure_rise_bytes, v->sure_rise_bytes);
        PUT_FINITE(out, record_bytes, v->record_bytes);
        PUT_FINITE(out, life_ratio, v->life_ratio);
        if (v->missing < TEST_COUNT)
                out->missing = encoder_text(e, window_test_failure(v->missing));
        return out;
}

static void put_verdict(struct encoder *e, Hw__Trend *out, const struct tracker *t, const struct trend_result *r)
{
        char sentence[SENTENCE_MAX];

        PUT(out, verdict, (Hw__Verdict)r->verdict);
        if (r->provisional.known) {
                PUT_FINITE(out, provisional_slope, r->provisional.slope);
                PUT_FINITE(out, provisional_low, r->provisional.slope_low);
                PUT_FINITE(out, provisional_high, r->provisional.slope_high);
                PUT(out, provisional_span_ns, r->provisional.span_ns);
        }
        PUT_U64(out, verdict_in_ns, r->verdict_in_ns);
        PUT_U64(out, verdict_by_ns, r->verdict_by_ns);
        if (r->verdict != TREND_UNKNOWN)
                PUT(out, since_ns, r->since_ns);
        if (r->as_of_ns > 0)
                PUT(out, as_of_ns, r->as_of_ns);
        PUT_FINITE(out, slope, r->slope);
        PUT_FINITE(out, slope_low, r->slope_low);
        PUT_FINITE(out, slope_high, r->slope_high);
        if (r->onset_ns != UINT64_MAX) {
                const struct note *before = tracker_note_before(t, r->onset_ns);
                const struct note *after = tracker_note_after(t, r->onset_ns);

                PUT(out, onset_ns, r->onset_ns);
                if (before)
                        out->note_before = encode_note(e, before);
                if (after)
                        out->note_after = encode_note(e, after);
        }
        PUT_U64(out, onset_error_ns, r->onset_error_ns);
        out->evidence = encode_evidence(e, r);
        out->key = encoder_text(e, sentence_verdict(sentence, sizeof(sentence), r));
        out->sentence = encoder_copy(e, sentence);
        if (r->has_slope) {
                PUT_FINITE(out, gained_bytes, r->slope * ((double)r->evidence.span_ns / 1e9));
                PUT_FINITE(out, gained_low_bytes, r->evidence.sure_rise_bytes);
        }
}

Hw__Trend *encode_trend(struct encoder *e, const struct tracker *t, struct subject subject, const struct growth *growth,
                        const struct rising_subjects *rising)
{
        Hw__Trend *out = encoder_message(e, &hw__trend__descriptor);
        struct trend_result r;

        if (!out)
                return NULL;
        if (subject.band)
                PUT(out, band, subject.band);
        else
                PUT(out, series, (Hw__Series)subject.series);
        if (!growth)
                ; /* nothing is judged now */
        else if (!subject.band && subject.series == SERIES_LIVE && growth->live.known)
                put_verdict(e, out, t, &growth->live.trend);
        else if (tracker_verdict(t, subject, &r))
                put_verdict(e, out, t, &r);
        if (out->has_verdict)
                PUT(out, word, (Hw__Word)tracker_word(rising, subject, (enum trend_verdict)out->verdict));
        /* A window that is longer than the run so far would repeat the whole run and is left out. */
        uint64_t now = tracker_newest_ns(t, subject), to = now == UINT64_MAX ? now : now + 1;
        size_t n = 0;

        PUT_ROWS(e, out, windows, &hw__window_statistics__descriptor, WINDOWS_PUBLISHED);
        for (size_t i = 0; i < out->n_windows; i++) {
                struct statistics s;
                uint64_t from = windows_ns[i] && windows_ns[i] < to ? to - windows_ns[i] : 0;
                if (windows_ns[i] && from == 0)
                        continue;
                Hw__WindowStatistics *row = out->windows[n++];
                if (windows_ns[i])
                        PUT(row, window_ns, windows_ns[i]);
                if (tracker_statistics(t, subject, (struct time_range){ from, to }, &s))
                        put_statistics(row, &s);
        }
        out->n_windows = n;
        return out;
}

/* --------------------------------------------------------------- growth */

#define PUT_GROWTH(out, name, series)                                                                                  \
        do {                                                                                                           \
                if ((series)->known) {                                                                                 \
                        PUT_FINITE(out, name##_slope, (series)->trend.slope);                                          \
                }                                                                                                      \
        } while (0)

static void put_growing(struct encoder *e, Hw__GrowingBand *out, const struct bands *bands, const struct growth *g,
                        uint32_t i)
{
        const struct growing_band *b = &g->bands[i];
        char label[LABEL_MAX];

        PUT(out, band, b->band);
        if (bands_get(bands, b->band))
                out->label = encoder_copy(e, label_of_growing(label, bands, g, i));
        PUT(out, verdict, (Hw__Verdict)b->verdict);
        PUT_FINITE(out, slope, b->slope);
        PUT_FINITE(out, gained_bytes, b->gained_bytes);
        PUT_FINITE(out, gained_low_bytes, b->gained_low_bytes);
        PUT(out, span_ns, b->span_ns);
        PUT_U64(out, onset_ns, b->onset_ns);
        PUT(out, bytes, b->bytes);
        if (b->threads) {
                PUT(out, threads, b->threads);
                PUT_FINITE(out, thread_slope, b->thread_slope);
                PUT_FINITE(out, thread_slope_low, b->thread_slope_low);
                PUT_FINITE(out, thread_slope_high, b->thread_slope_high);
        }
}

Hw__Growth *encode_no_growth(struct encoder *e, const char *key, const char *why)
{
        Hw__Growth *out = encoder_message(e, &hw__growth__descriptor);

        if (!out)
                return NULL;
        PUT(out, where, HW__GROWTH__WHERE__WHERE_UNKNOWN);
        out->key = encoder_text(e, key);
        out->sentence = encoder_text(e, why);
        return out;
}

Hw__Growth *encode_growth(struct encoder *e, const struct bands *bands, const struct growth *g)
{
        Hw__Growth *out = encoder_message(e, &hw__growth__descriptor);
        char sentence[SENTENCE_MAX];

        if (!out)
                return NULL;
        PUT(out, where, (Hw__Growth__Where)g->where);
        out->key = encoder_text(e, sentence_growth(sentence, sizeof(sentence), g, bands));
        out->sentence = encoder_copy(e, sentence);
        enum trend_verdict heap = TREND_UNKNOWN;

        if (g->live.known)
                PUT(out, live, (Hw__Verdict)g->live.trend.verdict);
        if (g->heap.known)
                heap = g->heap.trend.verdict;
        if (g->blocks.known && g->blocks.trend.verdict > heap)
                heap = g->blocks.trend.verdict;
        if (g->heap.known || g->blocks.known)
                PUT(out, heap, (Hw__Verdict)heap);
        if (g->rss.known)
                PUT(out, rss, (Hw__Verdict)g->rss.trend.verdict);
        if (g->foreign.known)
                PUT(out, foreign, (Hw__Verdict)g->foreign.trend.verdict);
        PUT_GROWTH(out, live, &g->live);
        PUT_GROWTH(out, heap, &g->heap);
        PUT_GROWTH(out, blocks, &g->blocks);
        PUT_GROWTH(out, rss, &g->rss);
        PUT_GROWTH(out, foreign, &g->foreign);
        PUT(out, as_of_ns, g->as_of_ns);
        PUT_U64(out, foreign_bytes, g->foreign_bytes);
        PUT_U64(out, slop_bytes, g->slop_bytes);
        PUT_U64(out, fragmentation_bytes, g->fragmentation_bytes);
        PUT_U32(out, megablocks_held, g->megablocks_held);
        PUT_U32(out, megablocks_needed, g->megablocks_needed);
        PUT_U32(out, megablocks_returned, g->megablocks_returned);
        PUT_U64(out, nonmoving_bytes, g->nonmoving_bytes);
        PUT_U64(out, nonmoving_live_bytes, g->nonmoving_live_bytes);
        PUT_ROWS(e, out, bands, &hw__growing_band__descriptor, g->n_bands);
        for (uint32_t i = 0; i < out->n_bands; i++)
                put_growing(e, out->bands[i], bands, g, i);
        return out;
}

/* Seconds as nanoseconds; absent when too large. */
static void put_early_rise(struct encoder *e, Hw__EarlyWarning *out, const struct tracker *t,
                           const struct tracked_early *r)
{
        const struct note *before = tracker_note_before(t, r->onset_to_ns),
                          *after = tracker_note_after(t, r->onset_to_ns);

        PUT_FINITE(out, base_bytes, r->base_bytes);
        PUT_FINITE(out, rate, r->rate);
        PUT_FINITE(out, rate_low, r->rate_low);
        PUT_FINITE(out, rate_high, r->rate_high);
        PUT_U64(out, onset_from_ns, r->onset_from_ns);
        PUT_U64(out, onset_to_ns, r->onset_to_ns);
        PUT(out, since_start, r->since_start);
        if (before)
                out->note_before = encode_note(e, before);
        if (after)
                out->note_after = encode_note(e, after);
}

static void put_early_bands(struct encoder *e, Hw__EarlyWarning *out, const struct tracker *t,
                            const struct bands *bands, const struct tracked_early *r)
{
        struct early_bands gained;

        if (!tracker_early_bands(t, r, &gained))
                return;
        PUT_FINITE(out, explained_share, gained.explained);
        PUT(out, census_time_ns, gained.census_ns);
        PUT_ROWS(e, out, bands, &hw__growing_band__descriptor, gained.n);
        for (uint32_t i = 0; i < out->n_bands; i++) {
                const struct band *band = bands_get(bands, gained.bands[i].band);
                Hw__GrowingBand *b = out->bands[i];
                char text[LABEL_MAX];
                const char *label = band ? label_of_row(text, bands, band) : NULL;

                PUT(b, band, gained.bands[i].band);
                b->label = encoder_copy(e, label ? label : "?");
                PUT(b, gained_bytes, gained.bands[i].gained_bytes);
                PUT(b, gained_low_bytes, gained.bands[i].gained_low_bytes);
                PUT(b, span_ns, gained.census_ns - gained.before_ns);
                PUT(b, bytes, gained.bands[i].bytes);
                if (gained.bands[i].threads)
                        PUT(b, threads, gained.bands[i].threads);
        }
}

Hw__EarlyWarning *encode_early(struct encoder *e, const struct tracker *t, const struct bands *bands,
                               const struct tracked_early *r)
{
        Hw__EarlyWarning *out = encoder_message(e, &hw__early_warning__descriptor);
        char sentence[SENTENCE_MAX];

        if (!out)
                return NULL;
        PUT(out, series, (Hw__Series)r->series);
        PUT(out, rising, r->rising);
        PUT(out, runs_out, r->runs_out);
        PUT_FINITE(out, level_bytes, r->level_bytes);
        PUT(out, level_time_ns, r->level_time_ns);
        if (r->rising) {
                PUT(out, until_ns, r->until_ns);
                put_early_rise(e, out, t, r);
                put_early_bands(e, out, t, bands, r);
        }
        PUT_U64(out, limit_bytes, r->limit.bytes);
        if (r->limit.bytes != UNKNOWN_U64)
                PUT(out, limit_source, (Hw__TimeToLimit__Source)r->limit.source);
        if (isfinite(r->soonest_s))
                PUT(out, soonest_ns, u64_sat(r->soonest_s * 1e9));
        if (isfinite(r->latest_s))
                PUT(out, latest_ns, u64_sat(r->latest_s * 1e9));
        if (isfinite(r->mid_s))
                PUT(out, mid_ns, u64_sat(r->mid_s * 1e9));
        if (r->held_back)
                PUT(out, held_back, true);
        if (r->at_limit)
                PUT(out, at_limit, true);
        PUT(out, as_of_ns, r->as_of_ns);
        out->key = encoder_text(e, sentence_early(sentence, sizeof(sentence), r));
        out->sentence = encoder_copy(e, sentence);
        return out;
}

Hw__ThreadRise *encode_threads(struct encoder *e, const struct bands *bands, const struct thread_rise *r)
{
        Hw__ThreadRise *out = encoder_message(e, &hw__thread_rise__descriptor);
        const struct band *band = r->band ? bands_get(bands, r->band) : NULL;
        char sentence[SENTENCE_MAX], label[LABEL_MAX];

        if (!out)
                return NULL;
        PUT_FINITE(out, threads, r->threads);
        PUT_FINITE(out, threads_before, r->base);
        PUT_FINITE(out, rate, r->rate);
        PUT_FINITE(out, rate_low, r->rate_low);
        PUT_FINITE(out, rate_high, r->rate_high);
        PUT_U64(out, onset_from_ns, r->onset_from_ns);
        PUT_U64(out, onset_to_ns, r->onset_to_ns);
        PUT(out, since_start, r->since_start);
        PUT_U64(out, as_of_ns, r->as_of_ns);
        (void)sentence_threads(sentence, sizeof(sentence), r, bands);
        out->sentence = encoder_copy(e, sentence);
        if (band) {
                out->label = encoder_copy(e, label_of_row(label, bands, band));
                PUT(out, label_threads, r->band_threads);
                PUT(out, label_time_ns, r->band_time_ns);
        }
        return out;
}

#define PUT_SECONDS(out, field, seconds)                                                                               \
        do {                                                                                                           \
                if ((seconds) >= 0 && (seconds) < 1.8e10)                                                              \
                        PUT(out, field, (uint64_t)((seconds)*1e9));                                                    \
        } while (0)

Hw__TimeToLimit *encode_time_to_limit(struct encoder *e, const struct limit_time *l)
{
        Hw__TimeToLimit *out = encoder_message(e, &hw__time_to_limit__descriptor);
        char sentence[SENTENCE_MAX];

        if (!out)
                return NULL;
        PUT(out, limit_bytes, l->limit.bytes);
        PUT(out, source, (Hw__TimeToLimit__Source)l->limit.source);
        PUT(out, series, (Hw__Series)l->series);
        PUT_SECONDS(out, low_ns, l->low_s);
        PUT_SECONDS(out, mid_ns, l->mid_s);
        PUT_SECONDS(out, high_ns, l->high_s);
        PUT_FINITE(out, heap_over_live, l->heap_over_live);
        PUT(out, as_of_ns, l->as_of_ns);
        (void)sentence_limit(sentence, sizeof(sentence), l);
        out->sentence = encoder_copy(e, sentence);
        return out;
}

Hw__TrendScale *encode_scale(struct encoder *e, const struct tracker_config *c)
{
        Hw__TrendScale *out = encoder_message(e, &hw__trend_scale__descriptor);
        char sentence[SENTENCE_MAX];

        if (!out)
                return NULL;
        PUT(out, resolution_ns, c->trend.resolution_ns);
        PUT(out, leak_after_ns, c->trend.leak_after_ns);
        PUT(out, automatic, c->automatic);
        (void)sentence_scale(sentence, sizeof(sentence), c);
        out->sentence = encoder_copy(e, sentence);
        return out;
}
