/* SPDX-License-Identifier: BSD-3-Clause */
/* Alerts of one target: one per band, ends with the run, reload keeps what has not changed, texts, bounds. */
#include "tests/unit/rules/made_up.h"
#include "tests/unit/test.h"

struct world {
        struct made_up *data;
        struct ruleset *rules;
        struct alerts *alerts;
        struct told told;
};

static struct world *begin(const char *yaml)
{
        struct world *w = calloc(1, sizeof(*w));
        struct alerts_sink sink = { .ctx = &w->told, .changed = on_changed };

        w->data = made_up_new();
        w->rules = rules_of(yaml);
        struct rule_data data = made_data(w->data);
        w->alerts = alerts_new("api-1", w->rules, &data, &sink);
        assert_non_null(w->alerts);
        return w;
}

static void end(struct world *w)
{
        alerts_destroy(&w->alerts);
        ruleset_destroy(&w->rules);
        made_up_free(w->data);
        free(w);
}

static void judge(struct world *w, uint64_t seconds)
{
        struct rule_moment at = made_at(seconds);

        alerts_judge_run(w->alerts, &at, (struct rule_gap){ .follows = false });
}

static const char *const plain =
        "builtin: false\n"
        "groups:\n"
        "- name: g\n"
        "  rules:\n"
        "  - {alert: big, expr: live > 100MiB, for: 2s, "
        "labels: {severity: critical, team: x}, "
        "annotations: {summary: '{{target}} has {{value}}, over {{threshold}}, "
        "for {{since}}; "
        "{{where}}; {{note}}; {{slope}}'}}\n";

TEST(one_life)
{
        struct world *w = begin(plain);

        w->data->note = "deploy";
        for (uint64_t t = 1; t <= 10; t++) {
                made_push(w->data, SERIES_LIVE, (t - 1) * S, t < 4 ? 50 * MIB : t < 9 ? 200 * MIB : 60 * MIB);
                judge(w, t);
        }
        assert_string_equal(w->told.text, "big pending@4 big firing@6 big resolved@9 ");
        assert_int_equal(alerts_count(w->alerts), 1);
        const struct alert *a = alerts_get(w->alerts, 0);
        assert_int_equal(a->active.time_ns, 4 * S);
        assert_int_equal(a->fired.time_ns, 6 * S);
        assert_int_equal(a->fired.wall_ns, 1006 * S);
        assert_int_equal(a->resolved.time_ns, 9 * S);
        assert_string_equal(a->value_text, "200 MiB");
        assert_string_equal(a->threshold_text, "100 MiB");
        assert_string_equal(a->sentence,
                            "api-1 has 200 MiB, over 100 MiB, for 2.00 s; in live data; "
                            "\"deploy\" (0 s ago); unknown");
        assert_string_equal(a->annotations[0].name, "summary");
        judge(w, 10 + 900);
        assert_int_equal(alerts_count(w->alerts), 0); /* forgotten */
        end(w);
}

/* Between two judgements data may say already that it is over: the words stay those that it fired with. */
TEST(words_are_of_what_it_fires_for)
{
        struct world *w = begin(plain);
        struct rule_moment at = made_at(6);

        for (uint64_t t = 1; t <= 5; t++) {
                made_push(w->data, SERIES_LIVE, (t - 1) * S, 200 * MIB);
                judge(w, t);
        }
        const struct alert *alert = alerts_get(w->alerts, 0);
        assert_int_equal(alert->state.now, ALERT_FIRING);
        made_push(w->data, SERIES_LIVE, 5 * S, 300 * MIB);
        alerts_refresh(w->alerts, &at);
        assert_string_equal(alert->value_text, "300 MiB");
        made_push(w->data, SERIES_LIVE, 5 * S + 1, 60 * MIB);
        alerts_refresh(w->alerts, &at);
        assert_string_equal(alert->value_text, "300 MiB");
        judge(w, 6);
        assert_int_equal(alert->state.now, ALERT_RESOLVED);
        assert_string_equal(alert->value_text, "300 MiB");
        end(w);
}

