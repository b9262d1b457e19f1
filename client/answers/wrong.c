/* SPDX-License-Identifier: BSD-3-Clause */
/* wrong.c - is anything wrong, and what: how it ended first, then the verdict, then what else fires. */
#include "client/answers/evidence.h"

#include <string.h>

#include "client/answers/census.h"
#include "proto/base/ckd.h"

#define BELOW_HIGHEST 0.9 /* of the most live data: less is said to be below it */

/* "killed by signal 9 (SIGKILL)" as a sentence. */
static void append_ending(struct target_answer *a, const struct evidence *e)
{
        switch (e->ending) {
        case KILLED:
                append_text(a->text, "It was %s", e->detail);
                break;
        case ENDED_BADLY:
                append_text(a->text, "It %s", e->detail);
                break;
        case CRASHED:
                append_text(a->text, "It crashed: %s", e->detail);
                break;
        case LOST:
                append_text(a->text, "The connection is lost: %s", e->detail);
                break;
        case FAILED:
                append_text(a->text, "Its log cannot be read: %s", e->detail);
                break;
        default:
                break;
        }
        static const char *const keys[] = { [KILLED] = "killed",
                                            [ENDED_BADLY] = "failed",
                                            [CRASHED] = "crashed",
                                            [LOST] = "lost",
                                            [FAILED] = "cannot-be-read" };

        a->key = keys[e->ending];
        a->tone = e->ending == LOST ? ANSWER_WARN : ANSWER_BAD;
}

/* "live data grows by ..." */
static void append_growth(struct target_answer *a, const struct evidence *e)
{
        const Hw__Trend *t = e->trend;
        bool leak = e->verdict == HW__VERDICT__VERDICT_LEAK;

        append_text(a->text, "%s %s", series_words(e->series), e->over ? "grew" : "grows");
        if (t->has_slope) {
                append_text(a->text, " by ");
                append_rate(a->text, t->slope, t->has_slope_low && t->has_slope_high, t->slope_low, t->slope_high);
        }
        if (leak)
                append_text(a->text, " and %s not slow down", e->over ? "did" : "does");
        else if (t->evidence && t->evidence->missing)
                append_text(a->text, "; not called a leak: %.200s", t->evidence->missing);
}

static void append_provisional(struct target_answer *a, const Hw__Trend *t)
{
        append_rate(a->text, t->provisional_slope, t->has_provisional_low && t->has_provisional_high,
                    t->provisional_low, t->provisional_high);
        if (t->has_provisional_span_ns) {
                append_text(a->text, " over ");
                append_duration(a->text, t->provisional_span_ns);
        }
}

/* "; slow growth is judged in 18m 00s"; of what rises then and may not last "; that is settled in 4m 00s to 30m 00s" */
static void append_judged_in(struct target_answer *a, const struct evidence *e)
{
        if (!e->trend->has_verdict_in_ns)
                return;
        append_text(a->text, e->trend->has_verdict_by_ns ? "; that is settled in " : "; slow growth is judged in ");
        append_verdict_in(a->text, e->trend);
}

/* Live data has been higher: what it does below that is no rise. */
static bool is_below_its_highest(const struct evidence *e)
{
        const Hw__Heap *h = e->t->heap;

        return e->series == HW__SERIES__SERIES_LIVE && h && h->has_live_bytes && h->has_max_live_bytes &&
               (double)h->live_bytes < BELOW_HIGHEST * (double)h->max_live_bytes;
}

/* It runs, and a clear rise would have shown: none has. */
static void append_steady_so_far(struct target_answer *a, const struct evidence *e)
{
        const struct world_target *t = e->t;

        if (e->trend->verdict) {
                append_text(a->text, "No lasting growth of %s so far; whether %s", series_words(e->series),
                            e->series == HW__SERIES__SERIES_LIVE
                                    ? "other memory grows shows later"
                                    : "live data grows shows after a few major collections");
                return;
        }
        append_text(a->text, "No clear rise of %s ", series_words(e->series));
        if (is_below_its_highest(e)) {
                append_text(a->text, "above ");
                append_bytes(a->text, t->heap->max_live_bytes);
                append_text(a->text, " ");
        }
        append_text(a->text, "so far");
        if (e->series == HW__SERIES__SERIES_LIVE && t->heap && t->heap->has_live_bytes) {
                append_text(a->text, " (");
                append_bytes(a->text, t->heap->live_bytes);
                append_text(a->text, ")");
        }
        append_judged_in(a, e);
}

