/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: each file is walked key by key into rule texts; rule_new checks what they mean, its errors name a field, and
 * the field's node gives the place. The pack comes first, so that files can modify its rules. Reading goes on after a
 * mistake: people want to see all of them.
 */
#include "daemon/watch/rule_file/rulebook.h"

#include <stdlib.h>
#include <string.h>

#include "proto/wire/action_plan.h"
#include "proto/base/nearest.h"
#include "daemon/judge/rules/rule.h"
#include "proto/base/array.h"

struct reader {
        struct yaml_file file;
        struct ruleset *set;
        bool good;
};

/* What a group sets for all its rules. */
struct group {
        const char *name;
        const yaml_node_t *targets, *todo, *limits;
};

/* The nodes of the current rule's texts. */
struct places {
        const yaml_node_t *rule;
        const yaml_node_t *of[FIELD_TARGET + 1][RULE_TARGETS_MAX]; /* by item, 0 where there is but one */
};

/* ------------------------------------------------------------------ one rule */

/* A text of the rule; a key that is present replaces the pack's value. */
static bool read_text(struct reader *r, const yaml_node_t *rule, const char *key, const char *what, const char **text,
                      const yaml_node_t **place)
{
        const yaml_node_t *node = yaml_get(&r->file, rule, key);

        if (!node)
                return true;
        *text = yaml_text(&r->file, node, what);
        *place = node;
        return *text != NULL;
}

static bool put_pair(struct reader *r, const struct yaml_entry *e, struct rule_pair *pairs, size_t *n,
                     const yaml_node_t **places)
{
        const char *value = yaml_text(&r->file, e->value, "a text");
        size_t i = 0;

        if (!value)
                return false;
        if (!e->key[0])
                return yaml_error(&r->file, e->key_node, 0, "expected a name");
        while (i < *n && strcmp(pairs[i].name, e->key) != 0)
                i++;
        if (i == RULE_PAIRS_MAX)
                return yaml_error(&r->file, e->key_node, 0, "a rule has at most 32 of these");
        pairs[i] = (struct rule_pair){ e->key, value };
        places[i] = e->value;
        *n += i == *n;
        return true;
}

static bool read_pairs(struct reader *r, const yaml_node_t *rule, const char *key, struct rule_pair *pairs, size_t *n,
                       const yaml_node_t **places)
{
        const yaml_node_t *node = yaml_get(&r->file, rule, key);
        struct yaml_entry e;
        bool good = true;

        if (!node)
                return true;
        if (!yaml_is_mapping(&r->file, node, "names and texts, such as severity: warning"))
                return false;
        for (size_t i = 0; yaml_entry_at(&r->file, node, i, &e); i++)
                good = put_pair(r, &e, pairs, n, places) && good;
        return good;
}

/* One pattern, or a list of them; the group's where the rule has none. */
static bool read_targets(struct reader *r, const yaml_node_t *node, struct rule_text *t, struct places *p)
{
        static const char what[] = "names of targets, such as api-* or [api-1, worker]";

        if (!node)
                return true;
        t->n_targets = 0;
        if (node->type == YAML_SCALAR_NODE) {
                t->targets[0] = yaml_text(&r->file, node, what);
                p->of[FIELD_TARGET][0] = node;
                t->n_targets = 1;
                return t->targets[0] != NULL;
        }
        if (!yaml_is_sequence(&r->file, node, what))
                return false;
        const yaml_node_t *item;
        for (size_t i = 0; (item = yaml_item_at(&r->file, node, i)); i++) {
                const char *text = yaml_text(&r->file, item, "the name of a target");
                if (!text)
                        return false;
                if (t->n_targets == RULE_TARGETS_MAX)
                        return yaml_error(&r->file, item, 0, "a rule has at most 64 targets; use a pattern");
                p->of[FIELD_TARGET][t->n_targets] = item;
                t->targets[t->n_targets++] = text;
        }
        return true;
}

static bool report_error(struct reader *r, const struct places *p, const struct rule_error *e)
{
        static const char *const names[] = { "alert",           "expr",  "until",      "for",
                                             "keep_firing_for", "label", "annotation", "targets" };

        const yaml_node_t *at = p->of[e->field][e->item] ? p->of[e->field][e->item] : p->rule;

        if (e->column)
                return yaml_error(&r->file, at, e->column, "%s, column %u: %s", names[e->field], e->column, e->text);
        return yaml_error(&r->file, at, 0, "%s: %s", names[e->field], e->text);
}

