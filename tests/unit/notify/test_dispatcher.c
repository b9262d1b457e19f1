/* SPDX-License-Identifier: BSD-3-Clause */
/* Which alerts are acted on, and when: lists, silences, limits, reloads, restarts, the past. Time is simulated. */
#include "tests/unit/notify/support.h"

#include <stdio.h>

#include "client/out/notify/dispatcher.h"
#include "client/out/notify/record.h"
#include "proto/base/error.h"
#include "tests/unit/test.h"

#define S   UINT64_C(1000000000)
#define NOW (WALL + 1000 * S)
#define IDS 16u

struct seen {
        unsigned acted;
        uint64_t fingerprint;
        bool resolved, known;
        char silenced[256]; /* the annotation */
        char sentence[128];
        const struct action_plan *plan;
};

/* The daemon: one alert of each number; the odd ones and the even ones are silenced together. */
struct made_up {
        bool exists, resolved;
        uint64_t fired;
};

static struct dispatcher *dispatcher;
static struct record record;
static struct made_up alerts[IDS];
static struct action_plan *plans[IDS]; /* of the rule of each; borrowed */
static uint64_t silenced_until[2];
static bool one_rule;
static struct action_plan *plan, *no_plan;
static struct seen seen;

/* ---------------------------------------------------------------- the daemon */

static struct alert_event *event_of(unsigned id, bool resolved, uint64_t fired, uint64_t ended)
{
        json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:{}, s:o}", "status", resolved ? "resolved" : "firing",
                              "alert", "leak", "target", "t", "severity", "info", "sentence", "it grows", "at", "now",
                              "labels", "fingerprint", json_sprintf("%016x", id));

        assert_int_equal(json_object_set_new(o, "group", json_sprintf("%u", one_rule ? 0 : id)), 0);
        struct alert_event *e = alert_event_new(o, fired, ended);
        json_decref(o);
        assert_non_null(e);
        return e;
}

static void tell(unsigned id, uint64_t now)
{
        const struct made_up *a = &alerts[id];
        struct news news = { .event = event_of(id, a->resolved, a->fired, a->resolved ? now : UNKNOWN_U64),
                             .plan = plans[id] ? plans[id] : no_plan,
                             .silenced = now < silenced_until[id % 2] ? (char *)"until then: deploy" : NULL };

        dispatcher_apply(dispatcher, &news, now);
        alert_event_unref(&news.event);
}

static void fire(unsigned id, uint64_t fired, uint64_t now)
{
        alerts[id] = (struct made_up){ true, false, fired };
        tell(id, now);
}

static void resolve(unsigned id, uint64_t now)
{
        alerts[id].exists = alerts[id].resolved = true;
        tell(id, now);
}

/* The daemon tells all that it knows again; here that must do no harm. */
static void second(uint64_t now)
{
        for (unsigned id = 0; id < IDS; id++)
                if (alerts[id].exists)
                        tell(id, now);
        dispatcher_tick(dispatcher, now);
}

/* The same, after which so many have been acted on. */
static void second_acts(uint64_t now, unsigned acted)
{
        second(now);
        assert_int_equal(seen.acted, acted);
}

static void resolve_acts(unsigned id, uint64_t now, unsigned acted)
{
        resolve(id, now);
        assert_int_equal(seen.acted, acted);
}

static void fire_acts(unsigned id, uint64_t fired, uint64_t now, unsigned acted)
{
        fire(id, fired, now);
        assert_int_equal(seen.acted, acted);
}

/* ------------------------------------------------------------------- set-up */

static void on_act(void *ctx, const struct alert_event *e, struct action_plan *p, bool known)
{
        seen.plan = p;
        seen.acted++;
        seen.fingerprint = e->fingerprint;
        seen.resolved = e->resolved;
        seen.known = known;
        const char *words = json_string_value(json_object_get(json_object_get(e->alert, "annotations"), "silenced"));
        (void)snprintf(seen.silenced, sizeof(seen.silenced), "%s", words ? words : "");
        (void)snprintf(seen.sentence, sizeof(seen.sentence), "%s", alert_event_text(e, "sentence"));
}

