/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/archive/observe.h"

#include <stdlib.h>

#include "client/past/archive/database.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/sketch.h"
#include "proto/base/time.h"

static uint64_t interval(uint64_t time_ns, uint64_t width_s)
{
        uint64_t s = time_ns / NS_PER_S;

        return s - s % width_s;
}

void pending_done(struct pending *p)
{
        struct pending_cells *all[] = { &p->minutes, &p->bands, &p->pauses };

        for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
                free(all[i]->items);
                idtable_done(&all[i]->by_key);
        }
        *p = (struct pending){ .n = 0 };
}

/* --------------------------------------------------------------------- series */

/* The cell of a series, a band or pauses that a time is in, valid until another is added. NULL: there is no room. */
static struct pending_cell *cell_at(struct pending *p, struct pending_cells *cells, uint64_t of, uint64_t time_ns,
                                    uint64_t width_s)
{
        if (!p->seed)
                p->seed = hash_seed(p);
        const uint64_t time_s = interval(time_ns, width_s), hash = hash_u64(time_s, hash_u64(of, p->seed));
        uint32_t at = idtable_start(&cells->by_key, hash), id;

        while ((id = idtable_next(&cells->by_key, hash, &at)))
                if (cells->items[id - 1].key.time_s == time_s && cells->items[id - 1].key.of == of)
                        return &cells->items[id - 1];
        if (p->n >= ARCHIVE_PENDING || !ARRAY_RESERVE(cells->items, cells->capacity, cells->n + 1) ||
            idtable_add(&cells->by_key, hash, (uint32_t)cells->n + 1) < 0) {
                p->lost++;
                return NULL;
        }
        struct pending_cell *c = &cells->items[cells->n++];
        *c = (struct pending_cell){ .key = { .time_s = time_s, .of = of } };
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
        const uint64_t of = pending_pause(generation, sketch_cell(PENDING_PAUSE_BITS, pause_ns));
        struct pending_cell *c = cell_at(p, &p->pauses, of, time_ns, TEN_S);

        if (c)
                c->cell.n++;
}

void pending_add_band(struct pending *p, uint64_t time_ns, uint64_t band, double bytes)
{
        struct pending_cell *b = cell_at(p, &p->bands, band, time_ns, TEN_S);

        if (b)
                cell_add(&b->cell, time_ns, bytes);
}
