/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rate_limit.h - how often actions are done: at most `count` times in any
 * window for a rule, and of these at most `per_alert` times for one of its
 * alerts.
 *
 * It counts alerts that began to fire and were acted on; the end of such an
 * alert is always reported. Pure: time is an argument, Unix time in ns.
 */
#ifndef HW_CLIENT_NOTIFY_RATE_LIMIT_H
#define HW_CLIENT_NOTIFY_RATE_LIMIT_H

#include <stdint.h>

#include "proto/wire/action_plan.h"

#define LIMITS_RULES_MAX 4096u /* rules that are remembered; beyond, the one least recently acted on is forgotten */

struct limit_table;

/* NULL when out of memory. */
struct limit_table *limit_table_new(void);
void limit_table_destroy(struct limit_table **t);

enum limit_answer { LIMIT_FREE, LIMIT_RULE, LIMIT_ALERT };

/* Whether an alert of this rule (a hash of its group and name) may be acted on now. */
enum limit_answer limit_check(const struct limit_table *t, const struct action_limits *limits, uint64_t rule,
                              uint64_t fingerprint, uint64_t now_wall_ns);

/* It was acted on. If out of memory that is not remembered: the limit is then too generous, never too strict. */
void limit_note(struct limit_table *t, const struct action_limits *limits, uint64_t rule, uint64_t fingerprint,
                uint64_t now_wall_ns);

#endif
