/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/convert/pprof_file.h"

#include <errno.h>

#include "client/out/convert/format.h"

#define MOST INT64_MAX

bool pprof_file_open(struct pprof_file *p, FILE *to)
{
        *p = (struct pprof_file){ .out = pprof_new(to) };
        return p->out != NULL;
}

void pprof_file_done(struct pprof_file *p)
{
        pprof_destroy(&p->out);
        frames_done(&p->frames);
}

static uint64_t tick_of(const struct world_target *t)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;

        return run && run->has_tick_interval_ns ? run->tick_interval_ns : 0;
}

void pprof_file_head(struct pprof_file *p, const struct world_target *t, bool time, uint64_t at_ns,
                     uint64_t duration_ns)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        const bool is_dated = run && run->has_start_wall_ns && run->start_wall_ns <= (uint64_t)MOST - at_ns;

        if (time)
                pprof_add_type(p->out, "samples", "count");
        else
                pprof_add_type(p->out, "inuse_space", "bytes");
        if (time && tick_of(t)) {
                pprof_add_type(p->out, "cpu", "nanoseconds");
                pprof_set_period(p->out, "cpu", "nanoseconds", tick_of(t));
        }
        pprof_set_time(p->out, is_dated ? run->start_wall_ns + at_ns : 0, duration_ns);
        if (run && run->program)
                pprof_add_comment(p->out, run->program);
}

/* A sample of `n` frames, of which the first `known` of all are already defined; 0 when out of memory. */
static int put_sample(struct pprof_file *p, uint32_t known, const uint32_t *numbers, size_t n, const uint64_t *values,
                      size_t n_values, uint64_t label_ns)
{
        for (uint32_t i = known; i < p->frames.n; i++) {
                const struct code_place *f = &p->frames.frames[i];
                pprof_add_function(p->out, i + 1, f->name, f->file, f->line);
        }
        if (n == 0)
                return -ENOMEM;
        pprof_add_sample(p->out, numbers, n, values, n_values, label_ns);
        return 0;
}

int pprof_file_census(struct pprof_file *p, const struct world_target *t, const Hw__Census *c, uint64_t label_ns)
{
        uint32_t numbers[FRAMES_DEEP];
        int r = 0;

        for (size_t i = 0; i < c->n_band && i < c->n_bytes && r == 0; i++) {
                const Hw__Band *band = band_of(t, c->band[i]);
                const uint64_t bytes = c->bytes[i] < (uint64_t)MOST ? c->bytes[i] : (uint64_t)MOST;
                const uint32_t known = p->frames.n;

                if (!band || bytes == 0)
                        continue;
                const size_t n = frames_of_band(&p->frames, band, numbers, FRAMES_DEEP);
                r = put_sample(p, known, numbers, n, &bytes, 1, label_ns);
        }
        return r;
}

int pprof_file_time(struct pprof_file *p, const struct world_target *t, const uint64_t *before, size_t n_before)
{
        uint32_t numbers[FRAMES_DEEP];
        int r = 0;

        for (uint32_t i = 0; i < t->n_stacks && r == 0; i++) {
                const Hw__Stack *s = t->stacks[i];
                const uint64_t known_ticks = i < n_before ? before[i] : 0;
                const uint32_t known = p->frames.n;

                if (!s || (before && s->ticks <= known_ticks))
                        continue;
                const uint64_t ticks = s->ticks - known_ticks, values[] = { ticks, ticks * tick_of(t) };
                const size_t n = frames_of_stack(&p->frames, s->centres, s->n_centres, numbers, FRAMES_DEEP);
                r = put_sample(p, known, numbers, n, values, tick_of(t) ? 2 : 1, UINT64_MAX);
        }
        return r;
}
