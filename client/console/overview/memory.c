/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - the gauges of memory, each with its history and a remark that puts it into proportion. */
#include "client/console/overview/sections.h"

#include <stdio.h>

#include "client/answers/census.h"
#include "client/console/draw/widgets.h"
#include "client/console/table/value.h"
#include "proto/base/time.h"

#define UNSEEN_NS (3 * NS_PER_S) /* of the run: a process of this machine has been looked at by then */

enum { ROWS = 4, LABEL = 8, VALUE = 12 };

struct gauge {
        const char *label;
        Hw__Series series;
        enum spark_mode mode;
        char value[SHORT_TEXT];
        char remark[SHORT_TEXT];
        enum tint tint; /* of the remark */
};

/* "41 % of the cgroup limit 256 MiB", tinted as a warning when close. */
static void proportion(struct gauge *g, const struct world_target *t, enum fact bytes, enum fact limit,
                       const char *what)
{
        char share[SHORT_TEXT], text[SHORT_TEXT];
        const double part = facts_get(t, bytes) / facts_get(t, limit);

        g->tint = part >= 0.95 ? TINT_BAD : part >= 0.8 ? TINT_WARN : TINT_DIM;
        (void)snprintf(g->remark, sizeof(g->remark), "%.24s of %s %.24s", share_or_unknown(share, true, part), what,
                       facts_text(text, t, limit));
}

static struct gauge live_gauge(const struct scene *s, const struct world_target *t)
{
        struct gauge g = { .label = "live", .series = HW__SERIES__SERIES_LIVE, .tint = TINT_DIM };
        char age[SHORT_TEXT], max[SHORT_TEXT];
        uint64_t now_ns = world_known_until_ns(t), old_ns;

        (void)facts_text(g.value, t, FACT_LIVE);
        if (!facts_is_known(t, FACT_LIVE) || !t->heap->has_live_time_ns)
                return g;
        (void)duration_or_unknown(age, true, now_ns > t->heap->live_time_ns ? now_ns - t->heap->live_time_ns : 0);
        (void)facts_text(max, t, FACT_LIVE_MAX);
        if (scene_over(s, t) && live_is_old(t, &old_ns))
                (void)snprintf(g.remark, sizeof(g.remark), "%.24s before its end · max %.24s", age, max);
        else if (scene_over(s, t))
                (void)snprintf(g.remark, sizeof(g.remark), "at its end · max %.24s", max);
        else
                (void)snprintf(g.remark, sizeof(g.remark), "%.24s old · max %.24s", age, max);
        return g;
}

static struct gauge heap_gauge(const struct world_target *t)
{
        struct gauge g = { .label = "heap", .series = HW__SERIES__SERIES_HEAP_SIZE, .tint = TINT_DIM };
        char max[SHORT_TEXT];

        (void)facts_text(g.value, t, FACT_HEAP_SIZE);
        if (facts_is_known(t, FACT_HEAP_SIZE) && facts_get(t, FACT_MAX_HEAP) > 0)
                proportion(&g, t, FACT_HEAP_SIZE, FACT_MAX_HEAP, "-M");
        else if (facts_is_known(t, FACT_HEAP_SIZE_MAX))
                (void)snprintf(g.remark, sizeof(g.remark), "max %.24s", facts_text(max, t, FACT_HEAP_SIZE_MAX));
        return g;
}

static struct gauge rss_gauge(const struct world_target *t)
{
        struct gauge g = { .label = "RSS", .series = HW__SERIES__SERIES_RSS, .tint = TINT_DIM };
        const bool known = facts_is_known(t, FACT_RESIDENT);
        char swap[SHORT_TEXT];

        (void)facts_text(g.value, t, FACT_RESIDENT);
        if (facts_is_known(t, FACT_CGROUP_HELD) && facts_get(t, FACT_CGROUP_LIMIT) > 0)
                proportion(&g, t, FACT_CGROUP_HELD, FACT_CGROUP_LIMIT, "cgroup");
        else if (known && facts_get(t, FACT_SWAP) > 0)
                (void)snprintf(g.remark, sizeof(g.remark), "swap %.24s", facts_text(swap, t, FACT_SWAP));
        else if (!known && world_known_until_ns(t) > UNSEEN_NS)
                (void)snprintf(g.remark, sizeof(g.remark), "process not seen from here");
        return g;
}

static struct gauge allocation_gauge(const struct world_target *t)
{
        struct gauge g = {
                .label = "alloc",
                .series = HW__SERIES__SERIES_ALLOCATED,
                .mode = SPARK_RATE,
                .tint = TINT_DIM,
        };
        char total[SHORT_TEXT];

        (void)facts_text(g.value, t, FACT_ALLOCATION);
        if (facts_is_known(t, FACT_ALLOCATED))
                (void)snprintf(g.remark, sizeof(g.remark), "%.24s in total", facts_text(total, t, FACT_ALLOCATED));
        return g;
}

void draw_memory(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t)
{
        struct gauge gauges[ROWS] = { live_gauge(s, t), heap_gauge(t), rss_gauge(t), allocation_gauge(t) };
        char text[SHORT_TEXT], span[SHORT_TEXT + 8];
        struct time_range range;
        int row = 0;

        if (area.height > ROWS) {
                range = scene_span(s, t);
                (void)snprintf(span, sizeof(span), "last %s",
                               duration_or_unknown(text, true, range.to_ns - range.from_ns));
                draw_title(c, area, row++, "Memory", range.to_ns > range.from_ns ? span : "");
        }
        for (int i = 0; i < ROWS; i++) {
                int at = row + i;
                const struct gauge *g = &gauges[i];
                int remark = area.width >= 100 ? 40 : area.width >= 76 ? 30 : 26;
                int graph = 1 + LABEL + VALUE + 2, width = area.width - graph - remark - 3;

                if (width > SPARK_MAX)
                        width = SPARK_MAX;
                (void)canvas_put(c, area, at, 1, LABEL, TINT_PLAIN, g->label);
                (void)canvas_put_right(c, area, at, 1 + LABEL, VALUE, TINT_STRONG, g->value);
                if (width > 0)
                        draw_spark(c, area, at, graph, width, history_series(t->history, g->series), scene_span(s, t),
                                   g->mode);
                (void)canvas_put(c, area, at, graph + (width > 0 ? width : 0) + 2, remark, g->tint, g->remark);
        }
}
