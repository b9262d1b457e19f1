/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json.h - a notice as the texts that leave the daemon.
 *
 * Pure. Every function returns a string to free(), or NULL when memory is
 * short. The notice must be a copy (notice_copy): its texts are valid UTF-8.
 * A number that is not known, or is no finite number, is left out.
 * docs/ACTIONS.md shows each of them.
 */
#ifndef HW_DAEMON_ACT_JSON_H
#define HW_DAEMON_ACT_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/rules/notice.h"

/* heapwatch's own form, which `exec` gets on standard input. One line. */
char *json_notice(const struct notice *notice);

/* Alertmanager's webhook body, version 4, with this one alert. */
char *json_webhook(const struct notice *notice);

/*
 * The body of Alertmanager's POST /api/v2/alerts: an array. A firing alert ends
 * at `ends_wall_ns` unless it is sent again before; a resolved one ended when
 * it resolved, but never before it began, and at `now_wall_ns` at the latest.
 */
char *json_alertmanager(const struct notice *const *notices, size_t n, uint64_t now_wall_ns, uint64_t ends_wall_ns);

#endif
