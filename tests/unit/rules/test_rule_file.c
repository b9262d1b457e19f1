/* SPDX-License-Identifier: BSD-3-Clause */
/* Rule files: what is allowed, how they change the built-in rules, and that with a mistake none is used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/unit/test.h"

#include "daemon/judge/rules/rule.h"
#include "proto/wire/action_plan.h"
#include "daemon/watch/rule_file/rulebook.h"
#include "proto/base/error.h"

struct said {
        char text[16384];
        unsigned lines;
};

static void say(void *ctx, const char *line)
{
        struct said *s = ctx;
        size_t used = strlen(s->text);

        snprintf(s->text + used, sizeof(s->text) - used, "%s\n", line);
        s->lines++;
}

static struct ruleset *load(const char *text, struct said *said)
{
        struct error_sink says = { .say = say, .ctx = said };

        *said = (struct said){ .lines = 0 };
        return rules_load_text("r", text, &says);
}

static struct ruleset *good(const char *text)
{
        struct said said;
        struct ruleset *rules = load(text, &said);

        if (!rules)
                fail_msg("%s", said.text);
        assert_int_equal(said.lines, 0);
        return rules;
}

static const char group[] = "groups:\n- name: g\n  rules:\n";

static struct ruleset *one(const char *rule)
{
        char text[4096];

        snprintf(text, sizeof(text), "%s  - %s\n", group, rule);
        return good(text);
}

TEST(the_pack_is_on_without_a_file)
{
        struct said said = { .lines = 0 };
        struct error_sink says = { .say = say, .ctx = &said };
        struct ruleset *rules = rules_load(NULL, 0, &says);

        assert_int_equal(said.lines, 0);
        assert_int_equal(rules->n, 20);
        for (size_t i = 0; i < rules->n; i++) {
                assert_true(rules->rules[i]->builtin);
                assert_null(rules->rules[i]->plan);
        }
        ruleset_destroy(&rules);
}

TEST(a_file_changes_the_pack)
{
        struct ruleset *rules = one("{alert: gc-share, expr: 'mean(gc_share, 1m) > 50%', labels: {team: db}}");
        const struct rule *r = ruleset_find(rules, "collections", "gc-share");

        assert_int_equal(rules->n, 20);
        assert_true(r->builtin);
        assert_string_equal(r->text.expr, "mean(gc_share, 1m) > 50%");
        assert_int_equal(r->for_ns, UINT64_C(300000000000)); /* as it was */
        assert_non_null(r->until.root);
        assert_int_equal(r->text.n_labels, 2);
        assert_string_equal(r->text.labels[1].value, "db");
        ruleset_destroy(&rules);

        rules = one("{alert: leak, enabled: false}");
        assert_int_equal(rules->n, 19);
        assert_null(ruleset_find(rules, NULL, "leak"));
        ruleset_destroy(&rules);

        rules = good("builtin: false\n");
        assert_int_equal(rules->n, 0);
        ruleset_destroy(&rules);
}

