/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_decode.c - libFuzzer target: the first four bytes seed the split
 * pattern, the rest is the stream. Whole and split must give the same. A fourth
 * byte of 'j' lets the stream be the middle of a run.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/eventlog.h"

static uint64_t mix(uint64_t h, uint64_t x)
{
        return (h ^ x) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29);
}

static uint64_t drain(struct hw_eventlog *log, uint64_t h)
{
        struct hw_event events[16];
        enum hw_eventlog_status s;
        size_t n;
        do {
                s = hw_eventlog_read(log, events, 16, &n);
                for (size_t i = 0; i < n; i++) {
                        const struct hw_event *e = &events[i];
                        const struct hw_event_info *info = hw_event_info(e->id);
                        struct hw_field_value value;
                        if (info && e->size < info->min_size)
                                abort();
                        for (unsigned f = 0; info && f < info->n_fields; f++)
                                if (hw_event_field(e, f, &value))
                                        h = mix(h, value.size + value.number);
                        h = mix(h, e->time_ns);
                        h = mix(h, e->offset);
                        h = mix(h, (uint64_t)e->size << 32 | (uint64_t)e->id << 16 | e->cap);
                        if (e->size > 0)
                                h = mix(h, (uint64_t)e->payload[0] << 8 | e->payload[e->size - 1]);
                }
                if (s == HW_EVENTLOG_BAD || s == HW_EVENTLOG_LIMIT)
                        h = mix(h, hw_eventlog_damage(log)->offset);
                if (s != HW_EVENTLOG_OK && s != HW_EVENTLOG_NEED_MORE)
                        h = mix(h, (uint64_t)s);
        } while (s != HW_EVENTLOG_NEED_MORE);
        return h;
}

/* Pieces of 1 to `largest` bytes, each lent in a buffer of its own size. */
static uint64_t decode(const uint8_t *p, size_t size, uint32_t seed, size_t largest, bool join)
{
        struct hw_eventlog *log = hw_eventlog_new();
        uint64_t h = 0, left;
        if (!log)
                return 0;
        if (join)
                hw_eventlog_allow_join(log);
        while (size > 0) {
                seed = seed * 1664525u + 1013904223u;
                size_t piece = 1 + (seed >> 8) % largest;
                if (piece > size || largest == SIZE_MAX)
                        piece = size;
                uint8_t *copy = malloc(piece);
                if (!copy)
                        abort();
                memcpy(copy, p, piece);
                hw_eventlog_input(log, copy, piece);
                h = drain(log, h);
                free(copy);
                p += piece;
                size -= piece;
        }
        hw_eventlog_input_end(log);
        h = drain(log, h);
        h = mix(h, hw_eventlog_finish(log, &left));
        h = mix(h, left);
        const struct hw_eventlog_stats *s = hw_eventlog_stats(log);
        if (s->lost_bytes + s->passed_bytes > s->bytes)
                abort();
        h = mix(h, s->passed_bytes);
        h = mix(h, s->lost_bytes + (s->events << 20) + (s->resyncs << 40));
        hw_eventlog_destroy(&log);
        return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < 4)
                return 0;
        uint32_t seed = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
        size_t largest = 1 + (size_t)(data[0] * data[0]);
        if (decode(data + 4, size - 4, 0, SIZE_MAX, data[3] == 'j') !=
            decode(data + 4, size - 4, seed, largest, data[3] == 'j'))
                abort();
        return 0;
}