TEST(unknown_keeps_the_state)
{
        struct world *w =
                begin("builtin: false\n"
                      "groups:\n"
                      "- {name: g, rules: [{alert: late, expr: 'count(live, 2s) > 1'}]}\n");

        made_push(w->data, SERIES_LIVE, 1 * S, 1);
        made_push(w->data, SERIES_LIVE, 1 * S + 1, 1);
        judge(w, 2);
        judge(w, 60);
        assert_string_equal(w->told.text, "late firing@2 ");
        assert_true(alerts_get(w->alerts, 0)->state.unknown);
        made_push(w->data, SERIES_LIVE, 60 * S, 1);
        judge(w, 61);
        assert_string_equal(w->told.text, "late firing@2 late resolved@61 ");
        end(w);
}

TEST(each_band_has_its_own)
{
        struct world *w =
                begin("builtin: false\n"
                      "groups:\n"
                      "- name: g\n"
                      "  rules:\n"
                      "  - alert: b\n"
                      "    expr: band{label=~\"Main.*\"} > 10MiB\n"
                      "    annotations: {summary: '{{band}}: {{value}}'}\n"
                      "  - {alert: c, expr: band > 100MiB}\n");
        static const char *const labels[] = { NULL, "Main.a", "Other", "Main.b", "Main.c" };

        memcpy(w->data->labels, labels, sizeof(labels));
        w->data->n_bands = 3;
        for (unsigned i = 1; i <= 4; i++)
                w->data->bands[i] = 20 * MIB;
        w->data->bands[1] = 5 * MIB;
        judge(w, 1);
        assert_string_equal(w->told.text, "b/Main.b firing@1 ");
        w->data->n_bands = 4;
        w->data->bands[1] = 200 * MIB;
        w->data->bands[3] = 1 * MIB;
        judge(w, 2);
        assert_string_equal(w->told.text,
                            "b/Main.b firing@1 b/Main.a firing@2 b/Main.b resolved@2 b/Main.c firing@2 "
                            "c/Main.a firing@2 ");
        assert_int_equal(alerts_count(w->alerts), 4);
        assert_int_equal(alerts_get(w->alerts, 0)->band, 1);
        assert_int_equal(alerts_get(w->alerts, 2)->band, 4);
        assert_string_equal(alerts_get(w->alerts, 0)->sentence, "Main.a: 200 MiB");
        w->data->labels[2] = "Main.late"; /* defined late */
        alerts_band_changed(w->alerts, 2);
        judge(w, 3);
        assert_int_equal(alerts_count(w->alerts), 5);
        end(w);
}

/* Parts of a whole: while the whole holds, and when both are over. */
TEST(a_part_names_its_whole)
{
        struct world *w =
                begin("builtin: false\n"
                      "groups:\n"
                      "- name: g\n"
                      "  rules:\n"
                      "  - {alert: whole, expr: live > 100MiB}\n"
                      "  - {alert: part, expr: band > 10MiB, labels: {part_of: whole}}\n");

        w->data->labels[1] = "Main.a";
        w->data->n_bands = 1;
        for (uint64_t t = 1; t <= 4; t++) {
                static const struct {
                        double live, band;
                        bool named;
                } moments[] = {
                        { 50 * MIB, 20 * MIB, false }, /* the part alone */
                        { 200 * MIB, 20 * MIB, true }, /* both */
                        { 200 * MIB, 5 * MIB, true },  /* the part is over */
                        { 50 * MIB, 5 * MIB, true },   /* both are */
                };
                made_push(w->data, SERIES_LIVE, (t - 1) * S, moments[t - 1].live);
                w->data->bands[1] = moments[t - 1].band;
                judge(w, t);
                for (size_t i = 0; i < alerts_count(w->alerts); i++) {
                        const struct alert *a = alerts_get(w->alerts, i);
                        size_t whole = alerts_whole(w->alerts, i);

                        assert_true((whole != ALERTS_NONE) == (a->band && moments[t - 1].named));
                        assert_true(whole == ALERTS_NONE || !strcmp(alerts_get(w->alerts, whole)->rule->name, "whole"));
                }
        }
        assert_int_equal(alerts_count(w->alerts), 2);
        made_push(w->data, SERIES_LIVE, 4 * S, 50 * MIB);
        w->data->bands[1] = 20 * MIB;
        judge(w, 5);
        for (size_t i = 0; i < alerts_count(w->alerts); i++)
                assert_true(alerts_whole(w->alerts, i) == ALERTS_NONE); /* it fires, the whole does not */
        end(w);
}