TEST(everything_a_rule_may_say)
{
        struct ruleset *rules =
                good("groups:\n"
                     "- name: g\n"
                     "  targets: worker\n"
                     "  limits: {count: 5}\n"
                     "  do: [log]\n"
                     "  rules:\n"
                     "  - alert: a\n"
                     "    expr: >-\n"
                     "      live >\n"
                     "      1GiB\n"
                     "    until: live < 512MiB\n"
                     "    for: 5m\n"
                     "    keep_firing_for: 90s\n"
                     "    labels: {severity: critical}\n"
                     "    annotations: {summary: '{{ target }} {{value}}'}\n"
                     "    targets: [api-*, db]\n"
                     "    do:\n"
                     "    - publish\n"
                     "    - exec: [/bin/true, x]\n"
                     "    - exec: {command: [/bin/true], timeout: 3s, resolved: false}\n"
                     "    - webhook: http://127.0.0.1:1/x\n"
                     "    - alertmanager: {url: 'http://127.0.0.1:1', resend: 30s, attempts: 2}\n"
                     "    - why: {max_pause: 50ms, memory: 1GiB}\n"
                     "    limits: {count: 7, per_alert: 2, window: 2h}\n"
                     "  - {alert: b, expr: crashed}\n");
        const struct rule *a = ruleset_find(rules, "g", "a"), *b = ruleset_find(rules, "g", "b");

        assert_int_equal(a->for_ns, UINT64_C(300000000000));
        assert_int_equal(a->keep_firing_ns, UINT64_C(90000000000));
        assert_int_equal(a->severity, SEVERITY_CRITICAL);
        assert_false(a->of_target);
        assert_true(rule_wants(a, "api-7") && rule_wants(a, "db") && !rule_wants(a, "worker"));
        assert_int_equal(action_plan_steps(a->plan), 6);
        const struct action_step *why = action_plan_step(a->plan, 5);
        assert_true(why->kind == ACTION_WHY && why->firing_only && why->timeout_ns == ACTION_WHY_NS);
        assert_string_equal(why->argv[1], "50ms");
        assert_string_equal(why->argv[3], "1GiB");
        assert_int_equal(action_plan_step(a->plan, 2)->timeout_ns, UINT64_C(3000000000));
        assert_true(action_plan_step(a->plan, 2)->firing_only);
        assert_string_equal(action_plan_step(a->plan, 1)->argv[1], "x");
        assert_int_equal(action_plan_step(a->plan, 4)->resend_ns, UINT64_C(30000000000));
        assert_int_equal(action_plan_limits(a->plan)->count, 7);
        assert_int_equal(action_plan_limits(a->plan)->per_alert, 2);
        assert_true(b->of_target);
        assert_int_equal(b->severity, SEVERITY_WARNING);
        assert_true(rule_wants(b, "worker") && !rule_wants(b, "db"));
        assert_int_equal(action_plan_steps(b->plan), 1);
        assert_int_equal(action_plan_limits(b->plan)->count, 5);
        ruleset_destroy(&rules);
}

TEST(mistakes)
{
        static const struct {
                const char *text, *said;
        } cases[] = {
                { "", "r: the file is empty" },
                { "[]", "r:1:1: expected groups:" },
                { "groups: {}", "r:1:9: expected a list of groups, found a mapping" },
                { "groups: [{rules: []}]", "r:1:10: this group has no name" },
                { "groups: [{name: a}]", "group 'a' has no rules" },
                { "groups: [{name: a, rules: [{expr: leak(live)}]}]", "this rule has no name" },
                { "groups: [{name: a, rules: [{alert: a}]}]", "a rule needs expr" },
                { "groups: [{name: a, rules: [{alert: leek, enabled: false}]}]",
                  "r:1:36: a rule needs expr, a condition such as live > 1GiB (and there is no built-in rule 'leek' to "
                  "change; did you mean 'leak'?)" },
                { "groups: [{name: a, rules: [{record: a, expr: live}]}]", "recording rules are not supported" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), labels: {a-b: c}}]}]",
                  "r:1:71: label: a-b: a name is letters" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), labels: {target: c}}]}]",
                  "target: every alert already has this label" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), annotations: {1a: c}}]}]",
                  "annotation: 1a: a name is letters" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), do: [logg, sing]}]}]", "r:1:68" },
                { "\tgroups: []", "is it a tab?" },
                { "groups: [{name: a, rules: [{alert: a b, expr: leak(live)}]}]", "r:1:36: alert: a rule's name" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), targets: {}}]}]", "names of targets" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), enabled: yes}]}]", "true or false" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), for: 31d}]}]", "at most 30d" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), labels: {x: '{{value}}'}}]}]",
                  "take no {{" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), annotations: {x: '{{band}}'}}]}]",
                  "does not refer to band" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), annotations: {x: '{{value'}}]}]",
                  "no closing }}" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), until: leak(band)}]}]", "no band to judge" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), do: [{exec: [relative]}]}]}]", "r:1:69" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), do: [{program: gc of}]}]}]", "r:1:72" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), do: [program]}]}]", "heapwatch ctl --help" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), do: [{program: {on: gc}}]}]}]",
                  "program takes no settings" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), do: [{why: {max_pause: 2h}}]}]}]",
                  "expected a time from 1ms to 1m" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), do: [{why: {memory: 1KiB}}]}]}]",
                  "at least 64MiB" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), do: [{why: {max-pause: 1s}}]}]}]",
                  "did you mean 'max_pause'" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), do: [{log: , exec: [/x]}]}]}]",
                  "expected one action here" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), limits: {cuont: 5}}]}]",
                  "did you mean 'count'" },
                { "groups: [{name: a, rules: [{alert: a, expr: leak(live), limits: {count: -5}}]}]", "from 1 to" },
                { "groups: [{name: a, name: b, rules: []}]", "duplicate key 'name'" },
                { "a: [", "not valid YAML" },
                { "groups: [{name: a, rules: [{alert: a, expr: [live]}]}]", "found a list" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct said said;
                struct ruleset *rules = load(cases[i].text, &said);

                if (rules || !strstr(said.text, cases[i].said))
                        fail_msg("%s\nsaid: %s", cases[i].text, said.text);
        }
}

