/* SPDX-License-Identifier: BSD-3-Clause */
/* where.c - since when, what grows, where, and until when. */
#include "client/answers/answers.h"
#include "client/answers/census.h"
#include "client/answers/evidence.h"
#include "proto/base/ckd.h"

#include <stdio.h>
#include <string.h>

#include "client/world/state/band_name.h"
#include "heapwatch/text.h"
#include "proto/base/limits.h"
#include "proto/base/array.h"
#include "proto/wire/resident_parts.h"
#include "proto/base/rate.h"
#include "proto/base/phrase.h"

/* ------------------------------------------------------------------- since */

static bool is_marker(const Hw__Note *note)
{
        return note && note->has_what && note->what == HW__NOTE__WHAT__WHAT_MARKER;
}

static const Hw__Note *usable_note(const Hw__Note *note)
{
        return note && note->has_time_ns && note->text ? note : NULL;
}

/* Markers outrank messages, then the nearer one wins. The daemon sends only those that are near. */
static const Hw__Note *nearest_note(const Hw__Note *before, const Hw__Note *after, uint64_t onset_ns)
{
        before = usable_note(before);
        after = usable_note(after);
        if (!before || !after)
                return before ? before : after;
        if (is_marker(before) != is_marker(after))
                return is_marker(before) ? before : after;
        return sub_abs(after->time_ns, onset_ns) < sub_abs(before->time_ns, onset_ns) ? after : before;
}

const Hw__Note *note_near(const struct evidence *e)
{
        if (e->rise)
                return nearest_note(e->rise->note_before, e->rise->note_after, onset_middle(e->rise));
        if (!e->grows || !e->trend || !e->trend->has_onset_ns)
                return NULL;
        return nearest_note(e->trend->note_before, e->trend->note_after, e->trend->onset_ns);
}

/*
 * What follows the time of an onset: how exact it is (error_ns, 0: not known), and the note nearest to it, which is
 * within that, or before or after the onset.
 */
static void append_onset_note(struct target_answer *a, const struct evidence *e, const Hw__Note *note,
                              uint64_t onset_ns, uint64_t error_ns)
{
        if (error_ns > 0) {
                append_text(a->after, ", give or take ");
                append_duration(a->after, error_ns);
        }
        if (!note) {
                append_text(a->after, e->t->notes_last ? "; no marker or message of the program is near" : "");
                return;
        }
        const uint64_t apart_ns = sub_abs(note->time_ns, onset_ns);
        const char *kind = is_marker(note) ? "marker" : "message";

        if (error_ns > 0 && apart_ns <= error_ns) {
                append_text(a->after, "; the %s “%.160s” falls within it", kind, note->text);
        } else if (apart_ns == 0) {
                append_text(a->after, ", just at the %s “%.160s”", kind, note->text);
        } else {
                append_text(a->after, ", ");
                append_duration(a->after, apart_ns);
                append_text(a->after, " %s", note->time_ns < onset_ns ? "after" : "before");
                append_text(a->after, " the %s “%.160s”", kind, note->text);
        }
}

static void append_time(struct target_answer *a, const char *text, bool known, uint64_t time_ns)
{
        if (!known) {
                append_text(a->text, "–");
                return;
        }
        append_text(a->text, "%s", text);
        a->has_time = true;
        a->time_ns = time_ns;
}

/*
 * Of a program that ran unwatched before: it grew from the first step on, or the first live data that was measured, and
 * when that began was not seen.
 */
static bool grew_before(const struct evidence *e, uint64_t first_ns)
{
        const Hw__EarlyWarning *early = e->t->trend_state ? e->t->trend_state->early : NULL;
        uint64_t seen_ns = first_ns + step_in_use(e);

        if (early && !early_is_foreign(early) && onset_is_latest(early) && early->onset_to_ns > seen_ns)
                seen_ns = early->onset_to_ns;
        return first_ns > JOINED_LATE_NS && e->trend->has_onset_ns && e->trend->onset_ns <= seen_ns;
}

/* A run that was seen from its start has no moment worth naming. */
static void append_watched(struct target_answer *a, const Hw__Run *run)
{
        if (run && run->has_first_time_ns && run->first_time_ns <= JOINED_LATE_NS)
                append_text(a->text, "Watched from its start");
        else
                append_time(a, "Watched since ", run && run->has_first_time_ns, run ? run->first_time_ns : 0);
}

/* Since the beginning of the window that the verdict rests on, which is older than the verdict. */
static void append_steady_since(struct target_answer *a, const struct evidence *e, const Hw__Run *run)
{
        const Hw__Evidence *evidence = e->trend ? e->trend->evidence : NULL;
        const bool known = evidence && evidence->has_ended_ns && evidence->has_span_ns;
        const uint64_t from_ns = known ? sub_sat(evidence->ended_ns, evidence->span_ns) : UINT64_MAX;
        const uint64_t since_ns =
                e->trend && e->trend->has_since_ns && e->trend->since_ns < from_ns ? e->trend->since_ns : from_ns;

        if (run && run->has_first_time_ns && run->first_time_ns <= JOINED_LATE_NS && since_ns <= step_in_use(e))
                append_text(a->text, "No lasting growth since its start");
        else
                append_time(a, "No lasting growth since ", since_ns < UINT64_MAX, since_ns);
}

