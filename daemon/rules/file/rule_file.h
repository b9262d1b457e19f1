/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rule_file.h - rule files and the built-in pack, read into one ruleset.
 *
 * docs/RULES.md is the reference of the format. A rule with the name of a
 * built-in one modifies that rule: keys that are not given keep their values;
 * `enabled: false` switches it off. All mistakes in all files are reported,
 * each with file, line and column; if there are any, there is no ruleset.
 */
#ifndef HW_DAEMON_RULES_FILE_RULE_FILE_H
#define HW_DAEMON_RULES_FILE_RULE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/rules/rule.h"
#include "proto/yaml/yaml_file.h"

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

#endif
