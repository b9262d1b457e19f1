/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: an open alert is in one of these states, and each news of it and each
 * tick rechecks it:
 *
 *      OLD ─settled─▶ WAITING ─▶ ACTED ─resolved─▶ DONE ─DISPATCHER_KEEP_NS─▶ forgotten
 *                        │        │ ▲ silenced, no longer silenced
 *                        │        ▼ │                ▲
 *                        │      SILENCED ─resolved───┤
 *                        └──────────resolved─────────┘
 *
 * Most actions are done once. An Alertmanager keeps a state that is sent to it
 * repeatedly: only alerts with such an action become SILENCED.
 */
#include "client/out/notify/dispatcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/idtable.h"

enum open_state { STATE_OLD, STATE_WAITING, STATE_ACTED, STATE_SILENCED, STATE_DONE };

struct open_alert {
        struct alert_event *event; /* its beginning, or its end in STATE_DONE */
        struct action_plan *plan;
        char *silenced; /* until when and why; NULL: it is not */
        enum open_state state;
        bool known;                    /* acted on before a restart */
        bool changed;                  /* results that the daemon does not have yet */
        bool fresh;                    /* what it has is over */
        uint64_t since_wall_ns;        /* when it became known; in STATE_DONE, when it was done */
        struct action_report *results; /* room for one for each step of the plan */
        size_t n_results;
};

struct dispatcher {
        struct dispatcher_handler handler;
        struct record *record;
        struct limit_table *limits;
        struct open_alert **alerts;
        size_t n, capacity;
        struct idtable index; /* of `alerts`, by fingerprint: place + 1 */
        uint64_t dropped;     /* actions */
        uint64_t now_wall_ns; /* of the current call */
};

/* ---------------------------------------------------------------- open alerts */

static uint64_t hash_of(uint64_t fingerprint)
{
        return fingerprint ^ fingerprint >> 32;
}

static struct open_alert *find_alert(const struct dispatcher *d, uint64_t fingerprint)
{
        uint32_t at = idtable_start(&d->index, hash_of(fingerprint)), id;

        while ((id = idtable_next(&d->index, hash_of(fingerprint), &at)))
                if (d->alerts[id - 1]->event->fingerprint == fingerprint)
                        return d->alerts[id - 1];
        return NULL;
}

static void alert_destroy(struct open_alert *a)
{
        action_plan_unref(&a->plan);
        alert_event_unref(&a->event);
        free(a->silenced);
        free(a->results);
        free(a);
}

/* Another event and plan for an alert; results stay if the plan does. False when out of memory: nothing has changed. */
static bool replace_alert(struct open_alert *a, const struct alert_event *event, struct action_plan *plan)
{
        const bool same = a->results && plan == a->plan;
        struct action_report *results = same ? a->results : calloc(action_plan_steps(plan) + 1, sizeof(*results));

        if (!results)
                return false;
        struct alert_event *next = alert_event_ref(event); /* before the old ones are released: they may be the same */
        struct action_plan *next_plan = action_plan_ref(plan);
        alert_event_unref(&a->event);
        action_plan_unref(&a->plan);
        if (!same) {
                free(a->results);
                a->n_results = 0;
                a->fresh = true;
        }
        a->event = next;
        a->plan = next_plan;
        a->results = results;
        return true;
}

/* NULL: no room, or no memory. */
static struct open_alert *add_alert(struct dispatcher *d, const struct news *news)
{
        struct open_alert *a = d->n < DISPATCHER_ALERTS_MAX && ARRAY_RESERVE(d->alerts, d->capacity, d->n + 1)
                                       ? calloc(1, sizeof(*a))
                                       : NULL;

        if (!a || !replace_alert(a, news->event, news->plan) ||
            idtable_add(&d->index, hash_of(news->event->fingerprint), (uint32_t)d->n + 1) != 0) {
                if (a)
                        alert_destroy(a);
                return NULL;
        }
        return d->alerts[d->n++] = a;
}

/* ------------------------------------------------------------------- acting */

static uint64_t rule_of(const struct alert_event *e)
{
        return hash_text(alert_event_text(e, "alert"), hash_text(alert_event_text(e, "group"), 0));
}