static void open_dispatcher(void)
{
        const struct dispatcher_handler handler = { .act = on_act };

        assert_non_null(dispatcher = dispatcher_new(&handler, &record));
}

static int set_up(void **state)
{
        struct error error;

        memset(&seen, 0, sizeof(seen));
        memset(&record, 0, sizeof(record));
        memset(alerts, 0, sizeof(alerts));
        memset(silenced_until, 0, sizeof(silenced_until));
        one_rule = false;
        open_dispatcher();
        no_plan = action_plan_new();
        plan = action_plan_new();
        assert_true(action_plan_add(plan, &(struct action_step){ .kind = ACTION_PUBLISH }, &error));
        assert_true(action_plan_add(plan, &(struct action_step){ .kind = ACTION_LOG }, &error));
        for (unsigned i = 0; i < IDS; i++)
                plans[i] = plan;
        return 0;
}

static int tear_down(void **state)
{
        dispatcher_destroy(&dispatcher);
        action_plan_unref(&plan);
        action_plan_unref(&no_plan);
        return 0;
}

static struct action_plan *plan_of(enum action_kind kind)
{
        struct action_plan *p = action_plan_new();
        struct error error;

        assert_true(action_plan_add(p, &(struct action_step){ .kind = ACTION_LOG }, &error));
        if (kind == ACTION_ALERTMANAGER)
                assert_true(action_plan_add(p, &(struct action_step){ .kind = kind, .url = "http://h" }, &error));
        return p;
}

static const char *result(unsigned id)
{
        size_t n;
        const struct action_report *r = dispatcher_results(dispatcher, id, &n);

        return n ? r[0].detail : "";
}

/* The executor is done with all of an event's actions. */
static void over(unsigned id, bool resolved)
{
        struct alert_event *e = event_of(id, resolved, alerts[id].fired, UNKNOWN_U64);

        record_over(&record, e);
        alert_event_unref(&e);
}

/* -------------------------------------------------------------------- news */

TEST_WITH(an_alert_is_acted_on_once, set_up, tear_down)
{
        fire(1, NOW, NOW);
        second(NOW + S);
        second_acts(NOW + 2 * S, 1);
        assert_false(seen.known);
        resolve_acts(1, NOW + 3 * S, 2);
        assert_true(seen.resolved);
        second_acts(NOW + 4 * S, 2);
        fire_acts(1, NOW + 5 * S, NOW + 5 * S, 3); /* it fires again: another one */
}

TEST_WITH(what_was_missed_is_made_good, set_up, tear_down)
{
        fire(1, NOW, NOW);
        fire_acts(1, NOW + 5 * S, NOW + 6 * S, 3); /* its end and its new beginning were not told */
        assert_false(seen.resolved);
        resolve_acts(1, NOW + 7 * S, 4);

        alerts[2].fired = NOW + 10 * S; /* it began and ended unseen, a moment ago */
        resolve_acts(2, NOW + 11 * S, 6);
        assert_int_equal(seen.fingerprint, 2);
        assert_true(seen.resolved);
        second_acts(NOW + 12 * S, 6);

        alerts[3].fired = NOW - 3600 * S; /* long ago: of no interest */
        resolve_acts(3, NOW + 13 * S, 6);
}

/* ---------------------------------------------------------------- silences */

TEST_WITH(silenced_alerts_wait, set_up, tear_down)
{
        size_t n;

        silenced_until[1] = NOW + 60 * S;
        fire(1, NOW, NOW);
        fire(2, NOW, NOW);
        fire_acts(3, NOW, NOW, 1);
        assert_int_equal(seen.fingerprint, 2);
        assert_string_equal(result(1), "not done: silenced");
        second_acts(NOW + 30 * S, 1);
        resolve_acts(3, NOW + 40 * S, 1); /* began and ended while silenced */
        assert_string_equal(result(3), "not done: silenced");
        second_acts(NOW + 61 * S, 2); /* still fires when the silence is over */
        assert_int_equal(seen.fingerprint, 1);
        assert_string_equal(result(1), "");
        assert_int_equal(dispatcher_results(dispatcher, 1, &n)->outcome, OUTCOME_UNDER_WAY);

        silenced_until[1] = NOW + 130 * S;
        resolve_acts(1, NOW + 80 * S, 3); /* whoever was notified of its beginning is notified of its end */
}

