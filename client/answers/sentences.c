/* SPDX-License-Identifier: BSD-3-Clause */
/* sentences.c - the words in which the conditions of sentences.def are written, and the answers made of its tables. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "client/answers/census.h"
#include "client/answers/evidence.h"
#include "client/world/state/band_name.h"
#include "proto/base/ckd.h"
#include "proto/wire/words.h"

/* A condition that several sentences have. */
#define IS(name, expression)                                                                                           \
        static bool name(const struct evidence *e)                                                                     \
        {                                                                                                              \
                return (expression);                                                                                   \
        }

/* -------------------------------------------------------- is anything wrong */

/* It was steady, and has risen in the newest minutes: later ones will show whether that is growth. */
static bool in_doubt(const struct evidence *e)
{
        return !e->over && e->verdict == HW__VERDICT__VERDICT_STEADY && e->trend &&
               e->trend->verdict == HW__VERDICT__VERDICT_STEADY && e->trend->has_provisional_slope &&
               e->trend->provisional_slope > 0;
}

IS(has_risen, e->rise && e->rise->sentence)
IS(ends_with_command, !strncmp(e->detail, END_OF_COMMAND, sizeof(END_OF_COMMAND) - 1))
IS(nothing_yet_unsaid, e->ending == AWAITED && !e->t->run)

/* --------------------------------------------------------------- since when */

bool is_marker(const Hw__Note *note)
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

uint64_t first_time_of(const struct evidence *e)
{
        return run_of(e) && run_of(e)->has_first_time_ns ? run_of(e)->first_time_ns : 0;
}

/*
 * Of a program that ran unwatched before: it grew from the first step on, or the first live data that was measured, and
 * when that began was not seen.
 */
static bool has_grown_before(const struct evidence *e)
{
        const Hw__EarlyWarning *early = e->t->trend_state ? e->t->trend_state->early : NULL;
        uint64_t seen_ns = first_time_of(e) + step_in_use(e);

        if (early && !early_is_foreign(early) && onset_is_latest(early) && early->onset_to_ns > seen_ns)
                seen_ns = early->onset_to_ns;
        return first_time_of(e) > JOINED_LATE_NS && e->trend->has_onset_ns && e->trend->onset_ns <= seen_ns;
}

static const Hw__EarlyWarning *dated_rise(const struct evidence *e)
{
        const Hw__EarlyWarning *early = e->rise ? e->rise : e->early;

        return early && early->has_onset_from_ns && early->has_onset_to_ns ? early : NULL;
}

struct onset onset_of(const struct evidence *e)
{
        const Hw__EarlyWarning *early = dated_rise(e);

        if (early)
                return (struct onset){
                        .known = true,
                        .ns = onset_moment(early),
                        .error_ns = onset_is_latest(early) ? 0 : sub_sat(early->onset_to_ns, early->onset_from_ns) / 2,
                        .note = nearest_note(early->note_before, early->note_after, onset_moment(early)),
                };
        if (!e->grows || !e->trend->has_onset_ns)
                return (struct onset){ .known = false };
        if (has_grown_before(e))
                return (struct onset){ .known = true, .ns = first_time_of(e), .note = note_near(e) };
        return (struct onset){ .known = true,
                               .ns = e->trend->onset_ns,
                               .error_ns = e->trend->has_onset_error_ns ? e->trend->onset_error_ns : 0,
                               .note = note_near(e) };
}

uint64_t note_apart(const struct evidence *e)
{
        return sub_abs(onset_of(e).note->time_ns, onset_of(e).ns);
}

/* Since the beginning of the window that the verdict rests on, which is older than the verdict. UINT64_MAX: unknown. */
uint64_t steady_since(const struct evidence *e)
{
        const Hw__Evidence *evidence = e->trend ? e->trend->evidence : NULL;
        const bool known = evidence && evidence->has_ended_ns && evidence->has_span_ns;
        const uint64_t from_ns = known ? sub_sat(evidence->ended_ns, evidence->span_ns) : UINT64_MAX;

        return e->trend && e->trend->has_since_ns && e->trend->since_ns < from_ns ? e->trend->since_ns : from_ns;
}

/* A run that was seen from its start has no moment worth naming. */
static bool is_seen_from_start(const struct evidence *e)
{
        return run_of(e) && run_of(e)->has_first_time_ns && run_of(e)->first_time_ns <= JOINED_LATE_NS;
}

IS(has_no_note, !onset_of(e).note)
IS(has_ended, e->ending >= ENDED_SOMEHOW && e->ending <= LOST)
IS(steady, e->verdict == HW__VERDICT__VERDICT_STEADY)

/* --------------------------------------------------------------- what grows */

