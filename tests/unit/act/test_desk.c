/* SPDX-License-Identifier: BSD-3-Clause */
/* Which alerts are acted on, and when: silences, limits, restarts, the past. Time is made up. */
#include "tests/unit/act/support.h"

#include <stdio.h>

#include "daemon/act/desk.h"
#include "daemon/act/limits.h"
#include "daemon/act/state.h"

#define S   1000000000u
#define NOW (WALL + 1000 * (uint64_t)S)

struct seen {
        unsigned acted, changed;
        uint64_t fingerprint;
        enum notice_state state;
        bool known;
        char silenced[256]; /* the annotation */
        const struct act_plan *plan;
};

static struct desk *desk;
static struct silences silences;
static struct act_plan *plan;
static struct seen seen;

static bool full;

static bool on_act(void *ctx, const struct notice *n, struct act_plan *p, bool known)
{
        (void)ctx;
        if (full)
                return false;
        seen.plan = p;
        seen.acted++;
        seen.fingerprint = n->fingerprint;
        seen.state = n->state;
        seen.known = known;
        const char *words = notice_annotation(n, "silenced");
        snprintf(seen.silenced, sizeof(seen.silenced), "%s", words ? words : "");
        return true;
}

static void on_changed(void *ctx, const struct notice *n)
{
        (void)ctx;
        (void)n;
        seen.changed++;
}

static int set_up(void **state)
{
        const struct desk_handler handler = { .act = on_act, .changed = on_changed };
        char error[128];

        (void)state;
        memset(&seen, 0, sizeof(seen));
        silences_init(&silences);
        desk = desk_new(&handler, &silences);
        plan = act_plan_new();
        return act_plan_add(plan, &(struct act_step){ .kind = ACT_PUBLISH }, error, sizeof(error)) &&
                               act_plan_add(plan, &(struct act_step){ .kind = ACT_LOG }, error, sizeof(error))
                       ? 0
                       : -1;
}

static int tear_down(void **state)
{
        (void)state;
        desk_destroy(&desk);
        silences_done(&silences);
        act_plan_unref(&plan);
        return 0;
}

/* Alert number `id` of the rule began to fire at `fired`, and now is `now`. */
static void take_with(unsigned id, enum notice_state state, uint64_t fired, uint64_t now, struct act_plan *p)
{
        struct notice n = { .fingerprint = id,
                            .target = id % 2 ? "odd" : "even",
                            .rule = "leak",
                            .group = "memory",
                            .state = state,
                            .time_ns = 1,
                            .wall_ns = state == NOTICE_FIRING ? fired : now,
                            .fired_ns = 1,
                            .fired_wall_ns = fired };

        desk_take(desk, &n, p, now);
}

static void take(unsigned id, enum notice_state state, uint64_t fired, uint64_t now)
{
        take_with(id, state, fired, now, plan);
        if (seen.acted)
                assert_ptr_equal(seen.plan, plan);
}

static const char *result(unsigned id)
{
        size_t n;
        const struct act_report *r = desk_results(desk, id, &n);

        return n ? r[0].detail : "";
}

static void an_alert_is_acted_on_once(void **state)
{
        (void)state;
        take(1, NOTICE_PENDING, NOTICE_NO_TIME, NOW);
        take(1, NOTICE_INACTIVE, NOTICE_NO_TIME, NOW);
        assert_int_equal(seen.acted, 0);
        take(1, NOTICE_FIRING, NOW, NOW);
        take(1, NOTICE_FIRING, NOW, NOW + S);
        desk_tick(desk, NOW + 2 * (uint64_t)S);
        assert_int_equal(seen.acted, 1);
        assert_false(seen.known);
        assert_int_equal(desk_stats(desk)->firing, 1);
        take(1, NOTICE_RESOLVED, NOW, NOW + 3 * (uint64_t)S);
        assert_int_equal(seen.acted, 2);
        assert_int_equal(seen.state, NOTICE_RESOLVED);
        take(1, NOTICE_RESOLVED, NOW, NOW + 4 * (uint64_t)S);
        assert_int_equal(seen.acted, 2);
        assert_int_equal(desk_stats(desk)->firing, 0);
        take(1, NOTICE_FIRING, NOW + 5 * (uint64_t)S, NOW + 5 * (uint64_t)S); /* it fires again: another one */
        assert_int_equal(seen.acted, 3);
        take(2, NOTICE_RESOLVED, NOW, NOW); /* never heard of */
        assert_int_equal(seen.acted, 3);
}

