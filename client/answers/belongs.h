/* SPDX-License-Identifier: BSD-3-Clause */
/* belongs.h - one leak is one alert: which alerts of a target only say more about another one. */
#ifndef HW_CLIENT_ANSWERS_BELONGS_H
#define HW_CLIENT_ANSWERS_BELONGS_H

#include <stddef.h>

#include "heapwatch/wire.h"

/*
 * The alert that `a` belongs to, one of the same list (may be NULL): of the rule that the label part_of of its own rule
 * names, while that one is pending or firing, or in the same state. NULL: it stands for itself.
 */
const Hw__Alert *alert_head(const Hw__Alerts *all, const Hw__Alert *a);

/* How many alerts in that state stand for themselves, and are not silenced. */
size_t alerts_counted(const Hw__Alerts *all, Hw__Alert__State state);

/* The gravest of these; NULL: there is none. */
const Hw__Alert *alerts_gravest(const Hw__Alerts *all, Hw__Alert__State state);

/* How many in that state belong to `head`. */
size_t alerts_below(const Hw__Alerts *all, const Hw__Alert *head, Hw__Alert__State state);

#endif
