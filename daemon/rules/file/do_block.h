/* SPDX-License-Identifier: BSD-3-Clause */
/* do_block.h - `do:` and `limits:` of a rule file as a plan of actions. The reference is docs/RULES.md. */
#ifndef HW_DAEMON_RULES_FILE_DO_BLOCK_H
#define HW_DAEMON_RULES_FILE_DO_BLOCK_H

#include <stdbool.h>

#include "proto/yaml/yaml_file.h"

struct action_plan;

/*
 * Either node may be NULL. *ret_plan: the plan, owned by the caller, or NULL when both are. False after reporting an
 * error.
 */
bool rules_read_do(struct yaml_file *f, const yaml_node_t *todo, const yaml_node_t *limits,
                   struct action_plan **ret_plan);

#endif
