/* SPDX-License-Identifier: BSD-3-Clause */
/* slots.c - what the slots of the sentences are filled with: facts as texts. No sentence is here. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client/answers/census.h"
#include "client/answers/evidence.h"
#include "client/world/state/band_name.h"
#include "proto/base/number_text.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/rate.h"
#include "proto/wire/resident_parts.h"
#include "proto/wire/words.h"

#define BELOW_HIGHEST 0.9 /* of the most live data: less is said to be below it */
#define BANDS_SAID    3   /* of those that grow */

static bool append_ns(struct phrase *s, uint64_t ns)
{
        return phrase_append_duration(s, (double)ns);
}

static bool append_u64_bytes(struct phrase *s, uint64_t bytes)
{
        return phrase_append_bytes(s, (double)bytes);
}

/* A number of the target, in its unit. False: not known. */
static bool append_known(struct phrase *s, const struct evidence *e, enum fact id)
{
        const double value = facts_get(e->t, id);

        if (isnan(value))
                return false;
        return fact_rows[id].unit == FACT_BYTES   ? phrase_append_bytes(s, value)
               : fact_rows[id].unit == FACT_SHARE ? phrase_append_share(s, value)
               : fact_rows[id].unit == FACT_NS    ? phrase_append_duration(s, value)
                                                  : phrase_append_count(s, u64_sat(value));
}

/* The same; false also: 0. */
static bool append_some(struct phrase *s, const struct evidence *e, enum fact id)
{
        return facts_get(e->t, id) > 0 && append_known(s, e, id);
}

/* "1 place", "3 places"; false: none. */
static bool append_counted(struct phrase *s, uint64_t n, const char *one, const char *many)
{
        return n > 0 && phrase_append_counted(s, n, one, many);
}

static bool append_rate(struct phrase *s, double rate, bool has_interval, double low, double high)
{
        return has_interval ? phrase_append_rate_within(s, rate, low, high) : phrase_append_rate(s, rate);
}

static bool append_signed_rate(struct phrase *s, double rate)
{
        return phrase_printf(s, "%s", rate >= 0 ? "+" : "") && phrase_append_rate(s, rate);
}

/* ------------------------------------------------------ program and target */

/* "-i0.05 (use -i1)": the period of the heap profile's censuses, and a longer one. */
static bool append_census_period(struct phrase *s, const struct evidence *e)
{
        const Hw__Run *run = run_of(e);
        const double seconds = run && run->has_census_period_ns ? (double)run->census_period_ns / 1e9 : 0;

        return seconds > 0 ? phrase_printf(s, "-i%.3g (use -i%.3g)", seconds, seconds < 1 ? 1 : 10 * seconds)
                           : phrase_printf(s, "its -i (use a longer one)");
}

static const char *summary_of(const Hw__Alert *alert)
{
        for (size_t i = 0; i < alert->n_annotations; i++)
                if (alert->annotations[i]->name && !strcmp(alert->annotations[i]->name, "summary"))
                        return alert->annotations[i]->value;
        return alert->sentence;
}

/* ------------------------------------------------------- verdict and rise */

bool is_below_its_highest(const struct world_target *t)
{
        const Hw__Heap *h = t->heap;

        return h && h->has_live_bytes && h->has_max_live_bytes &&
               (double)h->live_bytes < BELOW_HIGHEST * (double)h->max_live_bytes;
}

/* It was watched late, or a stretch of it was chosen. */
static bool is_part(const struct evidence *e)
{
        return run_of(e) && run_of(e)->has_first_time_ns && run_of(e)->first_time_ns > JOINED_LATE_NS;
}

/*
 * Over time: collections are most frequent while little is live. The integral ends at the last sample that it has,
 * which is the newest one unless that came after the statistics. False: not known.
 */
static bool append_average(struct phrase *s, const struct evidence *e)
{
        const Hw__Trend *live = e->t->trends[HW__SERIES__SERIES_LIVE];
        const Hw__WindowStatistics *run = live->windows[live->n_windows - 1];
        const Hw__Heap *h = e->t->heap;
        const uint64_t span_ns = h->has_live_time_ns ? sub_sat(h->live_time_ns, run->from_ns) : 0;

        return run->has_integral && span_ns > 0 && h->live_time_ns <= run->to_ns &&
               append_u64_bytes(s, u64_sat(run->integral / ((double)span_ns / 1e9)));
}

/* -------------------------------------------------------------- what grows */

/* The innermost of a cost-centre stack. */
static const char *stack_top(char *out, size_t size, const char *label)
{
        (void)snprintf(out, size, "%.*s", (int)strcspn(label, ";"), label);
        return out;
}

