/* SPDX-License-Identifier: BSD-3-Clause */
/* collections.c - what garbage collection costs: share of time, and pauses by generation. */
#include "client/console/overview/sections.h"

#include <stdio.h>

#include "client/answers/census.h"
#include "client/console/draw/widgets.h"
#include "client/console/table/value.h"
#include "heapwatch/text.h"
#include "proto/base/utf8.h"

int gc_rows(const struct scene *s, const struct world_target *t, int width)
{
        if (!t->gc || !t->gc->n_generations)
                return 2;
        return 1 + (t->gc->n_generations < 4 ? (int)t->gc->n_generations : 4);
}

/* Where not all have room, those with the longest pauses in all: a generation that is never collected says nothing. */
static bool is_shown(const Hw__Gc *gc, size_t i, size_t room)
{
        size_t before = 0;

        for (size_t k = 0; k < gc->n_generations; k++) {
                uint64_t other = gc->generations[k]->pause_total_ns, own = gc->generations[i]->pause_total_ns;

                before += other > own || (other == own && k < i);
        }
        return before < room;
}

/* A labelled number in a column of its own. */
static int pair(struct canvas *c, struct area area, int row, int column, const char *label, const char *value)
{
        int n = text_columns(label);

        (void)canvas_put(c, area, row, column, n, TINT_DIM, label);
        (void)canvas_put_right(c, area, row, column + n, 8, TINT_PLAIN, value);
        return column + n + 8 + 2;
}

static void draw_generation(struct canvas *c, struct area area, int row, const Hw__Generation *g)
{
        char label[32], text[SHORT_TEXT];
        int column = 10;

        (void)snprintf(label, sizeof(label), "gen %u", g->generation);
        (void)canvas_put(c, area, row, 1, 7, TINT_PLAIN, label);
        (void)canvas_put_right(c, area, row, column, 10, TINT_STRONG,
                               g->has_count ? hw_count_text(text, sizeof(text), g->count) : UNKNOWN_TEXT);
        column += 12;
        if (area.width >= 76)
                column = pair(c, area, row, column, "p50",
                              duration_or_unknown(text, g->has_pause_p50_ns, g->pause_p50_ns));
        column = pair(c, area, row, column, "p99", duration_or_unknown(text, g->has_pause_p99_ns, g->pause_p99_ns));
        column = pair(c, area, row, column, "max", duration_or_unknown(text, g->has_pause_max_ns, g->pause_max_ns));
        if (area.width >= 92)
                (void)pair(c, area, row, column, "total",
                           duration_or_unknown(text, g->has_pause_total_ns, g->pause_total_ns));
}

static void draw_share(struct canvas *c, struct area area, const struct world_target *t, bool over)
{
        char now[SHORT_TEXT], run[SHORT_TEXT], all[SHORT_TEXT], watching[CENSUS_LINE];
        char title[3 * SHORT_TEXT + 96 + CENSUS_LINE];
        const char *untimed = world_untimed(t);

        (void)census_pauses_text(watching, sizeof(watching), t);
        if (!untimed)
                (void)snprintf(title, sizeof(title), "%s of %s last 10 s · %s of the run%s%s%s%s",
                               facts_text(now, t, FACT_GC_SHARE), over ? "its" : "the",
                               facts_text(run, t, FACT_GC_SHARE_RUN), watching[0] ? " · " : "",
                               watching[0] ? facts_text(all, t, FACT_GC_PAUSES) : "", watching[0] ? " in all, " : "",
                               watching);
        else if (t->gc->has_gc_share_run)
                (void)snprintf(title, sizeof(title), "%s of the run · %s", facts_text(run, t, FACT_GC_SHARE_RUN),
                               untimed);
        else
                (void)snprintf(title, sizeof(title), "%s", untimed);
        draw_title(c, area, 0, "Collections", title);
}

void draw_gc(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t)
{
        const char *none = scene_process_only(t) ? UNKNOWN_TEXT
                                   "  not known: the program has no log, only its process is watched"
                           : scene_over(s, t) ? UNKNOWN_TEXT "  no collection was seen"
                                              : UNKNOWN_TEXT "  no collection seen yet";

        if (!t->gc) {
                draw_title(c, area, 0, "Collections", "");
                (void)canvas_put(c, area, 1, 1, area.width - 2, TINT_DIM, none);
                return;
        }
        draw_share(c, area, t, scene_over(s, t));
        if (!t->gc->n_generations)
                (void)canvas_put(c, area, 1, 1, area.width - 2, TINT_DIM, none);
        for (size_t i = 0, row = 1; i < t->gc->n_generations && (int)row < area.height; i++)
                if (is_shown(t->gc, i, (size_t)area.height - 1))
                        draw_generation(c, area, (int)row++, t->gc->generations[i]);
}
