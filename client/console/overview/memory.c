/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - the gauges of memory, each with its history and a remark that puts it into proportion. */
#include "client/console/overview/sections.h"

#include <stdio.h>

#include "client/console/draw/widgets.h"

enum { ROWS = 4, LABEL = 8, VALUE = 12 };

int memory_rows(const struct scene *s, const struct world_target *t, int width)
{
        (void)s;
        (void)t;
        (void)width;
        return ROWS + 1;
}

struct gauge {
        const char *label;
        Hw__Series series;
        enum spark_mode mode;
        char value[SHORT_TEXT];
        char remark[SHORT_TEXT];
        enum tint tint; /* of the remark */
};

static void draw_gauge(struct canvas *c, struct area area, int row, const struct scene *s, const struct world_target *t,
                       const struct gauge *g)
{
        int remark = area.width >= 100 ? 40 : area.width >= 76 ? 30 : 26;
        int graph = 1 + LABEL + VALUE + 2, width = area.width - graph - remark - 3;
        double values[SPARK_MAX];
        bool known[SPARK_MAX];

        if (width > SPARK_MAX)
                width = SPARK_MAX;
        (void)canvas_put(c, area, row, 1, LABEL, TINT_PLAIN, g->label);
        (void)canvas_put_right(c, area, row, 1 + LABEL, VALUE, TINT_STRONG, g->value);
        if (width > 0) {
                spark_sample(scene_series(s, t, g->series), scene_span(s, t), g->mode, width, values, known);
                draw_spark(c, area, row, graph, width, values, known);
        }
        (void)canvas_put(c, area, row, graph + (width > 0 ? width : 0) + 2, remark, g->tint, g->remark);
}

/* "41 % of the cgroup limit 256 MiB", tinted as a warning when close. */
static void proportion(struct gauge *g, uint64_t bytes, uint64_t limit, const char *what)
{
        char share[SHORT_TEXT], text[SHORT_TEXT];
        double part = (double)bytes / (double)limit;

        g->tint = part >= 0.95 ? TINT_BAD : part >= 0.8 ? TINT_WARN : TINT_DIM;
        (void)snprintf(g->remark, sizeof(g->remark), "%.24s of %s %.24s", share_or_unknown(share, true, part), what,
                       bytes_or_unknown(text, true, limit));
}

static struct gauge live_gauge(const struct scene *s, const struct world_target *t)
{
        struct gauge g = { .label = "live", .series = HW__SERIES__SERIES_LIVE, .tint = TINT_DIM };
        bool known = t->heap && t->heap->has_live_bytes;
        char age[SHORT_TEXT], max[SHORT_TEXT];
        uint64_t now_ns = scene_now_ns(s, t);

        (void)bytes_or_unknown(g.value, known, known ? t->heap->live_bytes : 0);
        if (!known || !t->heap->has_live_time_ns)
                return g;
        (void)duration_or_unknown(age, true, now_ns > t->heap->live_time_ns ? now_ns - t->heap->live_time_ns : 0);
        (void)bytes_or_unknown(max, t->heap->has_max_live_bytes, t->heap->max_live_bytes);
        if (scene_over(s, t))
                (void)snprintf(g.remark, sizeof(g.remark), "at its end · max %.24s", max);
        else
                (void)snprintf(g.remark, sizeof(g.remark), "%.24s old · max %.24s", age, max);
        return g;
}

static struct gauge heap_gauge(const struct world_target *t)
{
        struct gauge g = { .label = "heap", .series = HW__SERIES__SERIES_HEAP_SIZE, .tint = TINT_DIM };
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        bool known = t->heap && t->heap->has_heap_size_bytes;
        char max[SHORT_TEXT];

        (void)bytes_or_unknown(g.value, known, known ? t->heap->heap_size_bytes : 0);
        if (known && run && run->has_max_heap_bytes && run->max_heap_bytes)
                proportion(&g, t->heap->heap_size_bytes, run->max_heap_bytes, "-M");
        else if (known && t->heap->has_max_heap_size_bytes)
                (void)snprintf(g.remark, sizeof(g.remark), "max %.24s",
                               bytes_or_unknown(max, true, t->heap->max_heap_size_bytes));
        return g;
}

static struct gauge rss_gauge(const struct world_target *t)
{
        struct gauge g = { .label = "RSS", .series = HW__SERIES__SERIES_RSS, .tint = TINT_DIM };
        const Hw__Process *p = t->heap ? t->heap->process : NULL;
        bool known = p && p->has_rss_bytes;
        char swap[SHORT_TEXT];

        (void)bytes_or_unknown(g.value, known, known ? p->rss_bytes : 0);
        if (p && p->has_cgroup_current_bytes && p->has_cgroup_max_bytes && p->cgroup_max_bytes)
                proportion(&g, p->cgroup_current_bytes, p->cgroup_max_bytes, "cgroup");
        else if (known && p->has_swap_bytes && p->swap_bytes)
                (void)snprintf(g.remark, sizeof(g.remark), "swap %.24s", bytes_or_unknown(swap, true, p->swap_bytes));
        else if (!known)
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
        bool known = t->heap && t->heap->has_allocation_rate_bps;
        char total[SHORT_TEXT];

        (void)rate_or_unknown(g.value, known, known ? t->heap->allocation_rate_bps : 0);
        if (t->heap && t->heap->has_allocated_bytes)
                (void)snprintf(g.remark, sizeof(g.remark), "%.24s in total",
                               bytes_or_unknown(total, true, t->heap->allocated_bytes));
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
        for (int i = 0; i < ROWS; i++)
                draw_gauge(c, area, row + i, s, t, &gauges[i]);
}
