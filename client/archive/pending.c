/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/archive/pending.h"

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

static void free_cells(struct pending_cell **cells)
{
        struct pending_cell *c, *next;

        HASH_ITER(hh, *cells, c, next)
        {
                HASH_DEL(*cells, c);
                free(c);
        }
}

void pending_done(struct pending *p)
{
        struct pending_pause *q, *next;

        free_cells(&p->minutes);
        free_cells(&p->bands);
        HASH_ITER(hh, p->pauses, q, next)
        {
                HASH_DEL(p->pauses, q);
                free(q);
        }
        *p = (struct pending){ .n = 0 };
}

/* --------------------------------------------------------------------- series */

/* The cell of a series or a band that a time is in. NULL: there is no room. */
static struct pending_cell *cell_at(struct pending *p, struct pending_cell **cells, uint64_t of, uint64_t time_ns,
                                    uint64_t width_s)
{
        struct pending_cell *c, want = { .key = { .time_s = interval(time_ns, width_s), .of = of } };

        HASH_FIND(hh, *cells, &want.key, sizeof(want.key), c);
        if (c || !has_room(p))
                return c;
        c = calloc(1, sizeof(*c));
        if (!c) {
                p->lost++;
                return NULL;
        }
        c->key = want.key;
        HASH_ADD(hh, *cells, key, sizeof(c->key), c);
        p->n++;
        return c;
}

static struct pending_cell *minute_of(struct pending *p, uint64_t series, uint64_t time_ns)
{
        return cell_at(p, &p->minutes, series, time_ns, MINUTE_S);
}

void pending_sample(struct pending *p, uint64_t series, uint64_t time_ns, double value)
{
        struct pending_cell *m = minute_of(p, series, time_ns);

        if (m)
                cell_add(&m->cell, time_ns, value);
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
                struct pending_cell *m = minute_of(p, series, at);
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
        struct pending_cell *m;

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
        struct pending_cell *b = cell_at(p, &p->bands, band, time_ns, TEN_S);

        if (b)
                cell_add(&b->cell, time_ns, bytes);
}
