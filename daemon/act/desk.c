/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: an open alert is in one of these places, and desk_tick() asks again
 * about all that wait:
 *
 *      OLD ─settled─▶ WAITING ─▶ ACTED ─resolved─▶ OVER ─DESK_KEEP_NS─▶ forgotten
 *                        │        │ ▲ silenced, not any more
 *                        │        ▼ │                ▲
 *                        │      WITHDRAWN ─resolved──┤
 *                        └──────────resolved─────────┘
 *
 * Most actions are done once and stay done. An Alertmanager keeps a state that
 * is told to it again and again: only that can be, and is, WITHDRAWN.
 */
#include "daemon/act/desk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/act/desk_table.h"
#include "daemon/act/limits.h"
#include "daemon/act/withdrawal.h"

struct desk {
        struct desk_handler handler;
        const struct silences *silences;
        struct limit_table *limits;
        struct desk_table table;
        struct done_list done;
        struct act_plan *nothing; /* of an alert whose rule has no actions any more */
        struct desk_stats stats;
        uint64_t now_wall_ns; /* of the tick at hand */
};

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

/* ------------------------------------------------------------------- acting */

static uint64_t rule_of(const struct notice *n)
{
        return notice_fingerprint(n->group, n->rule, NULL, NULL, NULL);
}

/* The results before there are any: the same for all steps that are to be done. */
static void preset(struct desk_alert *a, bool known, enum act_outcome outcome, const char *detail, uint64_t now)
{
        a->n_results = 0;
        for (uint32_t i = 0; i < act_plan_steps(a->plan); i++) {
                const struct act_step *step = act_plan_step(a->plan, i);
                if (!act_step_applies(step, a->notice->state == NOTICE_RESOLVED, known))
                        continue;
                struct act_report *r = &a->results[a->n_results++];
                *r = (struct act_report){ .fingerprint = a->notice->fingerprint,
                                          .state = a->notice->state,
                                          .step = i,
                                          .kind = step->kind,
                                          .outcome = outcome,
                                          .wall_ns = now };
                snprintf(r->detail, sizeof(r->detail), "%s", detail);
        }
}

/* All that has to be done for this alert is marked as left out, for this reason. */
static void skip(struct desk *d, struct desk_alert *a, bool known, const char *why, uint64_t now)
{
        preset(a, known, ACT_SKIPPED, why, now);
        d->handler.changed(d->handler.ctx, a->notice);
}

static void act(struct desk *d, struct desk_alert *a, bool known, uint64_t now)
{
        preset(a, known, ACT_UNDER_WAY, "", now);
        if (d->handler.act(d->handler.ctx, a->notice, a->plan, known))
                return;
        d->stats.dropped++;
        skip(d, a, known, "not done: too much to do at once", now);
}

/* ----------------------------------------------------------------- silences */

static const char silenced[] = "not done: silenced";

static const struct silence *silence_of(const struct desk *d, const struct desk_alert *a, uint64_t now)
{
        return silences_find(d->silences, a->notice->rule, a->notice->target, now);
}

static void count_silenced(struct desk *d, struct desk_alert *a)
{
        d->stats.silenced += !a->counted_silenced;
        a->counted_silenced = true;
}

/* Who keeps the alert as a state would go on notifying people. What cannot be sent now is tried by the next tick. */
static void withdraw(struct desk *d, struct desk_alert *a, const struct silence *silence, uint64_t now)
{
        struct notice *end = withdrawal_new(a->notice, silence, now);
        bool told = end && d->handler.act(d->handler.ctx, end, a->plan, true);

        free(end);
        if (!told)
                return;
        a->place = PLACE_WITHDRAWN;
        count_silenced(d, a);
}

static void tell_again(struct desk *d, struct desk_alert *a)
{
        if (!d->handler.act(d->handler.ctx, a->notice, a->plan, true))
                return;
        a->place = PLACE_ACTED;
        d->handler.changed(d->handler.ctx, a->notice);
}

/* ---------------------------------------------------------------- decisions */

