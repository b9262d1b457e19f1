/* SPDX-License-Identifier: BSD-3-Clause */
/* wrong.c - is anything wrong, and what: how it ended first, then the verdict, then what else fires. */
#include "client/answers/evidence.h"

#include <string.h>

#include "client/answers/census.h"
#include "heapwatch/text.h"
#include "proto/base/ckd.h"
#include "proto/base/phrase.h"

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

/* Live data has been higher: what it does below that is no rise. */
static bool is_below_its_highest(const struct evidence *e)
{
        const Hw__Heap *h = e->t->heap;

        return e->series == HW__SERIES__SERIES_LIVE && h && h->has_live_bytes && h->has_max_live_bytes &&
               (double)h->live_bytes < BELOW_HIGHEST * (double)h->max_live_bytes;
}

/* It was watched late, or a stretch of it was chosen. */
static bool is_part(const struct world_target *t)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;

        return run && run->has_first_time_ns && run->first_time_ns > JOINED_LATE_NS;
}

/* It was steady, and has risen in the newest minutes: later ones will show whether that is growth. */
static bool in_doubt(const struct evidence *e)
{
        return !e->over && e->verdict == HW__VERDICT__VERDICT_STEADY && e->trend &&
               e->trend->verdict == HW__VERDICT__VERDICT_STEADY && e->trend->has_provisional_slope &&
               e->trend->provisional_slope > 0;
}

static bool append_rate_of(struct phrase *s, double rate, bool has_interval, double low, double high)
{
        return has_interval ? phrase_append_rate_within(s, rate, low, high) : phrase_append_rate(s, rate);
}

/* Over time: collections are most frequent while little is live. False: not known, or of the first moment. */
static bool append_average(struct phrase *s, const struct evidence *e)
{
        const Hw__Trend *live = e->t->trends[HW__SERIES__SERIES_LIVE];
        const Hw__WindowStatistics *run = live->windows[live->n_windows - 1];
        const bool has_time = e->t->heap->has_live_time_ns;
        const uint64_t newest_ns = has_time ? e->t->heap->live_time_ns : UINT64_MAX; /* the integral ends there */
        const uint64_t span_ns = sub_sat(run->to_ns < newest_ns ? run->to_ns : newest_ns, run->from_ns);
        /* statistics come once a minute: those of a young run may be of its first moment */
        const bool is_of_now = !has_time || sub_sat(newest_ns, run->to_ns) < span_ns / 4;

        return run->has_integral && span_ns > 0 && is_of_now &&
               phrase_append_bytes(s, (double)u64_sat(run->integral / ((double)span_ns / 1e9)));
}

static bool append_growing(struct phrase *s, const struct evidence *e)
{
        char said[CONTENTS_TEXT], clean[CONTENTS_TEXT];

        growing_said(said, sizeof(said), e);
        (void)hw_utf8_clean(clean, sizeof(clean), said, strlen(said));
        return phrase_printf(s, "%.80s", clean);
}

#define WHEN(function, expression) PHRASE_WHEN(function, struct evidence, e, expression)
#define SLOT(function, expression) PHRASE_SLOT(function, struct evidence, e, expression)

WHEN(runs_out, e->early && !early_rises(e->early) && early_runs_out(e->early))
WHEN(is_near_limit, e->early && !early_rises(e->early))
WHEN(rises_and_runs_out, e->early &&early_runs_out(e->early))
WHEN(is_rising, e->early)
WHEN(is_leak, e->verdict == HW__VERDICT__VERDICT_LEAK)
WHEN(is_growing, e->verdict == HW__VERDICT__VERDICT_GROWING)
WHEN(is_steady_in_doubt, in_doubt(e))
WHEN(is_steady_process, e->verdict == HW__VERDICT__VERDICT_STEADY && e->process_only)
WHEN(is_steady, e->verdict == HW__VERDICT__VERDICT_STEADY)
WHEN(live_is_steady_so_far, e->steady_so_far && e->trend->verdict && e->series == HW__SERIES__SERIES_LIVE)
WHEN(is_judged_so_far, e->steady_so_far && e->trend->verdict)
WHEN(is_steady_so_far, e->steady_so_far)
WHEN(is_at_its_highest, e->climbs)
WHEN(band_grows_perhaps, e->may_grow && e->trend->verdict)
WHEN(is_growing_perhaps, e->may_grow)
WHEN(process_not_known, e->over && e->process_only)
WHEN(live_not_known, e->over && !e->trend)
WHEN(too_short, e->over && !e->trend->verdict && e->trend->has_verdict_in_ns)
WHEN(too_few_steps, e->over && !e->trend->verdict)
WHEN(band_grew_perhaps,
     e->over && e->trend->verdict == HW__VERDICT__VERDICT_STEADY && e->growing && e->growing->has_slope)
