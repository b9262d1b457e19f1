/* SPDX-License-Identifier: BSD-3-Clause */
/* print.h - events and their counts as lines, for people and for programs. */
#ifndef HW_CLIENT_COMMANDS_EVENT_PRINT_H
#define HW_CLIENT_COMMANDS_EVENT_PRINT_H

#include <stdio.h>

#include "client/commands/event_types.h"

/* One event as one line. What it hides is named as hidden. */
void event_print_text(FILE *to, const struct event *e);
void event_print_json(FILE *to, const struct event *e);

/* Its fields alone, a JSON object. */
void event_print_fields(FILE *to, const struct event *e);

/* How many of each type, by id, and of all. `wanted`: which types count; NULL: all. */
void event_counts_print_text(FILE *to, const struct event_types *t, const bool *wanted);
void event_counts_print_json(FILE *to, const struct event_types *t, const bool *wanted);

#endif