static void answer_rising_since(struct target_answer *a, const struct evidence *e, const Hw__EarlyWarning *early)
{
        const bool is_latest = onset_is_latest(early);
        const uint64_t onset_ns = onset_moment(early);

        append_time(a,
                    is_latest ? e->over ? "The rise began before " : "Rising since before "
                    : e->over ? "The rise began at "
                              : "Rising since ",
                    true, onset_ns);
        append_onset_note(a, e, nearest_note(early->note_before, early->note_after, onset_ns), onset_ns,
                          is_latest ? 0 : sub_sat(early->onset_to_ns, early->onset_from_ns) / 2);
}

void answer_since(struct target_answer *a, const struct evidence *e)
{
        const struct world_target *t = e->t;
        const Hw__Run *run = t->target ? t->target->run_info : NULL;

        const Hw__EarlyWarning *early = e->rise ? e->rise : e->early;

        if (early && early->has_onset_from_ns && early->has_onset_to_ns) {
                answer_rising_since(a, e, early);
        } else if (e->grows) {
                const uint64_t first_ns = run && run->has_first_time_ns ? run->first_time_ns : 0;
                const bool before = grew_before(e, first_ns);
                const uint64_t onset_ns = before ? first_ns : e->trend->onset_ns;

                append_time(a, before ? "It grew already when watching began, at " : "Growth began at ",
                            e->trend->has_onset_ns, onset_ns);
                if (a->has_time)
                        append_onset_note(a, e, note_near(e), onset_ns,
                                          e->trend->has_onset_error_ns && !before ? e->trend->onset_error_ns : 0);
        } else if (e->ending >= ENDED_SOMEHOW && e->ending <= LOST) {
                append_time(a, "Its last event was at ", t->event_time_ns > 0, t->event_time_ns);
        } else if (e->verdict == HW__VERDICT__VERDICT_STEADY) {
                append_steady_since(a, e, run);
        } else {
                append_watched(a, run);
        }
}

/* ------------------------------------------------------------- what grows */

static void append_rate_of(struct target_answer *a, const Hw__GrowingBand *band, struct rate_unit unit)
{
        char number[HW_NUMBER_MAX];

        append_text(a->text, "%s%s", band->slope >= 0 ? "+" : "", rate_text(number, sizeof(number), unit, band->slope));
}

/* "412 ", before the name of a band of threads. */
static void append_count(struct target_answer *a, const Hw__GrowingBand *band)
{
        char number[HW_NUMBER_MAX];

        if (band->threads)
                append_text(a->text, "%s ", hw_count_text(number, sizeof(number), band->threads));
}

/* "412 threads blocked on an MVar in Main.waitForReply" of one that is not the first. */
static void append_other(struct target_answer *a, const struct world_target *t, const Hw__GrowingBand *band, size_t i)
{
        char said[CONTENTS_TEXT];

        append_text(a->text, "%s", i == 1 ? "; then " : ", ");
        append_count(a, band);
        append_text(a->text, "%.80s", band->label ? band_said(said, sizeof(said), t, band->band, band->label) : "?");
}

static void append_others(struct target_answer *a, const struct evidence *e, struct rate_unit unit)
{
        const Hw__Growth *g = e->t->trend_state->growth;

        for (size_t i = 1; i < g->n_bands && i < 3; i++) {
                append_other(a, e->t, g->bands[i], i);
                if (!g->bands[i]->has_slope)
                        continue;
                append_text(a->text, " (");
                append_rate_of(a, g->bands[i], unit);
                append_text(a->text, ")");
        }
}

/* What it held at the newest census: what is said of its growth may have been published before that came. */
static uint64_t newest_bytes(const struct evidence *e, const Hw__GrowingBand *b)
{
        const struct world_band *own = world_band_of(e->t, b->band);
        const bool is_newer = !e->over && own && own->seen && e->t->census && own->census == e->t->census->number;

        return is_newer ? own->bytes : b->bytes;
}

/* The runtime's census counts large and pinned arrays in whole blocks, its live bytes do not. */
static bool exceeds_live(const struct evidence *e)
{
        const Hw__Heap *h = e->t->heap;

        const uint64_t live = e->over && h && h->has_max_live_bytes ? h->max_live_bytes : h ? h->live_bytes : 0;

        return !strcmp(e->growing->label ? e->growing->label : "", "ARR_WORDS") && h && h->has_live_bytes &&
               newest_bytes(e, e->growing) > live;
}

