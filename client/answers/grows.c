/* SPDX-License-Identifier: BSD-3-Clause */
/* grows.c - what grows: threads, what has risen since a moment, the band with a verdict, or why none is named. */
#include "client/answers/evidence.h"

#include <math.h>

#include "client/answers/census.h"

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

static bool has_no_profile(const struct evidence *e)
{
        return !e->t->census && !e->t->n_bands;
}

static bool rises_in_no_band(const struct evidence *e)
{
        return early_rises(e->early) && !e->growing;
}

WHEN(threads_pile_up, e->threads)
WHEN(bands_rise, e->risen)
WHEN(grows_beside_foreign, e->growing && e->foreign)
WHEN(grew_likely_to_census, e->growing && e->growing == &e->likely && census_is_stale(e))
WHEN(grows_likely, e->growing && e->growing == &e->likely)
WHEN(leaks, e->growing && e->growing->verdict == HW__VERDICT__VERDICT_LEAK)
WHEN(grows, e->growing)
WHEN(process_only, e->process_only)
WHEN(rises_outside, rises_in_no_band(e) && early_is_foreign(e->early))
WHEN(rises_everywhere, rises_in_no_band(e) && e->early->has_census_time_ns)
WHEN(rises_unprofiled, rises_in_no_band(e) && has_no_profile(e))
WHEN(rises_between, rises_in_no_band(e))
WHEN(nothing_read, has_no_profile(e) && e->over && !e->t->event_time_ns)
WHEN(events_kept, has_no_profile(e) && keeps_events(e))
WHEN(foreign_uncounted, has_no_profile(e) && e->foreign && awaits_census(e))
WHEN(awaits, has_no_profile(e) && awaits_census(e))
WHEN(foreign_unprofiled, has_no_profile(e) && e->foreign)
WHEN(grows_unprofiled, has_no_profile(e) && e->grows)
WHEN(unprofiled, has_no_profile(e))
WHEN(no_rows, !largest_band(e) && e->t->census && e->t->census->rows_left_out)
WHEN(no_band, !largest_band(e))
WHEN(foreign, e->foreign)
WHEN(censuses_ended, live_grows(e) && census_is_stale(e))
WHEN(grows_everywhere, e->grows &&bands_judged(e))
WHEN(few_censuses, e->grows)
WHEN(judged, e->verdict)

#define HOLDS "[{if_held_more}at most ]{growing_bytes}[{if_in_blocks} (counted in whole blocks)]"
#define BAND                                                                                                           \
        "[{growing_threads} ]{growing_band}[ ({growing_place})][, {growing_thread_rate}]"                              \
        "[{if_leaked}: leaked threads?][{if_leaked} With " HOLDS "][{if_kept} with " HOLDS                             \
        "][, {growing_slope}]"                                                                                         \
        "{growing_others}"
#define HEAP_BESIDE "[{if_heap_grows}Hardly anything][{if_heap_still}Nothing] on the Haskell heap"

/* Behind why no band is named. */
#define FOREMOST "[; most so far: {gained_band}, +{gained_bytes}][; the largest is {largest_band} with {largest_bytes}]"

#define UNPROFILED "Not known: there is no heap profile"

const struct phrase_row sentences_grows[] = {
        { "threads", threads_pile_up, "{threads}: leaked threads?", ANSWER_WARN },
        { "risen", bands_rise,
          "[{if_ended_after_census}Up to its last census ][{risen_threads} ]{risen_band} with {risen_bytes}, "
          "{risen_gain} since [{if_gained_since_onset}it began][{if_gained_since_census}the first census]"
          "{risen_others}[; bands explain {risen_share} of the rise]",
          ANSWER_WARN },
        { "beside-foreign", grows_beside_foreign, "Hardly anything on the Haskell heap: " BAND, ANSWER_DIM },
        { "likely-to-census", grew_likely_to_census, "Up to its last census most likely " BAND, ANSWER_WARN },
        { "likely", grows_likely, "Most likely " BAND, ANSWER_WARN },
        { "leaks", leaks, BAND, ANSWER_BAD },
        { "grows", grows, BAND, ANSWER_WARN },
        { "process-only", process_only, "Not known: the program has no log, its process alone is watched", ANSWER_DIM },
        { "rises-outside", rises_outside, "Memory outside the Haskell heap, which has no bands", ANSWER_DIM },
        { "no-band", rises_everywhere, "No band by itself", ANSWER_DIM },
        { "no-profile", rises_unprofiled, UNPROFILED, ANSWER_DIM },
        { "no-census-since", rises_between, "Not known yet: no census before the rise, or none since", ANSWER_DIM },
        { "nothing-read", nothing_read, "Not known: nothing was read of it", ANSWER_DIM },
        { "events-kept", events_kept, "Not known yet: the program keeps its events in its buffer", ANSWER_DIM },
        { "foreign", foreign_uncounted, HEAP_BESIDE, ANSWER_DIM },
        { "no-census", awaits,
          "{Not known yet: the heap profile is on, its first census is still to come|"
          "Not known: its heap profile has no census}"
          "[{if_clock_stops} (its runtime's clock for them stands still while the program waits)]",
          ANSWER_DIM },
        { "foreign", foreign_unprofiled, HEAP_BESIDE, ANSWER_WARN },
        { "no-profile", grows_unprofiled, UNPROFILED, ANSWER_WARN },
        { "no-profile", unprofiled, UNPROFILED, ANSWER_DIM },
        { "left-out", no_rows, "Not known: the bands of its newest census are left out", ANSWER_DIM },
        { "no-census", no_band, "{No census yet|Not known: its log has no census}", ANSWER_DIM },
        { "foreign", foreign, HEAP_BESIDE FOREMOST, ANSWER_DIM },
        { "censuses-ended", censuses_ended, "Not known: its censuses ended too early" FOREMOST, ANSWER_DIM },
        { "no-band", grows_everywhere, "No band by itself" FOREMOST, ANSWER_DIM },
        { "few-censuses", few_censuses, "{Not known yet|Not known}: too few censuses" FOREMOST, ANSWER_DIM },
        { "none", judged, "No band" FOREMOST, ANSWER_DIM },
        { "not-known", NULL, "{Not known yet|Not known}" FOREMOST, ANSWER_DIM },
        { .key = NULL },
};

WHEN(much_is_uncounted, !isnan(uncounted_share(e)))

/* Behind what grows. */
const struct phrase_row sentences_uncounted[] = {
        { "uncounted", much_is_uncounted, "; {uncounted_share} of live data is in no band: {uncounted_reason}", 0 },
        { .key = NULL },
};

void answer_grows(struct target_answer *a, const struct evidence *e)
{
        const struct phrase_row *row = append_sentence(a, e, sentences_grows);

        a->key = row->key;
        a->tone = (enum answer_tone)row->tone;
        (void)append_sentence(a, e, sentences_uncounted);
}
