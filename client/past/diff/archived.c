/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/diff/side.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/past/archive/read.h"
#include "client/cli/command.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/text_out.h"
#include "proto/base/time.h"

struct filling {
        struct run_meter *meter;
        const struct archived_run *run;
        struct gauge *gauge; /* being filled; NULL: it is a flow */
        struct flow *flow;
        double (*amount)(const struct archived_value *v); /* of the flow */
        bool failed;
};

/* -------------------------------------------------------------------------- series */

/* The part of an interval during which the run existed. */
static void interval_of(const struct filling *f, const struct archived_value *v, uint64_t *ret_from, uint64_t *ret_to)
{
        uint64_t from = v->time_s * NS_PER_S, to = from + v->width_s * NS_PER_S;

        *ret_from = from > f->run->from_ns ? from : f->run->from_ns;
        *ret_to = to < f->run->to_ns ? to : f->run->to_ns;
}

static void add_gauge(void *ctx, const struct archived_value *v)
{
        struct filling *f = ctx;
        struct gauge *g = f->gauge;
        uint64_t from, to;

        interval_of(f, v, &from, &to);
        if (v->covered_ns) {
                double level = v->area / (double)v->covered_ns;
                uint64_t end = from + v->covered_ns;
                bins_add(&g->bins, from, end, level, level);
        }
        cell_merge(&g->samples, &v->cell);
}

static void add_flow(void *ctx, const struct archived_value *v)
{
        struct filling *f = ctx;
        double amount = f->amount(v);
        uint64_t from, to;

        interval_of(f, v, &from, &to);
        f->flow->known = true;
        f->flow->total += amount;
        if (to > from) {
                double per_ns = amount / (double)(to - from);
                bins_add(&f->flow->rate, from, to, per_ns, per_ns);
        }
}

static double rise_of(const struct archived_value *v)
{
        return v->rise;
}

static double sum_of(const struct archived_value *v)
{
        return v->cell.n ? v->cell.mean * (double)v->cell.n : 0;
}

static int read_series(struct filling *f, struct database *d)
{
        static const struct {
                unsigned series, gauge;
        } gauges[] = {
                { HW__SERIES__SERIES_LIVE, GAUGE_LIVE },      { HW__SERIES__SERIES_HEAP_SIZE, GAUGE_HEAP },
                { HW__SERIES__SERIES_RSS, GAUGE_RSS },        { HW__SERIES__SERIES_CENSUS_TOTAL, GAUGE_CENSUS },
                { HW__SERIES__SERIES_GC_PAUSE, GAUGE_PAUSE },
        };
        static const struct {
                unsigned series, flow;
                double (*amount)(const struct archived_value *v);
        } flows[] = {
                { HW__SERIES__SERIES_ALLOCATED, FLOW_ALLOCATED, rise_of },
                { SERIES_COLLECTIONS, FLOW_COLLECTIONS, rise_of },
                { HW__SERIES__SERIES_COPIED, FLOW_COPIED, sum_of },
                { HW__SERIES__SERIES_GC_PAUSE, FLOW_GC, sum_of },
        };
        int r = SQLITE_OK;

        for (size_t i = 0; i < ARRAY_SIZE(gauges) && r == SQLITE_OK; i++) {
                f->gauge = &f->meter->gauges[gauges[i].gauge];
                r = archived_series(d, f->run, gauges[i].series, false, add_gauge, f);
        }
        for (size_t i = 0; i < ARRAY_SIZE(flows) && r == SQLITE_OK; i++) {
                f->flow = &f->meter->flows[flows[i].flow];
                f->amount = flows[i].amount;
                r = archived_series(d, f->run, flows[i].series, false, add_flow, f);
        }
        return r;
}

/* -------------------------------------------------------------------- pauses, bands */

static void add_pause(void *ctx, uint64_t pause_ns, uint64_t n)
{
        struct run_meter *m = ((struct filling *)ctx)->meter;

        m->pauses[sketch_cell(PAUSE_BITS, pause_ns)] += n;
        m->n_pauses += n;
}

static void add_band(void *ctx, const struct archived_band *b)
{
        struct filling *f = ctx;

        f->failed = f->failed || rows_band(&f->meter->rows, b->name, b->sum, b->max) < 0;
}

static int read_run(struct filling *f, struct database *d)
{
        struct run_meter *m = f->meter;
        int r = read_series(f, d);

        m->rows.censuses = m->gauges[GAUGE_CENSUS].samples.n;
        r = r == SQLITE_OK ? archived_pauses(d, f->run, add_pause, f) : r;
        r = r == SQLITE_OK ? archived_bands(d, f->run, true, add_band, f) : r;
        m->first_ns = f->run->from_ns;
        m->last_ns = f->run->to_ns - 1;
        m->any = true;
        if (f->run->whole) {
                m->slope =
                        (struct judged){ !isnan(f->run->slope), f->run->slope, f->run->slope_low, f->run->slope_high };
                m->limit_ns = (struct judged){ !isnan(f->run->limit_mid_ns), f->run->limit_mid_ns, f->run->limit_low_ns,
                                               f->run->limit_high_ns };
        }
        return f->failed ? SQLITE_NOMEM : r;
}

/* ------------------------------------------------------------------------------ runs */

static void describe_run(struct side_run *run, const struct archived_run *from)
{
        run->program = text_copy(from->program);
        run->ghc = text_copy(from->ghc);
        run->breakdown = from->breakdown;
        run->census_period_ns = from->census_period_ns;
        run->left_out = from->lost;
        run->truncated = from->whole && from->end_ns && from->state && strcmp(from->state, "ended") != 0;
        if (!from->whole)
                return;
        run->verdict = from->verdict;
        run->growth = text_copy(from->growth);
}

static int add_run(struct side *s, struct database *d, const char *selection, const struct archived_run *run)
{
        struct run_meter meter;
        struct filling f = { .meter = &meter, .run = run };
        struct side_run *added = NULL;
        int r = meter_begin(&meter, 0, UINT64_MAX) ? SQLITE_NOMEM : read_run(&f, d);

        if (r == SQLITE_OK) {
                added = side_add(s, selection, (uint32_t)run->id, &meter);
                if (added)
                        describe_run(added, run);
                else
                        r = SQLITE_NOMEM;
        }
        meter_done(&meter);
        return r;
}

bool side_read_archive(struct side *s, const struct command *command, const char *db, const char *selection)
{
        struct archived_runs runs = { .n = 0 };
        struct database d = { .lock = -1 };
        struct error error = { "there is no home directory with an archive; give --db FILE" };
        char path[PATH_MAX];
        bool good = (db || database_default_path(path, sizeof(path))) &&
                    database_open_to_read(&d, db ? db : path, &error) &&
                    select_runs(&d, selection, clock_wall_ns(), &runs, &error);

        for (size_t i = 0; good && i < runs.n; i++) {
                int r = add_run(s, &d, selection, &runs.items[i]);
                if (r != SQLITE_OK)
                        good = error_set(&error, "cannot read %s: %s", d.path, sqlite3_errstr(r));
        }
        if (!good)
                command_error(command, "%s", error.text);
        archived_runs_done(&runs);
        database_close(&d);
        return good;
}