/* By what most of it holds, where that is known: "[CartItem] (93.0 % of GHC.Types.:)". */
static bool append_band(struct phrase *s, const struct evidence *e, uint32_t id, const char *label)
{
        char said[CONTENTS_TEXT];

        if (!label)
                return phrase_printf(s, "a band without a label");
        (void)phrase_append_clean(s, band_said(said, sizeof(said), e->t, id, label), 160);
        if (is_unnamed_table(e, label))
                return phrase_printf(s, " (not named in the log; -finfo-table-map gives names)");
        return phrase_append_clean(s, band_said_of(said, sizeof(said), e->t, id, label), sizeof(said));
}

/* "type CartItem, module Main, src/Main.hs:12": what identifies a band besides its label; false: nothing does. */
static bool append_band_place(struct phrase *s, const Hw__Band *band)
{
        char place[BAND_PLACE_MAX];

        return band_place(place, sizeof(place), band)[0] && phrase_append_clean(s, place, sizeof(place));
}

static bool append_number_of_threads(struct phrase *s, const Hw__GrowingBand *b)
{
        return b->threads && phrase_append_count(s, b->threads);
}

/* "; then 412 threads blocked on an MVar in Main.waitForReply" of one that is not the first. */
static void append_other(struct phrase *s, const struct evidence *e, const Hw__GrowingBand *b, size_t i)
{
        char said[CONTENTS_TEXT];

        (void)phrase_printf(s, i == 1 ? "; then " : ", ");
        if (append_number_of_threads(s, b))
                (void)phrase_printf(s, " ");
        (void)phrase_append_clean(s, b->label ? band_said(said, sizeof(said), e->t, b->band, b->label) : "?", 80);
}

static bool append_others(struct phrase *s, const struct evidence *e)
{
        const Hw__Growth *g = e->t->trend_state ? e->t->trend_state->growth : NULL;

        for (size_t i = 1; g && i < g->n_bands && i < BANDS_SAID; i++) {
                append_other(s, e, g->bands[i], i);
                if (g->bands[i]->has_slope)
                        (void)(phrase_printf(s, " (") && append_signed_rate(s, g->bands[i]->slope) &&
                               phrase_printf(s, ")"));
        }
        return true;
}

/* Of an estimate what it is surely. */
static bool append_gain(struct phrase *s, const Hw__GrowingBand *b)
{
        const bool is_estimate = b->has_gained_low_bytes && b->gained_low_bytes < b->gained_bytes;

        return phrase_printf(s, is_estimate ? "at least +" : "+") &&
               append_u64_bytes(s, (uint64_t)(is_estimate ? b->gained_low_bytes : b->gained_bytes));
}

static bool append_risen_others(struct phrase *s, const Hw__EarlyWarning *risen, const struct evidence *e)
{
        for (size_t i = 1; i < risen->n_bands && i < BANDS_SAID; i++) {
                append_other(s, e, risen->bands[i], i);
                (void)(phrase_printf(s, " (") && append_gain(s, risen->bands[i]) && phrase_printf(s, ")"));
        }
        return true;
}

/* What it held at the newest census: what is said of its growth may have been published before that came. */
static uint64_t newest_bytes(const struct evidence *e, const Hw__GrowingBand *b)
{
        const struct world_band *own = world_band_of(e->t, b->band);
        const bool is_newer = !e->over && own && own->seen && e->t->census && own->census == e->t->census->number;

        return is_newer ? own->bytes : b->bytes;
}

/* What it holds; of a run that is over the most that it held: what ends for want of memory frees it before. */
static uint64_t most_bytes(const struct evidence *e)
{
        const struct world_band *b = world_band_of(e->t, e->growing->band);

        return e->over && b && b->max_bytes > e->growing->bytes ? b->max_bytes : newest_bytes(e, e->growing);
}

static bool has_garbage(const struct evidence *e)
{
        return e->t->census && census_has_garbage(e->t, e->over);
}

/* The runtime's census counts large and pinned arrays in whole blocks, its live bytes do not. */
static bool exceeds_live(const struct evidence *e)
{
        const Hw__Heap *h = e->t->heap;
        const uint64_t live = e->over && h && h->has_max_live_bytes ? h->max_live_bytes : h ? h->live_bytes : 0;

        return !strcmp(e->growing->label ? e->growing->label : "", "ARR_WORDS") && h && h->has_live_bytes &&
               newest_bytes(e, e->growing) > live;
}

/* Their number comes first, what they hold second. Where it does not surely grow, their stacks do. */
static bool is_leaked_threads(const Hw__GrowingBand *b)
{
        return b->threads && !(b->has_thread_slope_low && b->thread_slope_low <= 0);
}

