/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: alerts are an array of pointers sorted by rule, run and band; an
 * alert exists while it is pending or fires, and for a while after. Judging a
 * rule over bands walks its part of the array alongside the bands, so it costs
 * one evaluation per band and no search. Which bands a rule selects is
 * determined once per band and kept: regular expressions are slow.
 *
 * In a gap of the stream only time passes. There each evaluation over a band
 * also gives the time for which its answer stays the same (expr_eval), and is
 * not repeated before: a gap costs what changes in it, not its moments times
 * rules times bands. Meanwhile an alert goes on with that answer.
 *
 * A moment of hundreds of rules and thousands of bands may take longer than one
 * turn may last. When time is up, the rule and the band where it continues are
 * kept; changes to the list in between do not matter.
 *
 * Texts are written when a state changes and on request (alerts_refresh), never
 * at each judging.
 */
#include "daemon/judge/rules/alerts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/ckd.h"
#include "proto/base/limits.h"
#include "daemon/judge/rules/alerts_private.h"
#include "daemon/judge/rules/eval.h"

#define BANDS_AT_ONCE 256u /* between two checks whether time is up */

/* -------------------------------------------------------------------- judging */

static uint64_t clock_of(const struct rule *rule, const struct rule_moment *at)
{
        return rule->of_target ? at->target_ns : at->time_ns;
}

static struct stamp stamp_of(const struct rule_moment *at)
{
        return (struct stamp){ at->time_ns - at->beyond_ns,
                               at->wall_ns == UNKNOWN_U64 ? UNKNOWN_U64 : at->wall_ns - at->beyond_ns };
}

static void stamp_change(struct alert *alert, const struct rule_moment *at)
{
        struct stamp now = stamp_of(at);

        if (alert->state.active_ns == alert->state.judged_ns && alert->state.now != ALERT_RESOLVED) {
                alert->active = now;
                alert->fired = alert->resolved = (struct stamp){ UNKNOWN_U64, UNKNOWN_U64 };
        }
        if (alert->state.now == ALERT_FIRING)
                alert->fired = now;
        if (alert->state.now == ALERT_RESOLVED)
                alert->resolved = now;
}

static void remove_alert(struct alerts *a, size_t i)
{
        if (a->sink.removed)
                a->sink.removed(a->sink.ctx, a->target, a->list.items[i]);
        alert_list_remove(&a->list, i);
}

/*
 * Refreshes and reports an alert; one that is inactive again is removed. Returns whether it is still there. A resolved
 * one keeps the words with which it fired: what is true now is not what it was about.
 */
static bool apply_condition(struct alerts *a, size_t i, const struct rule_moment *at, bool with_data)
{
        struct alert *alert = a->list.items[i];

        stamp_change(alert, at);
        if (with_data && alert->state.now != ALERT_RESOLVED)
                alert_text_refresh(alert, a->target, &a->data, at);
        a->sink.changed(a->sink.ctx, alert, at);
        if (alert->state.now != ALERT_INACTIVE)
                return true;
        remove_alert(a, i);
        return false;
}

static double evaluate_for(const struct alerts *a, const struct rule *rule, const struct rule_moment *at, uint32_t band,
                           double holds, uint64_t *still_ns)
{
        if (rule->until.root)
                return expr_eval(&rule->until, &a->data, at, band, still_ns);
        return isnan(holds) ? holds : holds == 0;
}

/* The judging of a moment: it walks through the rules and, beside them, through the list, which is in their order. */
struct walk {
        struct alerts *a;
        const struct rule_moment *at;
        struct rule_gap gap;
        size_t rule;  /* its index */
        size_t place; /* in the list, of the next alert */
};

static const struct rule *rule_of(const struct walk *w)
{
        return w->a->rules->rules[w->rule];
}

/* The next alert, if it is of the rule; else NULL. */
static struct alert *next_of_rule(const struct walk *w)
{
        const struct alert_list *l = &w->a->list;

        return w->place < l->n && l->items[w->place]->rule == rule_of(w) ? l->items[w->place] : NULL;
}

/* The rule's alert of this band, 0 for that of a rule that is not over bands; NULL: there is none. */
static struct alert *alert_of(const struct walk *w, uint32_t band)
{
        struct alert *next = next_of_rule(w);

