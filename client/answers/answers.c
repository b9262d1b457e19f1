/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/answers/answers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client/answers/census.h"
#include "client/answers/evidence.h"
#include "client/world/state/band_name.h"
#include "client/world/state/world.h"
#include "proto/base/ckd.h"
#include "proto/base/text_out.h"
#include "heapwatch/text.h"

#define CRITICAL_NS (UINT64_C(20) * 60 * 1000000000) /* a limit this near is critical */
#define LAG_NS      (UINT64_C(10) * 1000000000)      /* a stream this far behind shows an old state */
#define MUCH_GC     0.2                              /* of all time: worth mentioning */
#define IDLE_NS     (UINT64_C(60) * 1000000000)      /* only after this a program counts as too idle for its -i */

static const struct {
        const char *key, *text;
} questions[QUESTIONS] = {
        [QUESTION_WRONG] = { "wrong", "Is anything wrong?" }, [QUESTION_SINCE] = { "since", "Since when?" },
        [QUESTION_GROWS] = { "grows", "What grows?" },        [QUESTION_WHERE] = { "where", "Where?" },
        [QUESTION_WHY] = { "why", "Why is it kept?" },        [QUESTION_UNTIL] = { "until", "Until when?" },
        [QUESTION_NEXT] = { "next", "What next?" },
};

const char *question_text(enum target_question q)
{
        return questions[q].text;
}

const char *question_key(enum target_question q)
{
        return questions[q].key;
}

const char *answer_tone_name(enum answer_tone tone)
{
        static const char *const names[] = { "dim", "good", "warn", "bad" };

        return names[tone];
}

/* ------------------------------------------------------------ in one word */

static const char *const endings[] = {
        [KILLED] = "killed",         [ENDED_BADLY] = "failed", [CRASHED] = "crashed", [LOST] = "lost",
        [FAILED] = "cannot be read", [AWAITED] = "waiting",    [STOPPED] = "stopped",
};

static bool ended_badly(const struct evidence *e)
{
        return e->ending >= ENDED_BADLY && e->ending <= FAILED;
}

/* The state's word: an exhausted heap is a crash, though its status is known. */
static bool has_crashed(const struct evidence *e)
{
        return e->t->target && e->t->target->has_state && e->t->target->state == HW__TARGET__STATE__STATE_CRASHED;
}

static const char *const verdicts[] = { "unknown", "steady", "growing", "leak" };

/* The verdict's word is the daemon's everywhere: a normal end does not hide it. */
static void one_word(struct answers *a, const struct evidence *e)
{
        static const enum answer_tone tones[] = { ANSWER_DIM, ANSWER_GOOD, ANSWER_WARN, ANSWER_BAD };

        if (ended_badly(e) || e->ending == STOPPED || (e->ending == AWAITED && !e->t->run)) {
                a->word = endings[e->ending == ENDED_BADLY && has_crashed(e) ? CRASHED : e->ending];
                a->tone = e->ending == AWAITED                        ? ANSWER_DIM
                          : e->ending == LOST || e->ending == STOPPED ? ANSWER_WARN
                                                                      : ANSWER_BAD;
                return;
        }
        if (e->early) {
                a->word = "rising";
                a->tone = early_runs_out(e->near) ? ANSWER_BAD : ANSWER_WARN;
                return;
        }
        a->word = e->steady_so_far ? STEADY_SO_FAR : verdicts[e->verdict];
        a->tone = tones[e->verdict];
}

/* Nothing can be done for it any more: it ended by itself, or it is a run before the present one, such as "api~1". */
static bool is_past(const struct evidence *e)
{
        const char *run_before = strrchr(e->t->name, '~');

        return e->live &&
               (e->ending == ENDED || (e->over && run_before && run_before[1] >= '1' && run_before[1] <= '9'));
}

/* For tables: the worst comes first, what is past last. */
static int kind_rank(const struct answers *a, const struct evidence *e)
{
        const bool died = ended_badly(e) && e->ending != LOST && e->ending != FAILED;

        if (is_past(e))
                return died ? 5 : (int)e->verdict;
        if (died)
                return 95;
        if (early_runs_out(e->near) || (e->grows && !e->over && a->has_limit && a->limit_ns < CRITICAL_NS))
                return 90;
        if (e->verdict == HW__VERDICT__VERDICT_LEAK)
                return e->over ? 66 : 70;
        if (a->answer[QUESTION_WRONG].tone == ANSWER_BAD)
                return 65;
        if (e->verdict == HW__VERDICT__VERDICT_GROWING)
                return e->over ? 56 : 60;
        if (e->early)
                return 50;
        if (a->answer[QUESTION_WRONG].tone == ANSWER_WARN)
                return 45;
        if (e->steady_so_far)
                return 15;
        return e->verdict == HW__VERDICT__VERDICT_UNKNOWN ? 20 : 10;
}

