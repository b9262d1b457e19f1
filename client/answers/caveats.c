/* SPDX-License-Identifier: BSD-3-Clause */
/* caveats.c - reasons to trust the answers less: loss, a late start, ... All that hold are said, in this order. */
#include "client/answers/evidence.h"

#include <string.h>

#include "client/answers/census.h"

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

WHEN(damaged, e->t->health && e->t->health->has_lost_bytes && e->t->health->lost_bytes)
WHEN(unread, e->t->health && e->t->health->unread)
WHEN(of_several, is_advised(e, HW_ADVICE_SEVERAL_PROCESSES))
WHEN(late, e->t->health && e->t->health->has_lag_ns && e->t->health->lag_ns > LAG_NS)
WHEN(short_of_memory, e->t->health && e->t->health->memory_pressure)
WHEN(left_out, !short_of_memory(e) && bands_beyond(e))
WHEN(paused, e->t->health && e->t->health->recording && e->t->health->recording->paused)
WHEN(profile_costly, is_profile_costly(e))
WHEN(idle, is_idle(e))
WHEN(silent, e->ending == AWAITED && e->t->run)
WHEN(joined_late, is_joined_inside(e) || first_time_of(e) > JOINED_LATE_NS)
WHEN(census_cut, e->t->census && e->t->census->has_unfinished && e->t->census->unfinished)

const struct phrase_row sentences_caveats[] = {
        { "damaged", damaged,
          "Damaged: {lost_bytes} of its log skipped[ in {damaged_places}], numbers may be low[ ({damage_reason})]", 0 },
        { "unread", unread, "Read in part: {unread}", 0 },
        { "of-several", of_several, "Of several processes: they wrote one log, and its numbers are of all together",
          0 },
        { "late", late, "Late: its events arrive {lag} after they happened", 0 },
        { "left-out", left_out, "{left_out} bands are beyond what the daemon keeps and left out", 0 },
        { "short-of-memory", short_of_memory,
          "The daemon is short of memory: {memory_pressure}[; {left_out} bands of this target are left out]", 0 },
        { "paused", paused, "Its recording is paused: {pause_reason}", 0 },
        { "profile-costly", profile_costly,
          "{collections_share} in collections, {census_share} of it heap censuses at {census_period}", 0 },
        { "idle", idle, "Idle: {censuses} in {seen}: the clock of {census_clock} stops while it waits", 0 },
        { "silent", silent, "Nothing comes from it now: {detail}", 0 },
        { "joined-late", joined_late,
          "Joined late: nothing is known of its first {missed}[{if_inside}, nor what program it is; what it named "
          "before "
          "(cost centres, info tables, threads) is shown by number]",
          0 },
        { "census-cut", census_cut, "Its newest census is cut: its bands are counted short", 0 },
        { .key = NULL },
};

void find_caveats(struct answers *a, const struct evidence *e)
{
        for (const struct phrase_row *row = sentences_caveats; row->key && a->n_caveats < ANSWER_CAVEATS; row++)
                if (row->when(e)) {
                        struct phrase s = phrase_of(a->caveats[a->n_caveats++], ANSWER_TEXT, e);
                        (void)phrase_append_text(&s, row->text);
                }
}