#define MUCH_UNCOUNTED 0.25 /* of live data in no band: whatever else grows, they may */

/* NaN: not much. */
double uncounted_share(const struct evidence *e)
{
        double bytes, share;

        if (!census_uncounted(e->t, &bytes))
                return NAN;
        share = bytes / ((double)e->t->census->total_bytes + bytes);
        return bytes < 0 || share < MUCH_UNCOUNTED ? NAN : share;
}

static bool has_profile(const struct evidence *e)
{
        return e->t->census || e->t->n_bands;
}

static bool rises_in_no_band(const struct evidence *e)
{
        return early_rises(e->early) && !e->growing;
}

/* -------------------------------------------------------------------- where */

#define LIVE_DIFFERS 0.1 /* share by which a census must exceed live data to be told beside it */

static const Hw__EarlyWarning *rise_of(const struct evidence *e)
{
        const Hw__EarlyWarning *early = e->rise ? e->rise : e->early;

        return early && early->has_series ? early : NULL;
}

bool is_outside(const struct evidence *e)
{
        return rise_of(e) ? rise_of(e)->series != HW__SERIES__SERIES_LIVE : e->foreign;
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

/* ---------------------------------------------------------------------- why */

/* What the action `why` of an alert has found out. */
const Hw__ActionResult *why_of(const struct evidence *e)
{
        return e->t->target ? e->t->target->why : NULL;
}

bool is_local(const struct evidence *e)
{
        return run_of(e) && run_of(e)->has_local && run_of(e)->local;
}

/* -------------------------------------------------------------------- until */

#define SOME_NS  (UINT64_C(7200) * 1000000000)
#define CLOCK_NS (24 * SOME_NS / 2) /* what is nearer has a time of day */

uint64_t limit_at(const Hw__TimeToLimit *l)
{
        return l->has_mid_ns ? l->mid_ns : l->low_ns;
}

bool limit_is_near(const struct evidence *e)
{
        return e->limit && e->limit->has_low_ns && limit_at(e->limit) < SOON_NS;
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

const Hw__Trends *known_limit(const struct evidence *e)
{
        return e->t->trend_state && e->t->trend_state->has_limit_bytes ? e->t->trend_state : NULL;
}

bool is_of_known_limit(const struct evidence *e)
{
        const Hw__EarlyWarning *rise = e->near ? e->near : e->early;

        return !rise || !rise->has_limit_bytes || (known_limit(e) && known_limit(e)->limit_bytes == rise->limit_bytes);
}

bool limit_clock(const struct evidence *e, uint64_t *ret)
{
        const uint64_t in_ns = e->near ? e->near->mid_ns : limit_at(e->limit);
        const bool is_dated = e->near ? e->near->has_as_of_ns : e->limit->has_as_of_ns;

        *ret = (e->near ? e->near->as_of_ns : e->limit->as_of_ns) + in_ns;
        return !e->over && in_ns < CLOCK_NS && is_dated;
}

static bool ran_out_of_cpu(const struct evidence *e)
{
        return e->ending == KILLED && e->t->target->has_out_of_cpu && e->t->target->out_of_cpu;
}

/* Limits at which mmap() and malloc() fail, and programs end of that in any way. */
static bool ends_in_any_way(Hw__TimeToLimit__Source source)
{
        return source == HW__TIME_TO_LIMIT__SOURCE__SOURCE_ADDRESS_SPACE ||
               source == HW__TIME_TO_LIMIT__SOURCE__SOURCE_RESERVED || source == HW__TIME_TO_LIMIT__SOURCE__SOURCE_DATA;
}

/* SIGKILL without the kernel's account may have come from its limit all the same, and so may an end that nobody saw. */
static bool may_have_met_limit(const struct evidence *e)
{
        const Hw__Target *t = e->t->target;
        const bool has_no_log = world_from_outside(e->t) || (run_of(e) && run_of(e)->process_only);
        Hw__TimeToLimit__Source source;
        uint64_t bytes;
        const bool is_unseen = e->ending == ENDED && has_no_log && !t->has_exit_status && !t->has_exit_signal;

        return e->over &&
               (is_unseen || e->ending == LOST || e->ending == ENDED_SOMEHOW ||
                (e->ending == KILLED && e->t->target->exit_signal == 9 && !ran_out_of_cpu(e)) || e->ending == CRASHED ||
                (e->ending >= ENDED_BADLY && world_limit(e->t, &bytes, &source) && ends_in_any_way(source)));
}

static bool may_have_filled_space(const struct evidence *e)
{
        return e->over && e->rise && early_runs_out(e->rise) && ends_in_any_way(e->rise->limit_source);
}

/* Its rise is too young to foretell when it meets the limit, and what its rate gives is known. */
static bool is_too_early(const struct evidence *e)
{
        return !e->over && e->early && known_limit(e) && e->early->has_mid_ns && e->early->has_limit_bytes;
}

IS(census_is_newer, !e->over && census_exceeds_live(e->t))

/* ---------------------------------------------------------------- what next */

/* -------------------------- what keeps it from being seen, and how it ended */

static bool ended_without_growth(const struct evidence *e, enum ending ending)
{
        return e->ending == ending && !e->grows && !e->rise;
}

/* --------------------------------------------------------------- what grows */

static Hw__Breakdown breakdown_of(const struct evidence *e)
{
        const Hw__Run *run = run_of(e);

        return run && run->has_breakdown ? run->breakdown : HW__BREAKDOWN__BREAKDOWN_NONE;
}

static bool label_has(const struct evidence *e, const char *text)
{
        return e->growing && e->growing->label && strstr(e->growing->label, text);
}

static bool label_is(const struct evidence *e, const char *text)
{
        return e->growing && e->growing->label && !strcmp(e->growing->label, text);
}

/* Live data grows, and the heap profile is by this. */
static bool grows_by(const struct evidence *e, Hw__Breakdown breakdown)
{
        return live_grows(e) && e->growing && e->growing->label && breakdown_of(e) == breakdown;
}

/* Live data is known too rarely, since the agent keeps to its budget. */
static bool is_within_agents_budget(const struct evidence *e)
{
        return !e->over && e->live && is_by_agent(e) && e->t->census && e->trend && !e->trend->has_verdict_in_ns;
}

/* --------------------------------------------------- what an alert asks for */

static bool alert_fires(const struct evidence *e, const char *rule)
{
        return e->alert && e->alert->rule && !strcmp(e->alert->rule, rule);
}

/* Of its own end nothing else would be said: find_alert() has left that out. */
IS(fires_of_earlier_run, e->live && (alert_fires(e, "crashed") || alert_fires(e, "failed")))

static bool censuses_collect(const struct evidence *e)
{
        double share;

        return answers_census_share(e->t, &share) && share > 0.5;
}

/* -------------------------------------------- what is missing for a verdict */

static bool has_used_much(const struct evidence *e)
{
        const char *name;
        double share;

        return share_of_limit(e, &name, &share) && share >= MUCH_OF_LIMIT;
}

IS(heap_exhausted, ended_without_growth(e, ENDED_BADLY) && e->t->target->exit_status == EXIT_HEAP_EXHAUSTED)
IS(failed, ended_without_growth(e, ENDED_BADLY) || ended_without_growth(e, CRASHED))
IS(process_grows, e->grows && e->process_only)
IS(census_to_come, live_grows(e) && !has_profile(e) && awaits_census(e))
IS(census_to_come_from_outside, census_to_come(e) && world_from_outside(e->t))
IS(no_profile, live_grows(e) && !has_profile(e))
/* Threads that wait at one place: inspect/ghc/thread_bands.c. */
IS(waiting_threads, live_grows(e) && e->growing && e->growing->label && e->growing->threads)
IS(threads_grow, grows_by(e, HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE) && (label_is(e, "STACK") || label_is(e, "TSO")))
IS(byte_arrays, live_grows(e) && (label_has(e, "ARR_WORDS") || label_has(e, "PINNED")))
IS(few_censuses, live_grows(e) && has_profile(e) && (!bands_judged(e) || census_is_stale(e)))
IS(retained, e->grows && e->where == HW__GROWTH__WHERE__WHERE_RETENTION)
IS(unplaced, e->grows && e->where == HW__GROWTH__WHERE__WHERE_UNKNOWN)
/* Before a verdict names what grows; the agent and the alert's own `why` may have found it by now. */
IS(runs_out, !e->over && !e->grows && e->early && early_runs_out(e->early))
IS(is_damaged, e->t->health && e->t->health->has_lost_bytes && e->t->health->lost_bytes)
IS(collects_much, alert_fires(e, "gc-share") || alert_fires(e, "gc-pauses"))
IS(rises, e->early)
IS(few_collections,
   !e->verdict && e->trend && e->trend->verdict == HW__VERDICT__VERDICT_UNKNOWN && !e->trend->has_verdict_in_ns)
IS(too_short, e->over && !e->verdict)
IS(verdict_comes, !e->over && !e->verdict && e->trend && e->trend->has_verdict_in_ns)

/* ----------------------------------------------------- why to trust it less */

#define LAG_NS  (UINT64_C(10) * 1000000000) /* a stream this far behind shows an old state */
#define MUCH_GC 0.2                         /* of all time: worth mentioning */
#define IDLE_NS (UINT64_C(60) * 1000000000) /* only after this a program counts as too idle for its -i */

/* More than half of the time in collections is the heap profile's. */
static bool is_profile_costly(const struct evidence *e)
{
        const Hw__Gc *gc = e->t->gc;
        double share;

        return gc && gc->has_gc_share_run && gc->gc_share_run > MUCH_GC && answers_census_share(e->t, &share) &&
               share > 0.5;
}

/* It gets less than one census in four steps from its profile. */
static bool is_idle(const struct evidence *e)
{
        const uint64_t period_ns = run_of(e) && run_of(e)->has_census_period_ns ? run_of(e)->census_period_ns : 0;
        const uint64_t seen_ns = e->t->event_time_ns - first_time_of(e);
        const uint64_t step_ns = step_in_use(e) ? step_in_use(e) : IDLE_NS;

        return period_ns && e->t->census && !e->over && seen_ns > IDLE_NS &&
               e->t->census->number < seen_ns / period_ns / 4 && e->t->census->number * 4 < seen_ns / step_ns;
}

uint64_t bands_beyond(const struct evidence *e)
{
        const Hw__Health *h = e->t->health;

        return h && h->has_bands_left_out ? h->bands_left_out : 0;
}

bool is_joined_inside(const struct evidence *e)
{
        return run_of(e) && e->t->target->has_joined_late && e->t->target->joined_late;
}

IS(short_of_memory, e->t->health && e->t->health->memory_pressure)

/* ------------------------------------------------------------------- tables */

#define TABLE(name)                     PHRASE_TABLE(sentences_##name, struct evidence, e)
#define SAY(key, tone, condition, text) PHRASE_SAY(key, ANSWER_##tone, condition, text)
#define END                             PHRASE_END
#include "client/answers/sentences.def"

/* ------------------------------------------------------------------ answers */

/* What the table says, if anything, with its key and tone. */
static void answer_by(struct target_answer *a, const struct evidence *e, phrase_table *table)
{
        const struct phrase_row *row = append_sentence(a, e, table);

        if (!row)
                return;
        a->key = row->key;
        a->tone = (enum answer_tone)row->tone;
}

static void append_alerts(struct target_answer *a, const struct evidence *e)
{
        static const enum answer_tone tones[] = { [SEVERITY_WARNING] = ANSWER_WARN, [SEVERITY_CRITICAL] = ANSWER_BAD };
        enum answer_tone tone;

        if (e->gravest == SEVERITY_CRITICAL)
                a->tone = ANSWER_BAD; /* also when it says what the verdict does */
        if (!e->alert)
                return;
        tone = alert_severity(e->alert) == SEVERITY_INFO ? a->tone : tones[alert_severity(e->alert)];
        if (a->tone < tone)
                a->tone = tone;
        if (a->tone == ANSWER_GOOD || !strcmp(a->key, "steady"))
                *a = (struct target_answer){ .tone = tone > ANSWER_GOOD ? tone : ANSWER_GOOD, .key = "alert" };
        else
                append_text(a->text, "; also: ");
        (void)append_sentence(a, e, sentences_alert);
}

void answer_wrong(struct target_answer *a, const struct evidence *e)
{
        answer_by(a, e, sentences_wrong);
        append_alerts(a, e);
        (void)append_sentence(a, e, sentences_not_completed);
}

void answer_since(struct target_answer *a, const struct evidence *e)
{
        answer_by(a, e, sentences_since);
}

void answer_grows(struct target_answer *a, const struct evidence *e)
{
        answer_by(a, e, sentences_grows);
        (void)append_sentence(a, e, sentences_uncounted);
}

void answer_where(struct target_answer *a, const struct evidence *e)
{
        answer_by(a, e, sentences_where);
        a->tone = e->grows || rise_of(e) ? ANSWER_WARN : ANSWER_DIM;
}

void answer_why(struct target_answer *a, const struct evidence *e)
{
        answer_by(a, e, sentences_why);
}

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
        answer_by(a, e, sentences_until);
        a->tone = tone_of_until(e, a->tone);
}

void answer_next(struct target_answer *a, const struct evidence *e)
{
        (void)append_sentence(a, e, sentences_before_next);
        const size_t n = strlen(a->text);

        answer_by(a, e, sentences_next);
        if (n)
                a->text[n] = (char)tolower((unsigned char)a->text[n]);
}

void find_caveats(struct answers *a, const struct evidence *e)
{
        for (; a->n_caveats < ANSWER_CAVEATS; a->n_caveats++) {
                struct phrase s = phrase_of(a->caveats[a->n_caveats], ANSWER_TEXT, e);

                s.skip = (unsigned)a->n_caveats;
                if (!sentences_caveats(&s))
                        break;
        }
}