TEST(many_mistakes_are_bounded)
{
        char *text = malloc(1 << 20);
        size_t used = (size_t)snprintf(text, 1 << 20, "%s", group);
        struct said said;

        for (int i = 0; i < 1000; i++)
                used += (size_t)snprintf(text + used, (1 << 20) - used, "  - {alert: r%d, expr: lvie > 1}\n", i);
        assert_null(load(text, &said));
        assert_int_equal(said.lines, YAML_ERRORS_MAX + 1);
        free(text);
}

TEST(too_many_rules)
{
        char *text = malloc(1 << 20);
        size_t used = (size_t)snprintf(text, 1 << 20, "%s", group);
        struct said said;

        for (unsigned i = 0; i < RULES_MAX; i++)
                used += (size_t)snprintf(text + used, (1 << 20) - used, "  - {alert: r%u, expr: crashed}\n", i);
        assert_null(load(text, &said));
        assert_non_null(strstr(said.text, "more than 500 rules"));
        free(text);
}

static void refused(const char *path, const char *why)
{
        struct said said = { .lines = 0 };
        struct error_sink says = { .say = say, .ctx = &said };
        struct yaml_file f;

        assert_false(yaml_file_read(&f, path, &says));
        yaml_file_done(&f);
        assert_int_equal(said.lines, 1);
        if (!strstr(said.text, why) || !strstr(said.text, path))
                fail_msg("%s", said.text);
}

/* A reload must not wait: a pipe without a writer would never be opened, one with a writer never end. */
TEST(only_plain_files_are_read)
{
        char directory[] = "/tmp/heapwatch-rules-XXXXXX", pipe[64], large[64];

        assert_non_null(mkdtemp(directory));
        snprintf(pipe, sizeof(pipe), "%s/pipe", directory);
        snprintf(large, sizeof(large), "%s/large", directory);
        assert_int_equal(mkfifo(pipe, 0600), 0);
        FILE *file = fopen(large, "w");
        assert_non_null(file);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(truncate(large, (off_t)YAML_FILE_MAX_BYTES + 1), 0);
        refused(pipe, "this is a pipe; expected a plain file");
        refused(directory, "this is a directory");
        refused("/dev/null", "this is a device");
        refused(large, "larger than 1 MiB");
        assert_int_equal(truncate(large, 10), 0);
        refused(large, "a NUL byte");
        unlink(pipe);
        refused(pipe, "No such file");
        unlink(large);
        rmdir(directory);
}

