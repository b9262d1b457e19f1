/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/rule_file/rulebook.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/error.h"
#include "proto/wire/action_plan.h"

bool rulebook_open(struct rulebook *b, char *const *paths, size_t n, const struct error_sink *says)
{
        *b = (struct rulebook){ .paths = paths, .n = n };
        b->rules = rulebook_read(b, says);
        return b->rules != NULL;
}

/* What a built-in rule does, where no file says it. False: out of memory. */
static bool add_action(struct ruleset *set, const char *group, const char *name, struct action_step step)
{
        struct rule *rule = ruleset_find(set, group, name);
        struct error error;

        if (!rule || !rule->builtin || (!rule->plan && !(rule->plan = action_plan_new())))
                return !rule || !rule->builtin;
        return action_plan_add(rule->plan, &step, &error);
}

/* The answer first: the bundle has it then. A program that is about to die may be stopped for longer. */
static bool add_actions(struct ruleset *set, bool bundles)
{
        static const char *const longer[] = { "--max-pause", "1s", NULL };
        const struct action_step dump = { .kind = ACTION_DUMP }, why = { .kind = ACTION_WHY },
                                 urgent_why = { .kind = ACTION_WHY, .argv = longer };

        return add_action(set, "memory", "leak", why) && add_action(set, "memory", "memory-runs-out", urgent_why) &&
               add_action(set, "memory", "memory-runs-out-soon", urgent_why) &&
               (!bundles || (add_action(set, "memory", "leak", dump) && add_action(set, "program", "crashed", dump)));
}

bool rulebook_act(struct rulebook *b, bool bundles)
{
        b->acts = true;
        b->bundles = bundles;
        return add_actions(b->rules, bundles);
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
        if (b->acts && !add_actions(rules, b->bundles)) {
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
        fprintf(stderr, "heapwatchd: %s\n", line);
}

const struct error_sink diagnostics_to_stderr = { .say = to_stderr };
