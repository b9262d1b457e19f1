/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repeat.h - a long eventlog made from a short one: its header once, its events
 * repeatedly, with rising times.
 *
 * Cumulative numbers (HEAP_ALLOCATED) start again with each repetition; nothing
 * that is measured with such a log depends on them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "heapwatch/eventlog.h"

#define REPEAT_MARKER_SIZE_AT 10u /* u32 in a block marker */
#define REPEAT_MARKER_END_AT  14u /* u64 */

struct repeat {
        uint8_t *bytes; /* a whole log; its times are changed in place */
        size_t size;
        size_t first, end; /* events are bytes[first..end), without the end marker */
        size_t *times;     /* offsets of all timestamps */
        size_t n_times;
        uint64_t span_ns; /* newest timestamp */
};

static inline uint64_t repeat_get(const uint8_t *p, unsigned width)
{
        uint64_t v = 0;

        while (width-- > 0)
                v = v << 8 | *p++;
        return v;
}

static inline void repeat_put(uint8_t *p, uint64_t v, unsigned width)
{
        while (width-- > 0)
                *p++ = (uint8_t)(v >> (8 * width));
}

static inline void repeat_note(struct repeat *r, const struct hw_event *e, size_t *last_marker)
{
        if (r->n_times == 0)
                r->first = (size_t)e->offset;
        r->times[r->n_times++] = (size_t)e->offset + 2;
        if (e->time_ns > r->span_ns)
                r->span_ns = e->time_ns;
        if (e->id == HW_BLOCK_MARKER) {
                *last_marker = (size_t)e->offset;
                r->times[r->n_times++] = (size_t)e->offset + REPEAT_MARKER_END_AT;
        }
}

/* Finds every timestamp and the end; takes the end marker out of the last block. False when out of memory. */
static inline bool repeat_init(struct repeat *r, uint8_t *bytes, size_t size)
{
        struct hw_eventlog *log = hw_eventlog_new();
        struct hw_event events[64];
        enum hw_eventlog_status s;
        size_t n, last_marker = 0;

        *r = (struct repeat){ .bytes = bytes, .size = size, .end = size };
        r->times = calloc(size / 10 + 2, 2 * sizeof(*r->times));
        if (!log || !r->times)
                return false;
        hw_eventlog_input(log, bytes, size);
        do {
                s = hw_eventlog_read(log, events, 64, &n);
                for (size_t i = 0; i < n; i++)
                        repeat_note(r, &events[i], &last_marker);
        } while (s == HW_EVENTLOG_OK || s == HW_EVENTLOG_RUN);
        hw_eventlog_destroy(&log);
        if (s == HW_EVENTLOG_END)
                r->end -= 2;
        if (last_marker + repeat_get(bytes + last_marker + REPEAT_MARKER_SIZE_AT, 4) > r->end)
                repeat_put(bytes + last_marker + REPEAT_MARKER_SIZE_AT, r->end - last_marker, 4);
        return true;
}

/* Moves all events on by the log's length. */
static inline void repeat_shift(struct repeat *r)
{
        for (size_t i = 0; i < r->n_times; i++) {
                uint8_t *t = r->bytes + r->times[i];
                repeat_put(t, repeat_get(t, 8) + r->span_ns, 8);
        }
}

static inline void repeat_done(struct repeat *r)
{
        free(r->times);
        r->times = NULL;
}