        return next && next->band == band ? next : NULL;
}

/* Judges an alert, which may not exist yet, and passes it. *still_ns, unless NULL: for how long its answers hold. */
static void judge_one(struct walk *w, uint32_t band, uint64_t *still_ns)
{
        struct alerts *a = w->a;
        const struct rule *rule = rule_of(w);
        struct alert *alert = alert_of(w, band);
        double holds = expr_eval(&rule->expr, &a->data, w->at, band, still_ns);
        struct state_times times = { rule->for_ns, rule->keep_firing_ns };

        if (!alert) {
                if (holds != 1)
                        return;
                alert = alerts_insert(a, w->place, rule, band);
                if (!alert) {
                        a->left_out[rule->of_target]++;
                        if (still_ns)
                                *still_ns = 0; /* counted as left out at each moment */
                        return;
                }
                alert->state.judged_ns = clock_of(rule, w->at);
        }
        alert->holds = holds;
        alert->over = alert->state.now == ALERT_FIRING ? evaluate_for(a, rule, w->at, band, holds, still_ns) : 0;
        bool differs = state_step(&alert->state, &times, holds, alert->over, clock_of(rule, w->at));
        if (differs && still_ns)
                *still_ns = 0; /* from now on `over` is evaluated too, or no longer */
        alert->judged = stamp_of(w->at);
        alert->run = w->at->run;
        if (!differs || apply_condition(a, w->place, w->at, true))
                w->place++;
}

static bool is_selected(struct alerts *a, size_t rule, uint32_t band)
{
        struct rule_use *use = &a->uses[rule];

        if (band > use->n_selected) {
                uint32_t n = band + band / 2 + 64;
                uint8_t *grown = realloc(use->selected, n);
                if (!grown)
                        return false; /* judged again next time */
                memset(grown + use->n_selected, SELECTED_UNKNOWN, n - use->n_selected);
                use->selected = grown;
                use->n_selected = n;
        }
        uint8_t *selected = &use->selected[band - 1];
        if (*selected == SELECTED_UNKNOWN) {
                const struct rule *r = a->rules->rules[rule];
                bool yes = expr_selects_band(&r->expr, &a->data, band) &&
                           (!r->until.root || expr_selects_band(&r->until, &a->data, band));
                *selected = yes ? SELECTED_YES : SELECTED_NO;
        }
        return *selected == SELECTED_YES;
}

/* ---------------------------------------------------------------------- gaps */

static void forget_due(struct rule_use *use)
{
        free(use->due_ns);
        use->due_ns = NULL;
        use->n_due = 0;
        use->first_due_ns = 0;
}

/* The alert goes on with its newest answers. False when these would change its state: then it is left as it is. */
static bool update_alert(struct alert *alert, const struct rule_moment *at)
{
        const struct rule *rule = alert->rule;
        struct state_times times = { rule->for_ns, rule->keep_firing_ns };
        struct state next = alert->state;

        if (state_step(&next, &times, alert->holds, alert->over, clock_of(rule, at)))
                return false;
        alert->state = next;
        alert->judged = stamp_of(at);
        return true;
}

static void judge_band(struct walk *w, uint32_t band)
{
        struct rule_use *use = &w->a->uses[w->rule];
        struct alert *alert = alert_of(w, band);
        uint64_t still_ns = UINT64_MAX, *due_ns = band <= use->n_due ? &use->due_ns[band - 1] : NULL;

        if (due_ns && w->at->time_ns < *due_ns && (!alert || update_alert(alert, w->at))) {
                w->place += alert != NULL;
        } else if (alert || is_selected(w->a, w->rule, band)) {
                w->a->evaluations++;
                judge_one(w, band, due_ns ? &still_ns : NULL);
                if (due_ns && ckd_add(due_ns, w->at->time_ns, still_ns))
                        *due_ns = UINT64_MAX;
        } else if (due_ns) {
                *due_ns = UINT64_MAX;
        }
        if (due_ns && *due_ns < use->first_due_ns)
                use->first_due_ns = *due_ns;
}

static bool time_is_up(const struct alerts *a)
{
        return a->sink.time_is_up && a->sink.time_is_up(a->sink.ctx);
}