static void report_of(unsigned id, uint32_t step, bool resolved)
{
        struct action_report r = { .fingerprint = id,
                                   .resolved = resolved,
                                   .step = step,
                                   .kind = ACTION_ALERTMANAGER,
                                   .outcome = OUTCOME_DONE,
                                   .attempts = 1,
                                   .detail = "HTTP 200" };

        dispatcher_report(dispatcher, &r);
}

/* An Alertmanager would go on notifying: it is sent the end, and the alert again when the silence is over. */
TEST_WITH(what_keeps_a_state_is_resolved_on_silence, set_up, tear_down)
{
        struct action_plan *am = plan_of(ACTION_ALERTMANAGER);
        size_t n;

        plans[1] = am;
        fire(1, NOW, NOW);
        fire_acts(3, NOW, NOW, 2); /* of log alone: there is nothing to resolve */
        silenced_until[1] = NOW + 61 * S;
        second_acts(NOW + 2 * S, 3);
        assert_int_equal(seen.fingerprint, 1);
        assert_true(seen.resolved);
        assert_true(seen.known); /* only that: the log action is done */
        assert_string_equal(seen.silenced, "until then: deploy");
        report_of(1, 1, RESOLVED);
        const struct action_report *r = dispatcher_results(dispatcher, 1, &n);
        assert_string_equal(r[n - 1].detail, "resolved on silence: HTTP 200");
        second_acts(NOW + 30 * S, 3);

        silenced_until[1] = 0;
        second_acts(NOW + 31 * S, 4);
        assert_false(seen.resolved);
        assert_true(seen.known);
        assert_string_equal(seen.silenced, "");
        report_of(1, 1, FIRING);
        r = dispatcher_results(dispatcher, 1, &n);
        assert_string_equal(r[n - 1].detail, "HTTP 200");

        /* Its end under a silence is sent to all that were notified of its beginning. */
        silenced_until[1] = NOW + 100 * S;
        second_acts(NOW + 40 * S, 5);
        resolve_acts(1, NOW + 41 * S, 6);
        assert_true(seen.resolved);
        assert_false(seen.known);
        assert_string_equal(seen.silenced, "");
        action_plan_unref(&am);
}

/* ---------------------------------------------------------------- restarts */

/* A killed notifier leaves its file behind; the daemon goes on, or is restarted. */
static void restart(void)
{
        struct error error;
        char *text = record_text(&record);

        dispatcher_destroy(&dispatcher);
        memset(&record, 0, sizeof(record));
        if (!record_parse(&record, text, strlen(text), &error))
                fail_msg("%s", error.text);
        free(text);
        open_dispatcher();
}

TEST_WITH(restarts_repeat_nothing, set_up, tear_down)
{
        fire(1, NOW, NOW);
        over(1, FIRING);
        fire(2, NOW, NOW);
        over(2, FIRING);
        resolve(2, NOW + S);
        over(2, RESOLVED);
        assert_int_equal(seen.acted, 3);
        restart();
        second(NOW + 10 * S);
        second_acts(NOW + 11 * S, 3);
        resolve_acts(1, NOW + 12 * S, 4);
        assert_true(seen.resolved);
        assert_false(seen.known); /* its end is news */
        over(1, RESOLVED);
        restart();
        second_acts(NOW + 13 * S, 4);
        fire_acts(1, NOW + 20 * S, NOW + 20 * S, 5);
        assert_false(seen.known);
}

/* It ended while nobody was there. */
TEST_WITH(an_end_in_between_is_told, set_up, tear_down)
{
        fire(1, NOW, NOW);
        over(1, FIRING);
        restart();
        resolve_acts(1, NOW + 100 * S, 2);
        assert_true(seen.resolved);
}

/* A kill in the middle: the next notifier repeats the action rather than losing it. */
TEST_WITH(what_was_under_way_is_done_again, set_up, tear_down)
{
        fire(1, NOW, NOW);
        restart();
        second_acts(NOW + S, 2);
        assert_false(seen.known);
        over(1, FIRING);
        resolve(1, NOW + 2 * S);
        restart();
        second_acts(NOW + 3 * S, 4);
        assert_true(seen.resolved);
}

