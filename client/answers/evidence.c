/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/answers/evidence.h"
#include "proto/base/ckd.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client/answers/census.h"
#include "client/world/state/band_name.h"
#include "client/world/state/world.h"
#include "heapwatch/text.h"
#include "proto/base/agent_peer.h"
#include "proto/base/array.h"

#define GAINED_LEAST 1048576.0 /* a band that gained less carries no growth */
#define TELLS_MORE   2         /* times as fast as the first band that is judged to grow */
#define SEEN_LEAST   0.25      /* of a rise, by its last census: less does not show what it is made of */

/* ------------------------------------------------------------------- words */

void append_text(char text[ANSWER_TEXT], const char *format, ...)
{
        char more[ANSWER_TEXT];
        size_t used = strlen(text);
        va_list args;

        va_start(args, format);
        int n = vsnprintf(more, sizeof(more), format, args);
        va_end(args);
        if (n > 0)
                (void)hw_utf8_clean(text + used, ANSWER_TEXT - used, more, strlen(more));
}

/* ------------------------------------------------------------------ bands */

const char *growing_said(char *out, size_t size, const struct evidence *e)
{
        return e->growing->label ? band_said(out, size, e->t, e->growing->band, e->growing->label) : "a band";
}

const Hw__Run *run_of(const struct evidence *e)
{
        return e->t->target ? e->t->target->run_info : NULL;
}

unsigned ghc_version_of(const struct evidence *e)
{
        unsigned major = 0, minor = 0;

        if (!run_of(e) || !run_of(e)->ghc_version || sscanf(run_of(e)->ghc_version, "%u.%u", &major, &minor) != 2 ||
            minor > 99)
                return 0;
        return 100 * major + minor;
}

bool has_process_reason(const struct evidence *e)
{
        return e->t->target->process_only_reason && e->t->target->process_only_reason[0];
}

bool is_unnamed_table(const struct evidence *e, const char *label)
{
        const Hw__Run *run = e->t->target ? e->t->target->run_info : NULL;

        return run && run->has_breakdown && run->breakdown == HW__BREAKDOWN__BREAKDOWN_INFO_TABLE && label[0] == '0' &&
               label[1] == 'x' && label[2 + strspn(label + 2, "0123456789abcdef")] == '\0';
}

/* ----------------------------------------------------------------- ending */

static enum ending ending_of(const Hw__Target *state, bool live)
{
        if (!state || !state->has_state)
                return STILL_RUNS;
        bool killed = state->has_exit_signal && state->exit_signal;

        switch (state->state) {
        case HW__TARGET__STATE__STATE_ENDED:
                return ENDED;
        case HW__TARGET__STATE__STATE_FAILED:
                return ENDED_BADLY;
        case HW__TARGET__STATE__STATE_CRASHED:
                return killed ? KILLED : state->has_exit_status && state->exit_status ? ENDED_BADLY : CRASHED;
        case HW__TARGET__STATE__STATE_LOST:
                return live ? LOST : ENDED_SOMEHOW;
        case HW__TARGET__STATE__STATE_UNREADABLE:
                return FAILED;
        case HW__TARGET__STATE__STATE_WAITING:
        case HW__TARGET__STATE__STATE_CONNECTED:
                return AWAITED;
        case HW__TARGET__STATE__STATE_STOPPED:
                return STOPPED;
        default:
                return STILL_RUNS;
        }
}

/* ------------------------------------------------------------------ growth */

static const Hw__Trend *judged_trend(const struct world_target *t, Hw__Series series)
{
        const Hw__Trend *trend = t->trends[series];

        return trend && trend->has_verdict ? trend : NULL;
}

static bool is_rising(const Hw__Trend *trend)
{
        return trend && trend->verdict >= HW__VERDICT__VERDICT_GROWING;
}

/* The first of two series that grows, or else the first that is judged. */
static Hw__Series choose_series(const struct world_target *t, Hw__Series first, Hw__Series second)
{
        if (is_rising(judged_trend(t, first)) || !judged_trend(t, second))
                return first;
        return is_rising(judged_trend(t, second)) || !judged_trend(t, first) ? second : first;
}

