/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/archive/pending.h"

#include <math.h>
#include <stdlib.h>

#include "client/archive/limits.h"
#include "client/archive/schema.h"
#include "proto/base/sketch.h"
#include "proto/base/time.h"

/* By default uthash exits when it is out of memory. */
#undef uthash_nonfatal_oom
#define uthash_nonfatal_oom(element) ((void)(element))

static uint64_t interval(uint64_t time_ns, uint64_t width_s)
{
        uint64_t s = time_ns / NS_PER_S;

        return s - s % width_s;
}

static bool has_room(struct pending *p)
{
        if (p->n < ARCHIVE_PENDING)
                return true;
        p->lost++;
        return false;
}

void pending_done(struct pending *p)
{
        struct pending_minute *m, *next_m;
        struct pending_pause *q, *next_q;
        struct pending_band *b, *next_b;

        HASH_ITER(hh, p->minutes, m, next_m)
        {
                HASH_DEL(p->minutes, m);
                free(m);
        }
        HASH_ITER(hh, p->pauses, q, next_q)
        {
                HASH_DEL(p->pauses, q);
                free(q);
        }
        HASH_ITER(hh, p->bands, b, next_b)
        {
                HASH_DEL(p->bands, b);
                free(b);
        }
        *p = (struct pending){ .n = 0 };
}

/* --------------------------------------------------------------------- series */

/* NULL: there is no room. */
static struct pending_minute *minute_of(struct pending *p, uint64_t series, uint64_t time_ns)
{
        struct pending_minute *m, want = { .key = { .time_s = interval(time_ns, MINUTE_S), .series = series } };

        HASH_FIND(hh, p->minutes, &want.key, sizeof(want.key), m);
        if (m || !has_room(p))
                return m;
        m = calloc(1, sizeof(*m));
        if (!m) {
                p->lost++;
                return NULL;
        }
        m->key = want.key;
        HASH_ADD(hh, p->minutes, key, sizeof(m->key), m);
        p->n++;
        return m;
}

void pending_sample(struct pending *p, uint64_t series, uint64_t time_ns, double value)
{
        struct pending_minute *m = minute_of(p, series, time_ns);

        if (!m)
                return;
        m->min = m->n ? fmin(m->min, value) : value;
        m->max = m->n ? fmax(m->max, value) : value;
        m->sum += value;
        if (!m->n || time_ns >= m->last_ns) {
                m->last = value;
                m->last_ns = time_ns;
        }
        m->n++;
}

/* The end of the minute of from_ns, at most to_ns. */
static uint64_t end_of_minute(uint64_t from_ns, uint64_t to_ns)
{
        uint64_t end = (interval(from_ns, MINUTE_S) + MINUTE_S) * NS_PER_S;

        return end < to_ns ? end : to_ns;
}

void pending_line(struct pending *p, uint64_t series, uint64_t from_ns, uint64_t to_ns, double v0, double v1)
{
        if (to_ns <= from_ns || to_ns - from_ns > ARCHIVE_BRIDGE_NS)
                return;
        double per_ns = (v1 - v0) / (double)(to_ns - from_ns);
        for (uint64_t at = from_ns, end; at < to_ns; at = end) {
                struct pending_minute *m = minute_of(p, series, at);
                end = end_of_minute(at, to_ns);
                if (!m)
                        return;
                double middle = v0 + per_ns * ((double)(at - from_ns) + (double)(end - at) / 2);
                m->area += middle * (double)(end - at);
                m->covered_ns += end - at;
        }
}

void pending_rise(struct pending *p, uint64_t series, uint64_t from_ns, uint64_t to_ns, double amount)
{
        struct pending_minute *m;

        if (to_ns <= from_ns || to_ns - from_ns > ARCHIVE_BRIDGE_NS) {
                m = minute_of(p, series, to_ns);
                if (m)
                        m->rise += amount;
                return;
        }
        for (uint64_t at = from_ns, end; at < to_ns; at = end) {
                end = end_of_minute(at, to_ns);
                m = minute_of(p, series, at);
                if (!m)
                        return;
                m->rise += amount * ((double)(end - at) / (double)(to_ns - from_ns));
                m->covered_ns += end - at;
        }
}

/* --------------------------------------------------------------- pauses, bands */

void pending_add_pause(struct pending *p, uint64_t time_ns, uint32_t generation, uint64_t pause_ns)
{
        struct pending_pause *q, want = { .key = { .time_s = interval(time_ns, TEN_S),
                                                   .generation = generation,
                                                   .cell = sketch_cell(PENDING_PAUSE_BITS, pause_ns) } };

        HASH_FIND(hh, p->pauses, &want.key, sizeof(want.key), q);
        if (!q) {
                q = has_room(p) ? calloc(1, sizeof(*q)) : NULL;
                if (!q)
                        return;
                q->key = want.key;
                HASH_ADD(hh, p->pauses, key, sizeof(q->key), q);
                p->n++;
        }
        q->n++;
}

void pending_add_band(struct pending *p, uint64_t time_ns, uint64_t band, double bytes)
{
        struct pending_band *b, want = { .key = { .time_s = interval(time_ns, TEN_S), .band = band } };

        HASH_FIND(hh, p->bands, &want.key, sizeof(want.key), b);
        if (!b) {
                b = has_room(p) ? calloc(1, sizeof(*b)) : NULL;
                if (!b)
                        return;
                b->key = want.key;
                b->min = b->max = bytes;
                HASH_ADD(hh, p->bands, key, sizeof(b->key), b);
                p->n++;
        }
        b->min = fmin(b->min, bytes);
        b->max = fmax(b->max, bytes);
        b->sum += bytes;
        if (!b->n || time_ns >= b->last_ns) {
                b->last = bytes;
                b->last_ns = time_ns;
        }
        b->n++;
}