/* Stores the newest result of a step. */
static void put_result(struct open_alert *a, const struct action_report *r)
{
        size_t i = 0;

        while (i < a->n_results && a->results[i].step < r->step)
                i++;
        if (i == a->n_results || a->results[i].step != r->step) {
                memmove(a->results + i + 1, a->results + i, (a->n_results - i) * sizeof(*a->results));
                a->n_results++;
        }
        a->results[i] = *r;
        a->changed = true;
}

/*
 * Initial results, the same for all steps that are to be done. Those of known alerts are kept, and, when an alert ends,
 * those of steps that are done at its beginning alone: what a dump or `why` has found stays true.
 */
static void preset_outcome(struct open_alert *a, bool known, enum action_outcome outcome, const char *detail,
                           uint64_t now)
{
        if (!known && !a->event->resolved) {
                a->n_results = 0;
                a->fresh = true;
        }
        for (uint32_t i = 0; i < action_plan_steps(a->plan); i++) {
                const struct action_step *step = action_plan_step(a->plan, i);
                if (!action_step_applies(step, a->event->resolved, known))
                        continue;
                struct action_report r = { .fingerprint = a->event->fingerprint,
                                           .resolved = a->event->resolved,
                                           .step = i,
                                           .kind = step->kind,
                                           .outcome = outcome,
                                           .wall_ns = now };
                (void)snprintf(r.detail, sizeof(r.detail), "%s", detail);
                put_result(a, &r);
        }
        a->changed = true;
}

static void act_on_alert(struct dispatcher *d, struct open_alert *a, bool known)
{
        preset_outcome(a, known, OUTCOME_UNDER_WAY, "", d->now_wall_ns);
        d->handler.act(d->handler.ctx, a->event, a->plan, known);
}

/* ----------------------------------------------------------------- silences */

static const char silenced[] = "not done: silenced";

/*
 * Otherwise a receiver that keeps the alert as a state would go on notifying people. When out of memory, the next
 * tick retries.
 */
static void resolve_on_silence(struct dispatcher *d, struct open_alert *a)
{
        struct alert_event *end = alert_event_end(a->event, NULL, a->silenced, d->now_wall_ns);

        if (!end)
                return;
        d->handler.act(d->handler.ctx, end, a->plan, true);
        alert_event_unref(&end);
        a->state = STATE_SILENCED;
}

/* ---------------------------------------------------------------- decisions */

/* Why an alert must wait, or NULL. */
static const char *find_obstacle(const struct dispatcher *d, const struct open_alert *a)
{
        enum limit_answer answer;

        if (a->silenced)
                return silenced;
        answer = limit_check(d->limits, action_plan_limits(a->plan), rule_of(a->event), a->event->fingerprint,
                             d->now_wall_ns);
        if (answer == LIMIT_FREE)
                return NULL;
        return answer == LIMIT_RULE ? "not done: the limit of the rule is reached"
                                    : "not done: the limit of this alert is reached";
}

static void try_to_act(struct dispatcher *d, struct open_alert *a)
{
        const char *why = find_obstacle(d, a);

        if (why) {
                if (a->n_results == 0 || strcmp(a->results[0].detail, why) != 0)
                        preset_outcome(a, false, OUTCOME_SKIPPED, why, d->now_wall_ns);
                return;
        }
        a->state = STATE_ACTED;
        limit_note(d->limits, action_plan_limits(a->plan), rule_of(a->event), a->event->fingerprint, d->now_wall_ns);
        record_begin(d->record, a->event);
        act_on_alert(d, a, false);
}

static bool is_old(uint64_t wall_ns, uint64_t now)
{
        return wall_ns != UNKNOWN_U64 && wall_ns < now && now - wall_ns > DISPATCHER_OLD_NS;
}

/* Acted on before a restart: actions that keep a state are sent again, the others are done. */
static void resume_known(struct dispatcher *d, struct open_alert *a)
{
        bool keeps_state = action_plan_keeps_state(a->plan);

        if (keeps_state && a->silenced) {
                a->state = STATE_SILENCED;
                preset_outcome(a, true, OUTCOME_SKIPPED, silenced, d->now_wall_ns);
                return;
        }
        a->state = STATE_ACTED;
        if (keeps_state)
                act_on_alert(d, a, true);
}

static const struct record_entry *find_record(const struct dispatcher *d, const struct open_alert *a)
{
        return record_find(d->record, a->event->fingerprint, a->event->fired_wall_ns);
}