static uint64_t silence(const char *rule, const char *target, uint64_t now, uint64_t length)
{
        struct silence s = { .created_wall_ns = now, .until_wall_ns = now + length };
        char error[128];
        uint64_t id = 0;

        snprintf(s.rule, sizeof(s.rule), "%s", rule);
        snprintf(s.target, sizeof(s.target), "%s", target);
        snprintf(s.why, sizeof(s.why), "deploy");
        if (!silences_add(&silences, &s, now, &id, error, sizeof(error)))
                fail_msg("%s", error);
        return id;
}

static void silenced_alerts_wait(void **state)
{
        size_t n;

        (void)state;
        silence("le*", "odd", NOW, 60 * (uint64_t)S);
        take(1, NOTICE_FIRING, NOW, NOW);
        take(2, NOTICE_FIRING, NOW, NOW);
        take(3, NOTICE_FIRING, NOW, NOW);
        assert_int_equal(seen.acted, 1);
        assert_int_equal(seen.fingerprint, 2);
        assert_string_equal(result(1), "not done: silenced");
        assert_int_equal(seen.changed, 2);
        desk_tick(desk, NOW + 30 * (uint64_t)S);
        assert_int_equal(seen.changed, 2);
        assert_int_equal(seen.acted, 1);
        take(3, NOTICE_RESOLVED, NOW, NOW + 40 * (uint64_t)S); /* came and went in silence */
        assert_int_equal(seen.acted, 1);
        assert_int_equal(desk_stats(desk)->silenced, 2);
        desk_tick(desk, NOW + 61 * (uint64_t)S);
        assert_int_equal(seen.acted, 2); /* still fires when the silence is over */
        assert_int_equal(seen.fingerprint, 1);
        assert_string_equal(result(1), "");
        assert_int_equal(desk_results(desk, 1, &n)->outcome, ACT_UNDER_WAY);

        silence("*", "*", NOW + 70 * (uint64_t)S, 60 * (uint64_t)S);
        take(1, NOTICE_RESOLVED, NOW, NOW + 80 * (uint64_t)S); /* who was told of its beginning is told of its end */
        assert_int_equal(seen.acted, 3);
}

static struct act_plan *plan_of(enum act_kind kind)
{
        struct act_plan *p = act_plan_new();
        char error[128];

        assert_true(act_plan_add(p, &(struct act_step){ .kind = ACT_LOG }, error, sizeof(error)));
        if (kind == ACT_ALERTMANAGER)
                assert_true(
                        act_plan_add(p, &(struct act_step){ .kind = kind, .url = "http://h" }, error, sizeof(error)));
        return p;
}

static void report_of(unsigned id, uint32_t step, enum notice_state state)
{
        struct act_report r = { .fingerprint = id,
                                .state = state,
                                .step = step,
                                .kind = ACT_ALERTMANAGER,
                                .outcome = ACT_DONE,
                                .attempts = 1,
                                .detail = "HTTP 200" };

        desk_report(desk, &r);
}