/* What the heap adds to growth of foreign memory, in words: its chart may show a rise that is too small to count. */
static const char *heap_beside(const struct evidence *e)
{
        const Hw__Trend *live = e->t->trends[HW__SERIES__SERIES_LIVE];

        return live && live->has_slope_low && live->slope_low > 0 ? "Hardly anything on the Haskell heap"
                                                                  : "Nothing on the Haskell heap";
}

/* What it holds; of a run that is over the most that it held: what ends for want of memory frees it before. */
static uint64_t most_of(const struct evidence *e)
{
        const struct world_band *b = world_band_of(e->t, e->growing->band);

        return e->over && b && b->max_bytes > e->growing->bytes ? b->max_bytes : newest_bytes(e, e->growing);
}

/*
 * ", +3.1/s: leaked threads?": their number comes first, what they hold second. Where it does not surely grow, their
 * stacks do. False: that is not said.
 */
static bool append_thread_growth(struct target_answer *a, const Hw__GrowingBand *band)
{
        char number[COUNT_RATE_MAX];
        const bool leaked = band->threads && !(band->has_thread_slope_low && band->thread_slope_low <= 0);

        if (band->threads && band->has_thread_slope)
                append_text(a->text, ", %s", count_rate_text(number, band->thread_slope));
        if (leaked)
                append_text(a->text, ": leaked threads?");
        return leaked;
}

/* By what most of it holds, where that is known: "[CartItem] (93.0 % of GHC.Types.:)". */
static void append_band(struct target_answer *a, const struct evidence *e, uint32_t id, const char *label)
{
        char said[CONTENTS_TEXT];

        if (!label) {
                append_text(a->text, "a band without a label");
                return;
        }
        append_text(a->text, "%.160s", band_said(said, sizeof(said), e->t, id, label));
        append_text(a->text, "%s",
                    is_unnamed_table(e, label) ? " (not named in the log; -finfo-table-map gives names)"
                                               : band_said_of(said, sizeof(said), e->t, id, label));
}

static void append_growing_band(struct target_answer *a, const struct evidence *e)
{
        const struct rate_unit unit = rate_unit(e->growing->slope);
        size_t before;

        append_count(a, e->growing);
        append_band(a, e, e->growing->band, e->growing->label);
        before = strlen(a->text);
        append_text(a->text, " (");
        if (append_band_place(a->text, e->band))
                append_text(a->text, ")");
        else
                a->text[before] = '\0';
        const bool leaked = append_thread_growth(a, e->growing);
        if (e->growing->has_bytes) {
                const uint64_t most = most_of(e);
                append_text(a->text, "%s", leaked ? " With " : " with ");
                append_text(a->text, "%s", most > newest_bytes(e, e->growing) ? "at most " : "");
                append_bytes(a->text, most);
                if (exceeds_live(e))
                        append_text(a->text, " (counted in whole blocks)");
        }
        if (e->growing->has_slope) {
                append_text(a->text, ", ");
                append_rate_of(a, e->growing, unit);
        }
        append_others(a, e, unit);
}

/* "; the largest is CartItem with 14.7 MiB", or what gained most while live data grows and censuses are few. */
static void append_foremost(struct target_answer *a, const struct evidence *e, const struct world_band *largest)
{
        const struct world_band *gained[ACCOUNT_BANDS];
        const bool gains = e->grows && !e->foreign && !bands_judged(e) && account_bands(e->t, gained) > 0;
        const struct world_band *first = gains ? gained[0] : largest;

        append_text(a->text, gains ? "; most so far: " : "; the largest is ");
        append_band(a, e, first->id, first->def->label);
        append_text(a->text, gains ? ", +" : " with ");
        append_bytes(a->text, gains ? first->bytes - first->first_bytes : first->bytes);
}

/* False: there was no census before it began, and gains are known since the first one only. */
static bool gained_since_onset(const Hw__EarlyWarning *early, const Hw__GrowingBand *b)
{
        return !b->has_span_ns || sub_sat(early->census_time_ns, b->span_ns) <= early->onset_to_ns;
}

/* Of an estimate what it is surely. */
static void append_gain(struct target_answer *a, const Hw__GrowingBand *b)
{
        const bool is_estimate = b->has_gained_low_bytes && b->gained_low_bytes < b->gained_bytes;

        append_text(a->text, is_estimate ? "at least +" : "+");
        append_bytes(a->text, (uint64_t)(is_estimate ? b->gained_low_bytes : b->gained_bytes));
}

