/* SPDX-License-Identifier: BSD-3-Clause */
/* since.c - since when, and what the program said then. */
#include "client/answers/evidence.h"

#include "proto/base/ckd.h"

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

WHEN(has_no_note, !onset_of(e).note)
WHEN(notes_are_far, has_no_note(e) && e->t->notes_last)
WHEN(is_within_error, onset_of(e).error_ns > 0 && note_apart(e) <= onset_of(e).error_ns)
WHEN(is_at_note, note_apart(e) == 0)
WHEN(is_after_note, onset_of(e).note->time_ns < onset_of(e).ns)

/* Behind the time of an onset: the note nearest to it. */
const struct phrase_row sentences_onset_note[] = {
        { "no-note", notes_are_far, "; no marker or message of the program is near", 0 },
        { "none", has_no_note, "", 0 },
        { "within", is_within_error, "; the {note_kind} “{note}” falls within it", 0 },
        { "at", is_at_note, ", just at the {note_kind} “{note}”", 0 },
        { "after", is_after_note, ", {note_apart} after the {note_kind} “{note}”", 0 },
        { "before", NULL, ", {note_apart} before the {note_kind} “{note}”", 0 },
        { .key = NULL },
};

WHEN(rises_from_unseen, dated_rise(e) && onset_is_latest(dated_rise(e)))
WHEN(rises, dated_rise(e))
WHEN(onset_unknown, e->grows && !onset_of(e).known)
WHEN(grew_before, e->grows &&has_grown_before(e))
WHEN(grows, e->grows)
WHEN(has_ended, e->ending >= ENDED_SOMEHOW && e->ending <= LOST)
WHEN(ended_after_events, has_ended(e) && e->t->event_time_ns > 0)
WHEN(steady, e->verdict == HW__VERDICT__VERDICT_STEADY)
WHEN(steady_from_start, steady(e) && is_seen_from_start(e) && steady_since(e) <= step_in_use(e))
WHEN(steady_for_long, steady(e) && steady_since(e) < UINT64_MAX)
WHEN(watched_from_start, is_seen_from_start(e))
WHEN(watched, run_of(e) && run_of(e)->has_first_time_ns)

const struct phrase_row sentences_since[] = {
        { "rises-from-unseen", rises_from_unseen, "{Rising since|The rise began} before {onset}{onset_note}", 0 },
        { "rises", rises, "{Rising since|The rise began at} {onset}[, give or take {onset_error}]{onset_note}", 0 },
        { "not-known", onset_unknown, "–", 0 },
        { "grew-before", grew_before, "It grew already when watching began, at {onset}{onset_note}", 0 },
        { "grows", grows, "Growth began at {onset}[, give or take {onset_error}]{onset_note}", 0 },
        { "ended", ended_after_events, "Its last event was at {last_event}", 0 },
        { "not-known", has_ended, "–", 0 },
        { "steady-from-start", steady_from_start, "No lasting growth since its start", 0 },
        { "steady", steady_for_long, "No lasting growth since {steady_since}", 0 },
        { "not-known", steady, "–", 0 },
        { "watched-from-start", watched_from_start, "Watched from its start", 0 },
        { "watched", watched, "Watched since {first_event}", 0 },
        { "not-known", NULL, "–", 0 },
        { .key = NULL },
};

void answer_since(struct target_answer *a, const struct evidence *e)
{
        a->key = append_sentence(a, e, sentences_since)->key;
}