/* An Alertmanager would go on notifying: it is told of the end, and of the alert again when the silence is over. */
static void what_keeps_a_state_is_withdrawn(void **state)
{
        struct act_plan *am = plan_of(ACT_ALERTMANAGER);
        const uint64_t s = S;

        (void)state;
        take_with(1, NOTICE_FIRING, NOW, NOW, am);
        take_with(2, NOTICE_FIRING, NOW, NOW, plan); /* of log alone: there is nothing to withdraw */
        assert_int_equal(seen.acted, 2);
        silence("leak", "*", NOW + s, 60 * s);
        full = true;
        desk_tick(desk, NOW + s);
        full = false;
        assert_int_equal(seen.acted, 2);
        desk_tick(desk, NOW + 2 * s); /* tried again */
        assert_int_equal(seen.acted, 3);
        assert_int_equal(seen.fingerprint, 1);
        assert_int_equal(seen.state, NOTICE_RESOLVED);
        assert_true(seen.known); /* that alone: the log has said it */
        assert_string_equal(seen.silenced, "until 2023-11-14T22:31:01.000Z: deploy");
        assert_int_equal(desk_stats(desk)->silenced, 1);
        assert_int_equal(desk_stats(desk)->firing, 2);
        report_of(1, 1, NOTICE_RESOLVED);
        size_t n;
        const struct act_report *r = desk_results(desk, 1, &n);
        assert_string_equal(r[n - 1].detail, "withdrawn, silenced: HTTP 200");
        desk_tick(desk, NOW + 30 * s);
        assert_int_equal(seen.acted, 3);

        assert_int_equal(silences_remove(&silences, 0, "leak", "*"), 1);
        desk_tick(desk, NOW + 31 * s);
        assert_int_equal(seen.acted, 4);
        assert_int_equal(seen.state, NOTICE_FIRING);
        assert_true(seen.known);
        assert_string_equal(seen.silenced, "");
        report_of(1, 1, NOTICE_FIRING);
        r = desk_results(desk, 1, &n);
        assert_string_equal(r[n - 1].detail, "HTTP 200");

        /* Its end under a silence is told to all who were told of its beginning. */
        silence("leak", "*", NOW + 40 * s, 60 * s);
        desk_tick(desk, NOW + 40 * s);
        assert_int_equal(seen.acted, 5);
        take_with(1, NOTICE_RESOLVED, NOW, NOW + 41 * s, am);
        assert_int_equal(seen.acted, 6);
        assert_int_equal(seen.state, NOTICE_RESOLVED);
        assert_false(seen.known);
        assert_string_equal(seen.silenced, "");
        assert_int_equal(desk_stats(desk)->firing, 1);
        act_plan_unref(&am);
}

static void a_restart_under_a_silence_tells_nobody(void **state)
{
        struct act_plan *am = plan_of(ACT_ALERTMANAGER);
        const struct desk_done done = { 1, NOW, false };
        const uint64_t s = S;

        (void)state;
        desk_done_restore(desk, &done);
        silence("leak", "*", NOW, 60 * s);
        take_with(1, NOTICE_FIRING, NOW, NOW + s, am);
        assert_int_equal(seen.acted, 0);
        assert_string_equal(result(1), "not done: silenced");
        desk_tick(desk, NOW + 61 * s);
        assert_int_equal(seen.acted, 1);
        assert_true(seen.known);
        act_plan_unref(&am);
}