/* The rule of the alert that the alert of this rule is part of; "". */
static const char *whole_of(const struct alerts *a, const char *rule)
{
        for (size_t i = 0; i < alerts_count(a); i++) {
                size_t whole = alerts_whole(a, i);

                if (!strcmp(alerts_get(a, i)->rule->name, rule))
                        return whole == ALERTS_NONE ? "" : alerts_get(a, whole)->rule->name;
        }
        return "no alert";
}

/* The first rule named that has one; parts of parts are of the one at the top; what fires is not behind what waits. */
TEST(parts_of_parts)
{
        struct world *w =
                begin("builtin: false\n"
                      "groups:\n"
                      "- name: g\n"
                      "  rules:\n"
                      "  - {alert: leak, expr: live > 400MiB, for: 2s}\n"
                      "  - {alert: off, expr: live > 1TiB}\n"
                      "  - {alert: soon, expr: live > 100MiB, labels: {part_of: 'leak, off now'}}\n"
                      "  - {alert: now, expr: live > 200MiB, labels: {severity: critical, part_of: leak off}}\n"
                      "  - {alert: a, expr: live > 100MiB, labels: {part_of: b}}\n"
                      "  - {alert: b, expr: live > 100MiB, labels: {part_of: a}}\n"
                      "  - {alert: c, expr: live > 100MiB, labels: {part_of: c}}\n"
                      "  - {alert: d, expr: live > 100MiB, labels: {part_of: soo}}\n");
        static const struct {
                double live;
                const char *soon, *now;
        } moments[] = { { 150 * MIB, "", "no alert" },
                        { 300 * MIB, "now", "" },
                        { 500 * MIB, "now", "" }, /* the leak is pending */
                        { 500 * MIB, "now", "" },
                        { 500 * MIB, "leak", "leak" } };

        for (uint64_t t = 1; t <= 5; t++) {
                made_push(w->data, SERIES_LIVE, (t - 1) * S, moments[t - 1].live);
                judge(w, t);
                assert_string_equal(whole_of(w->alerts, "soon"), moments[t - 1].soon);
                assert_string_equal(whole_of(w->alerts, "now"), moments[t - 1].now);
                for (const char *alone = "abcd"; *alone; alone++)
                        assert_string_equal(whole_of(w->alerts, (const char[]){ *alone, '\0' }), "");
        }
        end(w);
}

TEST(a_run_ends_its_alerts)
{
        struct world *w =
                begin("builtin: false\n"
                      "groups:\n"
                      "- name: g\n"
                      "  rules:\n"
                      "  - {alert: fires, expr: live > 1MiB}\n"
                      "  - {alert: waits, expr: live > 1MiB, for: 1h}\n"
                      "  - {alert: over, expr: band > 1MiB}\n"
                      "  - {alert: target, expr: crashed}\n");
        struct rule_moment at = made_at(50),
                           after = { .time_ns = UNKNOWN_U64, .target_ns = 60 * S, .wall_ns = 60 * S, .run = 1 };

        w->data->labels[1] = "A";
        w->data->n_bands = 1;
        w->data->bands[1] = 5 * MIB;
        made_push(w->data, SERIES_LIVE, 1 * S, 5 * MIB);
        judge(w, 50);
        alerts_end_run(w->alerts, &at);
        w->data->facts[RULE_CRASHED] = 1;
        alerts_judge_target(w->alerts, &after);
        assert_string_equal(w->told.text,
                            "fires firing@50 waits pending@50 over/A firing@50 over/A resolved@50 "
                            "waits inactive@50 fires resolved@50 target firing@-1 ");
        assert_non_null(strstr(alerts_get(w->alerts, 0)->sentence, "5.00 MiB; then the run ended"));

        /* the next run: event time begins again, band 1 is another one */
        w->told.text[0] = '\0';
        alerts_begin_run(w->alerts);
        w->data->labels[1] = "B";
        w->data->facts[RULE_CRASHED] = 0;
        struct rule_moment again = made_at(3);
        again.run = 2;
        again.target_ns = 70 * S;
        alerts_judge_run(w->alerts, &again, (struct rule_gap){ .follows = false });
        alerts_judge_target(w->alerts, &again);
        assert_string_equal(w->told.text, "fires firing@3 waits pending@3 over/B firing@3 target resolved@3 ");
        assert_int_equal(alerts_count(w->alerts), 5);
        assert_string_equal(alerts_get(w->alerts, 2)->band_label, "A");
        assert_string_equal(alerts_get(w->alerts, 3)->band_label, "B");
        end(w);
}