/* Something grows, but it is unknown where: live data, or else the heap, or else the whole process. */
static Hw__Series rising_series(const struct world_target *t)
{
        static const Hw__Series order[] = { HW__SERIES__SERIES_LIVE, HW__SERIES__SERIES_HEAP_SIZE,
                                            HW__SERIES__SERIES_BLOCKS_SIZE, HW__SERIES__SERIES_FOREIGN,
                                            HW__SERIES__SERIES_RSS };

        for (size_t i = 0; i < ARRAY_SIZE(order); i++)
                if (is_rising(judged_trend(t, order[i])))
                        return order[i];
        return judged_trend(t, HW__SERIES__SERIES_LIVE) ? HW__SERIES__SERIES_LIVE : HW__SERIES__SERIES_HEAP_SIZE;
}

static Hw__Series series_of_growth(const struct world_target *t, Hw__Growth__Where where)
{
        switch (where) {
        case HW__GROWTH__WHERE__WHERE_RETENTION:
                return choose_series(t, HW__SERIES__SERIES_HEAP_SIZE, HW__SERIES__SERIES_BLOCKS_SIZE);
        case HW__GROWTH__WHERE__WHERE_FOREIGN:
                return choose_series(t, HW__SERIES__SERIES_FOREIGN, HW__SERIES__SERIES_RSS);
        case HW__GROWTH__WHERE__WHERE_LIVE:
                return HW__SERIES__SERIES_LIVE;
        default:
                return rising_series(t);
        }
}

uint64_t onset_middle(const Hw__EarlyWarning *early)
{
        return early->onset_from_ns + sub_sat(early->onset_to_ns, early->onset_from_ns) / 2;
}

uint64_t onset_moment(const Hw__EarlyWarning *early)
{
        return onset_is_latest(early) ? early->onset_to_ns : onset_middle(early);
}

bool live_grows(const struct evidence *e)
{
        return (e->grows && e->where == HW__GROWTH__WHERE__WHERE_LIVE) ||
               (e->rise && e->rise->series == HW__SERIES__SERIES_LIVE);
}

bool threads_are_culprit(const struct evidence *e)
{
        return e->threads || (e->growing && e->growing->threads);
}

bool limit_was_met(const struct evidence *e)
{
        const Hw__Target *t = e->t->target;

        return t &&
               ((t->has_exit_status && t->exit_status == EXIT_HEAP_EXHAUSTED) || (t->has_oom_killed && t->oom_killed) ||
                (facts_is_known(e->t, FACT_HEAP_LIMIT_USED) && facts_get(e->t, FACT_HEAP_LIMIT_USED) >= 1));
}

bool census_is_stale(const struct evidence *e)
{
        const Hw__Census *c = e->t->census;
        const bool known = e->rise ? e->rise->has_onset_to_ns : e->grows && e->trend->has_onset_ns;
        const uint64_t began_ns = !known ? 0 : e->rise ? e->rise->onset_to_ns : e->trend->onset_ns;
        const uint64_t now_ns = e->t->event_time_ns;

        return known && c && c->has_time_ns && c->time_ns < now_ns && now_ns > began_ns &&
               now_ns - c->time_ns > (now_ns - began_ns) / 4;
}

static void set_likely(struct evidence *e, const struct world_band *b)
{
        e->likely = (Hw__GrowingBand)HW__GROWING_BAND__INIT;
        e->likely.has_band = e->likely.has_bytes = true;
        e->likely.band = b->id;
        e->likely.label = b->def->label;
        e->likely.bytes = b->bytes;
        e->growing = &e->likely;
        e->band = b->def;
}

/* Statistics of the whole run; NULL: not known. */
static const Hw__WindowStatistics *run_statistics(const Hw__Trend *trend)
{
        const Hw__WindowStatistics *run = trend && trend->n_windows ? trend->windows[trend->n_windows - 1] : NULL;

        return run && !run->has_window_ns ? run : NULL;
}

/* The least that was live; false: not known. */
static bool least_live(const struct world_target *t, double *ret)
{
        const Hw__WindowStatistics *run = run_statistics(t->trends[HW__SERIES__SERIES_LIVE]);

        if (!run || !run->has_min)
                return false;
        *ret = run->min;
        return true;
}

static bool is_judged_steady(const struct evidence *e, const struct world_band *b)
{
        return b->trend && b->trend->has_verdict && b->trend->verdict == HW__VERDICT__VERDICT_STEADY &&
               !census_is_stale(e);
}

/* How much of the rise of live data the newest census has seen: all of it, unless it is old. */
static double risen_by_census(const struct evidence *e, double rise, double floor)
{
        const Hw__Census *c = e->t->census;
        const double seen = c && c->has_total_bytes ? (double)c->total_bytes - floor : 0;

        return census_is_stale(e) && seen >= SEEN_LEAST * rise ? fmin(seen, rise) : rise;
}

