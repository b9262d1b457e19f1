/* SPDX-License-Identifier: BSD-3-Clause */
/* sentences.c - the words in which the conditions of sentences.def are written, values of its slots, and its tables. */
#include "daemon/publish/sentences.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daemon/model/sizing.h"
#include "heapwatch/text.h"
#include "proto/base/ckd.h"
#include "proto/base/phrase.h"
#include "proto/base/time.h"
#include "proto/wire/words.h"

#define CARRIED_LEAST 0.25 /* of the growth, by the bands that are judged: with less none is named */
#define AT_ANY_TIME_S 1.0  /* less than this until the limit is met by the rate: it may be met at any time */
#define UNEVEN        2.0  /* times its rate and more is what a rise gained in its time: its line is not all of it */

static bool append_ns(struct phrase *s, uint64_t ns)
{
        return phrase_append_duration(s, (double)ns);
}

static bool append_seconds(struct phrase *s, double seconds)
{
        return phrase_append_duration(s, seconds * 1e9);
}

static bool append_known(struct phrase *s, uint64_t bytes)
{
        return bytes != UNKNOWN_U64 && phrase_append_bytes(s, (double)bytes);
}

static bool append_number(struct phrase *s, uint64_t n)
{
        return n != UNKNOWN_U64 && phrase_printf(s, "%llu", (unsigned long long)n);
}

static bool append_limit(struct phrase *s, struct memory_limit limit)
{
        return limit.bytes != UNKNOWN_U64 &&
               phrase_printf(s, "%s (", limit_words((Hw__TimeToLimit__Source)limit.source)) &&
               phrase_append_bytes(s, (double)limit.bytes) && phrase_printf(s, ")");
}

static bool same_duration(double low_s, double high_s)
{
        char low[HW_NUMBER_MAX], high[HW_NUMBER_MAX];

        return !strcmp(hw_duration_text(low, sizeof(low), low_s * 1e9),
                       hw_duration_text(high, sizeof(high), high_s * 1e9));
}

/* -------------------------------------------------------------- verdict */

/* A window of now shows the growth. */
static bool is_shown_now(const struct trend_result *r)
{
        return r->evidence.basis != TREND_BASIS_RECENT && r->has_slope;
}

/* --------------------------------------------------------------- growth */

/* What a sentence about growth is of. */
struct subject_of_growth {
        const struct growth *g;
        const struct bands *bands;
        const struct growth_series *s; /* that grows, or rises */
};

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

static bool append_bands(struct phrase *s, const struct subject_of_growth *o)
{
        for (uint32_t i = 0; i < o->g->n_bands && i < 3; i++) {
                const struct growing_band *b = &o->g->bands[i];
                char label[LABEL_MAX], number[HW_NUMBER_MAX];

                (void)phrase_printf(s, "%s", i ? ", " : "");
                if (b->threads)
                        (void)phrase_printf(s, "%s ", hw_count_text(number, sizeof(number), b->threads));
                (void)phrase_printf(s, "%.127s (", label_of_growing(label, o->bands, o->g, i));
                if (b->threads && isfinite(b->thread_slope)) {
                        (void)phrase_append_count_rate(s, b->thread_slope, b->thread_slope_low, b->thread_slope_high);
                        (void)phrase_printf(s, ", ");
                }
                (void)phrase_append_rate(s, b->slope);
                (void)phrase_printf(s, ")");
        }
        return o->g->n_bands > 0;
}

/* It is steady, and its newest steps rise: the next ones will show whether that is growth. */
static bool rises_lately(const struct growth_series *s)
{
        return s->known && s->trend.provisional.known && s->trend.provisional.slope > 0;
}

static bool is_unknown(const struct subject_of_growth *o)
{
        return o->g->where == GROWTH_UNKNOWN;
}

static bool is_unknown_of_process(const struct subject_of_growth *o)
{
        return is_unknown(o) && o->g->process_only;
}

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

/* ----------------------------------------------------------------- rise */

/* The moment that every face shows (client/answers, onset_moment). */
static uint64_t onset_ns(const struct tracked_early *r)
{
        return r->since_start ? r->onset_to_ns : r->onset_from_ns + sub_sat(r->onset_to_ns, r->onset_from_ns) / 2;
}

static uint64_t level_age_ns(const struct tracked_early *r)
{
        return sub_sat(r->as_of_ns, r->level_time_ns);
}

static bool is_level_old(const struct tracked_early *r)
{
        return !r->ended && r->rising && number_is_old(level_age_ns(r), r->level_bytes, r->rate);
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

/* A part of the rise was far steeper than its line: who divides gets another rate. */
static bool is_uneven(const struct tracked_early *r)
{
        return r->level_bytes - r->base_bytes > UNEVEN * (isnan(r->rate_high) ? r->rate : r->rate_high) *
                                                        (double)sub_sat(r->until_ns, onset_ns(r)) / 1e9;
}

/* -------------------------------------------------------------- threads */

struct subject_of_threads {
        const struct thread_rise *r;
        const struct bands *bands;
};

/* By its name alone: how many there were is of another moment than the number of all. */
static bool append_largest(struct phrase *s, const struct subject_of_threads *o)
{
        const struct band *band = o->r->band ? bands_get(o->bands, o->r->band) : NULL;
        char label[LABEL_MAX];

        return band && phrase_printf(s, "%.127s", label_of_row(label, o->bands, band));
}

struct sized {
        struct sizing s;
        const struct heap *heap;
        bool has_flags;
};

/* --------------------------------------------------------------- tables */

#define TABLE(...)                static PHRASE_TABLE(__VA_ARGS__)
#define SAY(key, condition, text) PHRASE_SAY(key, 0, condition, text)
#define SLOTS(...)                static PHRASE_SLOTS(__VA_ARGS__)
#define SLOT                      PHRASE_SLOT
#define OTHERS                    PHRASE_OTHERS
#define END                       PHRASE_END
#include "daemon/publish/sentences.def"

/* What the table says of `of`; its key, "" where no condition holds. */
static const char *write_sentence(char *out, size_t size, bool over, phrase_slots *slots, phrase_table *table,
                                  const void *of)
{
        struct phrase s = phrase_begin(out, size, over, slots, of);
        const struct phrase_row *row = table(&s);

        return row ? row->key : "";
}

const char *sentence_verdict(char *out, size_t size, const struct trend_result *r)
{
        return write_sentence(out, size, r->over, verdict_slots, verdicts, r);
}

const char *sentence_growth(char *out, size_t size, const struct growth *g, const struct bands *bands)
{
        const struct subject_of_growth o = { g, bands, find_subject_series(g) };

        return write_sentence(out, size, g->over, growth_slots, growths, &o);
}

const char *sentence_limit(char *out, size_t size, const struct limit_time *l)
{
        return write_sentence(out, size, l->ended, limit_slots, limits, l);
}

const char *sentence_early(char *out, size_t size, const struct tracked_early *r)
{
        return write_sentence(out, size, r->ended, early_slots, rises, r);
}

const char *sentence_threads(char *out, size_t size, const struct thread_rise *r, const struct bands *bands)
{
        const struct subject_of_threads o = { r, bands };

        return write_sentence(out, size, r->ended, thread_slots, threads, &o);
}

const char *sentence_sizing(char *out, size_t size, const struct run *run, const struct heap *heap)
{
        const struct sized z = { sizing_of(run, heap), heap, run->n_args > 0 };

        return write_sentence(out, size, false, sizing_slots, sizings, &z);
}

const char *sentence_scale(char *out, size_t size, const struct tracker_config *c)
{
        return write_sentence(out, size, false, scale_slots, scales, c);
}