TEST_WITH(a_restart_under_a_silence_tells_nobody, set_up, tear_down)
{
        struct action_plan *am = plan_of(ACTION_ALERTMANAGER);
        const struct record_entry done = { .fingerprint = 1, .fired_wall_ns = NOW, .fired_over = true };

        plans[1] = am;
        record_add(&record, &done);
        silenced_until[1] = NOW + 60 * S;
        fire_acts(1, NOW, NOW + S, 0);
        assert_string_equal(result(1), "not done: silenced");
        second_acts(NOW + 61 * S, 1);
        assert_true(seen.known);
        action_plan_unref(&am);
}

TEST_WITH(times_that_no_file_holds_are_not_remembered, set_up, tear_down)
{
        fire(1, UNKNOWN_U64, NOW);
        second(NOW + S);
        fire_acts(2, (uint64_t)INT64_MAX + 1, NOW, 2);
        resolve_acts(1, NOW + 2 * S, 3);
        assert_int_equal(record.n, 0);
}

/* ----------------------------------------------------------------- reloads */

TEST_WITH(other_actions_hold_for_what_was_not_acted_on, set_up, tear_down)
{
        struct action_plan *other = plan_of(ACTION_LOG), *none = action_plan_new();

        plans[1] = none;
        plans[2] = NULL;
        for (unsigned id = 1; id <= 3; id++)
                fire(id, NOW, NOW);
        assert_int_equal(seen.acted, 1);
        plans[1] = plans[2] = plans[3] = other;
        second(NOW + 100 * S);           /* long after they began: they wait no more */
        assert_int_equal(seen.acted, 3); /* 1 and 2 */
        assert_ptr_equal(seen.plan, other);
        resolve_acts(3, NOW + 102 * S, 4);
        assert_ptr_equal(seen.plan, plan); /* the receivers of its beginning */
        plans[1] = NULL;                   /* the rule has no actions any more */
        second(NOW + 103 * S);
        resolve_acts(1, NOW + 104 * S, 5);
        assert_ptr_equal(seen.plan, other);

        /* One that waits for the end of a silence takes the new ones, or none. */
        silenced_until[1] = NOW + 160 * S;
        fire(5, NOW + 110 * S, NOW + 110 * S);
        fire(7, NOW + 110 * S, NOW + 110 * S);
        plans[5] = other;
        plans[7] = NULL;
        second(NOW + 111 * S);
        assert_string_equal(result(5), "not done: silenced");
        assert_string_equal(result(7), "");
        second_acts(NOW + 161 * S, 6);
        assert_int_equal(seen.fingerprint, 5);
        assert_ptr_equal(seen.plan, other);
        resolve_acts(7, NOW + 162 * S, 6);
        action_plan_unref(&other);
        action_plan_unref(&none);
}

/* ------------------------------------------------------------------ limits */

/* More than are kept: their actions are counted, those that are over make room. */
TEST_WITH(alerts_without_room_are_counted, set_up, tear_down)
{
        for (unsigned i = 0; i < DISPATCHER_ALERTS_MAX + 3; i++) {
                struct news news = { .event = event_of(100 + i, false, NOW, UNKNOWN_U64), .plan = plan };
                dispatcher_apply(dispatcher, &news, NOW);
                alert_event_unref(&news.event);
        }
        assert_int_equal(dispatcher_dropped(dispatcher), 3 * action_plan_steps(plan));
        assert_int_equal(seen.acted, DISPATCHER_ALERTS_MAX);
}

TEST_WITH(limits_hold_back, set_up, tear_down)
{
        const struct action_limits few = { .count = 3, .per_alert = 2, .window_ns = 60 * S };
        struct error error;

        one_rule = true;
        assert_true(action_plan_limit(plan, &few, &error));
        for (unsigned i = 0; i < 3; i++) {
                uint64_t at = NOW + i * 2 * S;
                fire(1, at, at);
                resolve(1, at + S);
        }
        assert_int_equal(seen.acted, 4); /* two beginnings and their ends */
        fire(2, NOW + 10 * S, NOW + 10 * S);
        fire_acts(3, NOW + 11 * S, NOW + 11 * S, 5);
        assert_string_equal(result(3), "not done: the limit of the rule is reached");
        second_acts(NOW + 59 * S, 5);
        second_acts(NOW + 61 * S, 6); /* the first is outside of the window now */
        assert_int_equal(seen.fingerprint, 3);
}