WHEN(other_memory_not_known, e->over && e->trend->verdict == HW__VERDICT__VERDICT_STEADY)
WHEN(is_over, e->over)
WHEN(process_has_few_samples, e->process_only)
WHEN(events_are_kept, keeps_events(e))
WHEN(live_not_known_yet, !e->trend)
WHEN(has_few_samples, e->samples && e->series == HW__SERIES__SERIES_LIVE)
SLOT(put_early, phrase_printf(s, "%.400s", e->early->sentence ? e->early->sentence : ""))
SLOT(put_series, phrase_printf(s, "%s", series_words(e->series)))
SLOT(put_slope,
     e->trend->has_slope &&append_rate_of(s, e->trend->slope, e->trend->has_slope_low && e->trend->has_slope_high,
                                          e->trend->slope_low, e->trend->slope_high))
SLOT(put_missing,
     e->trend->evidence && e->trend->evidence->missing && phrase_printf(s, "%.200s", e->trend->evidence->missing))
SLOT(put_provisional, e->trend && e->trend->has_provisional_slope &&
                              append_rate_of(s, e->trend->provisional_slope,
                                             e->trend->has_provisional_low && e->trend->has_provisional_high,
                                             e->trend->provisional_low, e->trend->provisional_high))
SLOT(put_provisional_span,
     e->trend->has_provisional_span_ns &&phrase_append_duration(s, (double)e->trend->provisional_span_ns))
SLOT(put_verdict_in, e->trend->has_verdict_in_ns &&phrase_append_duration(s, (double)e->trend->verdict_in_ns))
SLOT(put_verdict_by, e->trend->has_verdict_by_ns &&phrase_append_duration(s, (double)e->trend->verdict_by_ns))
SLOT(if_slow, ((void)s, !e->trend->has_verdict_by_ns))
SLOT(put_highest, is_below_its_highest(e) && phrase_append_bytes(s, (double)e->t->heap->max_live_bytes))
SLOT(put_live, e->series == HW__SERIES__SERIES_LIVE && e->t->heap && e->t->heap->has_live_bytes &&
                       phrase_append_bytes(s, (double)e->t->heap->live_bytes))
SLOT(put_average, append_average(s, e))
SLOT(put_growing, append_growing(s, e))
SLOT(put_growing_rate, phrase_append_rate(s, e->growing->slope))
SLOT(put_least_samples, ((void)e, phrase_printf(s, "%u", RISE_SAMPLES)))
SLOT(put_samples, phrase_printf(s, "%s %u", e->samples == 1 ? "was" : "were", (unsigned)e->samples))
SLOT(put_run, phrase_printf(s, "%s", is_part(e->t) ? "part of the run that was seen" : "run"))
SLOT(put_rise, phrase_printf(s, "%.300s", e->rise->sentence))

static const struct phrase_slot slots[] = {
        { "early", put_early },
        { "series", put_series },
        { "slope", put_slope },
        { "missing", put_missing },
        { "provisional", put_provisional },
        { "provisional_span", put_provisional_span },
        { "verdict_in", put_verdict_in },
        { "verdict_by", put_verdict_by },
        { "if_slow", if_slow },
        { "highest", put_highest },
        { "live", put_live },
        { "average", put_average },
        { "growing", put_growing },
        { "growing_rate", put_growing_rate },
        { "least_samples", put_least_samples },
        { "samples", put_samples },
        { "run", put_run },
        { "rise", put_rise },
        { NULL, NULL },
};

#define LEAKS       "{series} {grows|grew}[ by {slope}] and {does|did} not slow down"
#define GROWS       "{series} {grows|grew}[ by {slope}][; not called a leak: {missing}]"
#define PROVISIONAL "{provisional}[ over {provisional_span}]"
#define JUDGED_IN                                                                                                      \
        "[; that is settled in {verdict_in} to {verdict_by}][{if_slow}; slow growth is judged in {verdict_in}]"
#define NOT_KNOWN "[; provisional growth " PROVISIONAL "]"