/* "ARR_WORDS with 102 MiB, +99.7 MiB since it began; then Main.Item (+1.2 MiB); bands explain 98 % of the rise" */
static void append_risen_bands(struct target_answer *a, const struct evidence *e, const Hw__EarlyWarning *early)
{
        char share[HW_NUMBER_MAX];

        a->tone = ANSWER_WARN;
        if (e->over && census_is_stale(e))
                append_text(a->text, "Up to its last census ");
        for (size_t i = 0; i < early->n_bands && i < 3; i++) {
                const Hw__GrowingBand *b = early->bands[i];

                if (i > 0) {
                        append_other(a, e->t, b, i);
                        append_text(a->text, " (");
                        append_gain(a, b);
                        append_text(a->text, ")");
                        continue;
                }
                append_count(a, b);
                append_band(a, e, b->band, b->label);
                append_text(a->text, " with ");
                append_bytes(a->text, newest_bytes(e, b));
                append_text(a->text, ", ");
                append_gain(a, b);
                append_text(a->text, " since %s", gained_since_onset(early, b) ? "it began" : "the first census");
        }
        if (early->has_explained_share)
                append_text(a->text, "; bands explain %s of the rise",
                            hw_share_text(share, sizeof(share), early->explained_share));
}

/* It rises, and no band can be named for it. */
static void append_no_risen_band(struct target_answer *a, const struct evidence *e)
{
        if (e->process_only)
                append_text(a->text, "Not known: the program has no log, its process alone is watched");
        else if (early_is_foreign(e->early))
                append_text(a->text, "Memory outside the Haskell heap, which has no bands");
        else if (e->early->has_census_time_ns)
                append_text(a->text, "No band by itself");
        else if (!e->t->census && !e->t->n_bands)
                append_text(a->text, "Not known: there is no heap profile");
        else
                append_text(a->text, "Not known yet: no census before the rise, or none since");
}

#define MUCH_UNCOUNTED 0.25

/* Live data that are in no band: whatever else grows, they may. */
static void append_uncounted(struct target_answer *a, const struct evidence *e)
{
        char share[HW_NUMBER_MAX], reason[256];
        double bytes;

        if (!census_uncounted(e->t, &bytes) || bytes < MUCH_UNCOUNTED * ((double)e->t->census->total_bytes + bytes))
                return;
        append_text(a->text, "; %s of live data is in no band: %s",
                    hw_share_text(share, sizeof(share), bytes / ((double)e->t->census->total_bytes + bytes)),
                    census_uncounted_reason(reason, sizeof(reason), e->t));
}

static void append_what_grows(struct target_answer *a, const struct evidence *e)
{
        const struct world_target *t = e->t;
        bool profiled = t->census || t->n_bands;
        const struct world_band *largest = e->growing ? NULL : largest_band(e);

        if (e->threads) {
                a->tone = ANSWER_WARN;
                append_text(a->text, "%.300s: leaked threads?", e->threads->sentence);
        } else if (e->risen) {
                append_risen_bands(a, e, e->risen);
        } else if (early_rises(e->early) && !e->growing) {
                append_no_risen_band(a, e);
        } else if (e->growing) {
                if (e->foreign)
                        append_text(a->text, "Hardly anything on the Haskell heap: ");
                else if (e->growing == &e->likely)
                        append_text(a->text,
                                    census_is_stale(e) ? "Up to its last census most likely " : "Most likely ");
                a->tone = e->foreign                                         ? ANSWER_DIM
                          : e->growing->verdict == HW__VERDICT__VERDICT_LEAK ? ANSWER_BAD
                                                                             : ANSWER_WARN;
                append_growing_band(a, e);
        } else if (e->process_only) {
                append_text(a->text, "Not known: the program has no log, its process alone is watched");
        } else if (!profiled && e->over && !t->event_time_ns) {
                append_text(a->text, "Not known: nothing was read of it");
        } else if (!profiled && keeps_events(e)) {
                append_text(a->text, "Not known yet: the program keeps its events in its buffer");
        } else if (!profiled && awaits_census(e)) {
                append_text(a->text, "%s",
                            e->foreign ? heap_beside(e)
                            : e->over  ? "Not known: its heap profile has no census"
                                       : "Not known yet: the heap profile is on, its first census is still to come");
                if (!e->foreign && !is_by_agent(e) && !world_from_outside(e->t))
                        append_text(a->text, " (its runtime's clock for them stands still while the program waits)");
        } else if (!profiled) {
                a->tone = e->grows ? ANSWER_WARN : ANSWER_DIM;
                append_text(a->text, "%s", e->foreign ? heap_beside(e) : "Not known: there is no heap profile");
        } else if (largest) {
                append_text(a->text, "%s",
                            e->foreign                            ? heap_beside(e)
                            : live_grows(e) && census_is_stale(e) ? "Not known: its censuses ended too early"
                            : e->grows && bands_judged(e)         ? "No band by itself"
                            : e->grows   ? e->over ? "Not known: too few censuses" : "Not known yet: too few censuses"
                            : e->verdict ? "No band"
                            : e->over    ? "Not known"
                                         : "Not known yet");
                append_foremost(a, e, largest);
        } else {
                append_text(a->text, "%s",
                            e->t->census && e->t->census->rows_left_out
                                    ? "Not known: the bands of its newest census are left out"
                            : e->over ? "Not known: its log has no census"
                                      : "No census yet");
        }
}

