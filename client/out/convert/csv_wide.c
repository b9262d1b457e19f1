/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * csv_wide.c - a row for each census, a column for each band, largest first: for spreadsheets.
 *
 * DESIGN: the columns are only known at the end, so censuses wait in a spool. Beside a census are the newest
 * residency, heap, blocks and RSS at its time. Their samples come before or after it, in the order of the log's
 * blocks, so they wait in files, too, and are read along with the censuses. A band without a row in a census has 0
 * bytes there; an unknown gauge is empty.
 */
#include "client/out/convert/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/convert/spool.h"
#include "heapwatch/text.h"
#include "proto/base/csv.h"
#include "proto/base/time.h"

#define GAUGES 4
#define AHEAD  64 /* samples come out of order by a few, never by this many */

static const Hw__Series gauge_series[GAUGES] = { HW__SERIES__SERIES_LIVE, HW__SERIES__SERIES_HEAP_SIZE,
                                                 HW__SERIES__SERIES_BLOCKS_SIZE, HW__SERIES__SERIES_RSS };

struct sample {
        uint64_t time_ns, value;
};

struct gauge {
        FILE *samples;
        struct sample ahead[AHEAD]; /* read, but later than the current census */
        size_t n_ahead;
        bool known;
        struct sample newest;
};

struct wide {
        struct conversion run;
        struct spool spool;
        struct gauge gauges[GAUGES];
};

static int wide_begin(void *state)
{
        struct wide *w = state;
        int r = spool_init(&w->spool);

        for (int k = 0; r == 0 && k < GAUGES; k++)
                if (!(w->gauges[k].samples = tmpfile()))
                        r = -errno;
        return r;
}

static void wide_done(void *state)
{
        struct wide *w = state;

        for (int k = 0; k < GAUGES; k++)
                if (w->gauges[k].samples)
                        (void)fclose(w->gauges[k].samples);
        spool_done(&w->spool);
}

/* ------------------------------------------------------------------ gauges */

static int add_samples(struct gauge *g, const Hw__Samples *s)
{
        for (size_t i = 0; i < s->n_times_ns && i < s->n_values; i++) {
                struct sample sample = { s->times_ns[i], s->values[i] };
                if (fwrite(&sample, sizeof(sample), 1, g->samples) != 1)
                        return errno ? -errno : -EIO;
        }
        return 0;
}

static int add_heap(struct wide *w, const Hw__Heap *heap)
{
        int r = 0;

        for (size_t i = 0; i < heap->n_samples; i++)
                for (int k = 0; k < GAUGES && r == 0; k++)
                        if (heap->samples[i]->series == gauge_series[k])
                                r = add_samples(&w->gauges[k], heap->samples[i]);
        return r;
}

static void gauge_add(struct gauge *g, const struct sample *s)
{
        if (!g->known || s->time_ns >= g->newest.time_ns)
                g->newest = *s;
        g->known = true;
}

/* Advances to the newest sample at or before a time. */
static void gauge_go(struct gauge *g, uint64_t time_ns)
{
        struct sample s;
        size_t later = 0;

        for (size_t i = 0; i < g->n_ahead; i++) {
                if (g->ahead[i].time_ns > time_ns)
                        g->ahead[later++] = g->ahead[i];
                else
                        gauge_add(g, &g->ahead[i]);
        }
        g->n_ahead = later;
        while (g->n_ahead < AHEAD && fread(&s, sizeof(s), 1, g->samples) == 1) {
                if (s.time_ns > time_ns)
                        g->ahead[g->n_ahead++] = s;
                else
                        gauge_add(g, &s);
        }
}

static int wide_update(void *state, const Hw__Update *u)
{
        struct wide *w = state;

        if (u->body_case == HW__UPDATE__BODY_HEAP)
                return add_heap(w, u->heap);
        if (u->body_case == HW__UPDATE__BODY_CENSUS && !u->census->unfinished)
                return spool_add(&w->spool, u->census);
        return 0;
}

/* ------------------------------------------------------------------ output */

static int put_field(FILE *out, const char *text)
{
        return csv_print(out, text) ? 0 : -ENOMEM;
}

/* Bands with the same label get their numbers appended. */
static bool is_only(const struct world_target *t, const uint32_t *ids, size_t n, uint32_t id, const char *label)
{
        for (size_t i = 0; i < n; i++) {
                const Hw__Band *other = ids[i] != id ? band_of(t, ids[i]) : NULL;
                if (other && other->label && !strcmp(other->label, label))
                        return false;
        }
        return true;
}