TEST_WITH(the_past_bothers_nobody, set_up, tear_down)
{
        uint64_t old = NOW - 3600 * S;

        fire(1, old, NOW);
        fire(2, old, NOW);
        second_acts(NOW + 2 * S, 0);
        resolve(1, NOW + 2 * S);
        second_acts(NOW + 6 * S, 1); /* still fires: acted on late */
        assert_int_equal(seen.fingerprint, 2);
        assert_string_equal(result(1), "not done: it was over when the log was read");
}

/* ----------------------------------------------------------------- results */

struct taken {
        unsigned n;
        uint64_t fingerprint;
        size_t results;
        bool room, fresh;
};

static bool take(void *ctx, const struct alert_event *e, bool fresh, const struct action_report *results, size_t n)
{
        struct taken *t = ctx;

        if (!t->room)
                return false;
        *t = (struct taken){ t->n + 1, e->fingerprint, n, true, fresh };
        return true;
}

TEST_WITH(results_wait_until_they_are_taken, set_up, tear_down)
{
        struct taken taken = { .room = false };

        fire(1, NOW, NOW);
        dispatcher_collect_changed(dispatcher, take, &taken);
        assert_int_equal(taken.n, 0);
        taken.room = true;
        dispatcher_collect_changed(dispatcher, take, &taken);
        assert_int_equal(taken.n, 1);
        assert_int_equal(taken.fingerprint, 1);
        assert_int_equal(taken.results, 1);
        dispatcher_collect_changed(dispatcher, take, &taken);
        assert_int_equal(taken.n, 1);
        assert_true(taken.fresh); /* what was known of it when it fired before is over */
        resolve(1, NOW + S);
        dispatcher_collect_changed(dispatcher, take, &taken);
        assert_int_equal(taken.n, 2);
        assert_false(taken.fresh);
}

TEST_WITH(results_are_kept_in_order_and_forgotten, set_up, tear_down)
{
        struct action_report r = { .fingerprint = 1, .step = 1, .outcome = OUTCOME_DONE, .detail = "HTTP 200" };
        struct taken taken = { .room = true };
        size_t n;

        fire(1, NOW, NOW);
        dispatcher_report(dispatcher, &r);
        r.step = 0;
        dispatcher_report(dispatcher, &r);
        r.step = 99; /* not of this plan */
        dispatcher_report(dispatcher, &r);
        assert_int_equal(dispatcher_results(dispatcher, 1, &n)[1].step, 1);
        assert_int_equal(n, 2);
        resolve(1, NOW + S);
        dispatcher_collect_changed(dispatcher, take, &taken);
        dispatcher_tick(dispatcher, NOW + S + DISPATCHER_KEEP_NS + S);
        (void)dispatcher_results(dispatcher, 1, &n);
        assert_int_equal(n, 0);
}

/* What `why` has found when it fired is shown until the alert is forgotten: after the program's death, too. */
TEST_WITH(results_of_the_beginning_outlive_the_end, set_up, tear_down)
{
        struct action_plan *p = action_plan_new();
        struct action_report r = { .fingerprint = 1, .outcome = OUTCOME_DONE, .detail = "a thread keeps it" };
        struct error error;
        size_t n;

        assert_true(action_plan_add(p, &(struct action_step){ .kind = ACTION_WHY, .firing_only = true }, &error));
        assert_true(action_plan_add(p, &(struct action_step){ .kind = ACTION_LOG }, &error));
        plans[1] = p;
        fire(1, NOW, NOW);
        dispatcher_report(dispatcher, &r);
        resolve(1, NOW + S);
        const struct action_report *results = dispatcher_results(dispatcher, 1, &n);
        assert_int_equal(n, 2);
        assert_string_equal(results[0].detail, "a thread keeps it");
        assert_int_equal(results[0].outcome, OUTCOME_DONE);
        assert_int_equal(results[1].outcome, OUTCOME_UNDER_WAY); /* the log of its end */
        action_plan_unref(&p);
        plans[1] = plan;
}