void answer_grows(struct target_answer *a, const struct evidence *e)
{
        append_what_grows(a, e);
        append_uncounted(a, e);
}

/* ------------------------------------------------------------------- where */

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

#define LIVE_DIFFERS 0.1 /* share by which a census must exceed live data to be told beside it */

static bool rss_of(const struct world_target *t, uint64_t *ret)
{
        const Hw__Process *p = t->heap ? t->heap->process : NULL;

        if (!p || !p->has_rss_bytes)
                return last_of(t, HW__SERIES__SERIES_RSS, ret);
        *ret = p->rss_bytes;
        return true;
}

/* The RSS that was divided into parts is not the one that is said beside them. */
static bool is_counted_before(const struct world_target *t, const Hw__Resident *r)
{
        const Hw__Process *p = t->heap->process;
        char counted[HW_NUMBER_MAX], said[HW_NUMBER_MAX];

        return p && p->has_rss_bytes && p->has_sampled_wall_ns && p->sampled_wall_ns > r->sampled_wall_ns &&
               strcmp(hw_bytes_text(counted, sizeof(counted), (double)r->rss_bytes),
                      hw_bytes_text(said, sizeof(said), (double)p->rss_bytes)) != 0;
}

/* The parts of RSS that are no heap: they explain an RSS far from the heap's size. */
static void append_parts(struct target_answer *a, const struct world_target *t)
{
        const Hw__Resident *r = t->heap ? t->heap->resident : NULL;
        char files[512];

        if (!r || !r->has_given_back_bytes || !r->has_foreign_bytes)
                return;
        append_text(a->text, " (");
        if (is_counted_before(t, r)) {
                append_duration(a->text, sub_sat(t->heap->process->sampled_wall_ns, r->sampled_wall_ns));
                append_text(a->text, " before it had ");
                append_bytes(a->text, r->rss_bytes);
                append_text(a->text, ": ");
        }
        append_text(a->text, "given back ");
        append_bytes(a->text, r->given_back_bytes);
        append_text(a->text, ", foreign ");
        append_bytes(a->text, r->foreign_bytes);
        append_text(a->text, ", files ");
        append_bytes(a->text, r->files_bytes);
        append_text(a->text, "%s)", resident_files_text(files, sizeof(files), r));
}

/* Live data was measured before the newest census, which found more: the newest bound, from outside the upper one. */
static bool census_exceeds_live(const struct world_target *t)
{
        const Hw__Census *c = t->census;

        return c && c->has_time_ns && c->has_total_bytes && !c->has_spread && !c->unfinished &&
               t->heap->has_live_time_ns && c->time_ns > t->heap->live_time_ns &&
               c->total_bytes > t->heap->live_bytes &&
               (double)(c->total_bytes - t->heap->live_bytes) > LIVE_DIFFERS * (double)t->heap->live_bytes;
}

/* Live data, heap, resident memory; the last one first where what grows is only in it. */
static void append_sizes(struct target_answer *a, const struct world_target *t, bool over, bool foreign)
{
        const Hw__Heap *h = t->heap;
        uint64_t rss = 0;
        bool has_rss = rss_of(t, &rss);
        const struct {
                const char *what;
                bool known;
                uint64_t bytes;
        } sizes[] = {
                { "live", h && h->has_live_bytes, h ? h->live_bytes : 0 },
                { "heap", h && h->has_heap_size_bytes, h ? h->heap_size_bytes : 0 },
                { "RSS", has_rss, rss },
        };
        enum { LIVE, HEAP, RSS, SIZES = ARRAY_SIZE(sizes) };
        bool first = true;

        for (size_t n = 0; n < SIZES; n++) {
                const size_t i = foreign ? SIZES - 1 - n : n;

                if (!sizes[i].known)
                        continue;
                append_text(a->text, "%s%s ", first ? (a->text[0] ? ": " : "") : ", ", sizes[i].what);
                if (i == LIVE && !over && census_exceeds_live(t)) {
                        append_text(a->text, world_from_outside(t) ? "at most " : "at least ");
                        append_bytes(a->text, t->census->total_bytes);
                        append_text(a->text, " (census of ");
                        append_duration(a->text, sub_sat(world_known_until_ns(t), t->census->time_ns));
                        append_text(a->text, " ago%s)", world_from_outside(t) ? ", garbage included" : "");
                } else if (i == LIVE && over && h->has_max_live_bytes && h->max_live_bytes > h->live_bytes) {
                        append_text(a->text, "at most ");
                        append_bytes(a->text, h->max_live_bytes);
                        append_text(a->text, " (at its end ");
                        append_bytes(a->text, sizes[i].bytes);
                        append_text(a->text, ")");
                } else {
                        append_bytes(a->text, sizes[i].bytes);
                        if (i == LIVE && !over)
                                append_live_age(a->text, t);
                }
                if (i == RSS)
                        append_parts(a, t);
                first = false;
        }
        if (first && !a->text[0])
                append_text(a->text, "–");
}

