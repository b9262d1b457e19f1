/* SPDX-License-Identifier: BSD-3-Clause */
/* outcome.h - the outcome of an action of an alert, in a word. */
#ifndef HW_CLIENT_ALERTS_OUTCOME_H
#define HW_CLIENT_ALERTS_OUTCOME_H

#include "heapwatch/wire.h"

/* "under way", "done", "failed"; NULL when it was not tried (silenced, over a limit): its detail says so. */
static inline const char *action_outcome(const Hw__ActionResult *r)
{
        if (!r->has_ok)
                return "under way";
        if (!r->ok && r->has_attempts && r->attempts == 0 && r->detail)
                return NULL;
        return r->ok ? "done" : "failed";
}

#endif
