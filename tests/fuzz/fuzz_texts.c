/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_texts.c - libFuzzer target: byte 0 is the kind of text and seeds the pieces, the rest is the text. What must
 * hold: the log is the same whatever the pieces, and the decoder finds no damage in it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/eventlog.h"
#include "proto/eventlog/texts/texts.h"

#define MOST (8u << 20) /* of a log: a profile may have many ticks in few bytes */

struct made {
        uint8_t *bytes;
        size_t n, capacity;
};

static void fetch_all(struct text_log *t, struct made *m, size_t most)
{
        uint8_t piece[4096];
        size_t n;

        while (m->n < MOST && (n = text_log_fetch(t, piece, most)) > 0) {
                if (m->n + n > m->capacity) {
                        m->capacity = (m->n + n) * 2;
                        m->bytes = realloc(m->bytes, m->capacity);
                        if (!m->bytes)
                                abort();
                }
                memcpy(m->bytes + m->n, piece, n);
                m->n += n;
        }
}

/* Text in pieces of 1 to `largest` bytes, log in pieces of at most `most`. */
static struct made make(const uint8_t *p, size_t size, enum text_kind kind, size_t largest, size_t most)
{
        struct text_log *t = text_log_new(kind);
        struct made m = { NULL, 0, 0 };
        uint32_t seed = (uint32_t)size;

        if (!t)
                abort();
        while (size > 0 && m.n < MOST) {
                seed = seed * 1664525u + 1013904223u;
                size_t piece = 1 + (seed >> 8) % largest;
                piece = piece < size ? piece : size;
                size_t taken = text_log_parse(t, (const char *)p, piece);
                if (taken > piece)
                        abort();
                fetch_all(t, &m, most);
                p += taken;
                size -= taken;
        }
        if (m.n < MOST)
                text_log_end(t);
        fetch_all(t, &m, most);
        text_log_destroy(&t);
        return m;
}

static void check(const struct made *m)
{
        struct hw_eventlog *log = hw_eventlog_new();
        struct hw_event events[64];
        enum hw_eventlog_status s;
        size_t n;

        if (!log)
                abort();
        hw_eventlog_input(log, m->bytes, m->n);
        do {
                s = hw_eventlog_read(log, events, 64, &n);
                if (s == HW_EVENTLOG_BAD || s == HW_EVENTLOG_LIMIT)
                        abort();
        } while (s != HW_EVENTLOG_NEED_MORE || n > 0);
        hw_eventlog_destroy(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < 1)
                return 0;
        enum text_kind kind = data[0] & 128 ? TEXT_PROF : TEXT_HP;
        struct made whole = make(data + 1, size - 1, kind, SIZE_MAX >> 9, 4096),
                    split = make(data + 1, size - 1, kind, (size_t)1 + data[0] / 2, 1 + data[0] % 64);
        size_t n = whole.n < split.n ? whole.n : split.n;
        if ((whole.n != split.n && n < MOST) || memcmp(whole.bytes, split.bytes, n) != 0)
                abort();
        check(&whole);
        free(whole.bytes);
        free(split.bytes);
        return 0;
}
