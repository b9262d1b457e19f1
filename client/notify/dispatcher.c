/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: an open alert is in one of these states, and each list and each tick
 * rechecks all that wait:
 *
 *      OLD ─settled─▶ WAITING ─▶ ACTED ─resolved─▶ DONE ─DISPATCHER_KEEP_NS─▶ forgotten
 *                        │        │ ▲ silenced, no longer silenced
 *                        │        ▼ │                ▲
 *                        │      SILENCED ─resolved───┤
 *                        └──────────resolved─────────┘
 *
 * Most actions are done once. An Alertmanager keeps a state that is sent to it
 * repeatedly: only alerts with such an action become SILENCED.
 *
 * Every list has a number; after one has been processed, alerts without its number were
 * not in it.
 */
#include "client/notify/dispatcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/notify/open_alerts.h"
#include "client/notify/rate_limit.h"
#include "proto/base/hash.h"
#include "proto/base/idtable.h"

#define NO_ROOM_MAX 65536u /* alerts without room that are told from each other; further ones are not counted */

struct dispatcher {
        struct dispatcher_handler handler;
        struct record *record;
        struct limit_table *limits;
        struct open_alerts table;
        struct action_plan *nothing; /* for alerts whose rule has no actions */
        struct dispatcher_stats stats;
        struct idtable no_room; /* alerts that the table had no room for, while it is nearly full: each counts once */
        uint64_t lists;         /* taken so far */
        uint64_t now_wall_ns;   /* of the current call */
};

/* ------------------------------------------------------------------- acting */