/* Why an alert must wait, or NULL; counted once for each alert. */
static const char *obstacle(struct desk *d, struct desk_alert *a, uint64_t now)
{
        const struct notice *n = a->notice;
        enum limit_answer answer;

        if (silence_of(d, a, now)) {
                count_silenced(d, a);
                return silenced;
        }
        answer = limit_ask(d->limits, act_plan_limits(a->plan), rule_of(n), n->fingerprint, now);
        if (answer == LIMIT_FREE)
                return NULL;
        d->stats.limited += !a->counted_limited;
        a->counted_limited = true;
        return answer == LIMIT_RULE ? "not done: the limit of the rule is reached"
                                    : "not done: the limit of this alert is reached";
}

static void try_to_act(struct desk *d, struct desk_alert *a, uint64_t now)
{
        const char *why = obstacle(d, a, now);

        if (why) {
                if (a->n_results == 0 || strcmp(a->results[0].detail, why) != 0)
                        skip(d, a, false, why, now);
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

/* Acted on before a restart: what keeps a state is told again, the rest is done. */
static void go_on_known(struct desk *d, struct desk_alert *a, uint64_t now)
{
        if (act_plan_keeps_state(a->plan) && silence_of(d, a, now)) {
                a->place = PLACE_WITHDRAWN;
                count_silenced(d, a);
                skip(d, a, true, silenced, now);
                return;
        }
        a->place = PLACE_ACTED;
        act(d, a, true, now);
}

static void begin(struct desk *d, struct desk_alert *a, uint64_t now)
{
        if (a->place == PLACE_OVER || a->since_wall_ns == 0)
                d->stats.firing++;
        a->since_wall_ns = now;
        a->n_results = 0;
        a->counted_silenced = a->counted_limited = false;
        a->known = act_plan_has_work(a->plan) && done_find(&d->done, a->notice);
        a->place = is_old(a->notice, now) ? PLACE_OLD : PLACE_WAITING;
        if (!act_plan_has_work(a->plan))
                a->place = PLACE_ACTED;
        else if (a->known)
                go_on_known(d, a, now);
        else if (a->place == PLACE_WAITING)
                try_to_act(d, a, now);
}

/*
 * Told again, as after a reload: an alert that nothing has been done for takes
 * the actions that its rule has now. One that was acted on keeps those of its
 * beginning, so that who was told of it is told of its end.
 */
static void take_again(struct desk *d, struct desk_alert *a, const struct notice *n, struct act_plan *plan,
                       uint64_t now)
{
        bool acted = a->place == PLACE_WITHDRAWN || (a->place == PLACE_ACTED && act_plan_has_work(a->plan));

        if (a->plan == plan || acted || !desk_alert_replace(a, n, plan))
                return;
        if (!act_plan_has_work(plan))
                a->place = PLACE_ACTED;
        else if (a->place == PLACE_ACTED)
                a->place = PLACE_WAITING;
        if (a->place == PLACE_WAITING)
                try_to_act(d, a, now);
        else
                d->handler.changed(d->handler.ctx, a->notice);
}

static void take_firing(struct desk *d, const struct notice *n, struct act_plan *plan, uint64_t now)
{
        struct desk_alert *a = desk_table_find(&d->table, n->fingerprint);

        if (a && a->place != PLACE_OVER && a->notice->fired_wall_ns == n->fired_wall_ns) {
                take_again(d, a, n, plan, now);
                return;
        }
        if (a && !desk_alert_replace(a, n, plan))
                return;
        if (!a && !(a = desk_table_add(&d->table, n, plan)))
                d->stats.no_room++;
        else
                begin(d, a, now);
}

static void take_resolved(struct desk *d, const struct notice *n, uint64_t now)
{
        struct desk_alert *a = desk_table_find(&d->table, n->fingerprint);

        if (!a || a->place == PLACE_OVER)
                return;
        enum desk_place before = a->place;
        const struct desk_done *done = done_find(&d->done, a->notice);
        bool known = a->known && done && done->resolved;

        /* What an alert is told apart by stays as it was when it fired, whatever a reload has changed meanwhile. */
        struct notice end = *n;
        end.severity = a->notice->severity;
        end.labels = a->notice->labels;
        end.n_labels = a->notice->n_labels;
        d->stats.firing--;
        if (!desk_alert_replace(a, &end, a->plan)) /* out of memory: its beginning is told as its end */
                a->notice->state = NOTICE_RESOLVED;
        a->place = PLACE_OVER;
        a->since_wall_ns = now;
        if (before == PLACE_WITHDRAWN || (before == PLACE_ACTED && act_plan_has_work(a->plan))) {
                if (!known)
                        done_note(&d->done, a->notice);
                act(d, a, known, now);
        } else if (before == PLACE_OLD) {
                d->stats.past++;
                skip(d, a, false, "not done: it was over when the log was read", now);
        }
}

void desk_take(struct desk *d, const struct notice *notice, struct act_plan *plan, uint64_t now_wall_ns)
{
        bool heard_of = desk_table_find(&d->table, notice->fingerprint);

        if (notice->state == NOTICE_RESOLVED)
                take_resolved(d, notice, now_wall_ns);
        else if (notice->state == NOTICE_FIRING && (plan || heard_of))
                take_firing(d, notice, plan ? plan : d->nothing, now_wall_ns);
}

struct end {
        struct desk *desk;
        const char *target, *why;
        uint64_t now;
};

static bool end_one(void *ctx, struct desk_alert *a)
{
        const struct end *e = ctx;
        struct notice end = *a->notice;

        end.state = NOTICE_RESOLVED;
        end.sentence = e->why;
        end.time_ns = NOTICE_NO_TIME;
        end.wall_ns = e->now;
        if (!strcmp(end.target, e->target))
                take_resolved(e->desk, &end, e->now);
        return true;
}

void desk_end_target(struct desk *d, const char *target, const char *why, uint64_t now)
{
        struct end e = { d, target, why, now };

        desk_table_visit(&d->table, end_one, &e);
}

static bool is_forgotten(const struct desk_alert *a, uint64_t now)
{
        return a->place == PLACE_OVER && (now < a->since_wall_ns || now - a->since_wall_ns > DESK_KEEP_NS);
}

static bool look_again(void *ctx, struct desk_alert *a)
{
        struct desk *d = ctx;
        uint64_t now = d->now_wall_ns;
        const struct silence *silence;

        if (is_forgotten(a, now))
                return false;
        if (a->place == PLACE_OLD && now - a->since_wall_ns >= DESK_SETTLE_NS)
                a->place = PLACE_WAITING;
        if (a->place == PLACE_WAITING) {
                try_to_act(d, a, now);
        } else if (a->place == PLACE_ACTED && act_plan_keeps_state(a->plan)) {
                silence = silence_of(d, a, now);
                if (silence)
                        withdraw(d, a, silence, now);
        } else if (a->place == PLACE_WITHDRAWN && !silence_of(d, a, now)) {
                tell_again(d, a);
        }
        return true;
}

void desk_tick(struct desk *d, uint64_t now)
{
        d->now_wall_ns = now;
        desk_table_visit(&d->table, look_again, d);
}

/* ------------------------------------------------------------------ results */

void desk_report(struct desk *d, const struct act_report *report)
{
        struct desk_alert *a = desk_table_find(&d->table, report->fingerprint);
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
        if (report->state == NOTICE_RESOLVED && a->place == PLACE_WITHDRAWN)
                snprintf(a->results[i].detail, sizeof(a->results[i].detail), "withdrawn, silenced: %.200s",
                         report->detail);
        d->handler.changed(d->handler.ctx, a->notice);
}

const struct act_report *desk_results(const struct desk *d, uint64_t fingerprint, size_t *ret_n)
{
        const struct desk_alert *a = desk_table_find(&d->table, fingerprint);

        *ret_n = a ? a->n_results : 0;
        return a ? a->results : NULL;
}

const struct desk_stats *desk_stats(const struct desk *d)
{
        return &d->stats;
}

/* --------------------------------------------------------------------- desk */

struct desk *desk_new(const struct desk_handler *handler, const struct silences *silences)
{
        struct desk *d = calloc(1, sizeof(*d));

        if (!d)
                return NULL;
        d->handler = *handler;
        d->silences = silences;
        d->limits = limit_table_new();
        d->nothing = act_plan_new();
        if (!d->limits || !d->nothing)
                desk_destroy(&d);
        return d;
}

void desk_destroy(struct desk **dp)
{
        struct desk *d = *dp;

        *dp = NULL;
        if (!d)
                return;
        desk_table_done(&d->table);
        act_plan_unref(&d->nothing);
        limit_table_destroy(&d->limits);
        free(d);
}