/* A reload tells alerts that fire again, with the actions that their rules have now. */
static void other_actions_hold_for_what_was_not_acted_on(void **state)
{
        struct act_plan *other = plan_of(ACT_LOG), *none = act_plan_new();
        const uint64_t s = S;

        (void)state;
        take_with(1, NOTICE_FIRING, NOW, NOW, none);
        take_with(2, NOTICE_FIRING, NOW, NOW, NULL); /* never heard of */
        take_with(3, NOTICE_FIRING, NOW, NOW, plan);
        assert_int_equal(seen.acted, 1);
        for (unsigned id = 1; id <= 3; id++)
                take_with(id, NOTICE_FIRING, NOW, NOW + s, other);
        assert_int_equal(seen.acted, 3); /* 1 and 2 */
        assert_ptr_equal(seen.plan, other);
        take_with(3, NOTICE_RESOLVED, NOW, NOW + 2 * s, other);
        assert_int_equal(seen.acted, 4);
        assert_ptr_equal(seen.plan, plan); /* told to whom its beginning was told */
        for (unsigned id = 1; id <= 2; id++)
                take_with(id, NOTICE_FIRING, NOW, NOW + 3 * s, NULL); /* the rule has no actions any more */
        take_with(1, NOTICE_RESOLVED, NOW, NOW + 4 * s, NULL);
        assert_int_equal(seen.acted, 5);
        assert_ptr_equal(seen.plan, other);

        /* One that waits for the end of a silence takes the new ones, or none. */
        silence("leak", "*", NOW, 60 * s);
        take_with(5, NOTICE_FIRING, NOW, NOW, plan);
        take_with(7, NOTICE_FIRING, NOW, NOW, plan);
        take_with(5, NOTICE_FIRING, NOW, NOW + s, other);
        take_with(7, NOTICE_FIRING, NOW, NOW + s, NULL);
        assert_string_equal(result(5), "not done: silenced");
        assert_string_equal(result(7), "");
        desk_tick(desk, NOW + 61 * s);
        assert_int_equal(seen.acted, 6);
        assert_int_equal(seen.fingerprint, 5);
        assert_ptr_equal(seen.plan, other);
        take_with(7, NOTICE_RESOLVED, NOW, NOW + 62 * s, NULL);
        assert_int_equal(seen.acted, 6);
        act_plan_unref(&other);
        act_plan_unref(&none);
}

static void limits_hold_back(void **state)
{
        const struct act_limits few = { .count = 3, .per_alert = 2, .window_ns = 60 * (uint64_t)S };
        char error[128];

        (void)state;
        assert_true(act_plan_limit(plan, &few, error, sizeof(error)));
        for (unsigned i = 0; i < 3; i++) {
                uint64_t at = NOW + i * 2 * (uint64_t)S;
                take(1, NOTICE_FIRING, at, at);
                take(1, NOTICE_RESOLVED, at, at + S);
        }
        assert_int_equal(seen.acted, 4); /* two beginnings and their ends */
        take(2, NOTICE_FIRING, NOW + 10 * (uint64_t)S, NOW + 10 * (uint64_t)S);
        take(3, NOTICE_FIRING, NOW + 11 * (uint64_t)S, NOW + 11 * (uint64_t)S);
        assert_int_equal(seen.acted, 5);
        assert_string_equal(result(3), "not done: the limit of the rule is reached");
        assert_int_equal(desk_stats(desk)->limited, 2);
        desk_tick(desk, NOW + 59 * (uint64_t)S);
        assert_int_equal(seen.acted, 5);
        desk_tick(desk, NOW + 61 * (uint64_t)S); /* the first is outside of the window now */
        assert_int_equal(seen.acted, 6);
        assert_int_equal(seen.fingerprint, 3);
}

static void the_past_bothers_nobody(void **state)
{
        uint64_t old = NOW - 3600 * (uint64_t)S;

        (void)state;
        take(1, NOTICE_FIRING, old, NOW);
        take(2, NOTICE_FIRING, old, NOW);
        desk_tick(desk, NOW + 2 * (uint64_t)S);
        assert_int_equal(seen.acted, 0);
        take(1, NOTICE_RESOLVED, old, NOW + 2 * (uint64_t)S);
        desk_tick(desk, NOW + 6 * (uint64_t)S);
        assert_int_equal(seen.acted, 1); /* still fires: acted on late */
        assert_int_equal(seen.fingerprint, 2);
        assert_int_equal(desk_stats(desk)->past, 1);
        assert_string_equal(result(1), "not done: it was over when the log was read");
}

