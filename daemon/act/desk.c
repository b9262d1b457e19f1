/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: an open alert is in one of these places, and desk_tick() asks again
 * about all that wait:
 *
 *      OLD ─settled─▶ WAITING ─▶ ACTED ─resolved─▶ OVER ─DESK_KEEP_NS─▶ forgotten
 *                        └──────────resolved──────────▶ OVER
 *
 * Alerts are found by fingerprint through a table of chains.
 */
#include "act/desk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/limits.h"
#include "base/hash.h"

#define BUCKETS 4096u

enum place { PLACE_OLD, PLACE_WAITING, PLACE_ACTED, PLACE_OVER };

struct alert {
        struct alert *chain;            /* of its bucket */
        struct notice *notice;          /* newest firing one, or the resolved one when OVER */
        struct act_plan *plan;
        enum place place;
        bool known;                     /* acted on before a restart */
        bool counted_silenced, counted_limited;
        uint64_t since_wall_ns;         /* heard of; OVER: since then */
        struct act_report *results;     /* room for one of each step of the plan */
        size_t n_results;
};

struct desk {
        struct desk_handler handler;
        const struct silences *silences;
        struct limit_table *limits;
        struct alert *buckets[BUCKETS];
        size_t n;
        struct done_list done;
        struct desk_stats stats;
};

/* ------------------------------------------------------------------ alerts */

static struct alert **bucket_of(const struct desk *d, uint64_t fingerprint)
{
        return (struct alert **)&d->buckets[hash_u64(fingerprint, 0) % BUCKETS];
}

static struct alert *find(const struct desk *d, uint64_t fingerprint)
{
        struct alert *a = *bucket_of(d, fingerprint);

        while (a && a->notice->fingerprint != fingerprint)
                a = a->chain;
        return a;
}

static void alert_destroy(struct alert *a)
{
        act_plan_unref(&a->plan);
        free(a->results);
        free(a->notice);
        free(a);
}

/* Another notice and plan for an alert; without memory all stays as it was. */
static bool replace(struct alert *a, const struct notice *notice, struct act_plan *plan)
{
        struct notice *copy = notice_copy(notice);
        struct act_report *results = calloc(act_plan_steps(plan) + 1, sizeof(*results));

        if (!copy || !results) {
                free(copy);
                free(results);
                return false;
        }
        free(a->notice);
        free(a->results);
        a->notice = copy;
        a->results = results;
        a->n_results = 0;
        act_plan_ref(plan);
        act_plan_unref(&a->plan);
        a->plan = plan;
        return true;
}

static struct alert *add(struct desk *d, const struct notice *notice, struct act_plan *plan)
{
        struct alert *a = d->n < DESK_ALERTS_MAX ? calloc(1, sizeof(*a)) : NULL;

        if (!a || !replace(a, notice, plan)) {
                free(a);
                d->stats.no_room++;
                return NULL;
        }
        struct alert **bucket = bucket_of(d, notice->fingerprint);
        a->chain = *bucket;
        *bucket = a;
        d->n++;
        return a;
}

const struct desk_done *desk_done_list(const struct desk *d, size_t *ret_n)
{
        *ret_n = d->done.n;
        return d->done.items;
}

uint64_t desk_done_changes(const struct desk *d)
{
        return d->done.changes;
}

void desk_done_restore(struct desk *d, const struct desk_done *done)
{
        done_add(&d->done, done);
}

/* --------------------------------------------------------------- decisions */

static uint64_t rule_of(const struct notice *n)
{
        return notice_fingerprint(n->group, n->rule, NULL, NULL, NULL);
}

/* The results before there are any: the same for all steps that are to be done. */
static void preset(struct alert *a, bool known, enum act_outcome outcome, const char *detail, uint64_t now)
{
        a->n_results = 0;
        for (uint32_t i = 0; i < act_plan_steps(a->plan); i++) {
                const struct act_step *step = act_plan_step(a->plan, i);
                if (!act_step_applies(step, a->notice->state == NOTICE_RESOLVED, known))
                        continue;
                struct act_report *r = &a->results[a->n_results++];
                *r = (struct act_report){ .fingerprint = a->notice->fingerprint, .state = a->notice->state, .step = i,
                                          .kind = step->kind, .outcome = outcome, .wall_ns = now };
                snprintf(r->detail, sizeof(r->detail), "%s", detail);
        }
}