/* Its chart may show a rise that is too small to count beside that of foreign memory. */
static bool live_surely_grows(const struct evidence *e)
{
        const Hw__Trend *live = e->t->trends[HW__SERIES__SERIES_LIVE];

        return live && live->has_slope_low && live->slope_low > 0;
}

/* False: there was no census before it began, and gains are known since the first one only. */
static bool gained_since_onset(const Hw__EarlyWarning *risen)
{
        const Hw__GrowingBand *b = risen->bands[0];

        return !b->has_span_ns || sub_sat(risen->census_time_ns, b->span_ns) <= risen->onset_to_ns;
}

/* So much since that census that what its bands hold is not what they hold by now. */
static bool has_risen_further(const Hw__EarlyWarning *risen)
{
        const uint64_t age_ns = sub_sat(risen->level_time_ns, risen->census_time_ns);

        return risen->has_level_time_ns && risen->has_census_time_ns && age_ns > 0 &&
               number_is_old(age_ns, risen->level_bytes, risen->rate);
}

static bool append_age(struct phrase *s, const struct evidence *e, uint64_t time_ns)
{
        return append_ns(s, sub_sat(world_known_until_ns(e->t), time_ns));
}

/* Of the census that has not seen all that grew: a moment, not an age, which would be another at each question. */
static bool append_old_census_time(struct phrase *s, const struct evidence *e)
{
        if (e->risen)
                return has_risen_further(e->risen) && phrase_append_moment(s, e->risen->census_time_ns);
        return e->t->census && (census_is_stale(e) || census_differs(e->t)) &&
               phrase_append_moment(s, e->t->census->time_ns);
}

/* What gained most, while live data grows and censuses are too few to judge bands; NULL: it is not said. */
static const struct world_band *gained_most(const struct evidence *e)
{
        const struct world_band *gained[ACCOUNT_BANDS];
        const bool is_said = e->grows && !e->foreign && !bands_judged(e) && account_bands(e->t, gained) > 0;

        return is_said ? gained[0] : NULL;
}

/* ------------------------------------------------------- where, and by whom */

/* The newest of a series' statistics: what a program that has ended had last. */
static bool last_of(const struct world_target *t, Hw__Series series, uint64_t *ret)
{
        const Hw__Trend *trend = t->trends[series];

        for (size_t i = trend ? trend->n_windows : 0; i-- > 0;) {
                if (!trend->windows[i]->has_last || !(trend->windows[i]->last >= 0))
                        continue;
                *ret = (uint64_t)trend->windows[i]->last;
                return true;
        }
        return false;
}

static bool resident_bytes(const struct world_target *t, uint64_t *ret)
{
        const Hw__Process *p = t->heap ? t->heap->process : NULL;

        if (!p || !p->has_rss_bytes)
                return last_of(t, HW__SERIES__SERIES_RSS, ret);
        *ret = p->rss_bytes;
        return true;
}

static const Hw__Resident *parts_of(const struct evidence *e)
{
        return e->t->heap ? e->t->heap->resident : NULL;
}

/* The RSS that was divided into parts is not the one that is said beside them. */
static bool parts_are_older(const struct evidence *e)
{
        const Hw__Process *p = parts_of(e) ? e->t->heap->process : NULL;

        return p && p->has_rss_bytes && p->has_sampled_wall_ns && p->sampled_wall_ns > parts_of(e)->sampled_wall_ns &&
               strcmp(BYTES_TEXT(parts_of(e)->rss_bytes), BYTES_TEXT(p->rss_bytes)) != 0;
}

/* Live data, heap, resident memory; the last one first where what grows is only in it. */
static bool append_sizes(struct phrase *s, const struct evidence *e)
{
        static const char *const sizes[] = {
                "RSS {resident}[ ([of {parts_resident}, {parts_age} earlier: ]given back {given_back}, foreign "
                "{foreign}, files {files}{mapped_files})]",
                "heap {heap_size}",
                "live {live_size}",
                "heap {heap_size}",
                "RSS {resident}[ ([of {parts_resident}, {parts_age} earlier: ]given back {given_back}, foreign "
                "{foreign}, files {files}{mapped_files})]",
        };

        return phrase_append_list(s, ", ", is_outside(e) ? sizes : sizes + 2, 3);
}

/* -------------------------------------------------------------- the limit */

/* The limit that ended it: that of the heap if the runtime said so, else the one of its control group. */
static bool ended_by_group(const struct evidence *e)
{
        return e->t->target->has_oom_killed && e->t->target->oom_killed;
}