static void restarts_repeat_nothing(void **state)
{
        char *text, error[256];
        size_t n;

        (void)state;
        silence("gc_*", "api-1", NOW, 3600 * (uint64_t)S);
        silence("old", "*", NOW, 5 * (uint64_t)S);
        take(1, NOTICE_FIRING, NOW, NOW);
        take(2, NOTICE_FIRING, NOW, NOW);
        take(2, NOTICE_RESOLVED, NOW, NOW + S);
        const struct desk_done *done = desk_done_list(desk, &n);
        assert_int_equal(n, 2);
        assert_non_null(text = state_text(&silences, done, n));
        tear_down(NULL);
        set_up(NULL);
        if (!state_parse(text, strlen(text), NOW + 10 * (uint64_t)S, &silences, desk, error, sizeof(error)))
                fail_msg("%s", error);
        free(text);
        assert_int_equal(silences.n, 1);
        assert_string_equal(silences.items[0].rule, "gc_*");
        assert_string_equal(silences.items[0].why, "deploy");
        assert_true(silences.next_id > silences.items[0].id);

        take(1, NOTICE_FIRING, NOW, NOW + 10 * (uint64_t)S);
        assert_int_equal(seen.acted, 1);
        assert_true(seen.known);
        take(1, NOTICE_RESOLVED, NOW, NOW + 11 * (uint64_t)S);
        assert_false(seen.known); /* its end is news */
        take(2, NOTICE_FIRING, NOW, NOW + 10 * (uint64_t)S);
        assert_true(seen.known);
        take(2, NOTICE_RESOLVED, NOW, NOW + 11 * (uint64_t)S);
        assert_true(seen.known);
        take(1, NOTICE_FIRING, NOW + 20 * (uint64_t)S, NOW + 20 * (uint64_t)S);
        assert_false(seen.known);
}

static void what_cannot_be_taken_is_said(void **state)
{
        (void)state;
        full = true;
        take(1, NOTICE_FIRING, NOW, NOW);
        full = false;
        assert_string_equal(result(1), "not done: too much to do at once");
        assert_int_equal(desk_stats(desk)->dropped, 1);
        assert_int_equal(seen.changed, 1);
}

static void removed_targets_end_their_alerts(void **state)
{
        (void)state;
        take(1, NOTICE_FIRING, NOW, NOW);
        take(2, NOTICE_FIRING, NOW, NOW);
        desk_end_target(desk, "odd", "gone", NOW + S);
        assert_int_equal(seen.acted, 3);
        assert_int_equal(seen.fingerprint, 1);
        assert_int_equal(seen.state, NOTICE_RESOLVED);
        desk_end_target(desk, "odd", "gone", NOW + S);
        assert_int_equal(seen.acted, 3);
        assert_int_equal(desk_stats(desk)->firing, 1);
}

static void times_that_no_file_holds_are_not_remembered(void **state)
{
        size_t n;

        (void)state;
        take(1, NOTICE_FIRING, NOTICE_NO_TIME, NOW);
        take(1, NOTICE_FIRING, NOTICE_NO_TIME, NOW);
        take(2, NOTICE_FIRING, (uint64_t)INT64_MAX + 1, NOW);
        assert_int_equal(seen.acted, 2);
        take(1, NOTICE_RESOLVED, NOTICE_NO_TIME, NOW);
        assert_int_equal(seen.acted, 3);
        (void)desk_done_list(desk, &n);
        assert_int_equal(n, 0);
}

static void broken_state_is_refused_whole(void **state)
{
        static const struct {
                const char *text, *error;
        } cases[] = {
                { "", "line 1, column 0: '[' or '{' expected near end of file" },
                { "{\"version\": 1, \"silences\": [", NULL },
                { "[]", "version 1: expected 1" },
                { "{\"version\": 2, \"silences\": [], \"done\": []}", "version 1: expected 1" },
                { "{\"version\": 1, \"silences\": {}, \"done\": []}",
                  "silences 1: expected a list of at most 1000 silences" },
                { "{\"version\": 1, \"silences\": [{\"id\": 1}], \"done\": []}",
                  "silence 1: expected id, rule, target, why, created and until" },
                { "{\"version\": 1, \"silences\": [{\"id\": -1, \"rule\": \"a\", \"target\": \"b\", \"why\": \"\","
                  " \"created\": 1, \"until\": 9000000000000000000}], \"done\": []}",
                  "silence 1: expected id, rule, target, why, created and until" },
                { "{\"version\": 1, \"silences\": [{\"id\": 1, \"rule\": \"a\", \"target\": \"b\", \"why\": \"\","
                  " \"created\": 1, \"until\": 9000000000000000000}], \"done\": []}",
                  "silence 1: expected a silence lasts 366 days at the most" },
                { "{\"version\": 1, \"silences\": [], \"done\": [{\"alert\": \"xyz\"}]}",
                  "done 1: expected alert (16 hexadecimal digits), fired and resolved" },
        };
        char error[512];

        (void)state;
        silence("kept", "*", NOW, S);
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                assert_false(
                        state_parse(cases[i].text, strlen(cases[i].text), NOW, &silences, desk, error, sizeof(error)));
                if (cases[i].error)
                        assert_string_equal(error, cases[i].error);
                assert_int_equal(silences.n, 1);
        }
}

