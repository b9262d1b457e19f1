/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.c - the run as rows.
 *
 * csv: the rows of `heapwatch pipe --format csv`, by the same code: one number per row.
 * resid: residency and heap over time in columns for gnuplot, as stat2resid drew them from +RTS -S.
 *
 * The header is written with the first row: nothing is written for a log without rows.
 */
#include "client/out/convert/format.h"

#include <errno.h>
#include <inttypes.h>

#include "client/out/convert/update_csv.h"
#include "proto/base/time.h"

/* --------------------------------------------------------------------- csv */

struct csv {
        struct conversion run;
        struct csv_out rows;
};

static int csv_add(void *state, const Hw__Update *u)
{
        struct csv *c = state;

        c->rows.to = c->run.out;
        c->rows.has_start = c->run.has_start;
        c->rows.start_wall_ns = c->run.start_wall_ns;
        csv_update(&c->rows, c->run.world, 0, u);
        return c->rows.no_memory ? -ENOMEM : 0;
}

static int csv_finish(void *state)
{
        return ((struct csv *)state)->rows.headed ? 0 : -ENODATA;
}

const struct format format_csv = {
        .name = "csv",
        .dated = true,
        .size = sizeof(struct csv),
        .update = csv_add,
        .finish = csv_finish,
        .no_data = "has neither censuses nor heap samples nor notes",
};

/* ------------------------------------------------------------------- resid */

struct resid {
        struct conversion run;
        bool heap_known;
        uint64_t heap_bytes, rows;
};

static const Hw__Samples *samples_of(const Hw__Heap *heap, Hw__Series series)
{
        for (size_t i = 0; i < heap->n_samples; i++)
                if (heap->samples[i]->series == series)
                        return heap->samples[i];
        return NULL;
}

/* Each residency with the heap's size at that time. */
static int resid_update(void *state, const Hw__Update *u)
{
        struct resid *r = state;

        if (u->body_case != HW__UPDATE__BODY_HEAP)
                return 0;
        const Hw__Samples *live = samples_of(u->heap, HW__SERIES__SERIES_LIVE),
                          *heap = samples_of(u->heap, HW__SERIES__SERIES_HEAP_SIZE);
        size_t n = live ? live->n_times_ns : 0, n_heap = heap ? heap->n_times_ns : 0, at = 0;
        for (size_t i = 0; i <= n; i++) {
                for (; at < n_heap && (i == n || heap->times_ns[at] <= live->times_ns[i]); at++) {
                        r->heap_known = true;
                        r->heap_bytes = heap->values[at];
                }
                if (i < n) {
                        if (r->rows == 0)
                                (void)fputs("# time_s\tlive_bytes\theap_bytes\n", r->run.out);
                        (void)fprintf(r->run.out, "%" PRIu64 ".%09" PRIu64 "\t%" PRIu64 "\t",
                                      live->times_ns[i] / NS_PER_S, live->times_ns[i] % NS_PER_S, live->values[i]);
                        if (r->heap_known)
                                (void)fprintf(r->run.out, "%" PRIu64 "\n", r->heap_bytes);
                        else
                                (void)fputs("NaN\n", r->run.out);
                        r->rows++;
                }
        }
        return 0;
}

static int resid_finish(void *state)
{
        return ((struct resid *)state)->rows ? 0 : -ENODATA;
}

const struct format format_resid = {
        .name = "resid",
        .size = sizeof(struct resid),
        .update = resid_update,
        .finish = resid_finish,
        .no_data = "has no residency, because it has no major collection (+RTS -l logs them, -l-g does not)",
};
