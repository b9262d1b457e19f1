/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * update_csv.c - updates as rows.
 *
 * DESIGN: the long form (one number per row, its name in a column) needs no new
 * header for new series and suits pivot tables and awk. Numbers are plain:
 * bytes and nanoseconds as integers, event time in seconds. A row's wall time
 * needs the run's start and a band's row its label: both come from the world,
 * which has applied the update before.
 */
#include "client/out/convert/update_csv.h"

#include <inttypes.h>
#include <math.h>

#include "heapwatch/text.h"
#include "proto/base/csv.h"
#include "proto/base/time.h"

/* What all rows of an update share. */
struct origin {
        const char *target;
        bool has_run, has_start;
        uint32_t run;
        uint64_t start_wall_ns;
};

static void put_text(struct csv_out *out, const char *text)
{
        out->no_memory |= !csv_print(out->to, text);
}

/* The columns up to the value. */
static void begin_row(struct csv_out *out, const struct origin *o, bool has_time, uint64_t time_ns, const char *series,
                      const char *unit)
{
        char wall[48] = "";

        if (!out->headed)
                (void)fputs(CSV_HEADER, out->to);
        out->headed = true;
        put_text(out, o->target);
        (void)fputc(',', out->to);
        if (o->has_run)
                (void)fprintf(out->to, "%" PRIu32, o->run);
        (void)fputc(',', out->to);
        if (has_time)
                (void)fprintf(out->to, "%" PRIu64 ".%09" PRIu64, time_ns / NS_PER_S, time_ns % NS_PER_S);
        if (has_time && o->has_start && time_ns <= UINT64_MAX - o->start_wall_ns)
                (void)hw_time_text(wall, sizeof(wall), o->start_wall_ns + time_ns);
        (void)fprintf(out->to, ",%s,%s,%s,", wall, series, unit);
}

/* A row of an integer without band and label. */
static void number_row(struct csv_out *out, const struct origin *o, uint64_t time_ns, const char *series,
                       const char *unit, uint64_t value)
{
        begin_row(out, o, true, time_ns, series, unit);
        (void)fprintf(out->to, "%" PRIu64 ",,\n", value);
}

/* A fact that came with the update, which the world has applied. */
static void fact_row(struct csv_out *out, const struct origin *o, const Hw__Update *u, const struct world_target *t,
                     const char *series, enum fact id)
{
        static const char *const units[] = {
                [FACT_BYTES] = "B", [FACT_NS] = "ns", [FACT_SHARE] = "1", [FACT_RATE] = "B/s"
        };
        const double value = facts_get(t, id);

        if (isnan(value))
                return;
        begin_row(out, o, u->has_event_time_ns, u->event_time_ns, series, units[fact_rows[id].unit]);
        (void)fprintf(out->to, "%.6g,,\n", value);
}

static void heap_rows(struct csv_out *out, const struct origin *o, const Hw__Update *u)
{
        for (size_t i = 0; i < u->heap->n_samples; i++) {
                const Hw__Samples *s = u->heap->samples[i];
                const char *name = hw_series_name(s->series);

                for (size_t j = 0; name && j < s->n_times_ns && j < s->n_values; j++)
                        number_row(out, o, s->times_ns[j], name, hw_series_unit(s->series), s->values[j]);
        }
}

static void census_rows(struct csv_out *out, const struct origin *o, const struct world_target *t, const Hw__Census *c)
{
        for (size_t i = 0; i < c->n_band && i < c->n_bytes; i++) {
                uint32_t id = c->band[i];
                const struct world_band *b = world_band_of(t, id);

                begin_row(out, o, c->has_time_ns, c->time_ns, "band", "B");
                (void)fprintf(out->to, "%" PRIu64 ",%" PRIu32 ",", c->bytes[i], id);
                put_text(out, b ? b->def->label : "");
                (void)fputc('\n', out->to);
        }
        if (c->rows_left_out)
                number_row(out, o, c->time_ns, "bands_left_out", "B", c->bytes_left_out);
}

static void note_rows(struct csv_out *out, const struct origin *o, const Hw__Notes *notes)
{
        for (size_t i = 0; i < notes->n_notes; i++) {
                const Hw__Note *n = notes->notes[i];

                begin_row(out, o, n->has_time_ns, n->time_ns, "note", "");
                (void)fputs(",,", out->to);
                put_text(out, n->text ? n->text : "");
                (void)fputc('\n', out->to);
        }
}

void csv_update(struct csv_out *out, const struct world *world, size_t daemon, const Hw__Update *u)
{
        const struct world_target *t = u->target ? world_find_of(world, daemon, u->target) : NULL;
        struct origin o = { u->target, u->has_run, out->has_start, u->run, out->start_wall_ns };

        if (!t || (u->has_run && t->run != u->run)) /* the world does not have it, or it is in a later run */
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
