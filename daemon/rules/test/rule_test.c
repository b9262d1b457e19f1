/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a file of tests names rule files and cases. A case is input and expectations: the state of an alert at a
 * time, or the set of all that fired. Each that fails is reported with what happened instead.
 */
#include "daemon/rules/test/rule_test.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/nearest.h"
#include "heapwatch/text.h"
#include "heapwatch/wire.h"
#include "daemon/rules/file/rulebook.h"
#include "daemon/rules/file/rule_file.h"
#include "daemon/rules/test/tool.h"
#include "proto/base/array.h"
#include "proto/base/error.h"

#define FILES_MAX 16

struct score {
        unsigned passed, failed;
        bool bad; /* a file could not be used */
};

struct suite {
        struct yaml_file file;
        struct ruleset *rules;
        struct score *score;
};

/* ----------------------------------------------------------------- expectations */

static const char *name_of_case(struct suite *s, const yaml_node_t *node)
{
        const yaml_node_t *name = yaml_get(&s->file, node, "name");
        const char *text = name ? yaml_text(&s->file, name, "a name") : NULL;

        return text ? text : "test";
}

static void failed(struct suite *s, const yaml_node_t *at, const char *name, const char *what)
{
        char safe[600];

        hw_terminal_text(safe, sizeof(safe), what);
        printf("FAILED %s:%zu: %s: %s\n", s->file.name, at->start_mark.line + 1, name, safe);
        s->score->failed++;
}

static bool parse_state(struct suite *s, const yaml_node_t *node, enum alert_state *ret)
{
        const char *text = yaml_text(&s->file, node, "a state");

        for (unsigned i = ALERT_INACTIVE; text && i <= ALERT_RESOLVED; i++) {
                if (!strcmp(text, alert_state_name(i))) {
                        *ret = i;
                        return true;
                }
        }
        return yaml_error(&s->file, node, 0, "expected state: inactive, pending, firing or resolved");
}

static bool known_rule(struct suite *s, const yaml_node_t *at, const char *rule)
{
        const char *names[RULES_MAX], *meant;

        if (ruleset_find(s->rules, NULL, rule))
                return true;
        for (size_t i = 0; i < s->rules->n; i++)
                names[i] = s->rules->rules[i]->name;
        meant = nearest(rule, names, s->rules->n);
        return yaml_error(&s->file, at, 0, "there is no rule '%s'%s%s%s", rule, meant ? "; did you mean '" : "",
                          meant ? meant : "", meant ? "'?" : "");
}

static bool check_alert(struct suite *s, const yaml_node_t *node, const char *name, const struct test_changes *c)
{
        static const char *const keys[] = { "at", "alert", "band", "state" };
        const yaml_node_t *at_node, *alert, *band_node;
        enum alert_state want = ALERT_INACTIVE, got;
        uint64_t at = 0;
        char what[512];

        if (!yaml_is_mapping(&s->file, node, "at:, alert: and state:") ||
            !yaml_check_keys(&s->file, node, keys, ARRAY_SIZE(keys)))
                return false;
        at_node = yaml_get(&s->file, node, "at");
        alert = yaml_get(&s->file, node, "alert");
        band_node = yaml_get(&s->file, node, "band");
        const char *rule = yaml_text(&s->file, alert, "the name of a rule");
        const char *band = band_node ? yaml_text(&s->file, band_node, "the label of a band") : NULL;
        const char *when = yaml_text(&s->file, at_node, "a time such as 10m, or end");
        if (!rule || !when || !yaml_get(&s->file, node, "state"))
                return yaml_error(&s->file, node, 0, "expected at:, alert: and state:");
        if (!strcmp(when, "end"))
                at = UINT64_MAX;
        else if (!rules_test_time(&s->file, at_node, &at))
                return false;
        if (!parse_state(s, yaml_get(&s->file, node, "state"), &want) || !known_rule(s, alert, rule))
                return false;
        got = rules_test_state(c, rule, band, at);
        if (got == want) {
                s->score->passed++;
                return true;
        }
        snprintf(what, sizeof(what), "%s%s%s at %s is %s, expected %s", rule, band ? " of " : "", band ? band : "",
                 when, alert_state_name(got), alert_state_name(want));
        failed(s, node, name, what);
        rules_test_print_changes(c, rule, band);
        return true;
}