/* Of one kind, first what meets its limit sooner, then what grows faster. */
static double answer_urgency(const struct answers *a, const struct evidence *e)
{
        const double hour_ns = 3600e9, mib = 1 << 20;
        const double slope = a->has_slope && a->slope > 0 ? a->slope : 0;
        const double nearness = a->has_limit ? hour_ns / (hour_ns + (double)a->limit_ns) : 0;

        return kind_rank(a, e) + 0.9 * nearness + 0.09 * slope / (slope + mib);
}

char *answers_sync_text(char *out, size_t size, const struct world_target *t)
{
        const double sync_ns = facts_get(t, FACT_GC_SYNC);
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        const uint64_t span_ns = sub_sat(t->event_time_ns, run && run->has_first_time_ns ? run->first_time_ns : 0);
        char time[HW_NUMBER_MAX], share[HW_NUMBER_MAX];

        if (isnan(sync_ns))
                return text_join(out, size, "not known: only a log of the program tells", NULL);
        return text_join(out, size, hw_duration_text(time, sizeof(time), sync_ns), ", ",
                         hw_share_text(share, sizeof(share), span_ns > 0 ? sync_ns / (double)span_ns : 0),
                         " of the run", NULL);
}

/* ---------------------------------------------------------------- caveats */

static char *find_caveat(struct answers *a)
{
        return a->n_caveats < ANSWER_CAVEATS ? a->caveats[a->n_caveats++] : NULL;
}

static void find_damage(struct answers *a, const struct evidence *e)
{
        const Hw__Health *h = e->t->health;
        char *text, number[HW_NUMBER_MAX];

        if (h && h->has_lost_bytes && h->lost_bytes && (text = find_caveat(a))) {
                append_text(text, "Damaged: ");
                append_bytes(text, h->lost_bytes);
                append_text(text, " of its log skipped");
                if (h->has_resyncs && h->resyncs)
                        append_text(text, " in %s %s", hw_count_text(number, sizeof(number), h->resyncs),
                                    h->resyncs == 1 ? "place" : "places");
                append_text(text, ", numbers may be low");
                if (h->n_damages && h->damages[h->n_damages - 1]->reason)
                        append_text(text, " (%.120s)", h->damages[h->n_damages - 1]->reason);
        }
        if (h && h->unread && (text = find_caveat(a)))
                append_text(text, "Read in part: %.200s", h->unread);
        if (is_advised(e, HW_ADVICE_SEVERAL_PROCESSES) && (text = find_caveat(a)))
                append_text(text, "Of several processes: they wrote one log, and its numbers are of all together");
        if (h && h->has_lag_ns && h->lag_ns > LAG_NS && (text = find_caveat(a))) {
                append_text(text, "Late: its events arrive ");
                append_duration(text, h->lag_ns);
                append_text(text, " after they happened");
        }
}

static void find_left_out(struct answers *a, const Hw__Health *h)
{
        const bool some = h && h->has_bands_left_out && h->bands_left_out;
        char *text, number[HW_NUMBER_MAX];

        if (some && !h->memory_pressure && (text = find_caveat(a)))
                append_text(text, "%s bands are beyond what the daemon keeps and left out",
                            hw_count_text(number, sizeof(number), h->bands_left_out));
        if (!h || !h->memory_pressure || !(text = find_caveat(a)))
                return;
        append_text(text, "The daemon is short of memory: %.200s", h->memory_pressure);
        if (some)
                append_text(text, "; %s bands of this target are left out",
                            hw_count_text(number, sizeof(number), h->bands_left_out));
}

static void find_recording(struct answers *a, const Hw__Health *h)
{
        const Hw__Recording *r = h ? h->recording : NULL;
        char *text;

        if (!r || !r->paused || !(text = find_caveat(a)))
                return;
        append_text(text, "Its recording is paused: %.160s", r->detail ? r->detail : "the reason is not known");
}

static uint64_t step_in_use_or(const struct evidence *e, uint64_t otherwise)
{
        uint64_t step = step_in_use(e);

        return step ? step : otherwise;
}

