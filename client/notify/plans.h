/* SPDX-License-Identifier: BSD-3-Clause */
/* plans.h - what each rule of the daemon wants done, as it answered. Pure. */
#ifndef HW_CLIENT_NOTIFY_PLANS_H
#define HW_CLIENT_NOTIFY_PLANS_H

#include <stddef.h>
#include <stdint.h>

#include "proto/wire/action_plan.h"

#define PLANS_MAX 4096u /* rules; further ones are refused with the rest */

struct error;
struct plans_entry;

struct plans {
        struct plans_entry *items;
        size_t n;
        uint64_t generation; /* of the rules; 0: nothing is known */
};

/* Replaces all. False with a sentence (which rule, what is wrong): then nothing has changed. */
bool plans_take(struct plans *p, const Hw__Plans *message, struct error *error);

/* Forgets all. For one that is zeroed, too. */
void plans_clear(struct plans *p);

/* Borrowed until the next change; NULL: nothing is to be done. */
struct action_plan *plans_find(const struct plans *p, const char *group, const char *rule);

#endif