/*
 * Of few censuses no band has a slope: the one that has gained more than half of what all bands, and live data, have.
 * Its first census may have come late: it cannot have held more before than all live data at its least.
 */
static void find_gained(struct evidence *e)
{
        const struct world_band *top = NULL;
        double floor = 0, all = 0, most = 0;
        const bool has_floor = least_live(e->t, &floor);
        const Hw__Heap *h = e->t->heap;

        for (uint32_t i = 0; i < e->t->n_bands; i++) {
                const struct world_band *b = e->t->bands[i];

                if (!b || !b->seen || !b->def)
                        continue;
                const double before = has_floor ? fmin((double)b->first_bytes, floor) : (double)b->first_bytes;
                const double gained = fmax((double)b->bytes - before, 0);
                const double surely = gained - census_margin_of_gain(e->t, b);
                all += gained;
                if (surely <= most || is_judged_steady(e, b))
                        continue;
                most = surely;
                top = b;
        }
        if (has_floor && h && h->has_max_live_bytes)
                all = fmax(all, risen_by_census(e, (double)h->max_live_bytes - floor, floor));
        if (top && most >= GAINED_LEAST && most > all / 2)
                set_likely(e, top);
}

/*
 * Live data grows and no band is judged to: its verdict may come later than that of the total. The one whose slope is
 * surely above 0 and at least half of the total's.
 */
static void find_likely(struct evidence *e)
{
        double most = e->trend->has_slope ? e->trend->slope / 2 : INFINITY;

        for (uint32_t i = 0; i < e->t->n_bands; i++) {
                const struct world_band *b = e->t->bands[i];

                if (!b || !b->trend || !b->trend->has_slope || !b->trend->has_slope_low || b->trend->slope_low <= 0 ||
                    b->trend->slope < most)
                        continue;
                most = b->trend->slope;
                set_likely(e, b);
                e->likely.has_slope = true;
                e->likely.slope = b->trend->slope;
        }
        if (!e->growing)
                find_gained(e);
}

/*
 * When the early warning meets its limit by the rate; false: not known. Of a young rise a time is no more than a guess,
 * and counts only where memory runs out.
 */
bool early_limit_ns(const Hw__EarlyWarning *early, uint64_t *ret)
{
        if (!early || !early->has_mid_ns || !early->has_soonest_ns || !early->has_limit_bytes ||
            (!early->has_latest_ns && !early_runs_out(early)))
                return false;
        *ret = early->mid_ns;
        return true;
}

/* The verdict's limit leads, unless memory runs out before it by the rise of the last seconds. */
static void find_near(struct evidence *e)
{
        const Hw__EarlyWarning *early = e->over || !e->t->trend_state ? NULL : e->t->trend_state->early;
        uint64_t in_ns;

        if (!early_limit_ns(early, &in_ns))
                return;
        const bool sooner = early_runs_out(early) && early->has_latest_ns && e->limit && e->limit->has_mid_ns &&
                            early->latest_ns < e->limit->mid_ns;
        if (e->early || !e->limit || sooner)
                e->near = early;
}

/* The early warning needs a few samples more to tell a rise from a step or a peak. */
static bool is_climbing(const struct evidence *e, const Hw__WindowStatistics *run)
{
        const Hw__Heap *h = e->t->heap;

        if (e->series != HW__SERIES__SERIES_LIVE || !h || !h->has_live_bytes || !run || !run->has_p50 || !run->has_max)
                return false;
        const double live = (double)h->live_bytes;
        return live >= run->max && live > 1.5 * run->p50 && live - run->p50 >= GAINED_LEAST;
}

/* Of the series that decides. A trend is sent once a step only: until then the gauges count newer live data. */
static uint64_t count_samples(const struct evidence *e, const Hw__WindowStatistics *run)
{
        const Hw__Heap *h = e->t->heap;
        const uint64_t judged = run && run->has_count ? run->count : 0;
        const uint64_t live = e->series == HW__SERIES__SERIES_LIVE && h && h->has_live_samples ? h->live_samples : 0;

        return live > judged ? live : judged;
}