/* Rechecks an alert that waits, or whose silence began or ended. */
static void recheck_alert(struct dispatcher *d, struct open_alert *a)
{
        if (a->state == STATE_OLD && d->now_wall_ns - a->since_wall_ns >= DISPATCHER_SETTLE_NS)
                a->state = STATE_WAITING;
        if (a->state == STATE_WAITING)
                try_to_act(d, a);
        else if (a->state == STATE_ACTED && a->silenced && action_plan_keeps_state(a->plan))
                resolve_on_silence(d, a);
        else if (a->state == STATE_SILENCED && !a->silenced) { /* what was resolved for the silence is told anew */
                d->handler.act(d->handler.ctx, a->event, a->plan, true);
                a->state = STATE_ACTED;
                a->changed = true;
        }
}

/*
 * After a reload: an alert that was not acted on gets the actions that its rule
 * has now. One that was acted on keeps those of its beginning, so that whoever
 * was notified of it is notified of its end.
 */
static void change_plan(struct open_alert *a, struct action_plan *plan)
{
        bool acted = a->state == STATE_SILENCED || (a->state == STATE_ACTED && action_plan_has_work(a->plan));

        if (a->plan == plan || acted || !replace_alert(a, a->event, plan))
                return;
        a->changed = true;
        if (!action_plan_has_work(plan))
                a->state = STATE_ACTED;
        else if (a->state == STATE_ACTED)
                a->state = STATE_WAITING;
}

/* --------------------------------------------------------------------- ends */

/* `last`: what the daemon says about it; NULL: it was not told. */
static void end_alert(struct dispatcher *d, struct open_alert *a, const struct alert_event *last)
{
        enum open_state before = a->state;
        const struct record_entry *entry = find_record(d, a);
        bool known = a->known && entry && entry->resolved;
        struct alert_event *e = alert_event_end(a->event, last, NULL, d->now_wall_ns);
        bool replaced = e && replace_alert(a, e, a->plan);

        alert_event_unref(&e);
        if (!replaced)
                return; /* out of memory */
        a->state = STATE_DONE;
        a->since_wall_ns = d->now_wall_ns;
        if (before == STATE_SILENCED || (before == STATE_ACTED && action_plan_has_work(a->plan))) {
                if (!known)
                        record_begin(d->record, a->event);
                act_on_alert(d, a, known);
        } else if (before == STATE_OLD) {
                preset_outcome(a, false, OUTCOME_SKIPPED, "not done: it was over when the log was read",
                               d->now_wall_ns);
        }
}

/* --------------------------------------------------------------------- news */

static void set_silence(struct open_alert *a, const struct news *news)
{
        char *words = news->silenced ? strdup(news->silenced) : NULL;

        if (!words && news->silenced)
                return; /* out of memory: as it was */
        free(a->silenced);
        a->silenced = words;
}

/* An alert that begins to fire: a new one, or one that had ended. NULL when there is no room: its actions are lost. */
static struct open_alert *add_firing(struct dispatcher *d, struct open_alert *a, const struct news *news)
{
        if (a && !replace_alert(a, news->event, news->plan))
                a = NULL;
        else if (!a)
                a = add_alert(d, news);
        if (!a) {
                d->dropped += action_plan_steps(news->plan);
                return NULL;
        }
        set_silence(a, news);
        a->since_wall_ns = d->now_wall_ns;
        a->n_results = 0;
        a->known = action_plan_has_work(a->plan) && find_record(d, a);
        a->fresh = !a->known; /* else the daemon may know what was done */
        a->state = is_old(alert_event_wall_ns(a->event), d->now_wall_ns) ? STATE_OLD : STATE_WAITING;
        if (!action_plan_has_work(a->plan))
                a->state = STATE_ACTED;
        else if (a->known)
                resume_known(d, a);
        else if (a->state == STATE_WAITING)
                try_to_act(d, a);
        return a;
}

static void update_firing(struct dispatcher *d, struct open_alert *a, const struct news *news)
{
        if (a && a->state != STATE_DONE && a->event->fired_wall_ns != news->event->fired_wall_ns)
                end_alert(d, a, NULL); /* it fires again, and its end was never seen */
        if (!a || a->state == STATE_DONE) {
                (void)add_firing(d, a, news);
                return;
        }
        set_silence(a, news);
        change_plan(a, news->plan);
        recheck_alert(d, a);
}

