/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * as_log.c - DESIGN: rows come series by series; an eventlog is in order of time. So the rows of a run become a list of
 * small facts, which is sorted: 30 days of minutes are 400,000 of them, 10 MB.
 */
#include "client/archive/as_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heapwatch/eventlog.h"
#include "proto/base/array.h"
#include "proto/base/error.h"
#include "proto/base/time.h"
#include "proto/eventlog/writer.h"

#define BLOCK_BYTES 65536u
#define LABEL_MAX   1000u

struct fact {
        uint64_t time_ns; /* event time */
        uint64_t value;
        uint16_t event;
        uint32_t order; /* order of arrival */
        char *name;     /* owned; of a band */
};

struct facts {
        const struct archived_run *run;
        uint16_t event; /* of the series being read */
        struct fact *items;
        size_t n, room;
        bool by_hour, failed;
};

static void add(struct facts *f, uint16_t event, uint64_t wall_ns, double value, const char *name)
{
        uint64_t at = wall_ns > f->run->from_ns ? wall_ns : f->run->from_ns;

        if (!ARRAY_RESERVE(f->items, f->room, f->n + 1)) {
                f->failed = true;
                return;
        }
        at = at < f->run->to_ns ? at : f->run->to_ns - 1;
        f->items[f->n] = (struct fact){ .time_ns = at - f->run->start_ns,
                                        .value = value > 0 ? (uint64_t)value : 0,
                                        .event = event,
                                        .order = (uint32_t)f->n,
                                        .name = name ? strndup(name, LABEL_MAX) : NULL };
        f->n++;
}

static void take_value(void *ctx, const struct archived_value *v)
{
        struct facts *f = ctx;
        uint64_t at = v->time_s * NS_PER_S, third = v->width_s * NS_PER_S / 3;

        f->by_hour = f->by_hour || v->width_s > MINUTE_S;
        if (!v->n)
                return;
        add(f, f->event, at, v->max, NULL);
        add(f, f->event, at + third, v->min, NULL);
        add(f, f->event, at + 2 * third, v->last, NULL);
}

static void take_band(void *ctx, const struct archived_band *b)
{
        add(ctx, HW_HEAP_PROF_SAMPLE_STRING, (b->time_s + HOUR_S / 2) * NS_PER_S, b->sum / (double)b->n, b->name);
}

static int by_time(const void *a, const void *b)
{
        const struct fact *x = a, *y = b;

        if (x->time_ns != y->time_ns)
                return x->time_ns < y->time_ns ? -1 : 1;
        return x->order < y->order ? -1 : 1;
}

/* ------------------------------------------------------------------------ the log */

static void put_header(struct eventlog_writer *w)
{
        static const struct {
                uint16_t id, size;
        } types[] = {
                { HW_BLOCK_MARKER, 14 },
                { HW_PROGRAM_ARGS, WRITER_VARIABLE },
                { HW_WALL_CLOCK_TIME, 16 },
                { HW_HEAP_LIVE, 12 },
                { HW_HEAP_SIZE, 12 },
                { HW_BLOCKS_SIZE, 12 },
                { HW_HEAP_PROF_BEGIN, WRITER_VARIABLE },
                { HW_HEAP_PROF_SAMPLE_BEGIN, 8 },
                { HW_HEAP_PROF_SAMPLE_STRING, WRITER_VARIABLE },
                { HW_HEAP_PROF_SAMPLE_END, 8 },
        };

        writer_header_begin(w);
        for (size_t i = 0; i < ARRAY_SIZE(types); i++)
                writer_type(w, types[i].id, types[i].size, hw_event_info(types[i].id)->name);
        writer_header_end(w);
}

static void put_identity(struct eventlog_writer *w, const struct archived_run *run, uint64_t at)
{
        size_t length;

        writer_event(w, HW_WALL_CLOCK_TIME, at);
        writer_number(w, 0, 4);
        writer_number(w, run->start_ns / NS_PER_S, 8);
        writer_number(w, run->start_ns % NS_PER_S, 4);
        writer_event(w, HW_PROGRAM_ARGS, at);
        length = writer_length_begin(w);
        writer_number(w, 0, 4);
        writer_string(w, run->program ? run->program : run->target);
        writer_length_end(w, length, 0);
        if (!run->breakdown)
                return;
        writer_event(w, HW_HEAP_PROF_BEGIN, at);
        length = writer_length_begin(w);
        writer_number(w, 0, 1);
        writer_number(w, HOUR_S * NS_PER_S, 8);
        writer_number(w, (uint64_t)HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE, 4); /* only labels of bands are known */
        for (int i = 0; i < 7; i++)
                writer_string(w, "");
        writer_length_end(w, length, 0);
}

static void put_fact(struct eventlog_writer *w, const struct fact *f, uint64_t *census_ns, uint64_t *era)
{
        if (*census_ns && (f->event != HW_HEAP_PROF_SAMPLE_STRING || f->time_ns != *census_ns)) {
                writer_event(w, HW_HEAP_PROF_SAMPLE_END, *census_ns);
                writer_number(w, *era, 8);
                *census_ns = 0;
        }
        if (f->event != HW_HEAP_PROF_SAMPLE_STRING) {
                writer_event(w, f->event, f->time_ns);
                writer_number(w, 0, 4);
                writer_number(w, f->value, 8);
                return;
        }
        if (!*census_ns) {
                writer_event(w, HW_HEAP_PROF_SAMPLE_BEGIN, f->time_ns);
                writer_number(w, ++*era, 8);
                *census_ns = f->time_ns;
        }
        writer_event(w, HW_HEAP_PROF_SAMPLE_STRING, f->time_ns);
        size_t length = writer_length_begin(w);
        writer_number(w, 0, 1);
        writer_number(w, f->value, 8);
        writer_string(w, f->name ? f->name : "");
        writer_length_end(w, length, 0);
}

