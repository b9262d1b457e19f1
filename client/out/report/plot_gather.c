/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: censuses go to a spool on disk, lines are thinned but keep their peaks, the first notes are kept. */
#include "client/out/report/plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_POINTS 4096u

static const Hw__Series series[PLOT_LINES] = { HW__SERIES__SERIES_LIVE, HW__SERIES__SERIES_HEAP_SIZE,
                                               HW__SERIES__SERIES_RSS };

int plot_data_init(struct plot_data *d)
{
        *d = (struct plot_data){ .n_notes = 0 };
        for (int i = 0; i < PLOT_LINES; i++)
                d->lines[i].max = LINE_POINTS;
        return spool_init(&d->spool);
}

void plot_data_done(struct plot_data *d)
{
        spool_done(&d->spool);
        for (int i = 0; i < PLOT_LINES; i++)
                free(d->lines[i].points);
        for (size_t i = 0; i < d->n_notes; i++)
                free(d->notes[i].text);
        d->n_notes = 0;
}

static int add_samples(struct plot_data *d, const Hw__Samples *s)
{
        for (int i = 0; i < PLOT_LINES; i++) {
                for (size_t k = 0; s->series == series[i] && k < s->n_times_ns && k < s->n_values; k++) {
                        if (past_insert(&d->lines[i], s->times_ns[k], (double)s->values[k]))
                                return -ENOMEM;
                        d->last_ns = s->times_ns[k] > d->last_ns ? s->times_ns[k] : d->last_ns;
                }
        }
        return 0;
}

static int add_note(struct plot_data *d, const Hw__Note *n)
{
        bool shown = n->text && n->text[0] &&
                     (n->what == HW__NOTE__WHAT__WHAT_MARKER || n->what == HW__NOTE__WHAT__WHAT_MESSAGE);

        if (!shown)
                return 0;
        if (d->n_notes == PLOT_NOTES) {
                d->notes_left_out++;
                return 0;
        }
        d->notes[d->n_notes] =
                (struct plot_note){ n->time_ns, strdup(n->text), n->what == HW__NOTE__WHAT__WHAT_MARKER };
        return d->notes[d->n_notes++].text ? 0 : -ENOMEM;
}

int plot_data_add(struct plot_data *d, const Hw__Update *u)
{
        int r = 0;

        if (u->body_case == HW__UPDATE__BODY_CENSUS && !u->census->unfinished) {
                d->last_ns = u->census->time_ns > d->last_ns ? u->census->time_ns : d->last_ns;
                r = spool_add(&d->spool, u->census);
        }
        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_HEAP && i < u->heap->n_samples && r == 0; i++)
                r = add_samples(d, u->heap->samples[i]);
        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_NOTES && i < u->notes->n_notes && r == 0; i++)
                r = add_note(d, u->notes->notes[i]);
        return r;
}