TEST(templates)
{
        const char *values[PLACES];
        struct error error;
        char out[64];
        uint32_t column;

        for (unsigned i = 0; i < PLACES; i++)
                values[i] = placeholder_name(i);
        template_expand("a {{value}}{{ target }} {b} }} {", values, out, sizeof(out));
        assert_string_equal(out, "a valuetarget {b} }} {");
        values[PLACE_NOTE] = "{{value}}"; /* placeholders in the program's text are not expanded */
        template_expand("{{note}}", values, out, sizeof(out));
        assert_string_equal(out, "{{value}}");
        values[PLACE_SLOPE] = NULL;
        template_expand("leaks {{slope}}", values, out, sizeof(out));
        assert_string_equal(out, "leaks unknown");
        template_expand("{{target}} [[leaks {{slope}}|has leaked]], [[x {{slope}}]]{{value}} [[{{onset}}|no]] ]] [[",
                        values, out, sizeof(out));
        assert_string_equal(out, "target has leaked, value onset ]] [[");
        template_expand("[[{{slope}}|{{slope}}|[{{value}}]]]", values, out, sizeof(out));
        assert_string_equal(out, "[value]");
        assert_false(template_check("\xc3\xbc {{valu}}", false, &column, &error));
        assert_int_equal(column, 3);
        assert_non_null(strstr(error.text, "did you mean {{value}}"));
        assert_int_equal(template_expand("{{threshold}}{{threshold}}{{threshold}}{{threshold}}{{threshold}}"
                                         "{{threshold}}{{threshold}}{{threshold}}",
                                         values, out, sizeof(out)),
                         63);
}

/* As long as a rule file may be: the time is linear, where a column of each place would take minutes. */
TEST(test_many_placeholders)
{
        enum { N = 100000 };
        static const char place[] = "{{target}}", part[] = "[[{{slope}}]]";
        const char *values[PLACES] = { [PLACE_TARGET] = "t" };
        char *text = malloc(N * sizeof(part)), out[64];
        struct error error;
        uint32_t column;

        for (size_t i = 0; i < N; i++)
                memcpy(text + i * (sizeof(place) - 1), place, sizeof(place));
        assert_true(template_check(text, false, &column, &error));
        (void)template_expand(text, values, out, sizeof(out));
        for (size_t i = 0; i < N; i++)
                memcpy(text + i * (sizeof(part) - 1), part, sizeof(part));
        assert_true(template_check(text, false, &column, &error));
        (void)template_expand(text, values, out, sizeof(out));
        for (size_t i = 0; i < N; i++)
                memcpy(text + 6 * i, "[[xx]]", 7);
        (void)template_expand(text, values, out, sizeof(out));
        free(text);
}

/* Of a daemon: what grows is explained, and kept with a bundle where streams are recorded; a file may say otherwise. */
TEST(test_what_built_in_rules_do)
{
        struct rulebook b;

        assert_true(rulebook_open(&b, NULL, 0, &diagnostics_to_stderr));
        const struct rule *leak = ruleset_find(b.rules, "memory", "leak");
        assert_null(leak->plan);
        assert_true(rulebook_act(&b, true));
        assert_int_equal(action_plan_steps(leak->plan), 2);
        assert_int_equal(action_plan_step(leak->plan, 0)->kind, ACTION_WHY);
        assert_int_equal(action_plan_step(leak->plan, 1)->kind, ACTION_DUMP);
        struct ruleset *again = rulebook_read(&b, &diagnostics_to_stderr);
        assert_int_equal(action_plan_steps(ruleset_find(again, "memory", "memory-runs-out")->plan), 1);
        assert_int_equal(action_plan_steps(ruleset_find(again, "program", "crashed")->plan), 1);
        assert_null(ruleset_find(again, "memory", "off-heap-growth")->plan);
        rulebook_change(&b, again);
        rulebook_close(&b);
}

/* What a daemon keeps finely for its rules: series over a window, also in `until`; gauges and bands are none. */
TEST(test_series_that_are_read)
{
        struct ruleset *rules =
                good("builtin: false\n"
                     "groups:\n"
                     "- name: g\n"
                     "  rules:\n"
                     "  - {alert: a, expr: 'mean(copied, 5m) > 1MiB and not gc_share > 1%'}\n"
                     "  - {alert: b, expr: 'band > 1GiB', until: 'slop < 1MiB and max(fragmentation, 1m) < 1MiB and "
                     "p99(gc_pause, 2h) < 1s'}\n");

        struct series_finely reads = ruleset_reads(rules);
        assert_int_equal(reads.seconds, 1u << SERIES_COPIED | 1u << SERIES_FRAGMENTATION | 1u << SERIES_GC_PAUSE);
        assert_int_equal(reads.minutes, 1u << SERIES_GC_PAUSE);
        ruleset_destroy(&rules);
}
