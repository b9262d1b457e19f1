/* SPDX-License-Identifier: BSD-3-Clause */
/* wrong.c - is anything wrong, and what: how it ended first, then the verdict, then what else fires. */
#include "client/answers/evidence.h"

#include <string.h>

/* It was steady, and has risen in the newest minutes: later ones will show whether that is growth. */
static bool in_doubt(const struct evidence *e)
{
        return !e->over && e->verdict == HW__VERDICT__VERDICT_STEADY && e->trend &&
               e->trend->verdict == HW__VERDICT__VERDICT_STEADY && e->trend->has_provisional_slope &&
               e->trend->provisional_slope > 0;
}

WHEN(is_leak_before, e->grows && e->verdict == HW__VERDICT__VERDICT_LEAK)
WHEN(has_grown, e->grows)
WHEN(has_risen, e->rise && e->rise->sentence)

#define LEAKS "{series} {grows|grew}[ by {slope}] and {does|did} not slow down"
#define GROWS "{series} {grows|grew}[ by {slope}][; not called a leak: {missing}]"

/* Behind how it ended badly, whose tone it has. */
const struct phrase_row sentences_before_the_end[] = {
        { "leak", is_leak_before, ". Before that, a leak: " LEAKS, 0 },
        { "growing", has_grown, ". Before that " GROWS, 0 },
        { "rise", has_risen, ". Before that, too short for a verdict: {rise}", 0 },
        { .key = NULL },
};

WHEN(killed, e->ending == KILLED)
WHEN(failed, e->ending == ENDED_BADLY)
WHEN(crashed, e->ending == CRASHED)
WHEN(lost, e->ending == LOST)
WHEN(cannot_be_read, e->ending == FAILED)
WHEN(nothing_yet_unsaid, e->ending == AWAITED && !e->t->run)
WHEN(nothing_yet, nothing_yet_unsaid(e) && e->detail[0])
WHEN(stopped, e->ending == STOPPED)
WHEN(ended_rising, has_risen(e) && e->ending == ENDED_SOMEHOW)
WHEN(stopped_rising, has_risen(e))
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

#define BEFORE      "[{before_the_end}]"
#define PROVISIONAL "{provisional}[ over {provisional_span}]"
#define JUDGED_IN                                                                                                      \
        "[; that is settled in {verdict_in} to {verdict_by}][{if_slow}; slow growth is judged in {verdict_in}]"
#define NOT_KNOWN "[; provisional growth " PROVISIONAL "]"

const struct phrase_row sentences_wrong[] = {
        { "killed", killed, "It was {detail}" BEFORE, ANSWER_BAD },
        { "failed", failed, "It {detail}" BEFORE, ANSWER_BAD },
        { "crashed", crashed, "It crashed: {detail}" BEFORE, ANSWER_BAD },
        { "lost", lost, "The connection is lost: {detail}" BEFORE, ANSWER_WARN },
        { "cannot-be-read", cannot_be_read, "Its log cannot be read: {detail}" BEFORE, ANSWER_BAD },
        { "nothing-yet", nothing_yet, "Nothing to see yet: {detail}", ANSWER_DIM },
        { "nothing-yet", nothing_yet_unsaid, "Nothing to see yet: waiting for its log", ANSWER_DIM },
        { "stopped", stopped, "It is {detail}; nothing is judged until it goes on", ANSWER_WARN },
        { "stopped-rising", ended_rising, "It ended in a rise that was too short for a verdict: {rise}", ANSWER_WARN },
        { "stopped-rising", stopped_rising, "It was stopped in a rise that was too short for a verdict: {rise}",
          ANSWER_WARN },
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
          "after a "
          "few more major collections",
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

WHEN(alert_fires, e->alert)

/* Behind what is wrong, or instead of that where nothing else is. */
const struct phrase_row sentences_alert[] = {
        { "alert", alert_fires, "{alert}[: {alert_summary}][; {more_alerts}]", 0 },
        { .key = NULL },
};

WHEN(not_completed, e->ending == ENDED_SOMEHOW)

const struct phrase_row sentences_not_completed[] = {
        { "not-completed", not_completed, ". Its log was not completed: {detail}", 0 },
        { .key = NULL },
};

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
        const struct phrase_row *row = append_sentence(a, e, sentences_wrong);

        a->key = row->key;
        a->tone = (enum answer_tone)row->tone;
        append_alerts(a, e);
        (void)append_sentence(a, e, sentences_not_completed);
}
