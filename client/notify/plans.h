/* SPDX-License-Identifier: BSD-3-Clause */
/* plans.h - the actions of each rule, as the daemon answered. Pure. */
#ifndef HW_CLIENT_NOTIFY_PLANS_H
#define HW_CLIENT_NOTIFY_PLANS_H

#include <stddef.h>
#include <stdint.h>

#include "proto/wire/action_plan.h"

#define PLANS_MAX 4096u /* rules; a message with more is refused */

struct error;
struct plans_entry;

struct plans {
        struct plans_entry *items;
        size_t n;
        uint64_t generation; /* of the rules; 0: none known */
};

/* Replaces all. False with a message (which rule, what is wrong): then nothing has changed. */
bool plans_replace(struct plans *p, const Hw__Plans *message, struct error *error);

/* Forgets all. Also for a zeroed one. */
void plans_clear(struct plans *p);

/* Borrowed until the next change; NULL: no actions. */
struct action_plan *plans_find(const struct plans *p, const char *group, const char *rule);

#endif