/* Begins a moment of a rule over bands. True: no band is due yet, and the rule's alerts went on as they were. */
static bool is_passed_in_gap(struct walk *w, uint32_t bands)
{
        struct rule_use *use = &w->a->uses[w->rule];

        if (!w->gap.follows)
                forget_due(use);
        if (w->gap.goes_on && bands > 0) {
                /* Room for when each band is due again. When out of memory, each moment is judged in full. */
                if (!use->due_ns)
                        use->due_ns = calloc(bands, sizeof(*use->due_ns));
                use->n_due = use->due_ns ? bands : 0;
        }
        if (use->due_ns && w->at->time_ns < use->first_due_ns) {
                while (next_of_rule(w) && update_alert(next_of_rule(w), w->at))
                        w->place++;
                if (!next_of_rule(w))
                        return true;
        }
        use->first_due_ns = UINT64_MAX;
        return false;
}

/* Judges a rule over bands from a band on. False: time was up before the end; where it goes on is kept. */
static bool judge_bands(struct walk *w, uint32_t first)
{
        struct alerts *a = w->a;
        const uint32_t n = a->data.bands(a->data.ctx), bands = n < LIMIT_BANDS ? n : LIMIT_BANDS;

        while (next_of_rule(w) && next_of_rule(w)->run != a->run)
                w->place++; /* of earlier runs: ended */
        if (first == 1 && is_passed_in_gap(w, bands))
                return true;
        while (next_of_rule(w) && next_of_rule(w)->band < first)
                w->place++;
        for (uint32_t band = first; band <= bands; band++) {
                const bool look = band > first && (band - first) % BANDS_AT_ONCE == 0;

                if (look && !rule_of(w)->of_target && time_is_up(a)) {
                        a->stopped = (struct stopped_at){ true, w->rule, band };
                        return false;
                }
                judge_band(w, band);
        }
        if (!w->gap.goes_on)
                forget_due(&a->uses[w->rule]);
        return true;
}

static void forget_old(struct alerts *a, const struct rule_moment *at)
{
        for (size_t i = a->list.n; i-- > 0;) {
                struct alert *alert = a->list.items[i];
                uint64_t now = clock_of(alert->rule, at);

                if (alert->state.now == ALERT_RESOLVED && now != UNKNOWN_U64 &&
                    sub_sat(now, alert->state.resolved_ns) > ALERT_KEEP_NS)
                        remove_alert(a, i);
        }
}

/* Judges the walk's rule, from first_band on if it is over bands. */
static bool judge_rule(struct walk *w, uint32_t first_band)
{
        if (rule_of(w)->of_bands)
                return judge_bands(w, first_band);
        judge_one(w, 0, NULL);
        return true;
}

static void pass_rest(struct walk *w)
{
        while (next_of_rule(w))
                w->place++;
}

bool alerts_judge_run(struct alerts *a, const struct rule_moment *at, struct rule_gap gap)
{
        const bool goes_on = a->stopped.open;
        const struct stopped_at from = goes_on ? a->stopped : (struct stopped_at){ .rule = 0, .band = 1 };
        struct walk w = { .a = a, .at = at, .gap = gap };
        bool any = false;

        if (at->time_ns == UNKNOWN_U64)
                return true;
        a->stopped.open = false;
        a->run = at->run;
        if (!goes_on)
                a->left_out[false] = 0;
        if (!goes_on && !gap.follows)
                a->evaluations = 0;
        for (; w.rule < a->rules->n; w.rule++) {
                if (a->uses[w.rule].wanted && !rule_of(&w)->of_target && w.rule >= from.rule) {
                        if (any && time_is_up(a)) {
                                a->stopped = (struct stopped_at){ true, w.rule, 1 };
                                return false;
                        }
                        any = true;
                        if (!judge_rule(&w, w.rule == from.rule ? from.band : 1))
                                return false;
                }
                pass_rest(&w);
        }
        forget_old(a, at);
        return true;
}

void alerts_judge_target(struct alerts *a, const struct rule_moment *at)
{
        struct walk w = { .a = a, .at = at };

        a->run = at->run;
        a->left_out[true] = 0;
        for (; w.rule < a->rules->n; w.rule++) {
                if (a->uses[w.rule].wanted && rule_of(&w)->of_target)
                        (void)judge_rule(&w, 1);
                pass_rest(&w);
        }
        forget_old(a, at);
}

