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
#include "proto/base/number_text.h"

#define CRITICAL_NS (UINT64_C(20) * 60 * 1000000000) /* a limit this near is critical */

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
        if (e->early || e->rise) {
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

        if (isnan(sync_ns))
                return text_join(out, size, "not known: only a log of the program tells", NULL);
        return text_join(out, size, DURATION_TEXT(sync_ns), ", ",
                         SHARE_TEXT(span_ns > 0 ? sync_ns / (double)span_ns : 0), " of the run", NULL);
}

const char *answers_no_scheduler(const struct world_target *t)
{
        char none[1];
        struct evidence e;

        evidence_of(&e, t, true);
        struct phrase s = phrase_of(none, sizeof(none), &e);
        return sentences_no_scheduler(&s)->text;
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
        } else if (threads_are_culprit(e)) {
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
        char into[HW_NUMBER_MAX];

        (void)hw_duration_text(into, sizeof(into), (double)time_ns);
        if (run && run->has_start_wall_ns && time_ns <= UINT64_MAX - run->start_wall_ns)
                (void)snprintf(out, ANSWER_MOMENT, "%s (%s into the run)", TIME_TEXT(run->start_wall_ns + time_ns),
                               into);
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

/* Now, or when it ended. */
static bool has_growth(const struct answers *a)
{
        return answers_grow(a) || a->ended_rising;
}

char *answers_growth(char *out, size_t size, const struct answers *a, const char *onset)
{
        const bool grows = has_growth(a);
        char number[HW_NUMBER_MAX];
        int n = snprintf(out, size, "%s", "");

#define MORE(...) (n += (size_t)n < size ? snprintf(out + n, size - (size_t)n, __VA_ARGS__) : 0)
        if (grows)
                MORE("%s%s", a->slope >= 0 ? "+" : "", hw_rate_text(number, sizeof(number), a->slope));
        if (a->has_onset)
                MORE(" since %s%s", a->onset_is_latest ? "before " : "", onset);
        if (a->has_onset && a->note[0])
                MORE(" (%.40s)", a->note);
        if (a->culprit_text[0] && grows)
                MORE(", %s", a->culprit_text);
        if (a->has_limit && a->limit_ns == 0)
                MORE(", at its limit");
        else if (a->has_limit)
                MORE(", limit in %s", hw_duration_text(number, sizeof(number), (double)a->limit_ns));
#undef MORE
        return out;
}

char *answers_headline(char *out, size_t size, const struct answers *a, const char *onset)
{
        const char *was = "";

        if (a->verdict >= HW__VERDICT__VERDICT_GROWING && strcmp(a->word, verdicts[a->verdict]) != 0)
                was = a->verdict == HW__VERDICT__VERDICT_LEAK ? ", was a leak" : ", was growing";
        else if (a->ended_rising && strcmp(a->word, "rising") != 0)
                was = ", was rising";
        const int n = snprintf(out, size, "%s%s%s", a->word, was, has_growth(a) ? ": " : "");
        if ((size_t)n < size)
                (void)answers_growth(out + n, size - (size_t)n, a, onset);
        return out;
}
