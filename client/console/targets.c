/* SPDX-License-Identifier: BSD-3-Clause */
/* targets.c - the list of targets: a line each, columns as the width allows. */
#include "client/console/scene.h"

#include <stdio.h>
#include <string.h>

#include "client/console/widgets.h"

struct column {
        const char *title;
        int width;
        int from;               /* least width of the screen that shows it */
        const char *(*text)(const struct scene *s, const struct view_target *t, char *out);
};

static const char *text_up(const struct scene *s, const struct view_target *t, char *out)
{
        return duration_or_unknown(out, t->event_time_ns > 0, scene_now_ns(s, t));
}

static const char *text_live(const struct scene *s, const struct view_target *t, char *out)
{
        (void)s;
        return bytes_or_unknown(out, t->heap && t->heap->has_live_bytes, t->heap ? t->heap->live_bytes : 0);
}

static const char *text_heap(const struct scene *s, const struct view_target *t, char *out)
{
        (void)s;
        return bytes_or_unknown(out, t->heap && t->heap->has_heap_size_bytes, t->heap ? t->heap->heap_size_bytes : 0);
}

static const char *text_rss(const struct scene *s, const struct view_target *t, char *out)
{
        const Hw__Process *p = t->heap ? t->heap->process : NULL;

        (void)s;
        return bytes_or_unknown(out, p && p->has_rss_bytes, p ? p->rss_bytes : 0);
}

static const char *text_alloc(const struct scene *s, const struct view_target *t, char *out)
{
        (void)s;
        return rate_or_unknown(out, t->heap && t->heap->has_allocation_rate_bps,
                               t->heap ? t->heap->allocation_rate_bps : 0);
}

static const char *text_gc(const struct scene *s, const struct view_target *t, char *out)
{
        (void)s;
        return share_or_unknown(out, t->gc && t->gc->has_gc_share, t->gc ? t->gc->gc_share : 0);
}

static const char *text_pause(const struct scene *s, const struct view_target *t, char *out)
{
        uint64_t p99_ns, max_ns;
        bool known = worst_pause(t, &p99_ns, &max_ns);

        (void)s;
        return duration_or_unknown(out, known, p99_ns);
}

static const struct column columns[] = {
        { "up", 9, 0, text_up },         { "live", 11, 0, text_live },      { "heap", 11, 90, text_heap },
        { "RSS", 11, 70, text_rss },     { "alloc", 13, 100, text_alloc },  { "GC", 8, 0, text_gc },
        { "p99 pause", 11, 110, text_pause },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), STATE = 9 };

static int name_width(int width)
{
        return width < 80 ? 16 : width < 120 ? 20 : 28;
}

static void draw_heading(struct canvas *c, struct area area)
{
        int at = 1 + name_width(area.width) + 2;

        (void)canvas_put(c, area, 0, 1, name_width(area.width), TINT_DIM, "target");
        (void)canvas_put(c, area, 0, at, STATE, TINT_DIM, "state");
        at += STATE;
        for (int i = 0; i < COLUMNS; i++) {
                if (area.width < columns[i].from)
                        continue;
                (void)canvas_put_right(c, area, 0, at, columns[i].width, TINT_DIM, columns[i].title);
                at += columns[i].width;
        }
        (void)canvas_put(c, area, 0, at + 2, area.width - at - 3, TINT_DIM, "live history");
}

static void draw_history(struct canvas *c, struct area area, int row, int column, const struct scene *s,
                         const struct view_target *t)
{
        int width = area.width - column - 1;
        double values[SPARK_MAX];
        bool known[SPARK_MAX];
        uint64_t from_ns, to_ns;

        if (width < 1)
                return;
        if (width > 60)
                width = 60;
        scene_span(s, t, &from_ns, &to_ns);
        spark_sample(&t->series[HW__SERIES__SERIES_LIVE], from_ns, to_ns, SPARK_GAUGE, width, values, known);
        draw_spark(c, area, row, column, width, values, known);
}

static void draw_target(struct canvas *c, struct area area, int row, const struct scene *s,
                        const struct view_target *t)
{
        int at = 1 + name_width(area.width) + 2;
        char text[SCENE_TEXT], name[8 * VIEW_NAME_MAX];
        uint64_t age_ns;
        bool stale = scene_stale(s, t, &age_ns);

        (void)canvas_put(c, area, row, 1, name_width(area.width), TINT_STRONG, safe_text(name, sizeof(name), t->name));
        (void)canvas_put(c, area, row, at, STATE, stale ? TINT_BAD : state_tint(t), stale ? "stale" : state_word(t));
        at += STATE;
        for (int i = 0; i < COLUMNS; i++) {
                if (area.width < columns[i].from)
                        continue;
                (void)canvas_put_right(c, area, row, at, columns[i].width, TINT_PLAIN, columns[i].text(s, t, text));
                at += columns[i].width;
        }
        draw_history(c, area, row, at + 2, s, t);
}

void draw_targets(struct canvas *c, struct area area, const struct scene *s, size_t first, size_t selected)
{
        draw_heading(c, area);
        for (int row = 1; row < area.height && first + (size_t)row - 1 < view_targets(s->view); row++) {
                size_t index = first + (size_t)row - 1;

                draw_target(c, area, row, s, view_target(s->view, index));
                if (index == selected)
                        canvas_tint_row(c, area, row, TINT_SELECTED);
        }
}
