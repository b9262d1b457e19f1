/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded.h - for the recorder's tests: what a recording must have of its log, as digests. */
#pragma once

#include <stdbool.h>

#include "tests/unit/eventlog/logs.h"

/* Events of the stream in order, and definitions that are kept apart; block markers only by the end of each buffer. */
struct content {
        uint64_t stream, apart;
        uint64_t events, blocks, damages, ends, environments, arguments;
        uint64_t end_ns[64]; /* of the last block of each capability; [63]: of none */
};

static inline bool kept_apart(uint16_t id)
{
        return id == HW_IPE || id == HW_HEAP_PROF_COST_CENTRE || id == HW_TICKY_COUNTER_DEF;
}

static inline uint64_t content_mix(uint64_t h, const struct hw_event *e)
{
        h = mix(h ^ e->time_ns);
        h = mix(h ^ ((uint64_t)e->size << 32 | (uint64_t)e->id << 16 | e->cap));
        for (uint32_t i = 0; i < e->size; i++)
                h = h * 31 + e->payload[i];
        return h;
}

static inline void content_add(struct content *c, const struct hw_event *e)
{
        if (e->id == HW_BLOCK_MARKER) {
                c->end_ns[e->cap < 63 ? e->cap : 63] = hw_event_u64(e, 4);
                c->blocks++;
        } else if (e->id == HW_PROGRAM_ENV) {
                c->environments++;
        } else if (e->id == HW_PROGRAM_ARGS) {
                c->arguments++;
        } else if (kept_apart(e->id)) {
                c->apart = content_mix(c->apart, e);
        } else {
                c->stream = content_mix(c->stream, e);
                c->events++;
        }
}

static inline const uint8_t *event_begin(const struct hw_eventlog *log, const struct hw_event *e)
{
        return e->payload - (hw_eventlog_declared_size(log, e->id) == (int32_t)HW_EVENT_VARIABLE ? 12 : 10);
}

/* How many of the events are contiguous; an info table is the last of its sequence. */
static inline size_t one_behind_the_other(const struct hw_eventlog *log, const struct hw_event *events, size_t n)
{
        size_t i = 1;

        while (i < n && events[i - 1].id != HW_IPE &&
               event_begin(log, &events[i]) == events[i - 1].payload + events[i - 1].size)
                i++;
        return i;
}

/* Calls `each` for all that the decoder delivers of one run; bytes are given in pieces of `step`. */
typedef void content_events(void *ctx, const struct hw_eventlog *log, const struct hw_event *events, size_t n);

/* Where a piece is put before it is decoded: see read_buffer.h. */
typedef const uint8_t *content_place(void *ctx, const uint8_t *bytes, size_t size);

static inline struct content content_placed(const uint8_t *p, size_t size, size_t step, content_events *each, void *ctx,
                                            content_place *place)
{
        struct hw_eventlog *log = fresh();
        struct content c = { 0 };
        struct hw_event events[256];
        enum hw_eventlog_status s;
        size_t n;

        for (size_t at = 0; at < size; at += step) {
                const size_t part = size - at < step ? size - at : step;
                hw_eventlog_input(log, place ? place(ctx, p + at, part) : p + at, part);
                do {
                        s = hw_eventlog_read(log, events, 256, &n);
                        for (size_t i = 0; i < n; i++)
                                content_add(&c, &events[i]);
                        if (each && n > 0)
                                each(ctx, log, events, n);
                        if (each && s == HW_EVENTLOG_RUN)
                                each(ctx, log, NULL, 0);
                        c.ends += s == HW_EVENTLOG_END;
                        c.damages += s == HW_EVENTLOG_BAD || s == HW_EVENTLOG_LIMIT;
                } while (s != HW_EVENTLOG_NEED_MORE);
        }
        hw_eventlog_destroy(&log);
        return c;
}

static inline struct content content_of(const uint8_t *p, size_t size, size_t step, content_events *each, void *ctx)
{
        return content_placed(p, size, step, each, ctx, NULL);
}
