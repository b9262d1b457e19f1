/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alert_json.h - an alert event as the texts that the notifier sends.
 *
 * Pure. Every function returns a string to free(), or NULL when out of memory.
 * Numbers that are unknown or not finite are left out. docs/ACTIONS.md shows
 * each text.
 */
#ifndef HW_CLIENT_NOTIFY_ALERT_JSON_H
#define HW_CLIENT_NOTIFY_ALERT_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "client/notify/alert_event.h"

/* heapwatch's own form, the standard input of `exec`. One line. */
char *json_event(const struct alert_event *event);

/* Alertmanager's webhook body, version 4, with this one alert. */
char *json_webhook(const struct alert_event *event);

/*
 * The body of Alertmanager's POST /api/v2/alerts: an array. A firing alert ends
 * at `ends_wall_ns` unless it is sent again before; a resolved one ended when
 * it resolved, but never before it began, and at `now_wall_ns` at the latest.
 */
char *json_alertmanager(const struct alert_event *const *events, size_t n, uint64_t now_wall_ns, uint64_t ends_wall_ns);

#endif
