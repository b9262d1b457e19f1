/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pprof.c - a profile for `pprof` and what reads its format (Pyroscope, Grafana, the Firefox profiler): of time, or of
 * the heap at one census. With all censuses, each sample has its time as the label `time`.
 */
#include "client/convert/format.h"

#include <errno.h>
#include <stdlib.h>

#include "client/convert/moment.h"
#include "client/convert/pprof_file.h"

struct pprof {
        const struct format_options *options;
        struct pprof_file *file;
        struct moment moment;
        bool begun;
};

static void pprof_destroy(void *state)
{
        struct pprof *p = state;

        if (!p)
                return;
        pprof_file_destroy(&p->file);
        moment_done(&p->moment);
        free(p);
}

static void *pprof_begin(FILE *out, const struct format_options *options)
{
        struct pprof *p = calloc(1, sizeof(*p));

        if (!p)
                return NULL;
        p->options = options;
        p->moment.at_ns = options->at_ns;
        p->file = pprof_file_new(out);
        if (!p->file) {
                free(p);
                return NULL;
        }
        return p;
}

static int pprof_update(void *state, const struct format_run *run, const Hw__Update *u)
{
        struct pprof *p = state;
        int r = 0;

        if (u->body_case != HW__UPDATE__BODY_CENSUS)
                return 0;
        if (p->options->at_ns != AT_ALL) {
                moment_add(&p->moment, u->census);
                return 0;
        }
        if (u->census->unfinished)
                return 0;
        if (!p->begun)
                r = pprof_file_head(p->file, run->t, false, 0, 0);
        p->begun = true;
        return r ? r : pprof_file_census(p->file, run->t, u->census, u->census->time_ns);
}

static int pprof_finish(void *state, const struct format_run *run)
{
        struct pprof *p = state;
        const Hw__Census *census = p->moment.census;
        enum profile_of of = profile_choose(p->options, run->t->ticks, census != NULL);
        int r = -ENODATA;

        if (p->options->at_ns == AT_ALL) {
                r = p->begun ? 0 : -ENODATA;
        } else if (of == OF_TIME) {
                r = pprof_file_head(p->file, run->t, true, 0, run->t->event_time_ns);
                if (r == 0)
                        r = pprof_file_time(p->file, run->t, NULL, 0);
        } else if (of == OF_HEAP) {
                r = pprof_file_head(p->file, run->t, false, census->time_ns, 0);
                if (r == 0)
                        r = pprof_file_census(p->file, run->t, census, UINT64_MAX);
        }
        int closed = pprof_file_close(p->file);
        return r ? r : closed;
}

const struct format format_pprof = {
        .name = "pprof",
        .any_moment = true,
        .begin = pprof_begin,
        .update = pprof_update,
        .finish = pprof_finish,
        .no_data =
                "has no such profile: -p (of a program built for profiling) makes one of time, -hT and similar "
                "flags one of the heap",
        .destroy = pprof_destroy,
};