/* What is known before there is a verdict, or without one of a run that is over. */
static void find_so_far(struct evidence *e, const Hw__EarlyWarning *early)
{
        const Hw__Trend *t = e->trend;
        const Hw__WindowStatistics *run = run_statistics(t);

        e->samples = count_samples(e, run);
        if (e->verdict || early || !t)
                return;
        const bool may_grow = (!t->verdict && t->has_provisional_slope && t->provisional_slope > 0) ||
                              (t->verdict && e->growing && e->growing->has_slope);
        const bool climbs = !may_grow && !t->verdict && is_climbing(e, run);

        e->may_grow = may_grow && !e->over;
        e->climbs = climbs && !e->over;
        e->steady_so_far = !may_grow && !climbs && (t->verdict || e->samples >= RISE_SAMPLES);
}

/* The heap was judged before its live data, which are known more rarely: until they are, their rise tells more. */
static bool rise_leads(const struct evidence *e, const Hw__EarlyWarning *early)
{
        return !e->process_only && !e->over && e->where == HW__GROWTH__WHERE__WHERE_UNKNOWN && early_rises(early);
}

/*
 * The rise by whose bands is said what grows: a band that is new is judged long after those that were there from the
 * start, so they tell more of confirmed growth, too, while the one that gained most has no verdict.
 */
static const Hw__EarlyWarning *find_risen(const struct evidence *e, const Hw__Growth *growth,
                                          const Hw__EarlyWarning *early)
{
        const Hw__EarlyWarning *risen = e->rise ? e->rise : e->early ? e->early : live_grows(e) ? early : NULL;

        if (!early_rises(risen) || !risen->n_bands)
                return NULL;
        if (!e->grows || !growth || !growth->n_bands)
                return risen;
        const double age_s = (double)sub_sat(e->t->event_time_ns, onset_middle(risen)) / (double)NS_PER_S;
        const bool more = risen->bands[0]->gained_bytes > TELLS_MORE * growth->bands[0]->slope * age_s;
        return more && risen->bands[0]->band != growth->bands[0]->band ? risen : NULL;
}

/* Badly or by a signal, as a service does: a job that has done its work had its reasons to rise. */
static bool has_ended_in_work(const struct evidence *e)
{
        const Hw__Target *state = e->t->target;

        return e->ending == ENDED ? state->has_exit_signal && state->exit_signal
                                  : e->ending >= ENDED_SOMEHOW && e->ending <= CRASHED;
}

static void find_growth(struct evidence *e)
{
        const struct world_target *t = e->t;
        const Hw__Growth *growth = t->trend_state ? t->trend_state->growth : NULL;
        const Hw__EarlyWarning *early = t->trend_state ? t->trend_state->early : NULL;

        e->process_only = t->target && t->target->run_info && t->target->run_info->process_only;
        e->where = growth && growth->has_where ? growth->where : HW__GROWTH__WHERE__WHERE_UNKNOWN;
        e->series = e->process_only ? HW__SERIES__SERIES_RSS : series_of_growth(t, e->where);
        if (rise_leads(e, early))
                e->series = early->series;
        e->trend = judged_trend(t, e->series);
        e->verdict = e->trend ? e->trend->verdict : HW__VERDICT__VERDICT_UNKNOWN;
        if (e->where == HW__GROWTH__WHERE__WHERE_NOWHERE)
                e->verdict = HW__VERDICT__VERDICT_STEADY;
        else if (e->where == HW__GROWTH__WHERE__WHERE_UNKNOWN && e->verdict == HW__VERDICT__VERDICT_STEADY)
                e->verdict = HW__VERDICT__VERDICT_UNKNOWN; /* live data is flat, but something else is in doubt */
        e->grows = e->trend && e->verdict >= HW__VERDICT__VERDICT_GROWING;
        e->foreign = e->grows && (e->where == HW__GROWTH__WHERE__WHERE_FOREIGN ||
                                  (!e->where && e->series == HW__SERIES__SERIES_FOREIGN));
        e->limit = t->trend_state ? t->trend_state->time_to_limit : NULL;
        if (!e->grows && !e->over)
                e->early = early;
        if (!e->grows && has_ended_in_work(e) && early_rises(early))
                e->rise = early;
        e->risen = find_risen(e, growth, early);
        if (growth && growth->n_bands && !(e->risen && e->grows))
                e->growing = growth->bands[0];
        else if (e->risen)
                e->growing = e->risen->bands[0];
        if (t->trend_state && !(e->grows && e->growing && e->growing->threads))
                e->threads = t->trend_state->threads;
        if (e->growing) {
                const struct world_band *b = world_band_of(t, e->growing->band);

                e->band = b ? b->def : NULL;
        }
        find_near(e);
        find_so_far(e, early);
        if ((!live_grows(e) && !e->climbs) || e->growing)
                return;
        if (e->grows)
                find_likely(e);
        else
                find_gained(e);
}