/* All that has to be done for this alert is marked as left out, for this reason. */
static void skip(struct desk *d, struct alert *a, const char *why, uint64_t now)
{
        preset(a, false, ACT_SKIPPED, why, now);
        d->handler.changed(d->handler.ctx, a->notice);
}

static void act(struct desk *d, struct alert *a, bool known, uint64_t now)
{
        preset(a, known, ACT_UNDER_WAY, "", now);
        if (d->handler.act(d->handler.ctx, a->notice, a->plan, known))
                return;
        d->stats.dropped++;
        skip(d, a, "not done: too much to do at once", now);
}

/* Why an alert must wait, or NULL; counted once for each alert. */
static const char *obstacle(struct desk *d, struct alert *a, uint64_t now)
{
        const struct notice *n = a->notice;
        enum limit_answer answer;

        if (silences_find(d->silences, n->rule, n->target, now)) {
                d->stats.silenced += !a->counted_silenced;
                a->counted_silenced = true;
                return "not done: silenced";
        }
        answer = limit_ask(d->limits, act_plan_limits(a->plan), rule_of(n), n->fingerprint, now);
        if (answer == LIMIT_FREE)
                return NULL;
        d->stats.limited += !a->counted_limited;
        a->counted_limited = true;
        return answer == LIMIT_RULE ? "not done: the limit of the rule is reached"
                                    : "not done: the limit of this alert is reached";
}

static void try_to_act(struct desk *d, struct alert *a, uint64_t now)
{
        const char *why = obstacle(d, a, now);

        if (why) {
                if (a->n_results == 0 || strcmp(a->results[0].detail, why) != 0)
                        skip(d, a, why, now);
                return;
        }
        a->place = PLACE_ACTED;
        d->stats.acted++;
        limit_note(d->limits, act_plan_limits(a->plan), rule_of(a->notice), a->notice->fingerprint, now);
        done_note(&d->done, a->notice);
        act(d, a, false, now);
}

static bool is_old(const struct notice *n, uint64_t now)
{
        return n->wall_ns != NOTICE_NO_TIME && n->wall_ns < now && now - n->wall_ns > DESK_OLD_NS;
}

static void take_firing(struct desk *d, const struct notice *n, struct act_plan *plan, uint64_t now)
{
        struct alert *a = find(d, n->fingerprint);

        if (a && a->place != PLACE_OVER && a->notice->fired_wall_ns == n->fired_wall_ns)
                return; /* heard of already */
        if (a ? !replace(a, n, plan) : !(a = add(d, n, plan)))
                return;
        if (a->place == PLACE_OVER || a->since_wall_ns == 0)
                d->stats.firing++;
        a->since_wall_ns = now;
        a->n_results = 0;
        a->counted_silenced = a->counted_limited = false;
        a->known = act_plan_has_work(plan) && done_find(&d->done, n);
        a->place = is_old(n, now) ? PLACE_OLD : PLACE_WAITING;
        if (!act_plan_has_work(plan)) {
                a->place = PLACE_ACTED;
        } else if (a->known) {
                a->place = PLACE_ACTED;
                act(d, a, true, now);
        } else if (a->place == PLACE_WAITING) {
                try_to_act(d, a, now);
        }
}

static void take_resolved(struct desk *d, const struct notice *n, uint64_t now)
{
        struct alert *a = find(d, n->fingerprint);

        if (!a || a->place == PLACE_OVER)
                return;
        enum place before = a->place;
        const struct desk_done *done = done_find(&d->done, a->notice);
        bool known = a->known && done && done->resolved;

        /* What an alert is told apart by stays as it was when it fired, whatever a reload has changed meanwhile. */
        struct notice end = *n;
        end.severity = a->notice->severity;
        end.labels = a->notice->labels;
        end.n_labels = a->notice->n_labels;
        d->stats.firing--;
        if (!replace(a, &end, a->plan)) /* memory is short: its beginning is told as its end */
                a->notice->state = NOTICE_RESOLVED;
        a->place = PLACE_OVER;
        a->since_wall_ns = now;
        if (before == PLACE_ACTED && act_plan_has_work(a->plan)) {
                if (!known)
                        done_note(&d->done, a->notice);
                act(d, a, known, now);
        } else if (before == PLACE_OLD) {
                d->stats.past++;
                skip(d, a, "not done: it was over when the log was read", now);
        }
}

