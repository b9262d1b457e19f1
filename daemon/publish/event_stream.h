/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event_stream.h - the events of one finished log as messages of kind event:
 * each as decoded, then the count of each type.
 *
 * Events are collected in columns and sent when a message is full, when the run
 * changes and on event_stream_flush. What may be secret is left out here: the
 * environment always, the program's arguments unless requested.
 *
 * A live daemon does not publish these. Sequence numbers are per topic; the
 * target's heads do not list this topic, because its only reader loses nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heapwatch/eventlog.h"
#include "daemon/publish/update_sink.h"

enum event_wish {
        EVENTS_OFF,
        EVENTS_COUNTED, /* only the counts at the end */
        EVENTS_ALONE,   /* every event, and the counts, but no state */
        EVENTS_FULL     /* every event, and the counts, and state as without them */
};

struct event_stream;

/* `target` and `sink` are copied. NULL when out of memory. */
struct event_stream *event_stream_new(const char *target, uint64_t epoch, const struct update_sink *sink,
                                      enum event_wish wish, bool show_arguments);
void event_stream_destroy(struct event_stream **s);

/* Takes in an event of run `run` (ordinal, from 1); copies what will be sent. Does nothing if EVENTS_COUNTED. */
void event_stream_add(struct event_stream *s, uint32_t run, const struct hw_event *event);

/* Sends what has been collected. */
void event_stream_flush(struct event_stream *s);

/* The log is over: sends what has been collected, then each type with its count of everything that `log` delivered. */
void event_stream_finish(struct event_stream *s, const struct hw_eventlog *log);

/* The first error, of the sink or -ENOMEM; 0: none. After an error nothing is sent. */
int event_stream_error(const struct event_stream *s);