/* It runs, and its few steps rise, not so clearly that it could be called a rise. */
static void append_may_grow(struct target_answer *a, const struct evidence *e)
{
        const Hw__Trend *t = e->trend;
        char said[CONTENTS_TEXT];

        a->tone = ANSWER_WARN;
        if (t->verdict) {
                append_text(a->text, "Not known yet: no lasting growth of live data so far, but %.80s grows by ",
                            growing_said(said, sizeof(said), e));
                append_rate(a->text, e->growing->slope, false, 0, 0);
                return;
        }
        append_text(a->text, "Not known yet: %s may grow, by ", series_words(e->series));
        append_provisional(a, t);
        append_judged_in(a, e);
}

/* Live data is far above what most collections showed: a step, a peak, or the beginning of a rise. */
static void append_climbs(struct target_answer *a, const struct evidence *e)
{
        const struct world_target *t = e->t;
        const Hw__Trend *live = t->trends[HW__SERIES__SERIES_LIVE];
        const Hw__WindowStatistics *run = live->windows[live->n_windows - 1];
        const uint64_t newest_ns =
                t->heap->has_live_time_ns ? t->heap->live_time_ns : UINT64_MAX; /* the integral ends there */
        const uint64_t span_ns = sub_sat(run->to_ns < newest_ns ? run->to_ns : newest_ns, run->from_ns);
        /* statistics come once a minute: those of a young run may be of its first moment */
        const bool is_of_now = !t->heap->has_live_time_ns || sub_sat(newest_ns, run->to_ns) < span_ns / 4;

        a->tone = ANSWER_WARN;
        append_text(a->text, "Not known yet: live data is at its highest, ");
        append_bytes(a->text, t->heap->live_bytes);
        if (run->has_integral && span_ns > 0 &&
            is_of_now) { /* over time: collections are most frequent while little is live */
                append_text(a->text, ", and ");
                append_bytes(a->text, u64_sat(run->integral / ((double)span_ns / 1e9)));
                append_text(a->text, " on average");
        }
        append_text(a->text, "; whether it rises shows after a few more major collections");
}

/* Too little was seen of a running program, and what is missing. */
static void append_too_little(struct target_answer *a, const struct evidence *e)
{
        append_text(a->text, "Not known yet");
        if (e->process_only)
                append_text(a->text, ": its process alone is watched, and its resident memory has too few samples");
        else if (keeps_events(e))
                append_text(a->text, ": the program keeps its events in its buffer");
        else if (!e->trend)
                append_text(a->text, ": no major collection has shown yet what is live");
        else if (e->samples && e->series == HW__SERIES__SERIES_LIVE)
                append_text(a->text, ": a rise shows after %u measurements of live data, and there %s %u so far",
                            RISE_SAMPLES, e->samples == 1 ? "was" : "were", (unsigned)e->samples);
        else
                append_text(a->text, ": too few major collections");
}

/* It was watched late, or a stretch of it was chosen. */
static bool is_part(const struct world_target *t)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;

        return run && run->has_first_time_ns && run->first_time_ns > JOINED_LATE_NS;
}