/* Of what did not end badly. */
static const struct phrase_row statements[] = {
        { "near-limit", runs_out, "Near its limit: {early}", ANSWER_BAD },
        { "near-limit", is_near_limit, "Near its limit: {early}", ANSWER_WARN },
        { "rising", rises_and_runs_out, "Rising: {early}", ANSWER_BAD },
        { "rising", is_rising, "Rising: {early}", ANSWER_WARN },
        { "leak", is_leak, "A leak: " LEAKS, ANSWER_BAD },
        { "growing", is_growing, "It {grows|grew}: " GROWS, ANSWER_WARN },
        { "steady-but-rises", is_steady_in_doubt,
          "No lasting growth so far, but {series} rises by " PROVISIONAL
          "[; called growing in {verdict_in} if it goes on]",
          ANSWER_DIM },
        { "resident-steady", is_steady_process,
          "Resident memory {shows|showed} no lasting growth; of the heap nothing is known", ANSWER_DIM },
        { "steady", is_steady, "No: memory {shows|showed} no lasting growth", ANSWER_GOOD },
        { "steady-so-far", live_is_steady_so_far,
          "No lasting growth of {series} so far; whether other memory grows shows later", ANSWER_DIM },
        { "steady-so-far", is_judged_so_far,
          "No lasting growth of {series} so far; whether live data grows shows after a few major collections",
          ANSWER_DIM },
        { "steady-so-far", is_steady_so_far, "No clear rise of {series} [above {highest} ]so far[ ({live})]" JUDGED_IN,
          ANSWER_DIM },
        { "at-its-highest", is_at_its_highest,
          "Not known yet: live data is at its highest, {live}[, and {average} on average]; whether it rises shows "
          "after "
          "a few more major collections",
          ANSWER_WARN },
        { "may-grow", band_grows_perhaps,
          "Not known yet: no lasting growth of live data so far, but {growing} grows by {growing_rate}", ANSWER_WARN },
        { "may-grow", is_growing_perhaps, "Not known yet: {series} may grow, by " PROVISIONAL JUDGED_IN, ANSWER_WARN },
        { "not-known", process_not_known,
          "Not known: its process alone was watched, and its resident memory has too few steps" NOT_KNOWN, ANSWER_DIM },
        { "not-known", live_not_known, "Not known: no collection has shown what is live", ANSWER_DIM },
        { "not-known", too_short, "Not known: the {run} was too short for a verdict at this step" NOT_KNOWN,
          ANSWER_DIM },
        { "not-known", too_few_steps, "Not known: too few steps of the run have a major collection" NOT_KNOWN,
          ANSWER_DIM },
        { "not-known", band_grew_perhaps,
          "Not known: no lasting growth of live data, but {growing} grew by {growing_rate}" NOT_KNOWN, ANSWER_WARN },
        { "not-known", other_memory_not_known,
          "Not known: no lasting growth of live data, and whether other memory grew has not shown" NOT_KNOWN,
          ANSWER_DIM },
        { "not-known", is_over, "Not known" NOT_KNOWN, ANSWER_DIM },
        { "not-known-yet", process_has_few_samples,
          "Not known yet: its process alone is watched, and its resident memory has too few samples", ANSWER_DIM },
        { "not-known-yet", events_are_kept, "Not known yet: the program keeps its events in its buffer", ANSWER_DIM },
        { "not-known-yet", live_not_known_yet, "Not known yet: no major collection has shown yet what is live",
          ANSWER_DIM },
        { "not-known-yet", has_few_samples,
          "Not known yet: a rise shows after {least_samples} measurements of live data, and there {samples} so far",
          ANSWER_DIM },
        { "not-known-yet", NULL, "Not known yet: too few major collections", ANSWER_DIM },
        { .key = NULL },
};

WHEN(is_leak_before, e->grows && e->verdict == HW__VERDICT__VERDICT_LEAK)
WHEN(has_grown, e->grows)
WHEN(has_risen, e->rise && e->rise->sentence)

/* Behind how it ended, whose tone it has. */
static const struct phrase_row before_the_end[] = {
        { "leak", is_leak_before, ". Before that, a leak: " LEAKS, 0 },
        { "growing", has_grown, ". Before that " GROWS, 0 },
        { "rise", has_risen, ". Before that, too short for a verdict: {rise}", 0 },
        { .key = NULL },
};

/* Behind what the text says already. NULL: no condition holds. */
static const struct phrase_row *append_statement(struct target_answer *a, const struct evidence *e,
                                                 const struct phrase_row *table)
{
        const size_t used = strlen(a->text);
        struct phrase s = phrase_begin(a->text + used, sizeof(a->text) - used, e->over, slots, e);

        return phrase_append_table(&s, table);
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
                (void)append_statement(a, e, before_the_end);
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
                const struct phrase_row *row = append_statement(a, e, statements);

                a->key = row->key;
                a->tone = (enum answer_tone)row->tone;
        }
        append_alerts(a, e);
        if (e->ending == ENDED_SOMEHOW)
                append_text(a->text, ". Its log was not completed: %s", e->detail);
}
