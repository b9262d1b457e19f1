/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * openmetrics.c - all metrics of the run (docs/METRICS.md) with their times, as OpenMetrics 1.0: what a scraper that
 * came every `--step` would have got. `promtool tsdb create-blocks-from openmetrics` takes it into Prometheus' storage.
 *
 * The clock is the newest fact's own time: blocks of a finished log may announce events of its end long before them.
 * Each value is the newest one that the log had up to there. Censuses may all be in a block of their own behind the
 * others, so what comes from them has a clock of its own.
 *
 * DESIGN: the format wants a metric's samples in one place, family by family, each series in the order of time. The
 * run gives them time by time. So each sample is a record in an unnamed file, which has the place of the one before it
 * of its series, and at the end the series are written one by one. A histogram with its buckets is one series. How many
 * there are is limited by the daemon's limits of bands and alerts.
 */
#include "client/out/convert/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "client/out/metrics/collect.h"
#include "client/out/metrics/metric.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/idtable.h"
#include "proto/base/time.h"

struct family {
        const struct metric *metric;
        char *header;
};

/* A sample, before its text. */
struct record {
        uint64_t before; /* the place behind the record before it of its series; 0: there is none */
        uint64_t n;      /* bytes of its text */
};

struct series {
        uint32_t family;
        char *key; /* its labels */
        size_t key_bytes;
        uint64_t n_records, newest; /* the place behind its newest record's head */
};

struct openmetrics {
        struct conversion run;
        struct metrics *metrics;
        struct clock {
                uint64_t now_ns, newest_ns; /* event times: of the newest fact, of the last samples */
        } census, others, *clock;           /* `clock`: that of the samples which are being taken */
        struct family *families;
        uint32_t n_families;
        struct series *series;
        uint32_t n_series;
        struct idtable by_key; /* i + 1 */
        uint64_t seed;
        FILE *file; /* records */
        uint64_t n_file;
        FILE *text; /* of one sample, used again for each; its bytes are in `bytes` */
        char *bytes;
        size_t n_bytes;
        int error;
};

/* -------------------------------------------------------------------- series */

static int64_t family_of(struct openmetrics *o, const struct metric_sample *m)
{
        for (uint32_t i = o->n_families; i > 0; i--)
                if (o->families[i - 1].metric == m->metric)
                        return i - 1;
        if (!ARRAY_RESERVE_NEXT(o->families, o->n_families))
                return -1;
        struct family *f = &o->families[o->n_families];
        *f = (struct family){ .metric = m->metric };
        size_t n;
        FILE *header = open_memstream(&f->header, &n);
        if (!header)
                return -1;
        o->n_families++;
        metrics_print_header(header, m, true);
        return fclose(header) == 0 ? (int64_t)o->n_families - 1 : -1;
}

/* What identifies a series within its metric. */
static size_t key_of(struct openmetrics *o, const struct metric_sample *m)
{
        rewind(o->text);
        for (size_t i = 0; i < m->n_labels; i++)
                (void)fprintf(o->text, "%s%c%s%c", m->labels[i].name, '\0', m->labels[i].value, '\0');
        return fflush(o->text) == 0 ? o->n_bytes : 0;
}

static bool is_series(const struct openmetrics *o, uint32_t id, uint32_t family, size_t n)
{
        const struct series *s = &o->series[id - 1];

        return s->family == family && s->key_bytes == n && !memcmp(s->key, o->bytes, n);
}

static int add_series(struct openmetrics *o, uint32_t family, size_t n, uint64_t hash)
{
        uint32_t at = o->n_series;

        if (!ARRAY_RESERVE_NEXT(o->series, at))
                return -ENOMEM;
        char *key = malloc(n + 1);
        if (!key)
                return -ENOMEM;
        memcpy(key, o->bytes, n);
        o->series[at] = (struct series){ .family = family, .key = key, .key_bytes = n };
        int r = idtable_add(&o->by_key, hash, at + 1);
        if (r)
                free(key);
        else
                o->n_series++;
        return r;
}

/* Its number from 1; 0: an error. */
static uint32_t series_of(struct openmetrics *o, const struct metric_sample *m)
{
        int64_t family = family_of(o, m);
        size_t n = family < 0 ? 0 : key_of(o, m);

        if (n == 0) {
                o->error = -ENOMEM;
                return 0;
        }
        uint64_t hash = hash_bytes(o->bytes, n, o->seed + (uint64_t)family);
        uint32_t at = idtable_start(&o->by_key, hash), id;
        while ((id = idtable_next(&o->by_key, hash, &at)) && !is_series(o, id, (uint32_t)family, n))
                ;
        if (id)
                return id;
        o->error = add_series(o, (uint32_t)family, n, hash);
        return o->error ? 0 : o->n_series;
}

static bool is_of_census(const struct metric *m)
{
        return m->put == put_bands || m->fact == FACT_CENSUS || m->fact == FACT_CENSUS_BANDS;
}

static int file_error(void)
{
        return errno ? -errno : -EIO;
}

/* The sample in o->bytes. */
static int write_record(struct openmetrics *o, struct series *s)
{
        const struct record r = { s->newest, o->n_bytes };

        errno = 0;
        if (fwrite(&r, sizeof(r), 1, o->file) != 1 || fwrite(o->bytes, 1, o->n_bytes, o->file) != o->n_bytes)
                return file_error();
        s->newest = o->n_file + sizeof(r);
        s->n_records++;
        o->n_file = s->newest + o->n_bytes;
        return 0;
}