/* ------------------------------------------------------------------- record */

TEST_WITH(a_broken_record_is_refused_whole, set_up, tear_down)
{
        static const struct {
                const char *text, *error;
        } cases[] = {
                { "", "line 1, column 0: '[' or '{' expected near end of file" },
                { "null", NULL },
                { "[]", "version: expected 1" },
                { "{\"version\": 2, \"done\": []}", "version: expected 1" },
                { "{\"version\": 1, \"done\": null}", "done: expected a list of at most 4096 alerts" },
                { "{\"version\": 1, \"done\": [{\"alert\": \"xyz\"}]}",
                  "done 1: expected alert (16 hexadecimal digits), fired and resolved" },
                { "{\"version\": 1, \"done\": [{\"alert\": \"0123456789abcdef\", \"fired\": 1, \"resolved\": null}]}",
                  "done 1: expected alert (16 hexadecimal digits), fired and resolved" },
        };
        struct error error;

        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                assert_false(record_parse(&record, cases[i].text, strlen(cases[i].text), &error));
                if (cases[i].error)
                        assert_string_equal(error.text, cases[i].error);
                assert_int_equal(record.n, 0);
        }
        static const char before[] =
                "{\"version\": 1, \"silences\": [], \"done\": [{\"alert\": \"0000000000000001\","
                " \"fired\": 1700001000000000000, \"resolved\": false}]}";
        assert_true(record_parse(&record, before, strlen(before), &error));
        fire_acts(1, NOW, NOW + S, 0);
}

/* Every single byte changed, and every cut: it is accepted as a whole or refused with a reason. */
TEST_WITH(a_damaged_record_is_survived, set_up, tear_down)
{
        static const char with[] = "\0\"{}[]:,-09aez\\\x80\xff";
        struct error error;

        fire(1, NOW, NOW);
        over(1, FIRING);
        char *text = record_text(&record);
        size_t size = strlen(text);

        for (size_t i = 0; i < size; i++) {
                char was = text[i];

                for (size_t w = 0; w < sizeof(with) - 1; w++) {
                        text[i] = with[w];
                        error.text[0] = '\0';
                        record.n = 0;
                        bool good = record_parse(&record, text, size, &error);
                        assert_true(good == !error.text[0]);
                        assert_true(record.n <= 1);
                }
                text[i] = was;
                assert_true(i == size - 1 || !record_parse(&record, text, i, &error));
        }
        free(text);
}

TEST(limits_remember_through_changes)
{
        struct limit_table *t = limit_table_new();
        struct action_limits l = { .count = 4, .per_alert = 4, .window_ns = S };

        for (uint64_t i = 0; i < 6; i++)
                limit_note(t, &l, 7, i, NOW + i);
        assert_int_equal(limit_check(t, &l, 7, 9, NOW + 6), LIMIT_RULE);
        l.count = 5; /* a reload raised it: the newest four still count */
        assert_int_equal(limit_check(t, &l, 7, 9, NOW + 6), LIMIT_FREE);
        limit_note(t, &l, 7, 9, NOW + 6);
        assert_int_equal(limit_check(t, &l, 7, 9, NOW + 7), LIMIT_RULE);
        l.count = 2;
        limit_note(t, &l, 7, 10, NOW + 8);
        l.per_alert = 1;
        assert_int_equal(limit_check(t, &l, 7, 10, NOW + 9), LIMIT_ALERT);
        assert_int_equal(limit_check(t, &l, 7, 10, NOW + 8 + S), LIMIT_FREE);
        for (uint64_t rule = 100; rule < 100 + LIMITS_RULES_MAX; rule++)
                limit_note(t, &l, rule, 1, NOW + rule);
        assert_int_equal(limit_check(t, &l, 7, 10, NOW + 9), LIMIT_FREE); /* the oldest rule was forgotten */
        limit_table_destroy(&t);
}