static bool make_rule(struct reader *r, const struct group *g, const yaml_node_t *node, const struct rule_text *t,
                      const struct places *p, struct rule *changed)
{
        const yaml_node_t *todo = yaml_get(&r->file, node, "do"), *limits = yaml_get(&r->file, node, "limits");
        struct action_plan *plan = NULL;
        struct rule_error error;
        bool good = rules_read_do(&r->file, todo ? todo : g->todo, limits ? limits : g->limits, &plan);
        struct rule *rule = rule_new(t, &error);

        if (!rule)
                good = report_error(r, p, &error);
        if (!good) {
                action_plan_unref(&plan);
                rule_destroy(&rule);
                return false;
        }
        rule->builtin = rule->changed = changed;
        rule->plan = plan;
        /* Puts the rule into the set, replacing the one it modifies. */
        if (!changed && ruleset_add(r->set, rule))
                return true;
        if (!changed) {
                rule_destroy(&rule);
                return yaml_error(&r->file, p->rule, 0, "more than %u rules", RULES_MAX);
        }
        for (size_t i = 0; i < r->set->n; i++)
                if (r->set->rules[i] == changed)
                        r->set->rules[i] = rule;
        if (changed->plan && !rule->plan)
                rule->plan = action_plan_ref(changed->plan);
        action_plan_unref(&changed->plan);
        rule_destroy(&changed);
        return true;
}

/* The rule of the pack that this one modifies, or NULL; a duplicate name is a mistake. */
static bool find_changed(struct reader *r, const struct group *g, const char *name, const yaml_node_t *at,
                         struct rule **ret)
{
        for (size_t i = 0; i < r->set->n; i++) {
                *ret = r->set->rules[i];
                if ((*ret)->builtin && !strcmp((*ret)->name, name))
                        return true;
        }
        *ret = NULL;
        if (ruleset_find(r->set, g->name, name))
                return yaml_error(&r->file, at, 0, "duplicate rule '%s' in group '%s'", name, g->name);
        return true;
}

/* A rule without a condition must modify one that has one. */
static bool no_expression(struct reader *r, const char *name, const yaml_node_t *at)
{
        struct nearest near = { .typed = name };

        for (size_t i = 0; i < r->set->n; i++)
                if (r->set->rules[i]->builtin)
                        nearest_try(&near, r->set->rules[i]->name);
        return yaml_error(&r->file, at, 0,
                          "a rule needs expr, a condition such as live > 1GiB (and there is no "
                          "built-in rule '%s' to change%s%s%s)",
                          name, near.found ? "; did you mean '" : "", near.found ? near.found : "",
                          near.found ? "'?" : "");
}

static bool read_rule(struct reader *r, const struct group *g, const yaml_node_t *node)
{
        static const char *const keys[] = { "alert",       "expr",    "for", "keep_firing_for", "until",  "labels",
                                            "annotations", "targets", "do",  "limits",          "enabled" };
        struct places p = { .rule = node };
        struct rule *changed = NULL;
        const char *name = NULL;
        bool enabled = true;

        if (!yaml_is_mapping(&r->file, node, "a rule with alert: and expr:") ||
            !read_text(r, node, "alert", "the name of the rule", &name, p.of[FIELD_NAME]))
                return false;
        if (!name && yaml_get(&r->file, node, "record"))
                return yaml_error(&r->file, node, 0, "recording rules are not supported; expected alert: NAME");
        if (!name)
                return yaml_error(&r->file, node, 0, "this rule has no name; expected alert: NAME");
        if (!find_changed(r, g, name, p.of[FIELD_NAME][0], &changed))
                return false;

        struct rule_text t = changed ? changed->text : (struct rule_text){ .group = g->name };
        t.name = name;
        const yaml_node_t *targets = yaml_get(&r->file, node, "targets"), *on = yaml_get(&r->file, node, "enabled");
        bool good = yaml_check_keys(&r->file, node, keys, ARRAY_SIZE(keys));
        good = read_text(r, node, "expr", "a condition such as live > 1GiB", &t.expr, p.of[FIELD_EXPR]) && good;
        good = read_text(r, node, "until", "a condition such as live < 1GiB", &t.until, p.of[FIELD_UNTIL]) && good;
        good = read_text(r, node, "for", "a time such as 5m", &t.hold_for, p.of[FIELD_FOR]) && good;
        good = read_text(r, node, "keep_firing_for", "a time such as 5m", &t.keep_firing_for, p.of[FIELD_KEEP]) && good;
        good = read_pairs(r, node, "labels", t.labels, &t.n_labels, p.of[FIELD_LABEL]) && good;
        good = read_pairs(r, node, "annotations", t.annotations, &t.n_annotations, p.of[FIELD_ANNOTATION]) && good;
        good = read_targets(r, targets ? targets : g->targets, &t, &p) && good;
        if (on)
                good = yaml_boolean(&r->file, on, &enabled) && good;
        t.off = !enabled;
        if (!t.expr && !p.of[FIELD_EXPR][0])
                good = no_expression(r, name, p.of[FIELD_NAME][0]) && good;
        return good && make_rule(r, g, node, &t, &p, changed);
}