static const char in_resident[] = "In resident memory; where in it is not known";

void answer_where(struct target_answer *a, const struct evidence *e)
{
        const Hw__EarlyWarning *early = e->rise ? e->rise : e->early;

        if (early && early->has_series) {
                append_text(a->text, early->series == HW__SERIES__SERIES_LIVE ? "In live data"
                                     : early->series == HW__SERIES__SERIES_RSS
                                             ? in_resident
                                             : "In foreign memory (C code, malloc, shared memory)");
                a->tone = ANSWER_WARN;
                append_sizes(a, e->t, e->over, early->series != HW__SERIES__SERIES_LIVE);
                return;
        }
        switch (e->where) {
        case HW__GROWTH__WHERE__WHERE_LIVE:
                append_text(a->text, "In live data");
                break;
        case HW__GROWTH__WHERE__WHERE_RETENTION:
                append_text(a->text, "On the heap, beyond live data, held by the runtime");
                break;
        case HW__GROWTH__WHERE__WHERE_FOREIGN:
                append_text(a->text, "In foreign memory (C code, malloc, shared memory)");
                break;
        case HW__GROWTH__WHERE__WHERE_NOWHERE:
                append_text(a->text, "Nowhere");
                break;
        default:
                if (e->process_only && e->grows)
                        append_text(a->text, in_resident);
                else if (e->foreign)
                        append_text(a->text,
                                    "In foreign memory (C code, malloc, shared memory); whether live data grows too is "
                                    "not known");
                else if (e->grows)
                        append_text(a->text, e->over ? "Not known" : "Not known yet");
                break;
        }
        a->tone = e->grows ? ANSWER_WARN : ANSWER_DIM;
        append_sizes(a, e->t, e->over, e->foreign);
}

/* ------------------------------------------------------------------- until */

#define SOME_NS  (UINT64_C(7200) * 1000000000)
#define CLOCK_NS (24 * SOME_NS / 2) /* what is nearer has a time of day */

/* The middle of the interval where it is known. */
static uint64_t limit_at(const Hw__TimeToLimit *l)
{
        return l->has_mid_ns ? l->mid_ns : l->low_ns;
}

bool limit_is_near(const struct evidence *e)
{
        return e->limit && e->limit->has_low_ns && limit_at(e->limit) < SOON_NS;
}

const char *limit_words(bool known, Hw__TimeToLimit__Source source)
{
        switch (known ? source : HW__TIME_TO_LIMIT__SOURCE__SOURCE_UNKNOWN) {
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_CGROUP:
                return "the limit of its control group";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_MAX_HEAP:
                return "the heap limit -M";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_MEMORY:
                return "the machine's memory";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_ADDRESS_SPACE:
                return "the limit of its address space (ulimit -v)";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_GIVEN:
                return "the limit given with --limit";
        default:
                return "the limit";
        }
}

bool share_of_limit(const struct evidence *e, const char **ret_name, double *ret)
{
        const char *words;
        uint64_t used, limit;

        if (!account_limit(e->t, &limit, &words) || !limit || !account_used(e->t, ret_name, &used))
                return false;
        *ret = (double)used / (double)limit;
        return true;
}

/* The limit that ended it: that of the heap if the runtime said so, else the one of its control group. */
static bool ended_by_group(const struct evidence *e)
{
        return e->t->target->has_oom_killed && e->t->target->oom_killed;
}

/* Its size; false: not known. */
static bool size_of_limit_met(const struct evidence *e, uint64_t *ret)
{
        const Hw__Run *run = e->t->target->run_info;
        const Hw__Trends *s = e->t->trend_state;

        if (!ended_by_group(e)) {
                *ret = run && run->has_max_heap_bytes ? run->max_heap_bytes : 0;
                return *ret > 0;
        }
        *ret = s ? s->limit_bytes : 0;
        return s && s->has_limit_bytes && s->has_limit_source &&
               s->limit_source == HW__TIME_TO_LIMIT__SOURCE__SOURCE_CGROUP;
}

/* SIGKILL without the kernel's account may have come from it all the same. */
static bool may_have_met_limit(const struct evidence *e)
{
        return e->over && (e->ending == LOST || e->ending == ENDED_SOMEHOW ||
                           (e->ending == KILLED && e->t->target->exit_signal == 9) || e->ending == CRASHED);
}

static bool same_duration(uint64_t a_ns, uint64_t b_ns)
{
        char a[HW_NUMBER_MAX], b[HW_NUMBER_MAX];

        return !strcmp(hw_duration_text(a, sizeof(a), (double)a_ns), hw_duration_text(b, sizeof(b), (double)b_ns));
}

/* The least limit that is known, whether anything heads for it or not. */
static const Hw__Trends *known_limit(const struct evidence *e)
{
        return e->t->trend_state && e->t->trend_state->has_limit_bytes ? e->t->trend_state : NULL;
}

