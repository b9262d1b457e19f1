/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collapsed.c - one line per stack, outermost frame first, followed by a number: what flamegraph.pl, inferno
 * and speedscope read. The number is ticks of the time profile, or bytes of one census.
 *
 * Stacks of the same names are one line; the lines are in the order of their texts. A name must not look like the end
 * of a frame or of a line: ';' becomes ',', a control character \xNN.
 */
#include "client/out/convert/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

struct line {
        char *text;
        uint64_t value;
};

static int compare_lines(const void *a, const void *b)
{
        return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

/* The text of the stack or band of that index. NULL: out of memory. */
static char *line_text(const struct conversion *run, enum profile_of of, size_t i)
{
        char *text = NULL;
        size_t size;
        FILE *to = open_memstream(&text, &size);

        if (!to)
                return NULL;
        if (of == OF_TIME)
                put_stack(to, run->t->stacks[i]->centres, run->t->stacks[i]->n_centres);
        else
                put_band(to, band_of(run->t, run->census->band[i]), run->census->band[i]);
        if (fclose(to) == 0)
                return text;
        free(text);
        return NULL;
}

/* Writes the lines, equal ones as one: their numbers are of cost centres or bands that have the same name. */
static void write_lines(FILE *out, struct line *lines, size_t n)
{
        qsort(lines, n, sizeof(*lines), compare_lines);
        for (size_t i = 0; i < n; i++)
                if (i + 1 < n && !strcmp(lines[i].text, lines[i + 1].text))
                        lines[i + 1].value += lines[i].value;
                else
                        (void)fprintf(out, "%s %" PRIu64 "\n", lines[i].text, lines[i].value);
}

static int collapsed_finish(void *state)
{
        const struct conversion *run = state;
        const Hw__Census *c = run->census;
        const enum profile_of of = profile_choose(run);
        const size_t most = of == OF_TIME ? run->t->n_stacks : of == OF_HEAP ? c->n_band : 0;
        struct line *lines = calloc(most + 1, sizeof(*lines));
        size_t n = 0;
        bool is_whole = lines != NULL;

        for (size_t i = 0; is_whole && i < most; i++) {
                const Hw__Stack *stack = of == OF_TIME ? run->t->stacks[i] : NULL;
                const uint64_t value = stack ? stack->ticks : of == OF_HEAP && i < c->n_bytes ? c->bytes[i] : 0;

                if (stack || value > 0)
                        lines[n++] = (struct line){ line_text(run, of, i), value };
                is_whole = n == 0 || lines[n - 1].text;
        }
        if (is_whole)
                write_lines(run->out, lines, n);
        if (is_whole && of == OF_HEAP && c->bytes_left_out)
                (void)fprintf(run->out, "(left out) %" PRIu64 "\n", c->bytes_left_out);
        for (size_t i = 0; i < n; i++)
                free(lines[i].text);
        free(lines);
        return !is_whole ? -ENOMEM : of == OF_ANY ? -ENODATA : 0;
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
