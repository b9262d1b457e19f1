/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pprof.c - a profile for `pprof` and what reads its format (Pyroscope, Grafana, the Firefox profiler): of time, or of
 * the heap at one census. With all censuses, each sample has its time as the label `time`.
 */
#include "client/out/convert/format.h"

#include <errno.h>

#include "client/out/convert/pprof_file.h"

struct pprof_conversion {
        struct conversion run;
        struct pprof_file file;
        bool begun;
};

static int conversion_begin(void *state)
{
        struct pprof_conversion *p = state;

        return pprof_file_open(&p->file, p->run.out) ? 0 : -ENOMEM;
}

static void conversion_done(void *state)
{
        pprof_file_done(&((struct pprof_conversion *)state)->file);
}

static int conversion_update(void *state, const Hw__Update *u)
{
        struct pprof_conversion *p = state;

        if (u->body_case != HW__UPDATE__BODY_CENSUS)
                return 0;
        if (p->run.options->at_ns != AT_ALL) {
                moment_add(&p->run, u->census);
                return 0;
        }
        if (u->census->unfinished)
                return 0;
        if (!p->begun)
                pprof_file_head(&p->file, p->run.t, false, 0, 0);
        p->begun = true;
        return pprof_file_census(&p->file, p->run.t, u->census, u->census->time_ns);
}

static int conversion_finish(void *state)
{
        struct pprof_conversion *p = state;
        const Hw__Census *census = p->run.census;
        enum profile_of of = profile_choose(&p->run);
        int r = -ENODATA;

        if (p->run.options->at_ns == AT_ALL) {
                r = p->begun ? 0 : -ENODATA;
        } else if (of == OF_TIME) {
                pprof_file_head(&p->file, p->run.t, true, 0, p->run.t->event_time_ns);
                r = pprof_file_time(&p->file, p->run.t, NULL, 0);
        } else if (of == OF_HEAP) {
                pprof_file_head(&p->file, p->run.t, false, census->time_ns, 0);
                r = pprof_file_census(&p->file, p->run.t, census, UINT64_MAX);
        }
        return r ? r : pprof_close(p->file.out);
}

const struct format format_pprof = {
        .name = "pprof",
        .profiles = ANY_PROFILES,
        .size = sizeof(struct pprof_conversion),
        .begin = conversion_begin,
        .update = conversion_update,
        .finish = conversion_finish,
        .no_data =
                "has no such profile: -p (of a program built for profiling) makes one of time, -hT and similar "
                "flags one of the heap",
        .done = conversion_done,
};
