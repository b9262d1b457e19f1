/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: everything is checked here, wherever the texts come from, so that any rule that exists can be judged. The
 * digest is over texts in normal form: a reload of a file in which only spaces, annotations or actions changed keeps
 * the state of its alerts.
 */
#include "daemon/judge/rules/rule.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/hash.h"
#include "proto/base/nearest.h"
#include "proto/base/text_out.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/error.h"

#define RULE_ARENA_MAX (256u * 1024)

static bool refuse_field(struct rule_error *e, enum rule_field field, size_t item, const char *what, const char *text)
{
        *e = (struct rule_error){ .field = field, .item = item };
        text_join(e->text, sizeof(e->text), what, text, NULL);
        return false;
}

/* ------------------------------------------------------------------- copying */

static const char *own_text(struct rule *r, const char *text)
{
        return text ? arena_strndup(&r->arena, text, strlen(text)) : NULL;
}

static bool own_pairs(struct rule *r, struct rule_pair *pairs, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                pairs[i].name = own_text(r, pairs[i].name);
                pairs[i].value = own_text(r, pairs[i].value);
                if (!pairs[i].name || !pairs[i].value)
                        return false;
        }
        return true;
}

static bool own_all(struct rule *r)
{
        struct rule_text *t = &r->text;
        const char **texts[] = { &t->group, &t->name, &t->expr, &t->until, &t->hold_for, &t->keep_firing_for };

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                const char *text = *texts[i];
                *texts[i] = own_text(r, text);
                if (text && !*texts[i])
                        return false;
        }
        for (size_t i = 0; i < t->n_targets; i++) {
                t->targets[i] = own_text(r, t->targets[i]);
                if (!t->targets[i])
                        return false;
        }
        return own_pairs(r, t->labels, t->n_labels) && own_pairs(r, t->annotations, t->n_annotations);
}

/* ------------------------------------------------------------------ checking */

static bool valid_name(const char *name)
{
        size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-");

        return n > 0 && n <= RULE_NAME_MAX && !name[n] && name[0] != '-' && name[0] != '.';
}

static bool parse_expr_of(const char *text, enum rule_field field, struct expr *ret, struct rule_error *e)
{
        struct expr_error error;

        if (expr_parse(text, ret, &error))
                return true;
        refuse_field(e, field, 0, error.text, NULL);
        e->column = error.column;
        return false;
}

static bool parse_time_of(const char *text, enum rule_field field, uint64_t *ret_ns, struct rule_error *e)
{
        if (!text)
                return true;
        if (!hw_parse_duration(text, ret_ns))
                return refuse_field(e, field, 0, "expected a time such as 30s, 5m or 2h", NULL);
        if (*ret_ns > RULE_DURATION_MAX_NS)
                return refuse_field(e, field, 0, "expected at most 30d", NULL);
        return true;
}

static bool parse_exprs(struct rule *r, struct rule_error *e)
{
        const struct rule_text *t = &r->text;

        if (!t->expr)
                return refuse_field(e, FIELD_EXPR, 0, "a rule needs expr, a condition such as live > 1GiB", NULL);
        if (!parse_expr_of(t->expr, FIELD_EXPR, &r->expr, e) ||
            (t->until && !parse_expr_of(t->until, FIELD_UNTIL, &r->until, e)))
                return false;
        r->of_bands = r->expr.of_bands;
        r->of_target = r->expr.of_target && (!t->until || r->until.of_target);
        if (t->until && r->until.of_bands && !r->expr.of_bands)
                return refuse_field(e, FIELD_UNTIL, 0,
                                    "until refers to band{...}, but expr does not: there is no band to "
                                    "judge",
                                    NULL);
        return parse_time_of(t->hold_for, FIELD_FOR, &r->for_ns, e) &&
               parse_time_of(t->keep_firing_for, FIELD_KEEP, &r->keep_firing_ns, e);
}

static bool set_severity(struct rule *r, size_t label, struct rule_error *e)
{
        const char *value = r->text.labels[label].value, *meant = nearest(value, severity_names, SEVERITIES);
        char hint[64];

        if (severity_parse(value, &r->severity))
                return true;
        text_join(hint, sizeof(hint), meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "", NULL);
        return refuse_field(e, FIELD_LABEL, label, "severity: expected info, warning or critical", hint);
}

/* As Prometheus and Alertmanager require of labels' and annotations' names: others would be refused when it matters. */
static bool valid_pair_name(const char *name)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

        return *name && (*name < '0' || *name > '9') && name[strspn(name, letters)] == '\0';
}

static const char names_expected[] = ": a name is letters, digits and _, and does not begin with a digit";

/* Labels that every alert has, which identify it. */
static bool is_ours(const char *name)
{
        static const char *const names[] = { "alertname", "group", "target", "band", "band_source", "band_name" };

        for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
                if (!strcmp(names[i], name))
                        return true;
        return false;
}

static bool set_labels(struct rule *r, struct rule_error *e)
{
        r->severity = SEVERITY_WARNING;
        for (size_t i = 0; i < r->text.n_labels; i++) {
                const struct rule_pair *label = &r->text.labels[i];
                if (!valid_pair_name(label->name))
                        return refuse_field(e, FIELD_LABEL, i, label->name, names_expected);
                if (is_ours(label->name))
                        return refuse_field(e, FIELD_LABEL, i, label->name, ": every alert already has this label");
                if (strstr(label->value, "{{"))
                        return refuse_field(e, FIELD_LABEL, i,
                                            "labels take no {{...}}: they identify the alert; "
                                            "use an annotation",
                                            NULL);
                if (!strcmp(label->name, "severity") && !set_severity(r, i, e))
                        return false;
        }
        return true;
}