void desk_take(struct desk *d, const struct notice *notice, struct act_plan *plan, uint64_t now_wall_ns)
{
        if (notice->state == NOTICE_FIRING)
                take_firing(d, notice, plan, now_wall_ns);
        else if (notice->state == NOTICE_RESOLVED)
                take_resolved(d, notice, now_wall_ns);
}

void desk_end_target(struct desk *d, const char *target, const char *why, uint64_t now)
{
        for (size_t i = 0; i < BUCKETS; i++) {
                for (struct alert *a = d->buckets[i]; a; a = a->chain) {
                        if (a->place == PLACE_OVER || strcmp(a->notice->target, target) != 0)
                                continue;
                        struct notice end = *a->notice;
                        end.state = NOTICE_RESOLVED;
                        end.sentence = why;
                        end.time_ns = NOTICE_NO_TIME;
                        end.wall_ns = now;
                        take_resolved(d, &end, now);
                }
        }
}

static bool is_forgotten(const struct alert *a, uint64_t now)
{
        return a->place == PLACE_OVER && (now < a->since_wall_ns || now - a->since_wall_ns > DESK_KEEP_NS);
}

void desk_tick(struct desk *d, uint64_t now)
{
        for (size_t i = 0; i < BUCKETS; i++) {
                for (struct alert **link = &d->buckets[i]; *link;) {
                        struct alert *a = *link;
                        if (is_forgotten(a, now)) {
                                *link = a->chain;
                                d->n--;
                                alert_destroy(a);
                                continue;
                        }
                        if (a->place == PLACE_OLD && now - a->since_wall_ns >= DESK_SETTLE_NS)
                                a->place = PLACE_WAITING;
                        if (a->place == PLACE_WAITING)
                                try_to_act(d, a, now);
                        link = &a->chain;
                }
        }
}

/* ----------------------------------------------------------------- results */

void desk_report(struct desk *d, const struct act_report *report)
{
        struct alert *a = find(d, report->fingerprint);
        size_t i = 0;

        if (!a || report->step >= act_plan_steps(a->plan))
                return;
        while (i < a->n_results && a->results[i].step < report->step)
                i++;
        if (i == a->n_results || a->results[i].step != report->step) {
                memmove(a->results + i + 1, a->results + i, (a->n_results - i) * sizeof(*a->results));
                a->n_results++;
        }
        a->results[i] = *report;
        d->handler.changed(d->handler.ctx, a->notice);
}

const struct act_report *desk_results(const struct desk *d, uint64_t fingerprint, size_t *ret_n)
{
        const struct alert *a = find(d, fingerprint);

        *ret_n = a ? a->n_results : 0;
        return a ? a->results : NULL;
}

const struct desk_stats *desk_stats(const struct desk *d)
{
        return &d->stats;
}

/* -------------------------------------------------------------------- desk */

struct desk *desk_new(const struct desk_handler *handler, const struct silences *silences)
{
        struct desk *d = calloc(1, sizeof(*d));

        if (!d)
                return NULL;
        d->handler = *handler;
        d->silences = silences;
        d->limits = limit_table_new();
        if (!d->limits)
                desk_destroy(&d);
        return d;
}

void desk_destroy(struct desk **dp)
{
        struct desk *d = *dp;

        *dp = NULL;
        if (!d)
                return;
        for (size_t i = 0; i < BUCKETS; i++) {
                for (struct alert *a = d->buckets[i], *next; a; a = next) {
                        next = a->chain;
                        alert_destroy(a);
                }
        }
        limit_table_destroy(&d->limits);
        free(d);
}
