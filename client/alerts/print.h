/* SPDX-License-Identifier: BSD-3-Clause */
/* print.h - alerts on standard output, as text for people or JSON for programs. */
#ifndef HW_CLIENT_ALERTS_PRINT_H
#define HW_CLIENT_ALERTS_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "client/alerts/known.h"

/*
 * One alert with its reason, what silences it, and what became of its actions.
 * `now_wall_ns`: for how long it has fired; 0: of a finished log, left out.
 */
void alert_print_text(const struct known_alert *a, uint64_t now_wall_ns);

/* One line: {"target": ..., "alert": {...}}, the alert as in all JSON of heapwatch. */
/* The parts of `whole` among all alerts, a line each: behind its own text. */
void alert_print_parts(const struct known *k, const struct known_alert *whole);

void alert_print_json(const struct known_alert *a);

/* One line that says what has changed. */
void alert_print_change(const struct known_alert *a);

#endif