bool alerts_gap_is_costly(const struct alerts *a)
{
        return a->evaluations >= GAP_EVALUATIONS;
}

/* ------------------------------------------------------------------------ ends */

static void end_at(struct alerts *a, size_t i, const struct rule_moment *at)
{
        if (state_end(&a->list.items[i]->state, clock_of(a->list.items[i]->rule, at)))
                (void)apply_condition(a, i, at, false);
}

void alerts_end_run(struct alerts *a, const struct rule_moment *at)
{
        for (size_t i = a->list.n; i-- > 0;) {
                if (a->list.items[i]->rule->of_target)
                        continue;
                if (a->list.items[i]->state.now == ALERT_FIRING)
                        alert_text_end_run(a->list.items[i]);
                end_at(a, i, at);
        }
        a->left_out[false] = 0;
}

static void forget_bands(struct alerts *a)
{
        for (size_t i = 0; i < a->n_uses; i++) {
                free(a->uses[i].selected);
                a->uses[i].selected = NULL;
                a->uses[i].n_selected = 0;
                forget_due(&a->uses[i]);
        }
}

/* ----------------------------------------------------------------------- parts */

#define PART_DEPTH   8 /* alerts that are parts of parts: deeper ones stand alone */
#define PART_BETWEEN " ,"

/* An alert that fires is never hidden behind one that does not. */
static bool may_hold(const struct alert *whole, const struct alert *part)
{
        return whole->state.now == part->state.now ||
               (part->state.now != ALERT_FIRING &&
                (whole->state.now == ALERT_PENDING || whole->state.now == ALERT_FIRING));
}

static size_t whole_by_name(const struct alerts *a, const struct alert *part, const char *name, size_t n)
{
        for (size_t i = 0; i < a->list.n; i++) {
                const struct alert *whole = a->list.items[i];
                if (!whole->band && whole != part && strlen(whole->rule->name) == n &&
                    !memcmp(whole->rule->name, name, n) && may_hold(whole, part))
                        return i;
        }
        return ALERTS_NONE;
}

/* The alert that the label names, which may itself be part of another one. */
static size_t next_whole(const struct alerts *a, const struct alert *part)
{
        const char *names = "";
        size_t found = ALERTS_NONE;

        for (size_t i = 0; i < part->rule->text.n_labels; i++)
                if (!strcmp(part->rule->text.labels[i].name, "part_of"))
                        names = part->rule->text.labels[i].value;
        while (*names && found == ALERTS_NONE) {
                size_t n = strcspn(names, PART_BETWEEN);
                if (n)
                        found = whole_by_name(a, part, names, n);
                names += n + strspn(names + n, PART_BETWEEN);
        }
        return found;
}

size_t alerts_whole(const struct alerts *a, size_t part)
{
        size_t at = next_whole(a, a->list.items[part]);

        for (unsigned depth = 0; at != ALERTS_NONE && depth < PART_DEPTH; depth++) {
                size_t next = next_whole(a, a->list.items[at]);
                if (next == ALERTS_NONE)
                        return at;
                at = next;
        }
        return ALERTS_NONE;
}

/* ------------------------------------------------------------------------ runs */

/* Resolved alerts stay as published; those of rules that are not over bands may begin again. */
void alerts_begin_run(struct alerts *a)
{
        forget_bands(a);
        a->stopped.open = false;
        for (size_t i = a->list.n; i-- > 0;) {
                struct alert *alert = a->list.items[i];

                if (alert->state.now != ALERT_RESOLVED)
                        continue;
                if (!alert->rule->of_target)
                        alert->state.judged_ns = alert->state.resolved_ns = 0; /* event time restarts */
                if (alert->band && alert->run + 1 < a->run)
                        remove_alert(a, i);
        }
}

void alerts_band_changed(struct alerts *a, uint32_t band)
{
        for (size_t i = 0; i < a->rules->n; i++)
                if (band >= 1 && band <= a->uses[i].n_selected)
                        a->uses[i].selected[band - 1] = SELECTED_UNKNOWN;
}

/* ---------------------------------------------------------------------- reload */