static bool set_annotations(struct rule *r, struct rule_error *e)
{
        struct error error;
        uint32_t column;

        for (size_t i = 0; i < r->text.n_annotations; i++) {
                if (!valid_pair_name(r->text.annotations[i].name))
                        return refuse_field(e, FIELD_ANNOTATION, i, r->text.annotations[i].name, names_expected);
                if (template_check(r->text.annotations[i].value, r->of_bands, &column, &error))
                        continue;
                refuse_field(e, FIELD_ANNOTATION, i, error.text, NULL);
                e->column = column;
                return false;
        }
        return true;
}

/* ----------------------------------------------------------------- the rule */

static uint64_t mix_digest(uint64_t digest, const void *bytes, size_t n)
{
        return hash_bytes(bytes, n, digest);
}

static uint64_t mix_expr(uint64_t digest, const struct expr *e)
{
        char text[2 * EXPR_TEXT_MAX];

        if (!e->root)
                return mix_digest(digest, "", 1);
        (void)expr_print(e, text, sizeof(text)); /* if cut, the digest is over what fits */
        return mix_digest(digest, text, strlen(text) + 1);
}

struct rule *rule_new(const struct rule_text *text, struct rule_error *ret_error)
{
        struct rule *r = calloc(1, sizeof(*r));

        *ret_error = (struct rule_error){ .text = "out of memory" };
        if (!r)
                return NULL;
        arena_init(&r->arena, RULE_ARENA_MAX);
        r->text = *text;
        if (!own_all(r)) {
                refuse_field(ret_error, FIELD_NAME, 0, "the texts of one rule have more than 256 KiB", NULL);
                goto fail;
        }
        if (!r->text.name || !valid_name(r->text.name)) {
                refuse_field(ret_error, FIELD_NAME, 0, "a rule's name is 1 to 63 of A-Z a-z 0-9 . _ : -", NULL);
                goto fail;
        }
        r->name = r->text.name;
        r->group = r->text.group ? r->text.group : "";
        if (!parse_exprs(r, ret_error) || !set_labels(r, ret_error) || !set_annotations(r, ret_error))
                goto fail;
        uint64_t digest = mix_expr(mix_expr(0, &r->expr), &r->until);
        digest = mix_digest(digest, &r->for_ns, sizeof(r->for_ns));
        digest = mix_digest(digest, &r->keep_firing_ns, sizeof(r->keep_firing_ns));
        for (size_t i = 0; i < r->text.n_targets; i++)
                digest = mix_digest(digest, r->text.targets[i], strlen(r->text.targets[i]) + 1);
        r->digest = digest;
        return r;
fail:
        rule_destroy(&r);
        return NULL;
}

void rule_destroy(struct rule **rp)
{
        struct rule *r = *rp;

        *rp = NULL;
        if (!r)
                return;
        expr_destroy(&r->expr);
        expr_destroy(&r->until);
        arena_done(&r->arena);
        free(r);
}

bool rule_wants(const struct rule *rule, const char *target)
{
        for (size_t i = 0; i < rule->text.n_targets; i++)
                if (fnmatch(rule->text.targets[i], target, 0) == 0)
                        return true;
        return rule->text.n_targets == 0;
}

/* ---------------------------------------------------------------- the ruleset */

bool ruleset_add(struct ruleset *set, struct rule *rule)
{
        if (set->n == RULES_MAX)
                return false;
        set->rules[set->n++] = rule;
        return true;
}

struct rule *ruleset_find(const struct ruleset *set, const char *group, const char *name)
{
        for (size_t i = 0; i < set->n; i++)
                if (!strcmp(set->rules[i]->name, name) && (!group || !strcmp(set->rules[i]->group, group)))
                        return set->rules[i];
        return NULL;
}

struct rule *ruleset_find_same(const struct ruleset *set, const char *group, const char *name, uint64_t digest)
{
        struct rule *found = ruleset_find(set, group, name);

        return found && found->digest == digest ? found : NULL;
}

/* Of longer windows the older end is one of minutes. */
#define SECONDS_WINDOW_S 3600

static void add_reads(const struct node *n, struct series_finely *reads)
{
        if (!n)
                return;
        bool any = n->series && n->window && (unsigned)n->series->id < SERIES_COUNT; /* else the newest value is read */
        uint32_t own = any ? UINT32_C(1) << n->series->id : 0;
        reads->seconds |= own;
        reads->minutes |= any && n->window->value > SECONDS_WINDOW_S ? own : 0;
        add_reads(n->left, reads);
        add_reads(n->right, reads);
}

struct series_finely ruleset_reads(const struct ruleset *set)
{
        struct series_finely reads = { .seconds = 0 };

        for (size_t i = 0; i < set->n; i++) {
                add_reads(set->rules[i]->expr.root, &reads);
                add_reads(set->rules[i]->until.root, &reads);
        }
        return reads;
}

void ruleset_destroy(struct ruleset **sp)
{
        struct ruleset *set = *sp;

        *sp = NULL;
        if (!set)
                return;
        for (size_t i = 0; i < set->n; i++) {
                if (set->drop_plan && set->rules[i]->plan)
                        set->drop_plan(&set->rules[i]->plan);
                rule_destroy(&set->rules[i]);
        }
        free(set);
}
