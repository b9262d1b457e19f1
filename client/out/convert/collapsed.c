/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collapsed.c - one line per stack, outermost frame first, followed by a number: what flamegraph.pl, inferno
 * and speedscope read. The number is ticks of the time profile, or bytes of one census.
 *
 * A name must not look like the end of a frame or of a line: ';' becomes ',', a control character \xNN.
 */
#include "client/out/convert/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "client/out/convert/frames.h"
#include "heapwatch/text.h"

#define NAME_BYTES 4096 /* a longer one is cut */

struct collapsed {
        FILE *out;
        const struct format_options *options;
        struct moment moment;
};

static void put_name(FILE *out, const char *name)
{
        char clean[NAME_BYTES];

        (void)hw_terminal_text(clean, sizeof(clean), name);
        for (const char *c = clean; *c; c++)
                (void)putc(*c == ';' ? ',' : *c, out);
}

static void put_stack(FILE *out, Hw__CostCentre *const *centres, size_t n)
{
        char name[1024];

        if (n == 0)
                (void)fputs("MAIN", out);
        for (size_t i = n; i-- > 0;) {
                const Hw__CostCentre *c = centres[i];
                put_name(out, frame_name(name, sizeof(name), c->id, c->label, c->module));
                if (i > 0)
                        (void)putc(';', out);
        }
}

static void put_band(FILE *out, const Hw__Band *band, uint32_t id)
{
        if (band && band->n_stack)
                put_stack(out, band->stack, band->n_stack);
        else if (band && band->label && band->label[0])
                put_name(out, band->label);
        else
                (void)fprintf(out, "band#%" PRIu32, id);
}

static void put_time(FILE *out, const struct world_target *t)
{
        for (uint32_t i = 0; i < t->n_stacks; i++) {
                const Hw__Stack *s = t->stacks[i];

                if (!s)
                        continue;
                put_stack(out, s->centres, s->n_centres);
                (void)fprintf(out, " %" PRIu64 "\n", s->ticks);
        }
}

static void put_heap(FILE *out, const struct world_target *t, const Hw__Census *c)
{
        for (size_t i = 0; i < c->n_band && i < c->n_bytes; i++) {
                if (!c->bytes[i])
                        continue;
                put_band(out, band_of(t, c->band[i]), c->band[i]);
                (void)fprintf(out, " %" PRIu64 "\n", c->bytes[i]);
        }
        if (c->bytes_left_out)
                (void)fprintf(out, "(left out) %" PRIu64 "\n", c->bytes_left_out);
}

static void *collapsed_begin(FILE *out, const struct format_options *options)
{
        struct collapsed *c = calloc(1, sizeof(*c));

        if (c) {
                c->out = out;
                c->options = options;
                c->moment.at_ns = options->at_ns;
        }
        return c;
}

static int collapsed_update(void *state, const struct format_run *run, const Hw__Update *u)
{
        struct collapsed *c = state;

        (void)run;
        if (u->body_case == HW__UPDATE__BODY_CENSUS)
                moment_add(&c->moment, u->census);
        return 0;
}

static int collapsed_finish(void *state, const struct format_run *run)
{
        struct collapsed *c = state;
        enum profile_of of = profile_choose(c->options, run->t->ticks, c->moment.census != NULL);

        if (of == OF_TIME)
                put_time(c->out, run->t);
        else if (of == OF_HEAP)
                put_heap(c->out, run->t, c->moment.census);
        return of == OF_ANY ? -ENODATA : 0;
}

static void collapsed_destroy(void *state)
{
        struct collapsed *c = state;

        if (c)
                moment_done(&c->moment);
        free(c);
}

const struct format format_collapsed = {
        .name = "collapsed",
        .profiles = ONE_PROFILE,
        .begin = collapsed_begin,
        .update = collapsed_update,
        .finish = collapsed_finish,
        .no_data =
                "has no such profile: -p (of a program built for profiling) makes one of time, -hT and similar "
                "flags one of the heap",
        .destroy = collapsed_destroy,
};