/* The names of all rules that fired, each once, must be these. */
static bool check_fired(struct suite *s, const yaml_node_t *node, const char *name, const struct test_changes *c)
{
        const yaml_node_t *item;
        bool good = true, well = true;
        char what[512];

        if (!yaml_is_sequence(&s->file, node, "a list of rules"))
                return false;
        for (size_t k = 0; k < s->rules->n; k++) {
                const char *rule = s->rules->rules[k]->name;
                bool fired = false, wanted = false;
                for (size_t i = 0; i < c->n; i++)
                        fired |= c->list[i].state == ALERT_FIRING && !strcmp(c->list[i].rule, rule);
                for (size_t i = 0; (item = yaml_item_at(&s->file, node, i)); i++) {
                        const char *text = yaml_text(&s->file, item, "the name of a rule");
                        wanted |= text && !strcmp(text, rule);
                }
                if (fired == wanted)
                        continue;
                snprintf(what, sizeof(what), "%s %s", rule, fired ? "fired, but was not expected to" : "did not fire");
                failed(s, node, name, what);
                rules_test_print_changes(c, rule, NULL);
                well = false;
        }
        for (size_t i = 0; (item = yaml_item_at(&s->file, node, i)); i++) {
                const char *text = yaml_text(&s->file, item, "the name of a rule");
                good = text && known_rule(s, item, text) && good;
        }
        s->score->passed += well && good;
        return good;
}

/* ------------------------------------------------------------------------ cases */

static bool check_all(struct suite *s, const yaml_node_t *node, const struct test_changes *c)
{
        const yaml_node_t *alerts = yaml_get(&s->file, node, "alerts"), *fired = yaml_get(&s->file, node, "fired");
        const yaml_node_t *item;
        const char *name = name_of_case(s, node);
        bool good = true;

        if (!alerts && !fired)
                return yaml_error(&s->file, node, 0, "expected alerts: or fired:, the results to check");
        if (alerts && !yaml_is_sequence(&s->file, alerts, "a list of alerts"))
                return false;
        for (size_t i = 0; alerts && (item = yaml_item_at(&s->file, alerts, i)); i++)
                good = check_alert(s, item, name, c) && good;
        return (!fired || check_fired(s, fired, name, c)) && good;
}

static bool run_case(struct suite *s, const yaml_node_t *node)
{
        static const char *const keys[] = { "name",       "target",     "interval", "series", "bands", "log",
                                            "resolution", "leak_after", "limit",    "alerts", "fired" };
        struct test_input in = { .n_series = 0 };
        struct test_changes changes = { .n = 0 };
        struct error error;
        bool good;

        if (!yaml_is_mapping(&s->file, node, "a test"))
                return false;
        good = yaml_check_keys(&s->file, node, keys, ARRAY_SIZE(keys));
        good = rules_test_input(&s->file, node, &in) && good;
        if (good) {
                good = rules_test_run(s->rules, &in, &changes, &error) ||
                       yaml_error(&s->file, node, 0, "%s", error.text);
                good = good && check_all(s, node, &changes);
        }
        free(changes.list);
        rules_test_input_done(&in);
        return good;
}

static bool load_rules(struct suite *s, const yaml_node_t *files)
{
        static char paths[FILES_MAX][PATH_MAX];
        const char *list[FILES_MAX];
        const yaml_node_t *item;
        size_t n = 0;

        if (files && !yaml_is_sequence(&s->file, files, "a list of rule files"))
                return false;
        for (size_t i = 0; files && (item = yaml_item_at(&s->file, files, i)); i++) {
                const char *text = yaml_text(&s->file, item, "a path");
                if (!text)
                        return false;
                if (n == FILES_MAX)
                        return yaml_error(&s->file, item, 0, "at most %d files", FILES_MAX);
                rules_test_beside(&s->file, text, paths[n]);
                list[n] = paths[n];
                n++;
        }
        s->rules = rules_load(list, n, &diagnostics_to_stderr);
        return s->rules != NULL;
}

static bool run_suite(struct suite *s)
{
        static const char *const keys[] = { "rule_files", "tests" };
        const yaml_node_t *root = yaml_root(&s->file), *tests, *item;
        bool good;

        if (!root || !yaml_is_mapping(&s->file, root, "rule_files: and tests:"))
                return root ? false : yaml_error(&s->file, NULL, 0, "the file is empty; expected tests:");
        good = yaml_check_keys(&s->file, root, keys, ARRAY_SIZE(keys));
        tests = yaml_get(&s->file, root, "tests");
        if (!tests)
                return yaml_error(&s->file, root, 0, "expected tests:");
        if (!load_rules(s, yaml_get(&s->file, root, "rule_files")) ||
            !yaml_is_sequence(&s->file, tests, "a list of tests"))
                return false;
        if (!yaml_item_at(&s->file, tests, 0))
                return yaml_error(&s->file, tests, 0, "expected at least one test");
        for (size_t i = 0; (item = yaml_item_at(&s->file, tests, i)); i++)
                good = run_case(s, item) && good;
        return good;
}

int rules_test(char *const *paths, size_t n)
{
        struct score score = { .passed = 0 };

        for (size_t i = 0; i < n; i++) {
                struct suite s = { .score = &score };
                bool good = yaml_file_read(&s.file, paths[i], &diagnostics_to_stderr) && run_suite(&s);
                score.bad |= !good;
                yaml_file_done(&s.file);
                ruleset_destroy(&s.rules);
        }
        printf("%u passed, %u failed\n", score.passed, score.failed);
        if (score.bad)
                return 2;
        return score.failed ? 1 : 0;
}
