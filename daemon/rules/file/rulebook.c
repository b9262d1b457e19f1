/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/rules/file/rulebook.h"

#include <stdio.h>
#include <string.h>

#include "daemon/rules/file/rule_file.h"
#include "proto/base/error.h"
#include "proto/wire/action_plan.h"

bool rulebook_open(struct rulebook *b, char *const *paths, size_t n, const struct error_sink *says)
{
        *b = (struct rulebook){ .paths = paths, .n = n };
        b->rules = rulebook_read(b, says);
        return b->rules != NULL;
}

/* False: out of memory. */
static bool keep_bundle(struct rule *rule)
{
        struct error error;

        if (!rule || !rule->builtin || rule->plan)
                return true;
        rule->plan = action_plan_new();
        return rule->plan && action_plan_add(rule->plan, &(struct action_step){ .kind = ACTION_DUMP }, &error);
}

static bool keep_bundles(struct ruleset *set)
{
        return keep_bundle(ruleset_find(set, "memory", "leak")) && keep_bundle(ruleset_find(set, "program", "crashed"));
}

bool rulebook_keep_bundles(struct rulebook *b)
{
        b->bundles = true;
        return keep_bundles(b->rules);
}

void rulebook_close(struct rulebook *b)
{
        ruleset_destroy(&b->rules);
}

struct ruleset *rulebook_read(const struct rulebook *b, const struct error_sink *says)
{
        struct ruleset *rules = rules_load((const char *const *)b->paths, b->n, says);

        if (!rules)
                return NULL;
        rules->generation = b->rules ? b->rules->generation + 1 : 1;
        if (b->bundles && !keep_bundles(rules)) {
                says->say(says->ctx, "out of memory");
                ruleset_destroy(&rules);
        }
        return rules;
}

void rulebook_change(struct rulebook *b, struct ruleset *rules)
{
        ruleset_destroy(&b->rules);
        b->rules = rules;
}

static void gather(void *ctx, const char *line)
{
        struct diagnostics *c = ctx;
        size_t n = strlen(line);

        if (n + 2 > sizeof(c->text) - c->used)
                return;
        if (c->used)
                c->text[c->used++] = '\n';
        memcpy(c->text + c->used, line, n + 1);
        c->used += n;
}

struct error_sink diagnostics_gather(struct diagnostics *c)
{
        c->text[0] = '\0';
        c->used = 0;
        return (struct error_sink){ .say = gather, .ctx = c };
}

static void to_stderr(void *ctx, const char *line)
{
        (void)ctx;
        fprintf(stderr, "heapwatchd: %s\n", line);
}

const struct error_sink diagnostics_to_stderr = { .say = to_stderr };