/* Ended before it became known: acted on before a restart, or so short that its beginning was never seen. */
static void end_unseen(struct dispatcher *d, struct open_alert *a, const struct news *news)
{
        const struct alert_event *e = news->event;
        const struct record_entry *entry = record_find(d->record, e->fingerprint, e->fired_wall_ns);
        bool recent = e->fired_wall_ns != UNKNOWN_U64 && !is_old(e->fired_wall_ns, d->now_wall_ns);

        if ((entry && entry->resolved) || (!entry && !recent) || !action_plan_has_work(news->plan))
                return;
        struct alert_event *began = alert_event_begin(e);
        struct news beginning = { began, news->plan, news->silenced };
        a = began ? add_firing(d, a, &beginning) : NULL;
        alert_event_unref(&began);
        if (a)
                end_alert(d, a, e);
}

void dispatcher_apply(struct dispatcher *d, const struct news *news, uint64_t now_wall_ns)
{
        struct open_alert *a = find_alert(d, news->event->fingerprint);

        d->now_wall_ns = now_wall_ns;
        if (news->event->resolved) {
                bool same = a && a->event->fired_wall_ns == news->event->fired_wall_ns;

                if (a && a->state != STATE_DONE)
                        end_alert(d, a, same ? news->event : NULL);
                if (!same)
                        end_unseen(d, a, news);
        } else
                update_firing(d, a, news);
}

static bool is_forgotten(const struct open_alert *a, uint64_t now)
{
        return a->state == STATE_DONE && !a->changed &&
               (now < a->since_wall_ns || now - a->since_wall_ns > DISPATCHER_KEEP_NS);
}

void dispatcher_tick(struct dispatcher *d, uint64_t now_wall_ns)
{
        size_t n = 0, before = d->n;

        d->now_wall_ns = now_wall_ns;
        for (size_t i = 0; i < before; i++)
                recheck_alert(d, d->alerts[i]);
        for (size_t i = 0; i < before; i++)
                if (is_forgotten(d->alerts[i], now_wall_ns))
                        alert_destroy(d->alerts[i]);
                else
                        d->alerts[n++] = d->alerts[i];
        if (n == before)
                return;
        d->n = n;
        idtable_clear(&d->index);
        for (size_t i = 0; i < n; i++)
                (void)idtable_add(&d->index, hash_of(d->alerts[i]->event->fingerprint), (uint32_t)i + 1);
}

/* ------------------------------------------------------------------ results */

void dispatcher_report(struct dispatcher *d, const struct action_report *report)
{
        struct open_alert *a = find_alert(d, report->fingerprint);
        struct action_report r = *report;

        if (!a || report->step >= action_plan_steps(a->plan))
                return;
        if (report->resolved && a->state == STATE_SILENCED)
                (void)snprintf(r.detail, sizeof(r.detail), "resolved on silence: %.200s", report->detail);
        put_result(a, &r);
}

const struct action_report *dispatcher_results(const struct dispatcher *d, uint64_t fingerprint, size_t *ret_n)
{
        const struct open_alert *a = find_alert(d, fingerprint);

        *ret_n = a ? a->n_results : 0;
        return a ? a->results : NULL;
}

void dispatcher_collect_changed(struct dispatcher *d, dispatcher_each_fn *each, void *ctx)
{
        for (size_t i = 0; i < d->n; i++) {
                struct open_alert *a = d->alerts[i];
                if (!a->changed)
                        continue;
                if (!each(ctx, a->event, a->fresh, a->results, a->n_results))
                        return;
                a->changed = a->fresh = false;
        }
}

uint64_t dispatcher_dropped(const struct dispatcher *d)
{
        return d->dropped;
}

/* --------------------------------------------------------------------- life */

struct dispatcher *dispatcher_new(const struct dispatcher_handler *handler, struct record *record)
{
        struct dispatcher *d = calloc(1, sizeof(*d));

        if (!d)
                return NULL;
        d->handler = *handler;
        d->record = record;
        d->limits = limit_table_new();
        if (!d->limits)
                dispatcher_destroy(&d);
        return d;
}

void dispatcher_destroy(struct dispatcher **dp)
{
        struct dispatcher *d = *dp;

        *dp = NULL;
        if (!d)
                return;
        while (d->n > 0)
                alert_destroy(d->alerts[--d->n]);
        free(d->alerts);
        idtable_done(&d->index);
        limit_table_destroy(&d->limits);
        free(d);
}