static void add_sample(void *ctx, const struct metric_sample *m)
{
        struct openmetrics *o = ctx;

        if (o->error || (o->clock == &o->census) != is_of_census(m->metric))
                return;
        uint32_t id = series_of(o, m);
        if (!id)
                return;
        rewind(o->text);
        metrics_print_sample(o->text, m, true, o->run.start_wall_ns + o->clock->newest_ns);
        o->error = fflush(o->text) == 0 ? write_record(o, &o->series[id - 1]) : -ENOMEM;
}

/* --------------------------------------------------------------------- times */

static const char *no_daemon(const void *ctx, size_t daemon)
{
        return "";
}

static void add_all(struct openmetrics *o, const struct world *world, struct clock *clock, uint64_t time_ns)
{
        struct metrics_source source = { .world = world, .n_daemons = 1, .daemon_name = no_daemon };

        clock->newest_ns = time_ns;
        o->clock = clock;
        metrics_collect(o->metrics, &source, add_sample, o);
}

static void advance_clock(struct clock *clock, uint64_t time_ns)
{
        clock->now_ns = time_ns > clock->now_ns ? time_ns : clock->now_ns;
}

static int openmetrics_update(void *state, const Hw__Update *u)
{
        struct openmetrics *o = state;
        struct clock *clock = u->body_case == HW__UPDATE__BODY_CENSUS ? &o->census : &o->others;

        if (u->body_case == HW__UPDATE__BODY_CENSUS && !u->census->unfinished)
                advance_clock(clock, u->census->time_ns);
        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_GC && i < u->gc->n_collections; i++)
                advance_clock(clock, u->gc->collections[i]->end_time_ns);
        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_HEAP && i < u->heap->n_samples; i++)
                for (size_t k = 0; k < u->heap->samples[i]->n_times_ns; k++)
                        advance_clock(clock, u->heap->samples[i]->times_ns[k]);
        if (o->run.has_start && clock->now_ns - clock->newest_ns >= o->run.options->step_ns)
                add_all(o, o->run.world, clock, clock->now_ns);
        return o->error;
}

/* `file`: all records. Errors of the output stay in it. */
static int print_series(const struct openmetrics *o, const struct series *s, const char *file)
{
        uint64_t *places = calloc(s->n_records, sizeof(*places)), n = s->n_records;
        struct record r = { .before = s->newest };

        if (!places)
                return -ENOMEM;
        while (n > 0) {
                places[--n] = r.before;
                memcpy(&r, file + r.before - sizeof(r), sizeof(r));
        }
        for (; n < s->n_records; n++) {
                memcpy(&r, file + places[n] - sizeof(r), sizeof(r));
                (void)fwrite(file + places[n], 1, r.n, o->run.out);
        }
        free(places);
        return 0;
}

static int print_families(const struct openmetrics *o)
{
        char *file = NULL;
        int r = 0;

        errno = 0;
        if (fflush(o->file) != 0 ||
            (o->n_file && (file = mmap(NULL, o->n_file, PROT_READ, MAP_PRIVATE, fileno(o->file), 0)) == MAP_FAILED))
                return file_error();
        for (uint32_t f = 0; f < o->n_families; f++) {
                (void)fputs(o->families[f].header, o->run.out);
                for (uint32_t i = 0; i < o->n_series && r == 0; i++)
                        if (o->series[i].family == f)
                                r = print_series(o, &o->series[i], file);
        }
        if (file)
                (void)munmap(file, o->n_file);
        (void)fputs("# EOF\n", o->run.out);
        return r;
}

static int openmetrics_finish(void *state)
{
        struct openmetrics *o = state;

        if (!o->run.has_start)
                return -ENODATA;
        /* The run as it ended has the time of its end, or one that is later than the newest. */
        const uint64_t end_ns = o->run.t->event_time_ns, least_ns = o->others.newest_ns + NS_PER_MS;
        add_all(o, o->run.world, &o->others, end_ns > least_ns ? end_ns : least_ns);
        if (o->census.now_ns > o->census.newest_ns)
                add_all(o, o->run.world, &o->census, o->census.now_ns);
        return o->error ? o->error : print_families(o);
}

/* ---------------------------------------------------------------------- life */

static int openmetrics_begin(void *state)
{
        struct openmetrics *o = state;

        o->file = tmpfile();
        if (!o->file)
                return -errno;
        o->seed = hash_seed(o);
        o->metrics = metrics_new(&(struct metrics_options){ .bands = o->run.options->n_bands });
        o->text = open_memstream(&o->bytes, &o->n_bytes);
        return o->metrics && o->text ? 0 : -ENOMEM;
}

static void openmetrics_done(void *state)
{
        struct openmetrics *o = state;

        for (uint32_t i = 0; i < o->n_series; i++)
                free(o->series[i].key);
        for (uint32_t i = 0; i < o->n_families; i++)
                free(o->families[i].header);
        if (o->file)
                (void)fclose(o->file);
        idtable_done(&o->by_key);
        metrics_destroy(&o->metrics);
        if (o->text)
                (void)fclose(o->text);
        free(o->bytes);
        free(o->series);
        free(o->families);
}

const struct format format_openmetrics = {
        .name = "openmetrics",
        .dated = true,
        .size = sizeof(struct openmetrics),
        .begin = openmetrics_begin,
        .update = openmetrics_update,
        .finish = openmetrics_finish,
        .no_data =
                "does not say at what time of day it began (an eventlog does, .hp does not), so its samples "
                "have no times",
        .done = openmetrics_done,
};
