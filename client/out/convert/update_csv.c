/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipe_csv.c - updates as rows.
 *
 * DESIGN: the long form (one number per row, its name in a column) needs no new
 * header for new series and suits pivot tables and awk. Numbers are plain:
 * bytes and nanoseconds as integers, event time in seconds. A row's wall time
 * needs the run's start and a band's row its label: both come from the world,
 * which has applied the update before.
 */
#include "client/out/convert/update_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/world/state/world.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/csv.h"

static void append_bytes(struct csv_text *out, const char *text, size_t n)
{
        if (!ARRAY_RESERVE(out->text, out->capacity, out->length + n + 1)) {
                out->error = -ENOMEM;
                return;
        }
        memcpy(out->text + out->length, text, n);
        out->length += n;
        out->text[out->length] = '\0';
}

static void append_char(struct csv_text *out, char c)
{
        append_bytes(out, &c, 1);
}

void csv_clear(struct csv_text *out)
{
        out->length = 0;
}

void csv_done(struct csv_text *out)
{
        free(out->text);
        memset(out, 0, sizeof(*out));
}

void csv_field(struct csv_text *out, const char *text)
{
        char *cell = csv_cell(text);

        if (cell)
                append_bytes(out, cell, strlen(cell));
        else
                out->error = -ENOMEM;
        free(cell);
}

/* ------------------------------------------------------------------- rows */

/* What all rows of an update share. */
struct origin {
        const char *target;
        bool has_run, has_start;
        uint32_t run;
        uint64_t start_wall_ns;
};

static void append_comma(struct csv_text *out)
{
        append_char(out, ',');
}

static void append_u64(struct csv_text *out, uint64_t n)
{
        char text[24];

        append_bytes(out, text, (size_t)snprintf(text, sizeof(text), "%" PRIu64, n));
}

/* The four columns that say where and when. */
static void begin_row(struct csv_text *out, const struct origin *o, bool has_time, uint64_t time_ns)
{
        char text[48];

        csv_field(out, o->target);
        append_comma(out);
        if (o->has_run)
                append_u64(out, o->run);
        append_comma(out);
        if (has_time)
                append_bytes(out, text,
                             (size_t)snprintf(text, sizeof(text), "%" PRIu64 ".%09" PRIu64, time_ns / 1000000000,
                                              time_ns % 1000000000));
        append_comma(out);
        if (has_time && o->has_start && time_ns <= UINT64_MAX - o->start_wall_ns) {
                (void)hw_time_text(text, sizeof(text), o->start_wall_ns + time_ns);
                append_bytes(out, text, strlen(text));
        }
        append_comma(out);
}

static void series_and_unit(struct csv_text *out, const char *series, const char *unit)
{
        append_bytes(out, series, strlen(series));
        append_comma(out);
        append_bytes(out, unit, strlen(unit));
        append_comma(out);
}

/* A row of an integer without band and label. */
static void number_row(struct csv_text *out, const struct origin *o, uint64_t time_ns, const char *series,
                       const char *unit, uint64_t value)
{
        begin_row(out, o, true, time_ns);
        series_and_unit(out, series, unit);
        append_u64(out, value);
        append_bytes(out, ",,\n", 3);
}

/* A fact that came with the update, which the world has applied. */
static void fact_row(struct csv_text *out, const struct origin *o, const Hw__Update *u, const struct world_target *t,
                     const char *series, enum fact id)
{
        static const char *const units[] = {
                [FACT_BYTES] = "B", [FACT_NS] = "ns", [FACT_SHARE] = "1", [FACT_RATE] = "B/s"
        };
        char text[40];
        const double value = facts_get(t, id);

        if (isnan(value))
                return;
        begin_row(out, o, u->has_event_time_ns, u->event_time_ns);
        series_and_unit(out, series, units[fact_rows[id].unit]);
        append_bytes(out, text, (size_t)snprintf(text, sizeof(text), "%.6g", value));
        append_bytes(out, ",,\n", 3);
}

static void heap_rows(struct csv_text *out, const struct origin *o, const Hw__Update *u)
{
        for (size_t i = 0; i < u->heap->n_samples; i++) {
                const Hw__Samples *s = u->heap->samples[i];
                const char *name = hw_series_name(s->series);

                for (size_t j = 0; name && j < s->n_times_ns && j < s->n_values; j++)
                        number_row(out, o, s->times_ns[j], name, hw_series_unit(s->series), s->values[j]);
        }
}

static void census_rows(struct csv_text *out, const struct origin *o, const struct world_target *t, const Hw__Census *c)
{
        for (size_t i = 0; i < c->n_band && i < c->n_bytes; i++) {
                uint32_t id = c->band[i];
                const struct world_band *b = world_band_of(t, id);

                begin_row(out, o, c->has_time_ns, c->time_ns);
                series_and_unit(out, "band", "B");
                append_u64(out, c->bytes[i]);
                append_comma(out);
                append_u64(out, id);
                append_comma(out);
                csv_field(out, b ? b->def->label : "");
                append_char(out, '\n');
        }
        if (c->rows_left_out)
                number_row(out, o, c->time_ns, "bands_left_out", "B", c->bytes_left_out);
}

static void note_rows(struct csv_text *out, const struct origin *o, const Hw__Notes *notes)
{
        for (size_t i = 0; i < notes->n_notes; i++) {
                const Hw__Note *n = notes->notes[i];

                begin_row(out, o, n->has_time_ns, n->time_ns);
                series_and_unit(out, "note", "");
                append_bytes(out, ",,", 2);
                csv_field(out, n->text ? n->text : "");
                append_char(out, '\n');
        }
}

/* The target of an update; NULL when the world does not have it or it is in a later run. */
static const struct world_target *target_of(const struct world *world, size_t daemon, const Hw__Update *u)
{
        const struct world_target *t = world_find_of(world, daemon, u->target);

        return t && (!u->has_run || t->run == u->run) ? t : NULL;
}

void csv_update(struct csv_text *out, const struct world *world, size_t daemon, const Hw__Update *u)
{
        const struct world_target *t = u->target ? target_of(world, daemon, u) : NULL;
        struct origin o = { .target = u->target, .has_run = u->has_run, .run = u->run };

        if (!t)
                return;
        if (t->target && t->target->run_info && t->target->run_info->has_start_wall_ns) {
                o.has_start = true;
                o.start_wall_ns = t->target->run_info->start_wall_ns;
        }
        switch (u->body_case) {
        case HW__UPDATE__BODY_HEAP:
                heap_rows(out, &o, u);
                fact_row(out, &o, u, t, "allocation_rate", FACT_ALLOCATION);
                break;
        case HW__UPDATE__BODY_GC:
                fact_row(out, &o, u, t, "gc_share", FACT_GC_SHARE);
                break;
        case HW__UPDATE__BODY_CENSUS:
                census_rows(out, &o, t, u->census);
                break;
        case HW__UPDATE__BODY_NOTES:
                note_rows(out, &o, u->notes);
                break;
        case HW__UPDATE__BODY_HEALTH:
                fact_row(out, &o, u, t, "lost_bytes", FACT_STREAM_LOST);
                fact_row(out, &o, u, t, "lag", FACT_STREAM_LAG);
                break;
        default:
                break;
        }
}