static void use_rules(struct alerts *a, const struct ruleset *rules)
{
        forget_bands(a);
        a->stopped.rule = rules->n; /* the current moment is over: judging it twice might undo its effects */
        a->rules = rules;
        while (a->n_uses < rules->n)
                a->uses[a->n_uses++] = (struct rule_use){ .wanted = false };
        for (size_t i = 0; i < rules->n; i++)
                a->uses[i].wanted = rule_wants(rules->rules[i], a->target);
}

void alerts_reload(struct alerts *a, const struct ruleset *rules, const struct rule_moment *at)
{
        for (size_t i = a->list.n; i-- > 0;) {
                const struct rule *same =
                        ruleset_find_same(rules, a->list.items[i]->rule->group, a->list.items[i]->rule->name,
                                          a->list.items[i]->rule->digest);

                if (same) {
                        a->list.items[i]->rule = same;
                        continue;
                }
                size_t before = a->list.n;
                end_at(a, i, at);
                if (a->list.n == before)
                        remove_alert(a, i);
        }
        use_rules(a, rules);
        alert_list_sort(&a->list, rules);
        memset(a->left_out, 0, sizeof(a->left_out)); /* the next judging counts again */
}

/* It keeps its words then, as a resolved one does (changed): it is resolved when this moment is judged, or later. */
static bool is_over(const struct alerts *a, const struct alert *alert, const struct rule_moment *at)
{
        if (alert->state.now != ALERT_FIRING)
                return false;
        double holds = expr_eval(&alert->rule->expr, &a->data, at, alert->band, NULL);
        return evaluate_for(a, alert->rule, at, alert->band, holds, NULL) == 1;
}

void alerts_refresh(struct alerts *a, const struct rule_moment *at)
{
        for (size_t i = 0; i < a->list.n; i++) {
                struct alert *alert = a->list.items[i];
                bool judged = alert->rule->of_target || (at->time_ns != UNKNOWN_U64 && alert->run == a->run);

                if (judged && alert->state.now != ALERT_RESOLVED && !is_over(a, alert, at))
                        alert_text_refresh(alert, a->target, &a->data, at);
        }
}

/* ------------------------------------------------------------------------ life */

struct alerts *alerts_new(const char *target, const struct ruleset *rules, const struct rule_data *data,
                          const struct alerts_sink *sink)
{
        struct alerts *a = calloc(1, sizeof(*a));

        if (!a)
                return NULL;
        a->data = *data;
        a->sink = *sink;
        a->target = strdup(target);
        a->uses = malloc(RULES_MAX * sizeof(*a->uses));
        if (a->target && a->uses)
                use_rules(a, rules);
        else
                alerts_destroy(&a);
        return a;
}

void alerts_destroy(struct alerts **ap)
{
        struct alerts *a = *ap;

        *ap = NULL;
        if (!a)
                return;
        while (a->list.n > 0)
                remove_alert(a, a->list.n - 1);
        alert_list_done(&a->list);
        forget_bands(a);
        free(a->uses);
        free(a->target);
        free(a);
}

const char *alerts_target(const struct alerts *a)
{
        return a->target;
}

size_t alerts_count(const struct alerts *a)
{
        return a->list.n;
}

struct alert *alerts_get(const struct alerts *a, size_t i)
{
        return a->list.items[i];
}

struct alert *alerts_find(const struct alerts *a, uint64_t fingerprint, uint64_t fired_wall_ns)
{
        for (size_t i = 0; i < a->list.n; i++)
                if (a->list.items[i]->fingerprint == fingerprint && a->list.items[i]->fired.wall_ns == fired_wall_ns)
                        return a->list.items[i];
        return NULL;
}

uint64_t alerts_left_out(const struct alerts *a)
{
        return a->left_out[false] + a->left_out[true];
}

uint64_t alerts_generation(const struct alerts *a)
{
        return a->rules->generation;
}

size_t alerts_held_bytes(const struct alerts *a)
{
        size_t bytes = sizeof(*a) + a->list.room * sizeof(struct alert *) + a->n_uses * sizeof(struct rule_use);

        for (size_t i = 0; i < a->rules->n; i++)
                bytes += a->uses[i].n_selected;
        return bytes + a->list.n * (sizeof(struct alert) + ALERT_TEXT_MAX);
}