TEST(reload_keeps_what_is_the_same)
{
        struct world *w =
                begin("builtin: false\n"
                      "groups:\n"
                      "- name: g\n"
                      "  rules:\n"
                      "  - {alert: a, expr: live > 1MiB, for: 10s}\n"
                      "  - {alert: b, expr: live > 2MiB}\n"
                      "  - {alert: c, expr: live > 3MiB}\n"
                      "  - {alert: d, expr: live > 4MiB}\n");
        struct rule_moment at = made_at(6);

        made_push(w->data, SERIES_LIVE, 1 * S, 5 * MIB);
        judge(w, 5);
        w->told.text[0] = '\0';
        /* another order, other spaces and words; c is changed, d is gone */
        struct ruleset *next = rules_of(
                "builtin: false\n"
                "groups:\n"
                "- name: g\n"
                "  rules:\n"
                "  - {alert: c, expr: live > 30MiB}\n"
                "  - {alert: b, expr: 'live  >  2MiB', annotations: {summary: new}}\n"
                "  - {alert: a, expr: live > 1MiB, for: 10s}\n");
        alerts_reload(w->alerts, next, &at);
        ruleset_destroy(&w->rules);
        w->rules = next;
        assert_string_equal(w->told.text, "d resolved@6 c resolved@6 ");
        assert_int_equal(alerts_count(w->alerts), 2);
        assert_string_equal(alerts_get(w->alerts, 0)->rule->name, "b");
        judge(w, 15);
        assert_string_equal(w->told.text, "d resolved@6 c resolved@6 a firing@15 "); /* since 5 s */
        end(w);
}

TEST(targets_are_matched)
{
        struct world *w =
                begin("builtin: false\n"
                      "groups:\n"
                      "- name: g\n"
                      "  targets: [worker-*]\n"
                      "  rules:\n"
                      "  - {alert: a, expr: live > 1MiB}\n"
                      "  - {alert: b, expr: live > 1MiB, targets: 'api-?'}\n");

        made_push(w->data, SERIES_LIVE, 1 * S, 5 * MIB);
        judge(w, 5);
        assert_string_equal(w->told.text, "b firing@5 ");
        end(w);
}

/* Info tables may share a label: their names tell them apart in every run, and where there are none their numbers. */
TEST(bands_of_one_label_are_told_apart)
{
        struct world *w =
                begin("builtin: false\n"
                      "groups: [{name: g, rules: [{alert: a, expr: band > 10MiB}]}]\n");

        w->data->n_bands = 5;
        for (unsigned i = 1; i <= 5; i++) {
                w->data->labels[i] = i < 5 ? "Main.a" : "Main.b";
                w->data->names[i] = i < 3 ? "sat_info" : i == 3 ? "con_info" : NULL;
                w->data->bands[i] = 20 * MIB;
        }
        w->data->sources[1] = "Main.hs:1:2-3";
        judge(w, 1);
        assert_int_equal(alerts_count(w->alerts), 5);
        static const char *const names[] = { "sat_info", "sat_info #2", "con_info", NULL, NULL };
        for (unsigned i = 0; i < 5; i++) {
                const struct alert *a = alerts_get(w->alerts, i);
                const char *label = i < 4 ? "Main.a" : "Main.b";
                assert_int_equal(a->band, i + 1);
                assert_string_equal(a->band_label, label);
                assert_true(names[i] ? !strcmp(a->band_name, names[i]) : !a->band_name);
                assert_int_equal(a->fingerprint, alert_fingerprint("g", "a", "api-1", label, names[i]));
                assert_int_equal(!a->band_source, i != 0);
        }
        assert_string_equal(alerts_get(w->alerts, 0)->band_source, "Main.hs:1:2-3");
        end(w);
}