/* What the profile costs the program, or that it gets less than one census in four steps from it. */
static void find_profile(struct answers *a, const struct evidence *e)
{
        const Hw__Run *run = e->t->target ? e->t->target->run_info : NULL;
        const Hw__Gc *gc = e->t->gc;
        char *text, number[HW_NUMBER_MAX];
        double share;

        if (gc && gc->has_gc_share_run && gc->gc_share_run > MUCH_GC && answers_census_share(e->t, &share) &&
            share > 0.5 && (text = find_caveat(a))) {
                append_text(text, "%s in collections", hw_share_text(number, sizeof(number), gc->gc_share_run));
                append_text(text, ", %s of it heap censuses at ", hw_share_text(number, sizeof(number), share));
                append_census_period(text, e->t);
        }
        if (!run || !run->has_census_period_ns || !run->census_period_ns || !e->t->census || e->over)
                return;
        uint64_t seen = e->t->event_time_ns - (run->has_first_time_ns ? run->first_time_ns : 0);
        if (seen > IDLE_NS && e->t->census->number < seen / run->census_period_ns / 4 &&
            e->t->census->number * 4 < seen / step_in_use_or(e, IDLE_NS) && (text = find_caveat(a))) {
                const char *plural = e->t->census->number == 1 ? "census" : "censuses";
                hw_count_text(number, sizeof(number), e->t->census->number);
                append_text(text, "Idle: %s %s in ", number, plural);
                append_duration(text, seen);
                append_text(text, ": the clock of -i%.3g stops while it waits", (double)run->census_period_ns / 1e9);
        }
}

/* Its log was opened when it had run for long; or in the middle, where not even the header is known. */
static void find_late(struct answers *a, const Hw__Target *target)
{
        const Hw__Run *run = target ? target->run_info : NULL;
        const bool inside = run && target->has_joined_late && target->joined_late;
        const uint64_t missed_ns = run && run->has_first_time_ns ? run->first_time_ns : 0;
        char *text;

        if ((!inside && missed_ns <= JOINED_LATE_NS) || !(text = find_caveat(a)))
                return;
        append_text(text, "Joined late: nothing is known of its first ");
        append_duration(text, missed_ns);
        if (inside)
                append_text(text,
                            ", nor what program it is; what it named before (cost centres, info tables, threads) is "
                            "shown by number");
}

static void find_caveats(struct answers *a, const struct evidence *e)
{
        char *text;

        find_damage(a, e);
        find_left_out(a, e->t->health);
        find_recording(a, e->t->health);
        find_profile(a, e);
        if (e->ending == AWAITED && e->t->run && (text = find_caveat(a)))
                append_text(text, "Nothing comes from it now: %s", e->detail);
        find_late(a, e->t->target);
        if (e->t->census && e->t->census->has_unfinished && e->t->census->unfinished && (text = find_caveat(a)))
                append_text(text, "Its newest census is cut: its bands are counted short");
}

/* ------------------------------------------------------------------- whole */

/*
 * An onset is accurate to a few steps: a marker just after it may still be the cause; a message is then a
 * coincidence.
 */
static bool may_be_cause(const Hw__Note *note, uint64_t onset_ns)
{
        return (note->has_what && note->what == HW__NOTE__WHAT__WHAT_MARKER) || note->time_ns <= onset_ns;
}

static void find_numbers(struct answers *a, const struct evidence *e)
{
        const Hw__EarlyWarning *rise = e->rise ? e->rise : e->early;
        const Hw__Note *note = note_near(e);

        a->verdict = e->verdict;
        a->has_live_age = !e->over && live_is_old(e->t, &a->live_age_ns);
        if (e->trend && e->verdict && e->trend->has_slope) {
                a->has_slope = true;
                a->slope = e->trend->slope;
        }
        a->ended_rising = e->rise;
        if (rise && rise->has_rate) {
                a->has_slope = true;
                a->slope = rise->rate;
        }
        if (rise && rise->has_onset_from_ns && rise->has_onset_to_ns) {
                a->has_onset = true;
                a->onset_is_latest = onset_is_latest(rise);
                a->onset_ns = onset_moment(rise);
        }
        if (e->grows && e->trend->has_onset_ns) {
                a->has_onset = true;
                a->onset_is_latest = false;
                a->onset_ns = e->trend->onset_ns;
        }
        if (e->near) {
                a->has_limit = early_limit_ns(e->near, &a->limit_ns);
                if (early_meets_now(e->near))
                        a->limit_ns = 0;
        } else if (e->grows && !e->over && e->limit && e->limit->has_mid_ns) {
                a->has_limit = true;
                a->limit_ns = e->limit->mid_ns;
        }
        if (note && may_be_cause(note, e->rise ? onset_middle(e->rise) : e->trend->onset_ns))
                (void)hw_utf8_clean(a->note, sizeof(a->note), note->text, strlen(note->text));
        if (e->foreign || early_is_foreign(rise)) {
                (void)snprintf(a->culprit_text, sizeof(a->culprit_text), "foreign");
        } else if (e->threads) {
                (void)snprintf(a->culprit_text, sizeof(a->culprit_text), "threads");
        } else if (e->growing && e->growing->label) {
                a->culprit = e->growing->band;
                (void)growing_said(a->culprit_text, sizeof(a->culprit_text), e);
        }
}

