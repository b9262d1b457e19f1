/* SPDX-License-Identifier: BSD-3-Clause */
/* logs.h - for the decoder's tests: loads logs, decodes them in given pieces, digests the results. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "heapwatch/eventlog.h"

struct bytes {
        uint8_t *p;
        size_t size;
};

static inline struct bytes load(const char *path)
{
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        struct bytes b = { malloc(8u << 20), 0 };
        assert_non_null(b.p);
        b.size = fread(b.p, 1, 8u << 20, f);
        fclose(f);
        return b;
}

static inline struct bytes load_run(const char *run)
{
        char path[256];
        snprintf(path, sizeof(path), "tests/data/logs/%s/run.eventlog", run);
        return load(path);
}

static inline uint64_t mix(uint64_t x)
{
        x += UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
        return x ^ x >> 31;
}

/* Digest of a decoded stream: equal digests mean equal events and statuses in equal order. */
struct digest {
        uint64_t order; /* hash of all, in order; OK and NEED_MORE left out */
        uint64_t times; /* sum of mix(time) */
        uint64_t events, bad, limits, runs, ends;
        uint64_t damage_bytes, max_damage_bytes, last_offset;
        uint64_t calls;
};

static inline void digest_event(struct digest *d, const struct hw_event *e)
{
        uint64_t h = d->order;
        h = mix(h ^ e->time_ns);
        h = mix(h ^ e->offset);
        h = mix(h ^ ((uint64_t)e->size << 32 | (uint64_t)e->id << 16 | e->cap));
        for (uint32_t i = 0; i < e->size; i++)
                h = h * 31 + e->payload[i];
        d->order = h;
        d->times += mix(e->time_ns);
        d->events++;
        d->last_offset = e->offset;
}

static inline void digest_status(struct digest *d, struct hw_eventlog *log, enum hw_eventlog_status s)
{
        if (s == HW_EVENTLOG_OK || s == HW_EVENTLOG_NEED_MORE)
                return;
        d->order = mix(d->order ^ (uint64_t)s << 56);
        d->runs += s == HW_EVENTLOG_RUN;
        d->ends += s == HW_EVENTLOG_END;
        if (s != HW_EVENTLOG_BAD && s != HW_EVENTLOG_LIMIT)
                return;
        const struct hw_eventlog_damage *damage = hw_eventlog_damage(log);
        assert_non_null(damage->reason);
        d->bad += s == HW_EVENTLOG_BAD;
        d->limits += s == HW_EVENTLOG_LIMIT;
        d->damage_bytes += damage->lost_bytes;
        if (damage->lost_bytes > d->max_damage_bytes)
                d->max_damage_bytes = damage->lost_bytes;
        if (!getenv("HW_TEST_DAMAGE"))
                return;
        print_message("damage at %llu, %llu bytes: %s\n", (unsigned long long)damage->offset,
                      (unsigned long long)damage->lost_bytes, damage->reason);
}

/* One piece. It is given in a copy of its exact size that is freed at once, so that a sanitizer sees late reads. */
static inline void feed(struct hw_eventlog *log, struct digest *d, const uint8_t *p, size_t size, size_t batch)
{
        static struct hw_event events[256];
        size_t n;
        enum hw_eventlog_status s;
        uint8_t *copy = malloc(size ? size : 1);
        assert_non_null(copy);
        memcpy(copy, p, size);
        hw_eventlog_input(log, copy, size);
        do {
                s = hw_eventlog_read(log, events, batch, &n);
                assert_true(n <= batch);
                for (size_t i = 0; i < n; i++)
                        digest_event(d, &events[i]);
                digest_status(d, log, s);
                assert_true(d->calls++ < 1u << 28);
        } while (s != HW_EVENTLOG_NEED_MORE);
        free(copy);
}

/* A stream in one piece, to its end. */
static inline struct digest decode(struct hw_eventlog *log, const uint8_t *p, size_t size)
{
        struct digest d = { 0 };
        feed(log, &d, p, size, 256);
        return d;
}

static inline struct hw_eventlog *fresh(void)
{
        struct hw_eventlog *log = hw_eventlog_new();
        assert_non_null(log);
        return log;
}
