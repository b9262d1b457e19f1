/* SPDX-License-Identifier: BSD-3-Clause */
/* where.c - where it grows, why that is kept, and until when it goes well. */
#include "client/answers/evidence.h"

#include "client/answers/census.h"

/* ------------------------------------------------------------------- where */

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

WHEN(census_is_newer, !e->over && census_exceeds_live(e->t))
WHEN(census_from_outside_is_newer, census_is_newer(e) && world_from_outside(e->t))
WHEN(had_more_live, e->over && e->t->heap->has_max_live_bytes && e->t->heap->max_live_bytes > e->t->heap->live_bytes)

const struct phrase_row sentences_live_size[] = {
        { "at-most", census_from_outside_is_newer,
          "at most {census_bytes} (census of {census_age} ago, garbage included)", 0 },
        { "at-least", census_is_newer, "at least {census_bytes} (census of {census_age} ago)", 0 },
        { "at-its-end", had_more_live, "at most {live_max} (at its end {live_bytes})", 0 },
        { "measured", NULL, "{live_bytes}[ ({live_age} ago)]", 0 },
        { .key = NULL },
};

static bool grows_in(const struct evidence *e, Hw__Growth__Where where)
{
        return e->where == where;
}

WHEN(rises_in_live, rise_of(e) && rise_of(e)->series == HW__SERIES__SERIES_LIVE)
WHEN(rises_in_resident, rise_of(e) && rise_of(e)->series == HW__SERIES__SERIES_RSS)
WHEN(rises_in_foreign, rise_of(e))
WHEN(grows_in_live, grows_in(e, HW__GROWTH__WHERE__WHERE_LIVE))
WHEN(grows_in_heap, grows_in(e, HW__GROWTH__WHERE__WHERE_RETENTION))
WHEN(grows_in_foreign, grows_in(e, HW__GROWTH__WHERE__WHERE_FOREIGN))
WHEN(grows_nowhere, grows_in(e, HW__GROWTH__WHERE__WHERE_NOWHERE))
WHEN(grows_in_process, e->process_only && e->grows)
WHEN(grows_in_foreign_at_least, e->foreign)
WHEN(grows_unplaced, e->grows)

#define SIZES       "[: {sizes}]"
#define IN_LIVE     "In live data" SIZES
#define IN_RESIDENT "In resident memory; where in it is not known" SIZES
#define IN_FOREIGN  "In foreign memory (C code, malloc, shared memory)"

const struct phrase_row sentences_where[] = {
        { "live", rises_in_live, IN_LIVE, 0 },
        { "resident", rises_in_resident, IN_RESIDENT, 0 },
        { "foreign", rises_in_foreign, IN_FOREIGN SIZES, 0 },
        { "live", grows_in_live, IN_LIVE, 0 },
        { "heap", grows_in_heap, "On the heap, beyond live data, held by the runtime" SIZES, 0 },
        { "foreign", grows_in_foreign, IN_FOREIGN SIZES, 0 },
        { "nowhere", grows_nowhere, "Nowhere" SIZES, 0 },
        { "resident", grows_in_process, IN_RESIDENT, 0 },
        { "foreign-at-least", grows_in_foreign_at_least, IN_FOREIGN "; whether live data grows too is not known" SIZES,
          0 },
        { "not-known", grows_unplaced, "{Not known yet|Not known}" SIZES, 0 },
        { "sizes", NULL, "{sizes_alone}", 0 },
        { .key = NULL },
};

void answer_where(struct target_answer *a, const struct evidence *e)
{
        a->key = append_sentence(a, e, sentences_where)->key;
        a->tone = e->grows || rise_of(e) ? ANSWER_WARN : ANSWER_DIM;
}

/* --------------------------------------------------------------------- why */

/* What the action `why` of an alert has found out. */
const Hw__ActionResult *why_of(const struct evidence *e)
{
        return e->t->target ? e->t->target->why : NULL;
}

bool is_local(const struct evidence *e)
{
        return run_of(e) && run_of(e)->has_local && run_of(e)->local;
}

WHEN(why_is_awaited, why_of(e) && !why_of(e)->has_ok)
WHEN(why_failed, why_of(e) && !why_of(e)->ok)
WHEN(why_is_known, why_of(e))
WHEN(why_is_answered, (live_grows(e) || (early_rises(e->early) && !early_is_foreign(e->early))) && e->live &&
                              !e->over && !e->process_only && is_local(e))

