/* SPDX-License-Identifier: BSD-3-Clause */
/* alert_parts.h - one leak counts as one alert: which alerts of a target are only details of another one. */
#ifndef HW_CLIENT_ANSWERS_ALERT_PARTS_H
#define HW_CLIENT_ANSWERS_ALERT_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "heapwatch/wire.h"
#include "proto/base/severity.h"

/*
 * The alert that `a` is a part of according to its daemon (Alert.part_of), in the same list, which may be NULL. NULL:
 * it is not a part, or the other one is not in the list.
 */
const Hw__Alert *alert_head(const Hw__Alerts *all, const Hw__Alert *a);

/* How severe it is with its parts: what decides its colour and order. */
enum severity alert_severity(const Hw__Alert *a);

/* It fires, is not silenced and not a part of another one: it counts on every face. */
bool alert_counts(const Hw__Alerts *all, const Hw__Alert *a);

/* How many alerts in that state are neither part of another one nor silenced. */
size_t alerts_counted(const Hw__Alerts *all, Hw__Alert__State state);

/* The most severe of these (alert_severity); NULL: none. */
const Hw__Alert *alerts_gravest(const Hw__Alerts *all, Hw__Alert__State state);

/* How many in that state are parts of `head`. */
size_t alerts_below(const Hw__Alerts *all, const Hw__Alert *head, Hw__Alert__State state);

#endif
