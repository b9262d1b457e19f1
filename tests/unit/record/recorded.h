/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded.h - for the recorder's tests: what of a log must be in a recording of it, as digests. */
#ifndef HW_TESTS_UNIT_RECORD_RECORDED_H
#define HW_TESTS_UNIT_RECORD_RECORDED_H

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

/* Calls `each` for all that the decoder delivers of one run; bytes are given in pieces of `step`. */
typedef void content_events(void *ctx, const struct hw_eventlog *log, const struct hw_event *events, size_t n);

static inline struct content content_of(const uint8_t *p, size_t size, size_t step, content_events *each, void *ctx)
{
        struct hw_eventlog *log = fresh();
        struct content c = { 0 };
        struct hw_event events[256];
        enum hw_eventlog_status s;
        size_t n;

        for (size_t at = 0; at < size; at += step) {
                hw_eventlog_input(log, p + at, size - at < step ? size - at : step);
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

#endif
