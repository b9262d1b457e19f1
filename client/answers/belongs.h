/* SPDX-License-Identifier: BSD-3-Clause */
/* belongs.h - one leak is one alert: which alerts of a target only say more about another one. */
#ifndef HW_CLIENT_ANSWERS_BELONGS_H
#define HW_CLIENT_ANSWERS_BELONGS_H

#include <stddef.h>

#include "heapwatch/wire.h"

/*
 * The alert that `a` is a part of, as its daemon says (Alert.part_of), in the same list, which may be NULL. NULL: it is
 * none, or the other one is not in the list.
 */
const Hw__Alert *alert_head(const Hw__Alerts *all, const Hw__Alert *a);

/* How many alerts in that state are no part of another one, and not silenced. */
size_t alerts_counted(const Hw__Alerts *all, Hw__Alert__State state);

/* The gravest of these; NULL: none. */
const Hw__Alert *alerts_gravest(const Hw__Alerts *all, Hw__Alert__State state);

/* How many in that state are parts of `head`. */
size_t alerts_below(const Hw__Alerts *all, const Hw__Alert *head, Hw__Alert__State state);

#endif