/* More bands than alerts may be: the rest is counted. */
static uint32_t many(void *ctx)
{
        return LIMIT_ALERTS + 50;
}

static bool any_band(void *ctx, uint32_t id, struct band_texts *ret)
{
        memset(ret->of, 0, sizeof(ret->of));
        ret->of[BAND_LABEL] = "same";
        return true;
}

static bool five_mib(void *ctx, struct rule_subject s, uint64_t before_ns, struct trend_cell *ret)
{
        *ret = (struct trend_cell){ .cell.last = 5 * MIB };
        return true;
}

TEST(alerts_are_bounded)
{
        struct made_up *m = made_up_new();
        struct told *told = calloc(1, sizeof(*told));
        struct alerts_sink sink = { .ctx = told, .changed = on_changed };
        struct ruleset *rules = rules_of(
                "builtin: false\n"
                "groups: [{name: g, rules: [{alert: a, expr: band > 1MiB}]}]\n");
        struct rule_data data = made_data(m);
        struct rule_moment at = made_at(1);

        data.bands = many;
        data.band = any_band;
        data.newest = five_mib;
        struct alerts *a = alerts_new("t", rules, &data, &sink);
        alerts_judge_run(a, &at, (struct rule_gap){ .follows = false });
        assert_int_equal(alerts_count(a), LIMIT_ALERTS);
        assert_int_equal(alerts_left_out(a), 50);
        at = made_at(2);
        alerts_judge_run(a, &at, (struct rule_gap){ .follows = false });
        alerts_judge_target(a, &at);
        assert_int_equal(alerts_left_out(a), 50); /* instances, not judgings */
        alerts_end_run(a, &at);
        assert_int_equal(alerts_left_out(a), 0);
        alerts_destroy(&a);
        ruleset_destroy(&rules);
        made_up_free(m);
        free(told);
}

/* ---------------------------------------------------------------------- gaps */

#define MANY_BANDS 600u /* more than are judged between two looks at the time */
#define SOON_BAND  300u /* its answer may change after 4 s; those of the others after 100 */

struct counted {
        unsigned judged[MANY_BANDS + 1], looks_at_the_time;
};

static uint32_t six_hundred(void *ctx)
{
        return MANY_BANDS;
}

static bool count_judged(void *ctx, struct rule_subject s, uint64_t before_ns, struct trend_cell *ret)
{
        struct counted *c = ctx;

        c->judged[s.band]++;
        return five_mib(ctx, s, before_ns, ret);
}

static uint64_t soon_or_late(void *ctx, struct rule_subject s, struct time_range range, bool verdict)
{
        return (s.band == SOON_BAND ? 4 : 100) * S;
}

static bool count_looks(void *ctx)
{
        struct counted *c = ctx;

        c->looks_at_the_time++;
        return false;
}

/* In a gap a band is judged when its answer may change, and bands are walked only when one is due. */
TEST(a_gap_costs_what_changes_in_it)
{
        struct counted *c = calloc(1, sizeof(*c));
        struct made_up *m = made_up_new();
        struct rule_data data = made_data(m);
        struct alerts_sink sink = { .ctx = c, .time_is_up = count_looks };
        struct ruleset *rules = rules_of(
                "builtin: false\n"
                "groups: [{name: g, rules: [{alert: a, expr: band > 10MiB}]}]\n");

        data.ctx = c;
        data.bands = six_hundred;
        data.band = any_band;
        data.newest = count_judged;
        data.still_ns = soon_or_late;
        struct alerts *a = alerts_new("t", rules, &data, &sink);
        for (uint64_t t = 1; t <= 10; t++) {
                const struct rule_moment at = made_at(t);
                c->looks_at_the_time = 0;
                alerts_judge_run(a, &at, (struct rule_gap){ .follows = t > 1, .goes_on = true });
                assert_int_equal(c->looks_at_the_time, t % 4 == 1 ? 2 : 0); /* at 1, 5, 9 */
        }
        for (unsigned band = 1; band <= MANY_BANDS; band++)
                assert_int_equal(c->judged[band], band == SOON_BAND ? 3 : 1);
        alerts_destroy(&a);
        ruleset_destroy(&rules);
        made_up_free(m);
        free(c);
}
