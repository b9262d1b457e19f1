/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.c - what charts of all views have in common: the window, the cursor, the program's notes as marks. */
#include "client/console/scene/trends.h"
#include "client/console/scene/shown.h"

enum { BANDS_RECALLED = 200, TARGETS_RECALLED = 100 };

void timeline_begin(const struct console *c, struct chart *chart, enum unit unit)
{
        const struct world_target *t = c->scene.target;

        *chart = (struct chart){ .unit = unit, .from_zero = true };
        chart->range = scene_span(&c->scene, t);
        chart->start_wall_ns = scene_start_wall_ns(&c->scene, t);
        chart->has_cursor = c->has_cursor && !c->printing;
        chart->cursor_ns = c->cursor_ns;
        uint64_t mark_ns;
        if (scene_mark_of(&c->scene, t, &mark_ns))
                chart_mark(chart, mark_ns, "mark", true);
        const struct answers *a = scene_brief(&c->scene, t);
        if (a->has_onset)
                chart_mark(chart, a->onset_ns, answers_onset_words(a), true);
        for (uint64_t n = t->notes_last; n && n >= t->notes_first; n--) {
                const struct world_note *note = world_note(t, n);

                if (note && note->has_time_ns && note->has_text &&
                    (note->what == HW__NOTE__WHAT__WHAT_MARKER || note->what == HW__NOTE__WHAT__WHAT_MESSAGE))
                        chart_mark(chart, note->time_ns, note->text, note->what == HW__NOTE__WHAT__WHAT_MARKER);
        }
}

static void recall(const struct console *c, const struct world_target *t, Hw__Series series, uint32_t band)
{
        const struct scene *s = &c->scene;

        if (s->recall && !c->frozen)
                recall_request(s->recall, t, series, band);
}

void timeline_recall(const struct console *c)
{
        const struct world_target *t = c->scene.target;
        const struct world_band *bands[BANDS_RECALLED];
        size_t n;

        if (c->shown->class->all_targets) {
                for (size_t i = 0; i < world_targets(c->scene.world) && i < TARGETS_RECALLED; i++)
                        recall(c, world_target(c->scene.world, i), HW__SERIES__SERIES_LIVE, 0);
        }
        for (int i = 1; i < SERIES_COUNT; i++) {
                if (hw_series_name((Hw__Series)i))
                        recall(c, t, (Hw__Series)i, 0);
        }
        n = world_top_bands(t, bands, BANDS_RECALLED);
        for (size_t i = 0; i < n; i++)
                recall(c, t, HW__SERIES__SERIES_NONE, bands[i]->id);
        if (c->band)
                recall(c, t, HW__SERIES__SERIES_NONE, c->band);
        if (n)
                recall(c, t, HW__SERIES__SERIES_NONE, 0); /* after the bands, so that it is never older than they are */
}

void timeline_draw(struct console *c, struct canvas *canvas, struct area area, const struct chart *chart)
{
        struct area plot = chart_plot(area);

        chart_draw(canvas, area, chart);
        if (plot.width < 1 || plot.height < 1)
                return;
        c->step_ns = (chart->range.to_ns - chart->range.from_ns) / (uint64_t)plot.width + 1;
        hits_add(console_hits(c), plot, (struct hit){ .what = HIT_TIME, .range = chart->range });
}
