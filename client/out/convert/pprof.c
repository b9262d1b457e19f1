/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pprof.c - a profile for `pprof` and what reads its format (Pyroscope, Grafana, the Firefox profiler): of time, or of
 * the heap at one census. With all censuses, each sample has its time as the label `time`.
 */
#include "client/out/convert/format.h"

#include <errno.h>
#include <stdlib.h>

#include "client/out/convert/pprof_file.h"

struct conversion {
        const struct format_options *options;
        struct pprof_file file;
        struct moment moment;
        bool begun;
};

static void conversion_destroy(void *state)
{
        struct conversion *p = state;

        if (!p)
                return;
        pprof_file_done(&p->file);
        moment_done(&p->moment);
        free(p);
}

static void *conversion_begin(FILE *out, const struct format_options *options)
{
        struct conversion *p = calloc(1, sizeof(*p));

        if (!p || !pprof_file_open(&p->file, out)) {
                free(p);
                return NULL;
        }
        p->options = options;
        p->moment.at_ns = options->at_ns;
        return p;
}

static int conversion_update(void *state, const struct format_run *run, const Hw__Update *u)
{
        struct conversion *p = state;

        if (u->body_case != HW__UPDATE__BODY_CENSUS)
                return 0;
        if (p->options->at_ns != AT_ALL) {
                moment_add(&p->moment, u->census);
                return 0;
        }
        if (u->census->unfinished)
                return 0;
        if (!p->begun)
                pprof_file_head(&p->file, run->t, false, 0, 0);
        p->begun = true;
        return pprof_file_census(&p->file, run->t, u->census, u->census->time_ns);
}

static int conversion_finish(void *state, const struct format_run *run)
{
        struct conversion *p = state;
        const Hw__Census *census = p->moment.census;
        enum profile_of of = profile_choose(p->options, run->t->ticks, census != NULL);
        int r = -ENODATA;

        if (p->options->at_ns == AT_ALL) {
                r = p->begun ? 0 : -ENODATA;
        } else if (of == OF_TIME) {
                pprof_file_head(&p->file, run->t, true, 0, run->t->event_time_ns);
                r = pprof_file_time(&p->file, run->t, NULL, 0);
        } else if (of == OF_HEAP) {
                pprof_file_head(&p->file, run->t, false, census->time_ns, 0);
                r = pprof_file_census(&p->file, run->t, census, UINT64_MAX);
        }
        return r ? r : pprof_close(p->file.out);
}

const struct format format_pprof = {
        .name = "pprof",
        .profiles = ANY_PROFILES,
        .begin = conversion_begin,
        .update = conversion_update,
        .finish = conversion_finish,
        .no_data =
                "has no such profile: -p (of a program built for profiling) makes one of time, -hT and similar "
                "flags one of the heap",
        .destroy = conversion_destroy,
};