/* A run that is over, without a verdict. */
static void append_not_known(struct target_answer *a, const struct evidence *e)
{
        const Hw__Trend *t = e->trend;
        char said[CONTENTS_TEXT];

        append_text(a->text, "Not known");
        if (e->process_only) {
                append_text(a->text, ": its process alone was watched, and its resident memory has too few steps");
        } else if (!t) {
                append_text(a->text, ": no collection has shown what is live");
        } else if (t->verdict == HW__VERDICT__VERDICT_UNKNOWN) {
                if (t->has_verdict_in_ns)
                        append_text(a->text, ": the %s was too short for a verdict at this step",
                                    is_part(e->t) ? "part of the run that was seen" : "run");
                else
                        append_text(a->text, ": too few steps of the run have a major collection");
        } else if (t->verdict == HW__VERDICT__VERDICT_STEADY && e->growing && e->growing->has_slope) {
                a->tone = ANSWER_WARN;
                append_text(a->text, ": no lasting growth of live data, but %.80s grew by ",
                            growing_said(said, sizeof(said), e));
                append_rate(a->text, e->growing->slope, false, 0, 0);
        } else if (t->verdict == HW__VERDICT__VERDICT_STEADY) {
                append_text(a->text, ": no lasting growth of live data, and whether other memory grew has not shown");
        }
        if (!t || !t->has_provisional_slope)
                return;
        append_text(a->text, "; provisional growth ");
        append_provisional(a, t);
}

/* It was steady, and has risen in the newest minutes: later ones will show whether that is growth. */
static bool in_doubt(const struct evidence *e)
{
        return !e->over && e->trend && e->trend->verdict == HW__VERDICT__VERDICT_STEADY &&
               e->trend->has_provisional_slope && e->trend->provisional_slope > 0;
}

static void append_doubt(struct target_answer *a, const struct evidence *e)
{
        const Hw__Trend *t = e->trend;

        append_text(a->text, "No lasting growth so far, but %s rises by ", series_words(e->series));
        append_provisional(a, t);
        if (!t->has_verdict_in_ns)
                return;
        append_text(a->text, "; called growing in ");
        append_duration(a->text, t->verdict_in_ns);
        append_text(a->text, " if it goes on");
}

/* Provisional: within seconds, where a verdict takes minutes. */
static void append_early(struct target_answer *a, const struct evidence *e)
{
        a->tone = early_runs_out(e->early) ? ANSWER_BAD : ANSWER_WARN;
        append_text(a->text, "%s: %.400s", early_rises(e->early) ? "Rising" : "Near its limit",
                    e->early->sentence ? e->early->sentence : "");
}

#define CONDITION(function, expression)                                                                                \
        static bool function(const struct evidence *e)                                                                 \
        {                                                                                                              \
                return (expression);                                                                                   \
        }

CONDITION(is_near_limit, e->early && !early_rises(e->early))
CONDITION(is_rising, e->early)
CONDITION(is_leak, e->verdict == HW__VERDICT__VERDICT_LEAK)
CONDITION(is_growing, e->verdict == HW__VERDICT__VERDICT_GROWING)
CONDITION(is_steady_in_doubt, e->verdict == HW__VERDICT__VERDICT_STEADY && in_doubt(e))
CONDITION(is_steady_process, e->verdict == HW__VERDICT__VERDICT_STEADY && e->process_only)
CONDITION(is_steady, e->verdict == HW__VERDICT__VERDICT_STEADY)
CONDITION(is_steady_so_far, e->steady_so_far)
CONDITION(is_at_its_highest, e->climbs)
CONDITION(is_growing_perhaps, e->may_grow)
CONDITION(is_over, e->over)
CONDITION(is_young, !e->over)

static void append_leak(struct target_answer *a, const struct evidence *e)
{
        append_text(a->text, "A leak: ");
        append_growth(a, e);
}

static void append_growing(struct target_answer *a, const struct evidence *e)
{
        append_text(a->text, e->over ? "It grew: " : "It grows: ");
        append_growth(a, e);
}

static void append_steady_process(struct target_answer *a, const struct evidence *e)
{
        append_text(a->text, e->over ? "Resident memory showed no lasting growth; of the heap nothing is known"
                                     : "Resident memory shows no lasting growth; of the heap nothing is known");
}

static void append_steady(struct target_answer *a, const struct evidence *e)
{
        append_text(a->text, e->over ? "No: memory showed no lasting growth" : "No: memory shows no lasting growth");
}