const struct phrase_row sentences_why[] = {
        { "awaited", why_is_awaited, "Being found out: the program's memory is read from outside", 0 },
        { "not-known", why_failed, "Not known: {why}[{if_by_hand}; by hand: heapwatch why {target}]", 0 },
        { "found", why_is_known, "{why}[; read at {why_read}]", 0 },
        { "by-hand", why_is_answered, "heapwatch why {target} answers it; it stops the program for at most 1 s", 0 },
        { .key = NULL },
};

/* Empty while nothing grows among live data. */
void answer_why(struct target_answer *a, const struct evidence *e)
{
        const struct phrase_row *row = append_sentence(a, e, sentences_why);

        a->key = row ? row->key : NULL;
}

/* ------------------------------------------------------------------- until */

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
        return !e->near || (known_limit(e) && known_limit(e)->limit_bytes == e->near->limit_bytes);
}

bool limit_clock(const struct evidence *e, uint64_t *ret)
{
        const uint64_t in_ns = e->near ? e->near->mid_ns : limit_at(e->limit);
        const bool is_dated = e->near ? e->near->has_as_of_ns : e->limit->has_as_of_ns;

        *ret = (e->near ? e->near->as_of_ns : e->limit->as_of_ns) + in_ns;
        return !e->over && in_ns < CLOCK_NS && is_dated;
}

/* SIGKILL without the kernel's account may have come from its limit all the same. */
static bool may_have_met_limit(const struct evidence *e)
{
        return e->over && (e->ending == LOST || e->ending == ENDED_SOMEHOW ||
                           (e->ending == KILLED && e->t->target->exit_signal == 9) || e->ending == CRASHED);
}

/* Its rise is too young to foretell when it meets the limit, and what its rate gives is known. */
static bool is_too_early(const struct evidence *e)
{
        return !e->over && e->early && known_limit(e) && e->early->has_mid_ns && e->early->has_limit_bytes &&
               e->early->limit_bytes == known_limit(e)->limit_bytes;
}

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

#define USED  "[{if_of_known_limit}, of which {limited} has {used}]"
#define CLOCK "[; that is at {met_at}]"

const struct phrase_row sentences_until[] = {
        { "limit-was-met", was_met, "Its limit was met: {limit_met}[{if_grew}; a higher one only delays the end]",
          ANSWER_BAD },
        { "at-limit", is_at_limit, "It has met its limit: {limit_near}" USED, ANSWER_BAD },
        { "meets-now", is_met_now, "At any time, if it continues[, in {near_latest} at the latest]: {limit_near}" USED,
          ANSWER_BAD },
        { "meets-soon", is_met_soon, "If it continues, in {near_mid}[ ({near_interval})]: {limit_near}" USED CLOCK,
          ANSWER_WARN },
        { "at-any-time", at_any_time,
          "{At any time, if it goes on|It ended first. At that rate, at any time}: {limit_ahead}", ANSWER_DIM },
        { "meets", is_ahead,
          "{In|It ended first. At that rate, in} {ahead}[{if_earliest} at the earliest, perhaps never]"
          "[{if_or_later} or later][ ({ahead_interval})]: {limit_ahead}" CLOCK,
          ANSWER_DIM },
        { "no-limit", no_limit, "No limit is known", ANSWER_DIM },
        { "stopped", is_stopped, "Not while it is stopped: {known_limit}" USED, ANSWER_DIM },
        { "too-early", too_early, "Too early to say; by the rate, in about {early_mid}: {known_limit}" USED,
          ANSWER_DIM },
        { "other-limit", rises_elsewhere, "No time is known: {known_limit}" USED, ANSWER_DIM },
        { "may-have-met", may_have_met, "Not known whether it met its limit: {known_limit}", ANSWER_DIM },
        { "none-met", over_without, "No limit was met: {known_limit}", ANSWER_DIM },
        { "no-growth-so-far", no_growth_so_far, "No growth towards it so far: {known_limit}" USED, ANSWER_DIM },
        { "unknown", nothing_known, "Not known yet: {known_limit}" USED, ANSWER_DIM },
        { "no-time", no_time_known, "No time is known: {known_limit}" USED, ANSWER_DIM },
        { "not-heading", NULL, "Not heading for the limit: {known_limit}" USED, ANSWER_DIM },
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
        const struct phrase_row *row = append_sentence(a, e, sentences_until);

        a->key = row->key;
        a->tone = tone_of_until(e, (enum answer_tone)row->tone);
}