const struct world_band *largest_band(const struct evidence *e)
{
        const struct world_band *largest = NULL;

        for (uint32_t i = 0; i < e->t->n_bands; i++) {
                const struct world_band *band = e->t->bands[i];

                if (band && band->bytes > (largest ? largest->bytes : 0))
                        largest = band;
        }
        return largest;
}

bool bands_judged(const struct evidence *e)
{
        for (uint32_t i = 0; i < e->t->n_bands; i++) {
                const Hw__Trend *trend = e->t->bands[i] ? e->t->bands[i]->trend : NULL;

                if (trend && trend->has_verdict && trend->verdict)
                        return true;
        }
        return false;
}

bool awaits_census(const struct evidence *e)
{
        const Hw__Run *run = e->t->target ? e->t->target->run_info : NULL;

        return !e->t->census && run && run->has_breakdown && run->breakdown != HW__BREAKDOWN__BREAKDOWN_NONE;
}

/* ------------------------------------------------------------------ alerts */

/* Whether the verdict or the state already says what the rule does. */
static bool is_same_statement(const struct evidence *e, const char *rule)
{
        static const char *const of_growth[] = { "leak", "leaking-band", "memory-runs-out-soon", "memory-runs-out-now",
                                                 "off-heap-growth" };

        if (!rule)
                return false;
        if (!strcmp(rule, "crashed") || !strcmp(rule, "failed"))
                return e->ending >= ENDED_BADLY && e->ending <= LOST;
        if (!strcmp(rule, "memory-runs-out"))
                return e->early && early_runs_out(e->early);
        if (!strcmp(rule, "heap-limit-met"))
                return e->early && early_at_limit(e->early);
        if (!strcmp(rule, "threads-pile-up"))
                return threads_are_culprit(e);
        for (size_t i = 0; e->grows && i < ARRAY_SIZE(of_growth); i++)
                if (!strcmp(rule, of_growth[i]))
                        return true;
        return false;
}

static void find_alert(struct evidence *e)
{
        const Hw__Alerts *alerts = e->t->alerts;

        for (size_t i = 0; alerts && i < alerts->n_alerts; i++) {
                const Hw__Alert *a = alerts->alerts[i];

                if (!alert_counts(alerts, a))
                        continue;
                if (alert_severity(a) > e->gravest)
                        e->gravest = alert_severity(a);
                if (is_same_statement(e, a->rule))
                        continue;
                e->n_alerts++;
                if (!e->alert || alert_severity(a) > alert_severity(e->alert))
                        e->alert = a;
        }
}

void evidence_of(struct evidence *ret, const struct world_target *t, bool live)
{
        *ret = (struct evidence){ .t = t, .live = live, .ending = ending_of(t->target, live), .detail = "" };
        if (t->target && t->target->detail)
                ret->detail = t->target->detail;
        ret->over = world_is_over(t, live);
        find_growth(ret);
        find_alert(ret);
}

bool answers_census_share(const struct world_target *t, double *ret)
{
        const Hw__Gc *gc = t->gc;

        if (facts_is_known(t, FACT_WATCH_CENSUSES) || !gc || !gc->has_census_pause_ns || !gc->census_pause_ns ||
            !gc->has_pause_total_ns || !gc->pause_total_ns)
                return false;
        *ret = (double)gc->census_pause_ns / (double)gc->pause_total_ns;
        return *ret <= 1;
}

bool is_advised(const struct evidence *e, enum hw_advice code)
{
        const Hw__Health *h = e->t->health;

        for (size_t i = 0; h && i < h->n_advice; i++)
                if (h->advice[i]->has_code && h->advice[i]->code == (uint32_t)code)
                        return true;
        return false;
}

bool may_profile(const struct evidence *e)
{
        return !is_advised(e, HW_ADVICE_PROFILE_REFUSED);
}

bool is_by_agent(const struct evidence *e)
{
        return e->t->target && e->t->target->uri && agent_peer_is_uri(e->t->target->uri);
}

bool keeps_events(const struct evidence *e)
{
        return !e->over && !e->trend && (is_advised(e, HW_ADVICE_NOT_FLUSHED) || is_advised(e, HW_ADVICE_OLD_GHC));
}