/* Its rise is too young to foretell when it meets the limit, and what its rate gives is known. */
static bool is_too_early(const struct evidence *e)
{
        return !e->over && e->early && known_limit(e) && e->early->has_mid_ns && e->early->has_limit_bytes &&
               e->early->limit_bytes == known_limit(e)->limit_bytes;
}

static bool is_of_known_limit(const struct evidence *e)
{
        return !e->near || (known_limit(e) && known_limit(e)->limit_bytes == e->near->limit_bytes);
}

/* ", of which its heap has 63 %" */
static bool append_used(struct phrase *s, const struct evidence *e)
{
        char share[HW_NUMBER_MAX];
        const char *name;
        double used;

        return !e->over && is_of_known_limit(e) && share_of_limit(e, &name, &used) &&
               phrase_printf(s, ", of which %s has %s", name, hw_share_text(share, sizeof(share), used));
}

static bool append_limit_met(struct phrase *s, const struct evidence *e)
{
        uint64_t bytes;

        (void)phrase_printf(s, "%s",
                            limit_words(true, ended_by_group(e) ? HW__TIME_TO_LIMIT__SOURCE__SOURCE_CGROUP
                                                                : HW__TIME_TO_LIMIT__SOURCE__SOURCE_MAX_HEAP));
        return !size_of_limit_met(e, &bytes) ||
               (phrase_printf(s, " (") && phrase_append_bytes(s, (double)bytes) && phrase_printf(s, ")"));
}

static bool append_limit_near(struct phrase *s, const Hw__EarlyWarning *near)
{
        return phrase_printf(s, "%s (", limit_words(near->has_limit_source, near->limit_source)) &&
               phrase_append_bytes(s, (double)near->limit_bytes) &&
               phrase_printf(s, "%s)",
                             near->has_held_back && near->held_back
                                     ? ", half of it held back by the runtime, to copy live data"
                                     : "");
}

static bool append_limit_ahead(struct phrase *s, const Hw__TimeToLimit *l)
{
        (void)phrase_printf(s, "%s", limit_words(l->has_source, l->source));
        return !l->has_limit_bytes ||
               (phrase_printf(s, " (") && phrase_append_bytes(s, (double)l->limit_bytes) && phrase_printf(s, ")"));
}

/* "now to 2h" of an interval whose ends can be told apart. */
static bool append_interval(struct phrase *s, uint64_t low_ns, uint64_t high_ns)
{
        if (same_duration(low_ns, high_ns))
                return false;
        return (low_ns ? phrase_append_duration(s, (double)low_ns) : phrase_printf(s, "now")) &&
               phrase_printf(s, " to ") && phrase_append_duration(s, (double)high_ns);
}

#define WHEN(function, expression) PHRASE_WHEN(function, struct evidence, e, expression)
#define SLOT(function, expression) PHRASE_SLOT(function, struct evidence, e, expression)

WHEN(was_met, e->over &&limit_was_met(e))
WHEN(is_at_limit, e->near && e->near->has_at_limit && e->near->at_limit)
WHEN(is_met_now, e->near &&early_meets_now(e->near))
WHEN(is_met_soon, e->near)
WHEN(at_any_time, e->limit && e->limit->has_low_ns && limit_at(e->limit) == 0)
WHEN(is_ahead, e->limit && e->limit->has_low_ns)
WHEN(no_limit, !known_limit(e))
WHEN(is_stopped, e->ending == STOPPED)
WHEN(too_early, is_too_early(e))
WHEN(rises_elsewhere, !e->over && e->early)
WHEN(may_have_met, may_have_met_limit(e))
WHEN(over_without, e->over)
WHEN(no_growth_so_far, e->steady_so_far)
WHEN(nothing_known, !e->verdict)
WHEN(no_time_known, e->grows)
SLOT(put_limit_met, append_limit_met(s, e))
SLOT(if_grew, ((void)s, e->grows || e->rise))
SLOT(put_limit_near, append_limit_near(s, e->near))
SLOT(put_near_mid, phrase_append_duration(s, (double)e->near->mid_ns))
SLOT(put_near_interval, e->near->has_latest_ns &&append_interval(s, e->near->soonest_ns, e->near->latest_ns))
SLOT(put_near_latest,
     e->near->has_latest_ns && e->near->latest_ns >= NS_PER_S && phrase_append_duration(s, (double)e->near->latest_ns))
SLOT(put_used, append_used(s, e))
SLOT(put_limit_ahead, append_limit_ahead(s, e->limit))
SLOT(put_ahead, phrase_append_duration(s, (double)limit_at(e->limit)))
SLOT(if_earliest, ((void)s, !e->limit->has_mid_ns))
SLOT(if_or_later, ((void)s, e->limit->has_mid_ns && !e->limit->has_high_ns))
SLOT(put_ahead_interval,
     e->limit->has_mid_ns && e->limit->has_high_ns && append_interval(s, e->limit->low_ns, e->limit->high_ns))
