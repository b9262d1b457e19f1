/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: two buffers of rows, one being written and one with the newest
 * finished census, so that one can be read while the next is told. The RTS keys
 * rows by pointer: several rows may name one band, so a band knows its row.
 *
 * HEAP_PROF_SAMPLE_END exists since 8.10. Where it is written, a sample that
 * closes without it is unfinished: passed on as such, and no band is changed.
 * Before, the next sample's beginning or the end of the log is its end.
 */
#include "model/census.h"

#include <stdlib.h>
#include <string.h>

#include "base/ckd.h"
#include "model/state.h"

#define FIRST_ROOM 64u
#define WITH_SAMPLE_END 810u    /* GHC 8.10 */

void census_clear(struct census_state *c)
{
        struct census_rows a = c->buffers[0], b = c->buffers[1];

        *c = (struct census_state){ .buffers = { a, b } };
}

void census_done(struct census_state *c)
{
        free(c->buffers[0].rows);
        free(c->buffers[1].rows);
        *c = (struct census_state){ 0 };
}

static void add_sat(uint64_t *sum, uint64_t value)
{
        if (ckd_add(sum, *sum, value))
                *sum = UINT64_MAX;
}

/* The finished census becomes the newest: bands without a row in it have 0 bytes now. */
static void accept(struct model *m)
{
        struct census_state *c = &m->census;
        const struct census *open = &c->open;
        double time_s = (double)open->time_ns / 1e9;

        for (uint32_t i = 0; i < c->done.n_rows; i++)
                bands_entry(&m->bands, c->done.rows[i].band)->band.bytes = 0;
        for (uint32_t i = 0; i < open->n_rows; i++)
                bands_take(bands_entry(&m->bands, open->rows[i].band), open, time_s, open->rows[i].bytes);
        if (open->rows_left_out > m->bands.left_out)
                m->bands.left_out = open->rows_left_out;
        c->done = *open;
        c->writing = !c->writing;
}

static void finish(struct model *m, bool unfinished)
{
        struct census_state *c = &m->census;

        if (!c->is_open)
                return;
        c->is_open = false;
        c->open.rows = c->buffers[c->writing].rows;
        c->open.unfinished = unfinished;
        if (!unfinished) {
                accept(m);
                model_sample(m, SERIES_CENSUS_TOTAL, c->done.time_ns, c->done.total_bytes);
        }
        if (m->sink.census)
                m->sink.census(m->sink.ctx, &c->open);
}

static bool ends_expected(const struct model *m)
{
        return m->census.ends_seen || m->run.ghc_number >= WITH_SAMPLE_END;
}

static void begin(struct model *m, uint64_t time_ns)
{
        struct census_state *c = &m->census;

        if (c->is_open)
                c->followed = true;
        finish(m, ends_expected(m));
        c->open = (struct census){ .number = ++c->count, .time_ns = time_ns };
        c->is_open = true;
}

void census_begin(struct model *m, const struct hw_event *e)
{
        begin(m, e->time_ns);
}

/* Biographies are written at exit; the payload has the time of the sample. */
void census_bio_begin(struct model *m, const struct hw_event *e)
{
        uint64_t time_ns = hw_event_u64(e, 8);

        begin(m, time_ns < e->time_ns ? time_ns : e->time_ns);
}

void census_end(struct model *m, const struct hw_event *e)
{
        (void)e;
        m->census.ends_seen = true;
        finish(m, false);
}

void census_close(struct model *m)
{
        bool old = !ends_expected(m) && (m->run.ghc_number || m->census.followed);

        finish(m, !old);
}

static bool make_room(struct census_rows *buffer, uint32_t n)
{
        if (n < buffer->room)
                return true;
        uint32_t room = buffer->room ? buffer->room * 2 : FIRST_ROOM;
        struct census_row *rows = realloc(buffer->rows, room * sizeof(*rows));
        if (!rows)
                return false;
        buffer->rows = rows;
        buffer->room = room;
        return true;
}

/* Adds bytes to the row of a band; NULL: a band that is left out. */
static void add_row(struct model *m, struct band_entry *entry, uint64_t bytes)
{
        struct census_state *c = &m->census;
        struct census_rows *buffer = &c->buffers[c->writing];

        add_sat(&c->open.total_bytes, bytes);
        if (entry && entry->row_census == c->open.number) {
                add_sat(&buffer->rows[entry->row].bytes, bytes);
                return;
        }
        if (!entry || !make_room(buffer, c->open.n_rows)) {
                c->open.rows_left_out++;
                add_sat(&c->open.bytes_left_out, bytes);
                return;
        }
        entry->row_census = c->open.number;
        entry->row = c->open.n_rows;
        buffer->rows[c->open.n_rows++] = (struct census_row){ .band = entry->band.id, .bytes = bytes };
}

/* A row outside a sample belongs to one whose beginning was not seen: dropped. */
void census_row_string(struct model *m, const struct hw_event *e)
{
        const char *label = (const char *)e->payload + 9;
        size_t left = e->size - 9;
        const char *nul = left ? memchr(label, '\0', left) : NULL;

        if (m->census.is_open)
                add_row(m, bands_of_text(m, label, nul ? (size_t)(nul - label) : left, m->census.open.time_ns),
                        hw_event_u64(e, 1));
}

void census_row_stack(struct model *m, const struct hw_event *e)
{
        uint32_t ids[MAX_STACK], depth;

        if (m->census.is_open && cost_centre_stack(e, 9, ids, &depth))
                add_row(m, bands_of_stack(m, ids, depth, m->census.open.time_ns), hw_event_u64(e, 1));
}