/* The first row whose condition holds. */
static const struct {
        const char *key;
        bool (*when)(const struct evidence *e);
        void (*append)(struct target_answer *a, const struct evidence *e);
        enum answer_tone tone;
} statements[] = {
        { "near-limit", is_near_limit, append_early, ANSWER_BAD },
        { "rising", is_rising, append_early, ANSWER_WARN },
        { "leak", is_leak, append_leak, ANSWER_BAD },
        { "growing", is_growing, append_growing, ANSWER_WARN },
        { "steady-but-rises", is_steady_in_doubt, append_doubt, ANSWER_DIM },
        { "resident-steady", is_steady_process, append_steady_process, ANSWER_DIM },
        { "steady", is_steady, append_steady, ANSWER_GOOD },
        { "steady-so-far", is_steady_so_far, append_steady_so_far, ANSWER_DIM },
        { "at-its-highest", is_at_its_highest, append_climbs, ANSWER_WARN },
        { "may-grow", is_growing_perhaps, append_may_grow, ANSWER_WARN },
        { "not-known", is_over, append_not_known, ANSWER_DIM },
        { "not-known-yet", is_young, append_too_little, ANSWER_DIM },
};

static void append_verdict(struct target_answer *a, const struct evidence *e)
{
        size_t i = 0;

        while (!statements[i].when(e))
                i++;
        a->key = statements[i].key;
        a->tone = statements[i].tone;
        statements[i].append(a, e);
}

static const char *summary_of(const Hw__Alert *alert)
{
        for (size_t i = 0; i < alert->n_annotations; i++)
                if (alert->annotations[i]->name && !strcmp(alert->annotations[i]->name, "summary"))
                        return alert->annotations[i]->value;
        return alert->sentence;
}

static void append_alerts(struct target_answer *a, const struct evidence *e)
{
        const char *summary = e->alert ? summary_of(e->alert) : NULL;
        enum answer_tone tone;

        if (e->gravest == SEVERITY_CRITICAL)
                a->tone = ANSWER_BAD; /* also when it says what the verdict does */
        if (!e->alert)
                return;
        tone = alert_severity(e->alert) == SEVERITY_CRITICAL  ? ANSWER_BAD
               : alert_severity(e->alert) == SEVERITY_WARNING ? ANSWER_WARN
                                                              : a->tone;
        if (a->tone < tone)
                a->tone = tone;
        if (a->tone == ANSWER_GOOD || !strncmp(a->text, "No: ", 4))
                *a = (struct target_answer){ .tone = tone > ANSWER_GOOD ? tone : ANSWER_GOOD, .key = "alert" };
        append_text(a->text, "%s%s", a->text[0] ? "; also: " : "", e->alert->rule ? e->alert->rule : "an alert");
        if (summary)
                append_text(a->text, ": %.240s", summary);
        if (e->n_alerts > 1)
                append_text(a->text, "; %zu more %s", e->n_alerts - 1,
                            e->n_alerts == 2 ? "alert fires" : "alerts fire");
}

void answer_wrong(struct target_answer *a, const struct evidence *e)
{
        if (e->ending >= ENDED_BADLY && e->ending <= FAILED) {
                append_ending(a, e);
                if (e->grows) {
                        append_text(a->text, e->verdict == HW__VERDICT__VERDICT_LEAK ? ". Before that, a leak: "
                                                                                     : ". Before that ");
                        append_growth(a, e);
                } else if (e->rise && e->rise->sentence) {
                        append_text(a->text, ". Before that, too short for a verdict: %.300s", e->rise->sentence);
                }
        } else if (e->ending == AWAITED && !e->t->run) {
                a->key = "nothing-yet";
                append_text(a->text, "Nothing to see yet: %s", e->detail[0] ? e->detail : "waiting for its log");
        } else if (e->ending == STOPPED) {
                a->key = "stopped";
                a->tone = ANSWER_WARN;
                append_text(a->text, "It is %s; nothing is judged until it goes on", e->detail);
        } else if (e->rise && e->rise->sentence) {
                a->key = "stopped-rising";
                a->tone = ANSWER_WARN;
                append_text(a->text, "It %s in a rise that was too short for a verdict: %.300s",
                            e->ending == ENDED_SOMEHOW ? "ended" : "was stopped", e->rise->sentence);
        } else {
                append_verdict(a, e);
        }
        append_alerts(a, e);
        if (e->ending == ENDED_SOMEHOW)
                append_text(a->text, ". Its log was not completed: %s", e->detail);
}
