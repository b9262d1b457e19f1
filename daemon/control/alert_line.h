/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alert_line.h - what `heapwatch notify` is told about an alert, as one line of JSON.
 *
 *      {"alert": {...}, "firedNs": 1700000090000000000, "endedNs": ..., "silence": {"untilNs": ..., "why": "..."},
 *       "limits": {"count": 60, "perAlert": 6, "windowNs": ...}, "do": [{"kind": "exec", "argv": [...], ...}]}
 *
 * `alert` is what an exec action gets (docs/ACTIONS.md); its `status` says whether it fires. Times are Unix time and
 * numbers; what is unknown, or too large for one (INT64_MAX), is absent. `do` has the actions of its rule; without any
 * it is empty. Never a secret but the path of a URL: it goes through a pipe, to nobody else.
 */
#ifndef HW_DAEMON_CONTROL_ALERT_LINE_H
#define HW_DAEMON_CONTROL_ALERT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alert;
struct silence;

/*
 * To free(), `ret_size` bytes with the line feed; NULL when out of memory. An alert that fires and whose target goes is
 * over now (`gone_wall_ns`; else 0). silence: NULL: none.
 */
char *alert_line(const char *target, const struct alert *alert, const struct silence *silence, uint64_t gone_wall_ns,
                 size_t *ret_size);

#endif
