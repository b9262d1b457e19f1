/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rulebook.h - the rule files of a daemon and the rules in force.
 *
 * A reload is all or nothing: with a mistake in any file the old rules stay in
 * force.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/judge/rules/rule.h"
#include "proto/cli/yaml/yaml_file.h"

struct rulebook {
        char *const *paths; /* borrowed */
        size_t n;
        struct ruleset *rules; /* owned; NULL before rulebook_open */
        bool acts, bundles;    /* see rulebook_act */
};

/* Reads the files for the first time. False after reporting an error. */
bool rulebook_open(struct rulebook *b, char *const *paths, size_t n, const struct error_sink *says);
void rulebook_close(struct rulebook *b);

/*
 * From now on, also after reading again, the built-in rules act, unless a file says what they do: those of growth find
 * out why it is kept; with `bundles`, because streams are recorded, leak and crashed keep one. Once. False: out of
 * memory.
 */
bool rulebook_act(struct rulebook *b, bool bundles);

/* Reads the files again. Returns the new rules, which are not in force yet, or NULL after reporting an error. */
struct ruleset *rulebook_read(const struct rulebook *b, const struct error_sink *says);

/* Puts them in force and destroys the old ones: nobody may borrow those any more. */
void rulebook_change(struct rulebook *b, struct ruleset *rules);

/* Error messages as lines of one text, for a reply. */
struct diagnostics {
        char text[4096];
        size_t used;
};

struct error_sink diagnostics_gather(struct diagnostics *c);

/* Error messages to standard error, prefixed with "heapwatchd: ". */
extern const struct error_sink diagnostics_to_stderr;

/* tool.c: what else heapwatchd does with rule files: check and list them. */

/* Each returns an exit status: 0, or 2 after reporting errors on stderr. */
int rules_tool_check(char *const *paths, size_t n);
int rules_tool_list(char *const *paths, size_t n, bool in_words);

/*
 * rule_file.c: rule files and the built-in pack, read into one ruleset.
 *
 * docs/RULES.md is the reference of the format. A rule with the name of a
 * built-in one modifies that rule: keys that are not given keep their values;
 * `enabled: false` switches it off. All mistakes in all files are reported,
 * each with file, line and column; if there are any, there is no ruleset.
 */

/* NULL after reporting an error. Free with ruleset_destroy. n may be 0: the pack alone. */
struct ruleset *rules_load(const char *const *paths, size_t n, const struct error_sink *says);

/* The same for one text. */
struct ruleset *rules_load_text(const char *name, const char *text, const struct error_sink *says);

/* do_block.c: `do:` and `limits:` of a rule file as a plan of actions. The reference is docs/RULES.md. */

struct action_plan;

/*
 * Either node may be NULL. *ret_plan: the plan, owned by the caller, or NULL when both are. False after reporting an
 * error.
 */
bool rules_read_do(struct yaml_file *f, const yaml_node_t *todo, const yaml_node_t *limits,
                   struct action_plan **ret_plan);
