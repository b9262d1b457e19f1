/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event_types.h - the types of events that a log's messages define, how often each
 * was seen, and single events read from a message's columns.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "heapwatch/wire.h"

#define EVENT_IDS      65536u
#define EVENT_CAP_NONE 65535u

struct event_types {
        const Hw__EventType *defined[EVENT_IDS]; /* kept by reference; NULL: not yet */
        uint64_t count[EVENT_IDS];
        uint32_t end; /* ids are below it */
};

/* Takes the definitions of a message; counts in it replace those kept. */
void event_types_define(struct event_types *t, const Hw__Events *e);
void event_types_done(struct event_types *t);

/* Its name, or "EVENT_123" written into `out` when it has none. */
const char *event_type_name(const Hw__EventType *type, char out[static 16]);

/* One event; all pointers are borrowed from the message and the types. */
struct event {
        const Hw__EventType *type;
        uint64_t time_ns, offset;
        uint32_t run, capability, size_bytes, fields;
        const uint64_t *numbers;
        const ProtobufCBinaryData *texts;
};

struct event_cursor {
        const struct event_types *types;
        const Hw__Events *message;
        size_t at, number, text;
        bool broken; /* the columns do not match their types: the rest cannot be read */
};

/* The next event of the message; false at its end, or when it is broken. */
bool event_cursor_next(struct event_cursor *c, struct event *ret_event);

/* print.h - events and their counts as lines, for people and for programs. */

/* One event as one line. What it hides is named as hidden. */
void event_print_text(FILE *to, const struct event *e);
void event_print_json(FILE *to, const struct event *e);

/* Its fields alone, a JSON object. */
void event_print_fields(FILE *to, const struct event *e);

/* How many of each type, by id, and of all. `wanted`: which types count; NULL: all. */
void event_counts_print_text(FILE *to, const struct event_types *t, const bool *wanted);
void event_counts_print_json(FILE *to, const struct event_types *t, const bool *wanted);