static void fill_brief(struct answers *ret, const struct evidence *e)
{
        *ret = (struct answers){ 0 };
        answer_wrong(&ret->answer[QUESTION_WRONG], e);
        one_word(ret, e);
        find_numbers(ret, e);
        ret->rank = answer_urgency(ret, e);
}

void answers_brief(struct answers *ret, const struct world_target *t, bool live)
{
        struct evidence e;

        evidence_of(&e, t, live);
        fill_brief(ret, &e);
}

void answers_of(struct answers *ret, const struct world_target *t, bool live)
{
        static void (*const fill[QUESTIONS])(struct target_answer *, const struct evidence *) = {
                [QUESTION_SINCE] = answer_since, [QUESTION_GROWS] = answer_grows, [QUESTION_WHERE] = answer_where,
                [QUESTION_WHY] = answer_why,     [QUESTION_UNTIL] = answer_until, [QUESTION_NEXT] = answer_next,
        };
        struct evidence e;

        evidence_of(&e, t, live);
        fill_brief(ret, &e);
        for (int q = 0; q < QUESTIONS; q++)
                if (fill[q])
                        fill[q](&ret->answer[q], &e);
        find_caveats(ret, &e);
}

char *answer_moment(char out[ANSWER_MOMENT], const struct world_target *t, uint64_t time_ns)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        char wall[HW_NUMBER_MAX], into[HW_NUMBER_MAX];

        (void)hw_duration_text(into, sizeof(into), (double)time_ns);
        if (run && run->has_start_wall_ns && time_ns <= UINT64_MAX - run->start_wall_ns)
                (void)snprintf(out, ANSWER_MOMENT, "%s (%s into the run)",
                               hw_time_text(wall, sizeof(wall), run->start_wall_ns + time_ns), into);
        else
                (void)snprintf(out, ANSWER_MOMENT, "%s into the run", into);
        return out;
}

char *answer_whole(char *out, size_t size, const struct target_answer *a, const char *time)
{
        (void)snprintf(out, size, "%s%s%s", a->text, a->has_time ? time : "", a->after);
        return out;
}

bool answers_grow(const struct answers *a)
{
        return a->has_slope && (a->verdict >= HW__VERDICT__VERDICT_GROWING || (a->has_onset && !a->ended_rising));
}

char *answers_headline(char *out, size_t size, const struct answers *a, const char *onset)
{
        char number[HW_NUMBER_MAX];
        int n = snprintf(out, size, "%s", a->word);

#define MORE(...) (n += (size_t)n < size ? snprintf(out + n, size - (size_t)n, __VA_ARGS__) : 0)
        if (a->verdict >= HW__VERDICT__VERDICT_GROWING && strcmp(a->word, verdicts[a->verdict]) != 0)
                MORE(", was %s", a->verdict == HW__VERDICT__VERDICT_LEAK ? "a leak" : "growing");
        if (answers_grow(a))
                MORE(": %s%s", a->slope >= 0 ? "+" : "", hw_rate_text(number, sizeof(number), a->slope));
        if (a->has_onset)
                MORE(" since %s%s", a->onset_is_latest ? "before " : "", onset);
        if (a->has_onset && a->note[0])
                MORE(" (%.40s)", a->note);
        if (a->culprit_text[0] && answers_grow(a))
                MORE(", %s", a->culprit_text);
        if (a->has_limit && a->limit_ns == 0)
                MORE(", at its limit");
        else if (a->has_limit)
                MORE(", limit in %s", hw_duration_text(number, sizeof(number), (double)a->limit_ns));
#undef MORE
        return out;
}