static uint64_t rule_of(const struct alert_event *e)
{
        return hash_text(e->alert->rule, hash_text(e->alert->group, 0));
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
static void preset(struct open_alert *a, bool known, enum action_outcome outcome, const char *detail, uint64_t now)
{
        if (!known && !a->event->resolved)
                a->n_results = 0;
        for (uint32_t i = 0; i < action_plan_steps(a->plan); i++) {
                const struct action_step *step = action_plan_step(a->plan, i);
                if (!action_step_applies(step, a->event->resolved, known))
                        continue;
                struct action_report r = { .fingerprint = a->event->alert->fingerprint,
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

static void act(struct dispatcher *d, struct open_alert *a, bool known)
{
        preset(a, known, OUTCOME_UNDER_WAY, "", d->now_wall_ns);
        d->handler.act(d->handler.ctx, a->event, a->plan, known);
}

/* ----------------------------------------------------------------- silences */

static const char silenced[] = "not done: silenced";

static void count_silenced(struct dispatcher *d, struct open_alert *a)
{
        d->stats.silenced += !a->counted_silenced;
        a->counted_silenced = true;
}

/*
 * Otherwise a receiver that keeps the alert as a state would go on notifying people. When out of memory, the next
 * tick retries.
 */
static void resolve_on_silence(struct dispatcher *d, struct open_alert *a)
{
        Hw__Silence silence = HW__SILENCE__INIT;

        silence.has_until_wall_ns = a->silenced_until_wall_ns != UNKNOWN_U64;
        silence.until_wall_ns = a->silenced_until_wall_ns;
        silence.why = a->silenced_why;
        struct alert_event *end = alert_event_resolve_on_silence(a->event, &silence, d->now_wall_ns);

        if (!end)
                return;
        d->handler.act(d->handler.ctx, end, a->plan, true);
        alert_event_unref(&end);
        a->state = STATE_SILENCED;
        count_silenced(d, a);
}

static void resume_after_silence(struct dispatcher *d, struct open_alert *a)
{
        d->handler.act(d->handler.ctx, a->event, a->plan, true);
        a->state = STATE_ACTED;
        a->changed = true;
}

/* ---------------------------------------------------------------- decisions */

/* Why an alert must wait, or NULL; counted once for each alert. */
static const char *obstacle(struct dispatcher *d, struct open_alert *a)
{
        enum limit_answer answer;

        if (a->silenced) {
                count_silenced(d, a);
                return silenced;
        }
        answer = limit_check(d->limits, action_plan_limits(a->plan), rule_of(a->event), a->event->alert->fingerprint,
                             d->now_wall_ns);
        if (answer == LIMIT_FREE)
                return NULL;
        d->stats.limited += !a->counted_limited;
        a->counted_limited = true;
        return answer == LIMIT_RULE ? "not done: the limit of the rule is reached"
                                    : "not done: the limit of this alert is reached";
}

static void try_to_act(struct dispatcher *d, struct open_alert *a)
{
        const char *why = obstacle(d, a);

        if (why) {
                if (a->n_results == 0 || strcmp(a->results[0].detail, why) != 0)
                        preset(a, false, OUTCOME_SKIPPED, why, d->now_wall_ns);
                return;
        }
        a->state = STATE_ACTED;
        d->stats.acted++;
        limit_note(d->limits, action_plan_limits(a->plan), rule_of(a->event), a->event->alert->fingerprint,
                   d->now_wall_ns);
        record_begin(d->record, a->event);
        act(d, a, false);
}

static bool is_old(uint64_t wall_ns, uint64_t now)
{
        return wall_ns != UNKNOWN_U64 && wall_ns < now && now - wall_ns > DISPATCHER_OLD_NS;
}

/* Takes what the daemon knows of an alert's actions from before a restart. */
static void restore_results(struct open_alert *a)
{
        const Hw__Alert *m = a->event->alert;

        for (size_t i = 0; i < m->n_actions; i++) {
                const Hw__ActionResult *from = m->actions[i];
                if (!from->has_step || from->step >= action_plan_steps(a->plan))
                        continue;
                struct action_report r = { .fingerprint = m->fingerprint,
                                           .step = from->step,
                                           .kind = action_plan_step(a->plan, from->step)->kind,
                                           .outcome = from->ok ? OUTCOME_DONE : OUTCOME_FAILED,
                                           .attempts = from->attempts,
                                           .wall_ns = from->wall_ns };
                (void)snprintf(r.detail, sizeof(r.detail), "%s", from->detail ? from->detail : "");
                put_result(a, &r);
        }
}

/* Acted on before a restart: actions that keep a state are sent again, the others are done. */
static void resume_known(struct dispatcher *d, struct open_alert *a)
{
        bool keeps_state = action_plan_keeps_state(a->plan);

        if (keeps_state && a->silenced) {
                a->state = STATE_SILENCED;
                count_silenced(d, a);
                preset(a, true, OUTCOME_SKIPPED, silenced, d->now_wall_ns);
                return;
        }
        a->state = STATE_ACTED;
        if (keeps_state)
                act(d, a, true);
}

static const struct record_entry *recorded(const struct dispatcher *d, const struct open_alert *a)
{
        return record_find(d->record, a->event->alert->fingerprint, alert_event_fired_wall_ns(a->event));
}

static void begin(struct dispatcher *d, struct open_alert *a)
{
        d->stats.firing++;
        a->since_wall_ns = d->now_wall_ns;
        a->n_results = 0;
        a->counted_silenced = a->counted_limited = false;
        a->known = action_plan_has_work(a->plan) && recorded(d, a);
        if (a->known)
                restore_results(a);
        a->state = is_old(alert_event_wall_ns(a->event), d->now_wall_ns) ? STATE_OLD : STATE_WAITING;
        if (!action_plan_has_work(a->plan))
                a->state = STATE_ACTED;
        else if (a->known)
                resume_known(d, a);
        else if (a->state == STATE_WAITING)
                try_to_act(d, a);
}

/* Rechecks an alert that waits, or whose silence began or ended. */
static void recheck(struct dispatcher *d, struct open_alert *a)
{
        if (a->state == STATE_OLD && d->now_wall_ns - a->since_wall_ns >= DISPATCHER_SETTLE_NS)
                a->state = STATE_WAITING;
        if (a->state == STATE_WAITING)
                try_to_act(d, a);
        else if (a->state == STATE_ACTED && a->silenced && action_plan_keeps_state(a->plan))
                resolve_on_silence(d, a);
        else if (a->state == STATE_SILENCED && !a->silenced)
                resume_after_silence(d, a);
}

/*
 * After a reload: an alert that was not acted on gets the actions that its rule
 * has now. One that was acted on keeps those of its beginning, so that whoever
 * was notified of it is notified of its end.
 */
static void change_plan(struct open_alert *a, struct action_plan *plan)
{
        bool acted = a->state == STATE_SILENCED || (a->state == STATE_ACTED && action_plan_has_work(a->plan));

        if (a->plan == plan || acted || !open_alert_replace(a, a->event, plan))
                return;
        a->changed = true;
        if (!action_plan_has_work(plan))
                a->state = STATE_ACTED;
        else if (a->state == STATE_ACTED)
                a->state = STATE_WAITING;
}

/* --------------------------------------------------------------------- ends */

/* `last`: the daemon's message about it; NULL: it ended for the reason `why` (NULL: unknown). The alert may remain. */
static void end(struct dispatcher *d, struct open_alert *a, const Hw__Alert *last, const char *why)
{
        enum open_state before = a->state;
        const struct record_entry *entry = recorded(d, a);
        bool known = a->known && entry && entry->resolved;
        struct alert_event *e = alert_event_end(a->event, last, why, d->now_wall_ns);
        bool replaced = e && open_alert_replace(a, e, a->plan);

        alert_event_unref(&e);
        if (!replaced)
                return; /* out of memory: the next list repeats it */
        d->stats.firing--;
        a->state = STATE_DONE;
        a->since_wall_ns = d->now_wall_ns;
        if (before == STATE_SILENCED || (before == STATE_ACTED && action_plan_has_work(a->plan))) {
                if (!known)
                        record_begin(d->record, a->event);
                act(d, a, known);
        } else if (before == STATE_OLD) {
                d->stats.past++;
                preset(a, false, OUTCOME_SKIPPED, "not done: it was over when the log was read", d->now_wall_ns);
        }
}

/* -------------------------------------------------------------------- lists */

static struct action_plan *plan_of(struct dispatcher *d, const Hw__Alert *m)
{
        struct action_plan *plan = d->handler.plan_of(d->handler.ctx, m->group, m->rule);

        return plan ? plan : d->nothing;
}

static void set_silence(struct open_alert *a, const Hw__Alert *m)
{
        const Hw__Silence *s = m->silence;

        a->silenced = m->has_silenced && m->silenced;
        a->silenced_until_wall_ns = s && s->has_until_wall_ns ? s->until_wall_ns : UNKNOWN_U64;
        (void)snprintf(a->silenced_why, sizeof(a->silenced_why), "%s", s && s->why ? s->why : "");
}

static uint64_t fired_of(const Hw__Alert *m)
{
        return m->has_fired_wall_ns ? m->fired_wall_ns : UNKNOWN_U64;
}

/* Every list has it again: it counts once, and without actions nothing is lost. */
static void count_no_room(struct dispatcher *d, const Hw__Alert *m)
{
        const uint64_t hash = m->fingerprint ^ m->fingerprint >> 32;
        const size_t steps = action_plan_steps(plan_of(d, m));
        uint32_t at = idtable_start(&d->no_room, hash);

        if (steps == 0 || idtable_next(&d->no_room, hash, &at) || d->no_room.n_used >= NO_ROOM_MAX ||
            idtable_add(&d->no_room, hash, 1) != 0)
                return;
        d->stats.no_room++;
        d->stats.no_room_actions += steps;
}

/* An alert that begins to fire: a new one, or one that had ended. NULL when there is no room. */
static struct open_alert *add_firing(struct dispatcher *d, const char *target, const Hw__Alert *m, uint64_t generation)
{
        struct open_alert *a = open_alerts_find(&d->table, m->fingerprint);
        struct alert_event *e = alert_event_new(target, m, false);

        if (e && a && !open_alert_replace(a, e, plan_of(d, m)))
                a = NULL;
        else if (e && !a)
                a = open_alerts_add(&d->table, e, plan_of(d, m));
        if (!e || !a) {
                count_no_room(d, m);
                alert_event_unref(&e);
                return NULL;
        }
        alert_event_unref(&e);
        a->generation = generation;
        a->list = d->lists;
        set_silence(a, m);
        begin(d, a);
        return a;
}

static void update_firing(struct dispatcher *d, const char *target, const Hw__Alert *m, uint64_t generation)
{
        struct open_alert *a = open_alerts_find(&d->table, m->fingerprint);

        if (a && a->state != STATE_DONE && alert_event_fired_wall_ns(a->event) != fired_of(m))
                end(d, a, NULL, NULL); /* it fires again, and its end was never seen */
        if (!a || a->state == STATE_DONE) {
                (void)add_firing(d, target, m, generation);
                return;
        }
        a->list = d->lists;
        set_silence(a, m);
        if (a->generation != generation) {
                a->generation = generation;
                change_plan(a, plan_of(d, m));
        }
        recheck(d, a);
}

/* Ended before it became known: acted on before a restart, or so short that its beginning was never seen. */
static void end_unseen(struct dispatcher *d, const char *target, const Hw__Alert *m, uint64_t generation)
{
        const struct record_entry *entry = record_find(d->record, m->fingerprint, fired_of(m));
        bool recent = m->has_fired_wall_ns && !is_old(m->fired_wall_ns, d->now_wall_ns);

        if ((entry && entry->resolved) || (!entry && !recent) || !action_plan_has_work(plan_of(d, m)))
                return;
        struct open_alert *a = add_firing(d, target, m, generation);
        if (a)
                end(d, a, m, NULL);
}

static void end_resolved(struct dispatcher *d, const char *target, const Hw__Alert *m, uint64_t generation)
{
        struct open_alert *a = open_alerts_find(&d->table, m->fingerprint);
        bool same = a && alert_event_fired_wall_ns(a->event) == fired_of(m);

        if (a && a->state != STATE_DONE)
                end(d, a, same ? m : NULL, NULL);
        if (!same)
                end_unseen(d, target, m, generation);
}

struct ended {
        struct dispatcher *dispatcher;
        const char *target;
        char *const *names;
        size_t n;
};

static bool end_if_not_listed(void *ctx, struct open_alert *a)
{
        const struct ended *e = ctx;

        if (a->state != STATE_DONE && a->list != e->dispatcher->lists && !strcmp(a->event->target, e->target))
                end(e->dispatcher, a, NULL, NULL);
        return true;
}

void dispatcher_apply(struct dispatcher *d, const char *target, const Hw__Alerts *alerts, uint64_t now)
{
        struct ended e = { .dispatcher = d, .target = target };

        d->now_wall_ns = now;
        d->lists++;
        if (d->table.n < OPEN_ALERTS_MAX / 2)
                idtable_done(&d->no_room);
        for (size_t i = 0; i < alerts->n_alerts; i++) {
                const Hw__Alert *m = alerts->alerts[i];
                if (m->state == HW__ALERT__STATE__STATE_FIRING)
                        update_firing(d, target, m, alerts->rules_generation);
                else if (m->state == HW__ALERT__STATE__STATE_RESOLVED)
                        end_resolved(d, target, m, alerts->rules_generation);
        }
        if (!alerts->left_out) /* otherwise it may be one of those */
                open_alerts_visit(&d->table, end_if_not_listed, &e);
}

static bool end_if_removed(void *ctx, struct open_alert *a)
{
        const struct ended *e = ctx;

        if (a->state == STATE_DONE)
                return true;
        for (size_t i = 0; i < e->n; i++)
                if (!strcmp(a->event->target, e->names[i]))
                        return true;
        end(e->dispatcher, a, NULL, "The target was removed from the daemon.");
        return true;
}

void dispatcher_set_targets(struct dispatcher *d, char *const *names, size_t n, uint64_t now)
{
        struct ended e = { .dispatcher = d, .names = names, .n = n };

        d->now_wall_ns = now;
        open_alerts_visit(&d->table, end_if_removed, &e);
}

void dispatcher_reset(struct dispatcher *d)
{
        open_alerts_clear(&d->table);
        d->stats.firing = 0;
}

static bool tick_one(void *ctx, struct open_alert *a)
{
        struct dispatcher *d = ctx;
        uint64_t now = d->now_wall_ns;

        if (a->state == STATE_DONE)
                return a->changed || (now >= a->since_wall_ns && now - a->since_wall_ns <= DISPATCHER_KEEP_NS);
        recheck(d, a);
        return true;
}

void dispatcher_tick(struct dispatcher *d, uint64_t now)
{
        d->now_wall_ns = now;
        open_alerts_visit(&d->table, tick_one, d);
}

/* ------------------------------------------------------------------ results */

void dispatcher_report(struct dispatcher *d, const struct action_report *report)
{
        struct open_alert *a = open_alerts_find(&d->table, report->fingerprint);
        struct action_report r = *report;

        if (!a || report->step >= action_plan_steps(a->plan))
                return;
        if (report->resolved && a->state == STATE_SILENCED)
                (void)snprintf(r.detail, sizeof(r.detail), "resolved on silence: %.200s", report->detail);
        put_result(a, &r);
}

const struct action_report *dispatcher_results(const struct dispatcher *d, uint64_t fingerprint, size_t *ret_n)
{
        const struct open_alert *a = open_alerts_find(&d->table, fingerprint);

        *ret_n = a ? a->n_results : 0;
        return a ? a->results : NULL;
}

struct taker {
        bool (*each)(void *ctx, uint64_t fingerprint, const struct action_report *results, size_t n);
        void *ctx;
        bool full;
};

static bool collect_if_changed(void *ctx, struct open_alert *a)
{
        struct taker *t = ctx;

        if (!a->changed || t->full)
                return true;
        t->full = !t->each(t->ctx, a->event->alert->fingerprint, a->results, a->n_results);
        a->changed = t->full;
        return true;
}

void dispatcher_collect_changed(struct dispatcher *d,
                                bool (*each)(void *ctx, uint64_t fingerprint, const struct action_report *results,
                                             size_t n),
                                void *ctx)
{
        struct taker t = { .each = each, .ctx = ctx };

        open_alerts_visit(&d->table, collect_if_changed, &t);
}

void dispatcher_mark_changed(struct dispatcher *d, uint64_t fingerprint)
{
        struct open_alert *a = open_alerts_find(&d->table, fingerprint);

        if (a)
                a->changed = true;
}

const struct dispatcher_stats *dispatcher_stats(const struct dispatcher *d)
{
        return &d->stats;
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
        d->nothing = action_plan_new();
        if (!d->limits || !d->nothing)
                dispatcher_destroy(&d);
        return d;
}

void dispatcher_destroy(struct dispatcher **dp)
{
        struct dispatcher *d = *dp;

        *dp = NULL;
        if (!d)
                return;
        open_alerts_clear(&d->table);
        idtable_done(&d->no_room);
        action_plan_unref(&d->nothing);
        limit_table_destroy(&d->limits);
        free(d);
}
