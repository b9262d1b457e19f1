/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/rule_file/rulebook.h"

#include <stdio.h>
#include <string.h>

#include "proto/wire/action_plan.h"
#include "heapwatch/text.h"

int rules_tool_check(char *const *paths, size_t n)
{
        struct rulebook book;

        if (!rulebook_open(&book, paths, n, &diagnostics_to_stderr))
                return 2;
        const struct ruleset *set = book.rules;
        size_t own = 0, builtin = 0, changed = 0;

        for (size_t i = 0; i < set->n; i++) {
                own += !set->rules[i]->builtin;
                builtin += set->rules[i]->builtin;
                changed += set->rules[i]->changed;
        }
        printf("%zu file%s good: %zu rule%s of %s own, %zu built in", n, n == 1 ? " is" : "s are", own,
               own == 1 ? "" : "s", n == 1 ? "its" : "their", builtin);
        if (changed > 0)
                printf(", %zu of them changed", changed);
        printf("\n");
        rulebook_close(&book);
        return 0;
}

/* ----------------------------------------------------------------------- words */

static void print_time(const char *before, uint64_t ns, const char *after)
{
        char text[HW_NUMBER_MAX];

        if (ns > 0)
                printf("%s%s%s", before, hw_duration_text(text, sizeof(text), (double)ns), after);
}

static void print_safe(const char *before, const char *text, const char *after)
{
        char safe[2048];

        hw_terminal_text(safe, sizeof(safe), text);
        printf("%s%s%s", before, safe, after);
}

static void explain(const struct rule *rule)
{
        char words[2 * EXPR_TEXT_MAX];

        printf("%s (%s, %s%s)\n", rule->name, rule->group, severity_name(rule->severity),
               rule->changed   ? ", built in, changed"
               : rule->builtin ? ", built in"
                               : "");
        (void)expr_explain(&rule->expr, words, sizeof(words)); /* may be cut */
        print_safe("    fires when ", words, "");
        print_time(" for ", rule->for_ns, "");
        printf("%s\n", rule->of_bands ? "; one alert for each band" : "");
        if (rule->until.root) {
                (void)expr_explain(&rule->until, words, sizeof(words));
                print_safe("    until ", words, "\n");
        }
        print_time("    keeps firing for ", rule->keep_firing_ns, " after that\n");
        for (size_t i = 0; i < rule->text.n_targets; i++)
                print_safe(i ? ", " : "    only for ", rule->text.targets[i], "");
        if (rule->text.n_targets)
                printf("\n");
        char text[512];
        for (size_t i = 0; rule->plan && i < action_plan_steps(rule->plan); i++)
                print_safe(i ? ", then " : "    does: ",
                           action_step_text(text, sizeof(text), action_plan_step(rule->plan, i)), "");
        if (rule->plan && action_plan_steps(rule->plan))
                printf("\n");
        for (size_t i = 0; i < rule->text.n_annotations; i++)
                if (!strcmp(rule->text.annotations[i].name, "summary"))
                        print_safe("    says: ", rule->text.annotations[i].value, "\n");
        printf("\n");
}

static void list_one(const struct rule *rule)
{
        char text[2 * EXPR_TEXT_MAX];

        (void)expr_print(&rule->expr, text, sizeof(text));
        printf("%-10s  %-22s %-9s ", rule->group, rule->name, severity_name(rule->severity));
        print_safe("", text, "\n");
}

int rules_tool_list(char *const *paths, size_t n, bool in_words)
{
        struct rulebook book;

        if (!rulebook_open(&book, paths, n, &diagnostics_to_stderr))
                return 2;
        for (size_t i = 0; i < book.rules->n; i++)
                (in_words ? explain : list_one)(book.rules->rules[i]);
        rulebook_close(&book);
        return 0;
}
