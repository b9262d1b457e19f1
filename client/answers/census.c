/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/answers/census.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client/answers/evidence.h"
#include "client/world/state/band_name.h"
#include "client/world/state/world.h"
#include "proto/base/number_text.h"
#include "proto/base/ckd.h"
#include "proto/base/outside_census.h"
#include "proto/base/text_out.h"
#include "proto/base/time.h"

#define DIFFERENT       0.25 /* of the larger one: live data and the total of a census differ by some percent anyway */
#define DIFFERENT_BYTES (UINT64_C(1) << 20)

#define UNCOUNTED_SHARE 0.05 /* of the larger one: less is alignment and what is being made */

bool census_uncounted(const struct world_target *t, double *ret_bytes)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        const bool known = t->census && !t->census->outside && run && run->ghc_version && run->ghc_version[0];
        const double bytes = known ? facts_get(t, FACT_CENSUS_UNCOUNTED) : NAN;
        const double total = t->census ? (double)t->census->total_bytes : 0;

        *ret_bytes = bytes;
        return fabs(bytes) >= DIFFERENT_BYTES && fabs(bytes) >= UNCOUNTED_SHARE * fmax(total, total + bytes);
}

static bool differs_from_live(const struct world_target *t)
{
        double uncounted;
        const bool adds = census_uncounted(t, &uncounted);
        const uint64_t total = u64_sat((double)t->census->total_bytes + (adds ? uncounted : 0));

        if (!t->heap || !t->heap->has_live_bytes || !t->heap->has_live_time_ns)
                return false;
        const uint64_t more = t->heap->live_bytes > total ? t->heap->live_bytes : total;
        const uint64_t less = t->heap->live_bytes > total ? total : t->heap->live_bytes;

        return more - less >= DIFFERENT_BYTES && (double)(more - less) >= DIFFERENT * (double)more;
}

/* Whether a later collection says something else than the census; both were one collection otherwise. */
bool census_differs(const struct world_target *t)
{
        return differs_from_live(t) && t->heap->live_time_ns > t->census->time_ns;
}

/*
 * A census from outside comes between two major collections: what has become unreachable since the first is in it.
 * What the end of the program has freed was no garbage before.
 */
bool census_has_garbage(const struct world_target *t, bool over)
{
        return world_from_outside(t) && differs_from_live(t) && t->census->total_bytes > t->heap->live_bytes &&
               !(over && census_differs(t));
}

/* Per second, while an early warning of live data stands; else 0. */
static double rate_of_rise(const struct world_target *t)
{
        const Hw__EarlyWarning *early = t->trend_state ? t->trend_state->early : NULL;

        return early_rises(early) && early->series == HW__SERIES__SERIES_LIVE ? early->rate : 0;
}

bool live_is_old(const struct world_target *t, uint64_t *ret_ns)
{
        const Hw__Heap *h = t->heap;

        *ret_ns = h && h->has_live_bytes && h->has_live_time_ns ? sub_sat(world_known_until_ns(t), h->live_time_ns) : 0;
        return *ret_ns && number_is_old(*ret_ns, (double)h->live_bytes, rate_of_rise(t));
}

const char *ghc_of(const struct evidence *e)
{
        return run_of(e) && run_of(e)->ghc_version ? run_of(e)->ghc_version : "";
}

double census_uncounted_bytes(const struct evidence *e)
{
        double bytes;

        return census_uncounted(e->t, &bytes) ? bytes : NAN;
}

char *census_uncounted_reason(char *out, size_t size, const struct world_target *t)
{
        const struct evidence e = { .t = t };
        struct phrase s = phrase_of(out, size, &e);

        (void)sentences_uncounted_reason(&s);
        return out;
}

/* The largest band is known best, in parts of itself; NaN: it was counted. */
double census_spread_of_largest(const struct evidence *e)
{
        const Hw__Census *c = e->t->census;
        uint64_t largest = 0;

        for (size_t i = 0; i < c->n_bytes; i++)
                largest = c->bytes[i] > largest ? c->bytes[i] : largest;
        return c->spread > 0 && largest > 0
                       ? census_margin(c->spread, (double)largest, (double)c->total_bytes) / (double)largest
                       : NAN;
}

void census_age_of(struct census_age *ret, const struct world_target *t, bool live)
{
        struct target_answer says = { .has_time = false };
        struct evidence e;

        evidence_of(&e, t, live);
        *ret = (struct census_age){ .any = append_sentence(&says, &e, sentences_census), .has_time = says.has_time };
        (void)text_join(ret->before, sizeof(ret->before), says.text, NULL);
        (void)text_join(ret->after, sizeof(ret->after), says.after, NULL);
        if (!t->census)
                return;
        ret->time_ns = t->census->time_ns;
        ret->total_bytes = t->census->total_bytes;
        ret->stale = census_differs(t);
}

double census_margin_of_gain(const struct world_target *t, const struct world_band *band)
{
        const Hw__Census *c = t->census;

        return c && c->spread > 0 ? census_gain_margin(c->spread, (double)band->bytes, (double)c->total_bytes) : 0;
}

char *census_pauses_text(char *out, size_t size, const struct world_target *t)
{
        const double all = facts_get(t, FACT_WATCH_PAUSES), longest = facts_get(t, FACT_WATCH_PAUSE_MAX);

        if (!(all > 0))
                return text_join(out, size, "", NULL);
        return text_join(out, size, "of which heapwatch's: ", DURATION_TEXT(all), ", the longest ",
                         DURATION_TEXT(longest), NULL);
}

char *census_age_text(char *out, size_t size, const struct census_age *a, uint64_t now_ns)
{
        char age[HW_NUMBER_MAX] = "";

        if (a->has_time)
                (void)hw_duration_text(age, sizeof(age), now_ns > a->time_ns ? (double)(now_ns - a->time_ns) : 0);
        (void)snprintf(out, size, "%s%s%s", a->before, age, a->after);
        return out;
}

void census_age_print(struct json_out *j, const struct world_target *t, bool live, bool now)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        struct census_age a;
        char whole[CENSUS_LINE];
        double uncounted;

        census_age_of(&a, t, live);
        if (!a.any)
                return;
        json_member_open(j, "census", '{');
        if (a.has_time) {
                json_member_u64_string(j, "timeNs", a.time_ns);
                if (now)
                        json_member_u64_string(j, "ageNs", sub_sat(world_known_until_ns(t), a.time_ns));
                json_member_u64_string(j, "totalBytes", a.total_bytes);
                json_member_bool(j, "stale", a.stale);
                if (census_uncounted(t, &uncounted)) {
                        json_member_short(j, "uncountedBytes", uncounted);
                        json_member_text(j, "uncounted", census_uncounted_reason(whole, sizeof(whole), t));
                }
                if (t->census->spread > 0)
                        json_member_short(j, "spread", t->census->spread);
        }
        if (run && run->no_census)
                json_member_text(j, "none", run->no_census);
        json_member_text(j, "before", a.before);
        json_member_text(j, "after", a.after);
        if (now)
                json_member_text(j, "sentence", census_age_text(whole, sizeof(whole), &a, world_known_until_ns(t)));
        json_close(j, '}');
}

char *census_absence(char *out, size_t size, const struct world_target *t, bool live)
{
        struct evidence e;
        struct census_age age;

        evidence_of(&e, t, live);
        if (run_of(&e) && run_of(&e)->no_census) {
                census_age_of(&age, t, live);
                return census_age_text(out, size, &age, 0);
        }
        struct phrase s = phrase_of(out, size, &e);
        (void)sentences_census_absence(&s);
        return out;
}