/* Its size, 0 where that is not known. */
static Hw__TimeToLimit__Source limit_that_was_met(const struct evidence *e, uint64_t *ret)
{
        const Hw__Trends *s = e->t->trend_state;

        if (!ended_by_group(e))
                return world_heap_limit(e->t, ret);
        *ret = s && s->limit_source == HW__TIME_TO_LIMIT__SOURCE__SOURCE_CGROUP ? s->limit_bytes : 0;
        return HW__TIME_TO_LIMIT__SOURCE__SOURCE_CGROUP;
}

static bool append_limit(struct phrase *s, bool has_source, Hw__TimeToLimit__Source source, bool has_bytes,
                         uint64_t bytes, bool held_back)
{
        (void)phrase_printf(s, "%s", limit_words(has_source ? source : HW__TIME_TO_LIMIT__SOURCE__SOURCE_UNKNOWN));
        return !has_bytes ||
               (phrase_printf(s, " (") && append_u64_bytes(s, bytes) &&
                phrase_printf(s, held_back ? ", half of it reserved by the runtime for copying live data)" : ")"));
}

static bool append_limit_met(struct phrase *s, const struct evidence *e)
{
        uint64_t bytes;
        const Hw__TimeToLimit__Source source = limit_that_was_met(e, &bytes);

        return append_limit(s, true, source, bytes > 0, bytes, false);
}

/* "now to 2h" of an interval whose ends can be told apart. */
static bool append_interval(struct phrase *s, uint64_t low_ns, uint64_t high_ns)
{
        char low[HW_NUMBER_MAX], high[HW_NUMBER_MAX];

        (void)hw_duration_text(low, sizeof(low), (double)low_ns);
        (void)hw_duration_text(high, sizeof(high), (double)high_ns);
        return strcmp(low, high) != 0 && phrase_printf(s, "%s to %s", low_ns ? low : "now", high);
}

/* -------------------------------------------------------------- the account */

#define APPEND_LIST(s, separator, texts) phrase_append_list(s, separator, texts, ARRAY_SIZE(texts))

static const char *const memory_texts[] = {
        "live {known_live}[ ({live_age} {ago|before the end})]",
        "heap {heap_size}",
        "resident {process_resident}",
        "swapped {swapped}",
        "control group {group_held}",
        "most live {most_live}",
};

static const char *const pause_shares_texts[] = { "{recent_share} of the last 10 s of events",
                                                  "{run_share} of the run" };

static const char *const pauses_texts[] = { "{pause_shares}", "in all {all_pauses}, {watch_pauses}",
                                            "the longest[{if_watch_paused} of its own] {longest_pause}" };

static uint64_t longest_pause(const Hw__Gc *gc)
{
        uint64_t longest = 0;

        for (size_t i = 0; i < gc->n_generations; i++)
                if (gc->generations[i]->has_pause_max_ns && gc->generations[i]->pause_max_ns > longest)
                        longest = gc->generations[i]->pause_max_ns;
        return longest;
}

static const char *const lost_texts[] = {
        "{lost_bytes} lost in {lost_in}", "{lost_nowhere} lost",
        "{gap} not seen in {gaps}",       "{passed} passed over before it was joined",
        "{late_samples} too late",        "{bands_left_out} left out",
};

static uint64_t recorded_of(const struct evidence *e)
{
        const Hw__Recording *r = e->t->health->recording;

        return r && r->bytes ? sub_sat(r->bytes, r->lost_bytes) : 0;
}

static bool append_thread_slope(struct phrase *s, const Hw__GrowingBand *b)
{
        return phrase_append_count_rate(s, b->thread_slope, b->has_thread_slope_low ? b->thread_slope_low : NAN,
                                        b->has_thread_slope_high ? b->thread_slope_high : NAN);
}

/* ------------------------------------------------------------------- slots */

static bool put_slot(struct phrase *s, const char *slot, size_t slot_n, const void *of)
{
        const struct evidence *e = of;
        struct {
                double share;
                uint64_t n;
                const char *name;
                const struct world_band *band;
                char text[512];
        } v;

#define SLOT PHRASE_SLOT
#include "client/answers/slots.def"
        return false;
}

struct phrase phrase_of(char *out, size_t size, const struct evidence *e)
{
        return phrase_begin(out, size, e->over, put_slot, e);
}

const struct phrase_row *append_sentence(struct target_answer *a, const struct evidence *e, phrase_table *table)
{
        char text[2 * ANSWER_TEXT];
        struct phrase s = phrase_of(text, sizeof(text), e);
        const struct phrase_row *row = table(&s);

        append_text(a->text, "%.*s", (int)(s.has_moment ? s.moment_at : s.used), text);
        if (!s.has_moment)
                return row;
        append_text(a->after, "%s", text + s.moment_at);
        a->has_time = true;
        a->time_ns = s.moment_ns;
        return row;
}