/* Every single byte changed, and every cut: it is taken whole or refused with a reason; nothing worse. */
static void damaged_state_is_survived(void **state)
{
        static const char with[] = "\0\"{}[]:,-09aez\\\x80\xff";
        char error[512];
        size_t n;

        (void)state;
        silence("gc_*", "api-1", NOW, 3600 * (uint64_t)S);
        take(1, NOTICE_FIRING, NOW, NOW);
        const struct desk_done *done = desk_done_list(desk, &n);
        char *text = state_text(&silences, done, n);
        size_t size = strlen(text);

        for (size_t i = 0; i < size; i++) {
                char was = text[i];

                for (size_t w = 0; w < sizeof(with) - 1; w++) {
                        text[i] = with[w];
                        error[0] = '\0';
                        bool good = state_parse(text, size, NOW, &silences, desk, error, sizeof(error));
                        assert_true(good == !error[0]);
                        assert_true(silences.n <= 1);
                }
                text[i] = was;
                assert_true(!state_parse(text, i, NOW, &silences, desk, error, sizeof(error)));
        }
        assert_true(state_parse(text, size, NOW, &silences, desk, error, sizeof(error)));
        assert_int_equal(silences.n, 1);
        free(text);
}

static void silences_are_checked(void **state)
{
        struct silence s = { .rule = "a", .target = "*", .until_wall_ns = NOW };
        char error[128];
        uint64_t id;

        (void)state;
        assert_false(silences_add(&silences, &s, NOW, &id, error, sizeof(error)));
        assert_string_equal(error, "the end of the silence is not in the future");
        s.until_wall_ns = NOW + S;
        s.rule[0] = '\0';
        assert_false(silences_add(&silences, &s, NOW, &id, error, sizeof(error)));
        s.rule[0] = '\x1b';
        assert_false(silences_add(&silences, &s, NOW, &id, error, sizeof(error)));

        uint64_t first = silence("leak", "*", NOW, S), again = silence("leak", "*", NOW, 2 * (uint64_t)S);
        assert_true(again > first);
        assert_int_equal(silences.n, 1); /* the same patterns: replaced */
        uint64_t longer = silence("l*", "api-?", NOW, 9 * (uint64_t)S);
        assert_int_equal(silences_find(&silences, "leak", "api-1", NOW)->id, longer);
        assert_int_equal(silences_find(&silences, "leak", "api-12", NOW)->id, again);
        assert_null(silences_find(&silences, "gc", "api-1", NOW));
        assert_null(silences_find(&silences, "leak", "api-1", NOW + 9 * (uint64_t)S));
        assert_int_equal(silences_remove(&silences, longer, NULL, NULL), 1);
        assert_int_equal(silences_remove(&silences, 0, "leak", "x"), 0);
        assert_int_equal(silences_remove(&silences, 0, "leak", "*"), 1);
        for (unsigned i = 0; i < SILENCES_MAX; i++) {
                snprintf(s.rule, sizeof(s.rule), "r%u", i);
                assert_true(silences_add(&silences, &s, NOW, &id, error, sizeof(error)));
        }
        snprintf(s.rule, sizeof(s.rule), "one more");
        assert_false(silences_add(&silences, &s, NOW, &id, error, sizeof(error)));
        assert_string_equal(error, "1000 silences are the most; end some first");
        assert_int_equal(silences_expire(&silences, NOW + S), SILENCES_MAX);
}

