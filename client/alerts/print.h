/* SPDX-License-Identifier: BSD-3-Clause */
/* print.h - alerts on standard output, as text for people or JSON for programs. */
#ifndef HW_CLIENT_ALERTS_PRINT_H
#define HW_CLIENT_ALERTS_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "client/alerts/known.h"

/* All moments of one output are in one clock: the time of day, or the time of the run. */
struct alert_clock {
        bool wall;
        uint64_t now_wall_ns; /* for the age of a firing alert; 0: of a finished log */
};

/* One alert with its reason, its silence, and the outcome of its actions. */
void alert_print_text(const struct known_alert *a, struct alert_clock clock);

/* The parts of `whole` among all alerts, a line each, below its own text. */
void alert_print_parts(const struct known *k, const struct known_alert *whole, struct alert_clock clock);

/* One line: {"target": ..., "alert": {...}}, the alert as in all JSON of heapwatch. */
void alert_print_json(const struct known_alert *a);

/* One line: what has changed. */
void alert_print_change(const struct known_alert *a, struct alert_clock clock);

#endif