static bool put_out(struct eventlog_writer *w, FILE *to)
{
        bool good = !w->failed && fwrite(w->data, 1, w->n, to) == w->n;

        w->n = 0;
        return good;
}

static bool put_log(struct eventlog_writer *w, const struct facts *f, FILE *to)
{
        uint64_t census_ns = 0, era = 0, first = f->run->from_ns - f->run->start_ns;
        bool good = true;

        put_header(w);
        for (size_t i = 0; i < f->n && good;) {
                writer_block_begin(w, i ? f->items[i].time_ns : first, f->items[i].time_ns, 0);
                if (!i)
                        put_identity(w, f->run, first);
                size_t begin = i;
                while (i < f->n && (w->n - w->block < BLOCK_BYTES || census_ns || i == begin))
                        put_fact(w, &f->items[i++], &census_ns, &era);
                if (i == f->n && census_ns) {
                        writer_event(w, HW_HEAP_PROF_SAMPLE_END, census_ns);
                        writer_number(w, era, 8);
                }
                writer_block_until(w, f->items[i - 1].time_ns);
                writer_block_end(w);
                good = put_out(w, to);
        }
        if (f->run->end_ns && f->run->whole)
                writer_end(w);
        return good && put_out(w, to);
}

static bool write_run(struct database *d, const struct archived_run *run, const char *path, bool *ret_by_hour,
                      struct error *error)
{
        static const struct {
                unsigned series;
                uint16_t event;
        } series[] = { { HW__SERIES__SERIES_LIVE, HW_HEAP_LIVE },
                       { HW__SERIES__SERIES_HEAP_SIZE, HW_HEAP_SIZE },
                       { HW__SERIES__SERIES_BLOCKS_SIZE, HW_BLOCKS_SIZE } };
        struct facts f = { .run = run };
        struct eventlog_writer *w = calloc(1, sizeof(*w));
        FILE *to = fopen(path, "wbe");
        int r = w ? SQLITE_OK : SQLITE_NOMEM;

        for (size_t i = 0; i < ARRAY_SIZE(series) && r == SQLITE_OK; i++) {
                f.event = series[i].event;
                r = archived_series(d, run, series[i].series, take_value, &f);
        }
        r = r == SQLITE_OK ? archived_bands(d, run, take_band, &f) : r;
        bool good = r == SQLITE_OK && !f.failed;
        if (!good)
                error_set(error, "cannot read %s: %s", d->path, sqlite3_errstr(r == SQLITE_OK ? SQLITE_NOMEM : r));
        if (f.n)
                qsort(f.items, f.n, sizeof(*f.items), by_time);
        if (good && (!to || !put_log(w, &f, to)))
                good = error_set(error, "cannot write %s: %s", path, strerror(errno));
        if (to && fclose(to) != 0 && good)
                good = error_set(error, "cannot write %s: %s", path, strerror(errno));
        *ret_by_hour = *ret_by_hour || f.by_hour;
        for (size_t i = 0; i < f.n; i++)
                free(f.items[i].name);
        free(f.items);
        free(w);
        return good;
}

bool archived_logs_write(struct archived_logs *l, struct database *d, const struct archived_runs *runs,
                         struct error *error)
{
        const char *base = getenv("TMPDIR");

        (void)snprintf(l->directory, sizeof(l->directory), "%s/heapwatch-XXXXXX",
                       base && *base && strlen(base) < 40 ? base : "/tmp");
        l->paths = calloc(runs->n + 1, sizeof(*l->paths));
        if (!l->paths || !mkdtemp(l->directory)) {
                l->directory[0] = '\0';
                return error_set(error, "cannot make a directory in %s: %s", base ? base : "/tmp", strerror(errno));
        }
        for (size_t i = 0; i < runs->n; i++) {
                const struct archived_run *run = &runs->items[i];
                bool newest = i + 1 == runs->n;
                int n = newest ? asprintf(&l->paths[l->n], "%s/%.50s.eventlog", l->directory, run->target)
                               : asprintf(&l->paths[l->n], "%s/%.50s.run%lld.eventlog", l->directory, run->target,
                                          (long long)run->id);
                if (n < 0) {
                        l->paths[l->n] = NULL;
                        return error_set(error, "out of memory");
                }
                l->n++;
                if (!write_run(d, run, l->paths[i], &l->by_hour, error))
                        return false;
        }
        return true;
}

void archived_logs_done(struct archived_logs *l)
{
        for (size_t i = 0; i < l->n; i++) {
                (void)unlink(l->paths[i]);
                free(l->paths[i]);
        }
        free(l->paths);
        if (l->directory[0])
                (void)rmdir(l->directory);
        *l = (struct archived_logs){ .n = 0 };
}