static void results_are_kept_in_order_and_forgotten(void **state)
{
        struct act_report r = { .fingerprint = 1, .step = 1, .outcome = ACT_DONE, .detail = "HTTP 200" };
        size_t n;

        (void)state;
        take(1, NOTICE_FIRING, NOW, NOW);
        desk_report(desk, &r);
        r.step = 0;
        desk_report(desk, &r);
        r.step = 99; /* not of this plan */
        desk_report(desk, &r);
        assert_int_equal(desk_results(desk, 1, &n)[1].step, 1);
        assert_int_equal(n, 2);
        take(1, NOTICE_RESOLVED, NOW, NOW + S);
        desk_tick(desk, NOW + S + DESK_KEEP_NS + S);
        (void)desk_results(desk, 1, &n);
        assert_int_equal(n, 0);
}

static void limits_remember_through_changes(void **state)
{
        struct limit_table *t = limit_table_new();
        struct act_limits l = { .count = 4, .per_alert = 4, .window_ns = S };

        (void)state;
        for (uint64_t i = 0; i < 6; i++)
                limit_note(t, &l, 7, i, NOW + i);
        assert_int_equal(limit_ask(t, &l, 7, 9, NOW + 6), LIMIT_RULE);
        l.count = 5; /* a reload raised it: the newest four still count */
        assert_int_equal(limit_ask(t, &l, 7, 9, NOW + 6), LIMIT_FREE);
        limit_note(t, &l, 7, 9, NOW + 6);
        assert_int_equal(limit_ask(t, &l, 7, 9, NOW + 7), LIMIT_RULE);
        l.count = 2;
        limit_note(t, &l, 7, 10, NOW + 8);
        l.per_alert = 1;
        assert_int_equal(limit_ask(t, &l, 7, 10, NOW + 9), LIMIT_ALERT);
        assert_int_equal(limit_ask(t, &l, 7, 10, NOW + 8 + S), LIMIT_FREE);
        for (uint64_t rule = 100; rule < 100 + LIMITS_RULES_MAX; rule++)
                limit_note(t, &l, rule, 1, NOW + rule);
        assert_int_equal(limit_ask(t, &l, 7, 10, NOW + 9), LIMIT_FREE); /* the oldest rule was forgotten */
        limit_table_destroy(&t);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(an_alert_is_acted_on_once, set_up, tear_down),
                cmocka_unit_test_setup_teardown(silenced_alerts_wait, set_up, tear_down),
                cmocka_unit_test_setup_teardown(what_keeps_a_state_is_withdrawn, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_restart_under_a_silence_tells_nobody, set_up, tear_down),
                cmocka_unit_test_setup_teardown(other_actions_hold_for_what_was_not_acted_on, set_up, tear_down),
                cmocka_unit_test_setup_teardown(limits_hold_back, set_up, tear_down),
                cmocka_unit_test_setup_teardown(the_past_bothers_nobody, set_up, tear_down),
                cmocka_unit_test_setup_teardown(restarts_repeat_nothing, set_up, tear_down),
                cmocka_unit_test_setup_teardown(what_cannot_be_taken_is_said, set_up, tear_down),
                cmocka_unit_test_setup_teardown(removed_targets_end_their_alerts, set_up, tear_down),
                cmocka_unit_test_setup_teardown(times_that_no_file_holds_are_not_remembered, set_up, tear_down),
                cmocka_unit_test_setup_teardown(broken_state_is_refused_whole, set_up, tear_down),
                cmocka_unit_test_setup_teardown(damaged_state_is_survived, set_up, tear_down),
                cmocka_unit_test_setup_teardown(silences_are_checked, set_up, tear_down),
                cmocka_unit_test_setup_teardown(results_are_kept_in_order_and_forgotten, set_up, tear_down),
                cmocka_unit_test(limits_remember_through_changes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