SLOT(put_early_mid, phrase_append_duration(s, (double)e->early->mid_ns))
SLOT(put_known,
     phrase_printf(s, "%s is ", limit_words(known_limit(e)->has_limit_source, known_limit(e)->limit_source)) &&
             phrase_append_bytes(s, (double)known_limit(e)->limit_bytes))

static const struct phrase_slot until_slots[] = {
        { "limit_met", put_limit_met },
        { "if_grew", if_grew },
        { "limit_near", put_limit_near },
        { "near_mid", put_near_mid },
        { "near_interval", put_near_interval },
        { "near_latest", put_near_latest },
        { "used", put_used },
        { "limit_ahead", put_limit_ahead },
        { "ahead", put_ahead },
        { "if_earliest", if_earliest },
        { "if_or_later", if_or_later },
        { "ahead_interval", put_ahead_interval },
        { "early_mid", put_early_mid },
        { "known", put_known },
        { NULL, NULL },
};

static const struct phrase_row untils[] = {
        { "limit-was-met", was_met, "Its limit was met: {limit_met}[{if_grew}; a higher one only delays the end]",
          ANSWER_BAD },
        { "at-limit", is_at_limit, "It has met its limit: {limit_near}[{used}]", ANSWER_BAD },
        { "meets-now", is_met_now,
          "At any time, if it continues[, in {near_latest} at the latest]: {limit_near}[{used}]", ANSWER_BAD },
        { "meets-soon", is_met_soon, "If it continues, in {near_mid}[ ({near_interval})]: {limit_near}[{used}]",
          ANSWER_WARN },
        { "at-any-time", at_any_time,
          "{At any time, if it goes on|It ended first. At that rate, at any time}: {limit_ahead}", ANSWER_DIM },
        { "meets", is_ahead,
          "{In|It ended first. At that rate, in} {ahead}[{if_earliest} at the earliest, perhaps never][{if_or_later} "
          "or "
          "later][ ({ahead_interval})]: {limit_ahead}",
          ANSWER_DIM },
        { "no-limit", no_limit, "No limit is known", ANSWER_DIM },
        { "stopped", is_stopped, "Not while it is stopped: {known}[{used}]", ANSWER_DIM },
        { "too-early", too_early, "Too early to say; by the rate, in about {early_mid}: {known}[{used}]", ANSWER_DIM },
        { "other-limit", rises_elsewhere, "No time is known: {known}[{used}]", ANSWER_DIM },
        { "may-have-met", may_have_met, "Not known whether it met its limit: {known}", ANSWER_DIM },
        { "none-met", over_without, "No limit was met: {known}", ANSWER_DIM },
        { "no-growth-so-far", no_growth_so_far, "No growth towards it so far: {known}[{used}]", ANSWER_DIM },
        { "unknown", nothing_known, "Not known yet: {known}[{used}]", ANSWER_DIM },
        { "no-time", no_time_known, "No time is known: {known}[{used}]", ANSWER_DIM },
        { "not-heading", NULL, "Not heading for the limit: {known}[{used}]", ANSWER_DIM },
        { .key = NULL },
};

/* By how near the limit is, in time or in bytes. */
static enum answer_tone tone_of_until(const struct evidence *e, enum answer_tone tone)
{
        const char *name;
        double used;

        if (e->over && limit_was_met(e))
                return ANSWER_BAD;
        if (e->near && early_runs_out(e->near))
                tone = ANSWER_BAD;
        else if (!e->near && e->limit && e->limit->has_low_ns)
                return limit_is_near(e) ? ANSWER_BAD : limit_at(e->limit) < SOME_NS ? ANSWER_WARN : ANSWER_DIM;
        if (e->over || !known_limit(e) || !is_of_known_limit(e) || !share_of_limit(e, &name, &used))
                return tone;
        return used >= 0.9 ? ANSWER_BAD : used >= MUCH_OF_LIMIT && tone < ANSWER_WARN ? ANSWER_WARN : tone;
}

void answer_until(struct target_answer *a, const struct evidence *e)
{
        struct phrase s = phrase_begin(a->text, sizeof(a->text), e->over, until_slots, e);
        const struct phrase_row *row = phrase_append_table(&s, untils);

        a->key = row->key;
        a->tone = tone_of_until(e, (enum answer_tone)row->tone);
        if (e->over || (row->when != is_met_soon && row->when != is_ahead))
                return;
        const uint64_t in_ns = e->near ? e->near->mid_ns : limit_at(e->limit);
        const bool is_dated = e->near ? e->near->has_as_of_ns : e->limit->has_as_of_ns;
        if (in_ns >= CLOCK_NS || !is_dated)
                return;
        append_text(a->text, "; that is at ");
        a->has_time = true;
        a->time_ns = (e->near ? e->near->as_of_ns : e->limit->as_of_ns) + in_ns;
}