/* ---------------------------------------------------------------- groups, file */

static bool read_group(struct reader *r, const yaml_node_t *node)
{
        static const char *const keys[] = { "name", "rules", "targets", "do", "limits" };

        if (!yaml_is_mapping(&r->file, node, "a group with name: and rules:"))
                return false;
        bool good = yaml_check_keys(&r->file, node, keys, ARRAY_SIZE(keys));
        const yaml_node_t *rules = yaml_get(&r->file, node, "rules"), *rule, *name = yaml_get(&r->file, node, "name");
        struct group g = {
                .name = name ? yaml_text(&r->file, name, "the name of the group") : NULL,
                .targets = yaml_get(&r->file, node, "targets"),
                .todo = yaml_get(&r->file, node, "do"),
                .limits = yaml_get(&r->file, node, "limits"),
        };
        if (!name)
                return yaml_error(&r->file, node, 0, "this group has no name; expected name: NAME");
        if (!rules)
                return yaml_error(&r->file, node, 0, "group '%s' has no rules:", g.name ? g.name : "");
        if (!g.name || !yaml_is_sequence(&r->file, rules, "a list of rules"))
                return false;
        for (size_t i = 0; (rule = yaml_item_at(&r->file, rules, i)) && !yaml_enough_errors(&r->file); i++)
                good = read_rule(r, &g, rule) && good;
        return good;
}

/* Removes the rules that are built in, or else those that are switched off. */
static void drop_rules(struct ruleset *set, bool builtin)
{
        size_t n = 0;

        for (size_t i = 0; i < set->n; i++) {
                if (builtin ? !set->rules[i]->builtin : !set->rules[i]->text.off) {
                        set->rules[n++] = set->rules[i];
                        continue;
                }
                action_plan_unref(&set->rules[i]->plan);
                rule_destroy(&set->rules[i]);
        }
        set->n = n;
}

static bool read_file(struct reader *r)
{
        static const char *const keys[] = { "groups", "builtin" };
        const yaml_node_t *root = yaml_root(&r->file), *groups, *group, *builtin;
        bool good = true, with_pack = true;

        if (!root)
                return yaml_error(&r->file, NULL, 0, "the file is empty; expected groups:");
        if (!yaml_is_mapping(&r->file, root, "groups:"))
                return false;
        good = yaml_check_keys(&r->file, root, keys, ARRAY_SIZE(keys));
        builtin = yaml_get(&r->file, root, "builtin");
        if (builtin)
                good = yaml_boolean(&r->file, builtin, &with_pack) && good;
        if (!with_pack)
                drop_rules(r->set, true);
        groups = yaml_get(&r->file, root, "groups");
        if (!groups)
                return builtin ? good : yaml_error(&r->file, root, 0, "expected groups:");
        if (!yaml_is_sequence(&r->file, groups, "a list of groups"))
                return false;
        for (size_t i = 0; (group = yaml_item_at(&r->file, groups, i)); i++)
                good = read_group(r, group) && good;
        return good;
}

static bool add_pack(struct ruleset *set, struct rule_error *error)
{
        for (const struct rule_text *t = builtin_rules; t->name; t++) {
                struct rule *rule = rule_new(t, error);

                if (!rule || !ruleset_add(set, rule))
                        return false;
                rule->builtin = true;
        }
        return true;
}

static bool begin_reading(struct reader *r, const struct error_sink *says)
{
        struct rule_error error = { .text = "out of memory" };

        *r = (struct reader){ .good = true };
        r->set = calloc(1, sizeof(*r->set));
        if (r->set)
                r->set->drop_plan = action_plan_unref;
        if (r->set && add_pack(r->set, &error))
                return true;
        says->say(says->ctx, error.text);
        ruleset_destroy(&r->set);
        return false;
}

static struct ruleset *finish_reading(struct reader *r)
{
        if (!r->good)
                ruleset_destroy(&r->set);
        else
                drop_rules(r->set, false);
        return r->set;
}

struct ruleset *rules_load(const char *const *paths, size_t n, const struct error_sink *says)
{
        struct reader r;

        if (!begin_reading(&r, says))
                return NULL;
        for (size_t i = 0; i < n; i++) {
                const char *path = paths[i];
                r.good = yaml_file_read(&r.file, path, says) && read_file(&r) && r.good;
                yaml_file_done(&r.file);
        }
        return finish_reading(&r);
}

struct ruleset *rules_load_text(const char *name, const char *text, const struct error_sink *says)
{
        struct reader r;

        if (!begin_reading(&r, says))
                return NULL;
        r.good = yaml_file_parse(&r.file, name, text, says) && read_file(&r) && r.good;
        yaml_file_done(&r.file);
        return finish_reading(&r);
}
