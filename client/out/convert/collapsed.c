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

#include "client/out/convert/frames.h"
#include "proto/base/utf8.h"

#define NAME_BYTES 4096 /* a longer one is cut */

static void put_name(FILE *out, const char *name)
{
        for (const char *c = SAFE_TEXT(NAME_BYTES, name); *c; c++)
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

static int collapsed_update(void *state, const Hw__Update *u)
{
        if (u->body_case == HW__UPDATE__BODY_CENSUS)
                moment_add(state, u->census);
        return 0;
}

static int collapsed_finish(void *state)
{
        const struct conversion *run = state;
        const struct world_target *t = run->t;
        const Hw__Census *c = run->census;
        enum profile_of of = profile_choose(run);

        for (uint32_t i = 0; of == OF_TIME && i < t->n_stacks; i++) {
                const Hw__Stack *s = t->stacks[i];

                if (!s)
                        continue;
                put_stack(run->out, s->centres, s->n_centres);
                (void)fprintf(run->out, " %" PRIu64 "\n", s->ticks);
        }
        for (size_t i = 0; of == OF_HEAP && i < c->n_band && i < c->n_bytes; i++) {
                if (!c->bytes[i])
                        continue;
                put_band(run->out, band_of(t, c->band[i]), c->band[i]);
                (void)fprintf(run->out, " %" PRIu64 "\n", c->bytes[i]);
        }
        if (of == OF_HEAP && c->bytes_left_out)
                (void)fprintf(run->out, "(left out) %" PRIu64 "\n", c->bytes_left_out);
        return of == OF_ANY ? -ENODATA : 0;
}

const struct format format_collapsed = {
        .name = "collapsed",
        .profiles = ONE_PROFILE,
        .size = sizeof(struct conversion),
        .update = collapsed_update,
        .finish = collapsed_finish,
        .no_data =
                "has no such profile: -p (of a program built for profiling) makes one of time, -hT and similar "
                "flags one of the heap",
};
