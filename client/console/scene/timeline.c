/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.c - what charts of all views have in common: the window, the cursor, the program's notes as marks. */
#include "client/console/scene/shown.h"

enum { BANDS_RECALLED = 200 };

void timeline_begin(const struct console *c, struct chart *chart, const char *title, enum unit unit)
{
        const struct world_target *t = c->scene.target;

        *chart = (struct chart){ .title = title, .unit = unit, .from_zero = true };
        scene_span(&c->scene, t, &chart->from_ns, &chart->to_ns);
        chart->start_wall_ns = scene_start_wall_ns(&c->scene, t);
        chart->has_cursor = c->has_cursor && !c->printing;
        chart->cursor_ns = c->cursor_ns;
        for (uint64_t n = t->notes_last; n && n >= t->notes_first; n--) {
                const Hw__Note *note = world_note(t, n);

                if (note && note->has_time_ns && note->text &&
                    (note->what == HW__NOTE__WHAT__WHAT_MARKER || note->what == HW__NOTE__WHAT__WHAT_MESSAGE))
                        chart_mark(chart, note->time_ns, note->text, note->what == HW__NOTE__WHAT__WHAT_MARKER);
        }
}

static void recall(const struct console *c, Hw__Series series, uint32_t band)
{
        const struct scene *s = &c->scene;

        if (s->recall && !c->frozen)
                recall_ask(s->recall, s->target, series, band);
}

void timeline_recall(const struct console *c)
{
        const struct world_band *bands[BANDS_RECALLED];
        static const Hw__Series charted[] = {
                HW__SERIES__SERIES_LIVE, HW__SERIES__SERIES_HEAP_SIZE, HW__SERIES__SERIES_BLOCKS_SIZE,
                HW__SERIES__SERIES_RSS,  HW__SERIES__SERIES_ALLOCATED, HW__SERIES__SERIES_GC_PAUSE,
        };

        size_t n;

        for (size_t i = 0; i < sizeof(charted) / sizeof(charted[0]); i++)
                recall(c, charted[i], 0);
        n = world_top_bands(c->scene.target, bands, BANDS_RECALLED);
        for (size_t i = 0; i < n; i++)
                recall(c, HW__SERIES__SERIES_NONE, bands[i]->id);
        if (c->band)
                recall(c, HW__SERIES__SERIES_NONE, c->band);
        if (n)
                recall(c, HW__SERIES__SERIES_NONE, 0); /* behind the bands: never of an older time than they are */
}

void timeline_draw(struct console *c, struct canvas *canvas, struct area area, const struct chart *chart)
{
        struct area plot = chart_plot(area);

        chart_draw(canvas, area, chart);
        if (plot.width < 1 || plot.height < 1)
                return;
        c->step_ns = (chart->to_ns - chart->from_ns) / (uint64_t)plot.width + 1;
        hits_add(console_hits(c), plot,
                 (struct hit){ .what = HIT_TIME, .from_ns = chart->from_ns, .to_ns = chart->to_ns });
}