static int put_header(const struct wide *w, const struct world_target *t, const uint32_t *ids, size_t n)
{
        int r = 0;

        (void)fputs("time_s,wall_time,live,heap_size,blocks_size,rss,census_total", w->run.out);
        for (size_t i = 0; i < n && r == 0; i++) {
                const Hw__Band *band = band_of(t, ids[i]);
                const char *label = band && band->label ? band->label : "";
                char *name = NULL;

                (void)putc(',', w->run.out);
                if (is_only(t, ids, n, ids[i], label))
                        r = put_field(w->run.out, label);
                else if (asprintf(&name, "%s #%" PRIu32, label, ids[i]) < 0)
                        return -ENOMEM;
                else
                        r = put_field(w->run.out, name);
                free(name);
        }
        (void)fputs(",(others)\n", w->run.out);
        return r;
}

/* `column`: of each band by id - 1, from 1; 0: it has none. `values`: room for all columns. */
static void put_row(struct wide *w, const struct spool_row *row, const uint32_t *column, uint64_t *values, size_t n)
{
        uint64_t others = row->left_out_bytes;

        memset(values, 0, n * sizeof(*values));
        for (uint32_t i = 0; i < row->n; i++) {
                uint32_t id = w->spool.band[i], at = id && id <= w->spool.n_bands ? column[id - 1] : 0;
                if (at)
                        values[at - 1] += w->spool.bytes[i];
                else
                        others += w->spool.bytes[i];
        }
        for (int k = 0; k < GAUGES; k++) {
                gauge_go(&w->gauges[k], row->time_ns);
                (void)putc(',', w->run.out);
                if (w->gauges[k].known)
                        (void)fprintf(w->run.out, "%" PRIu64, w->gauges[k].newest.value);
        }
        (void)fprintf(w->run.out, ",%" PRIu64, row->total_bytes);
        for (size_t i = 0; i < n; i++)
                (void)fprintf(w->run.out, ",%" PRIu64, values[i]);
        (void)fprintf(w->run.out, ",%" PRIu64 "\n", others);
}

static int put_rows(struct wide *w, const struct world_target *t, const uint32_t *column, uint64_t *values, size_t n)
{
        struct spool_row row;
        int r = spool_rewind(&w->spool);

        for (int k = 0; k < GAUGES && r == 0; k++)
                r = fflush(w->gauges[k].samples) || fseek(w->gauges[k].samples, 0, SEEK_SET) ? -EIO : 0;
        while (r == 0 && (r = spool_next(&w->spool, &row)) == 1) {
                const Hw__Run *run = t->target ? t->target->run_info : NULL;
                char wall[48] = "";

                if (run && run->has_start_wall_ns && row.time_ns <= UINT64_MAX - run->start_wall_ns)
                        (void)hw_time_text(wall, sizeof(wall), run->start_wall_ns + row.time_ns);
                (void)fprintf(w->run.out, "%" PRIu64 ".%09" PRIu64 ",%s", row.time_ns / NS_PER_S,
                              row.time_ns % NS_PER_S, wall);
                put_row(w, &row, column, values, n);
                r = 0;
        }
        return r;
}

static int wide_finish(void *state)
{
        struct wide *w = state;
        int r;
        size_t all = w->spool.n_bands + 1, wanted = w->run.options->n_bands,
               most = wanted && wanted < all ? wanted : all;

        if (w->spool.n_rows == 0)
                return -ENODATA;
        uint32_t *ids = calloc(all, sizeof(*ids)), *column = calloc(all, sizeof(*column));
        uint64_t *values = calloc(all, sizeof(*values));
        ssize_t n = ids && column && values ? spool_largest(&w->spool, ids, most) : -ENOMEM;
        for (ssize_t i = 0; i < n; i++)
                column[ids[i] - 1] = (uint32_t)i + 1;
        r = n < 0 ? (int)n : put_header(w, w->run.t, ids, (size_t)n);
        if (r == 0)
                r = put_rows(w, w->run.t, column, values, (size_t)n);
        free(ids);
        free(column);
        free(values);
        return r;
}

const struct format format_csv_wide = {
        .name = "csv-wide",
        .size = sizeof(struct wide),
        .begin = wide_begin,
        .update = wide_update,
        .finish = wide_finish,
        .no_data = "has no heap profile; run the program with +RTS -l -hT -i1 (or another -h)",
        .done = wide_done,
};
