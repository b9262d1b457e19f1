/* SPDX-License-Identifier: BSD-3-Clause */
/* done.h - which alerts were acted on: what must not be forgotten over a restart. The newest DESK_DONE_MAX. Pure. */
#ifndef HW_DAEMON_ACT_DONE_H
#define HW_DAEMON_ACT_DONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/rules/notice.h"

#define DESK_DONE_MAX 4096u /* the oldest goes */

struct desk_done {
        uint64_t fingerprint, fired_wall_ns;
        bool resolved; /* its end was acted on too */
};

struct done_list {
        struct desk_done items[DESK_DONE_MAX]; /* oldest first */
        size_t n;
        uint64_t changes; /* rises with each done_note() */
};

/* The entry of the alert that began to fire at the notice's fired_wall_ns, or NULL. */
const struct desk_done *done_find(const struct done_list *l, const struct notice *n);

/* It was acted on: on its beginning, or (resolved) on its end. */
void done_note(struct done_list *l, const struct notice *n);

void done_add(struct done_list *l, const struct desk_done *done);

#endif
