/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/alerting/internal.h"

#include <math.h>

#define COARSE_CELLS 36u /* of the widest level, whatever the rules require */
#define FEW_CELLS    4u  /* of the levels below it without a window: the newest value is in them */
#define SPARE_CELLS  16u /* more than a window has: its older end is rounded, and increase() looks before it */

static uint32_t cells_of(unsigned level, uint64_t time_ns)
{
        uint64_t n = time_ns / series_shape.levels[level].width_ns + SPARE_CELLS;

        return n < series_shape.levels[level].most ? (uint32_t)n : series_shape.levels[level].most;
}

static void require(struct rule_gauge *g, unsigned level, uint32_t cells)
{
        if (g->cells[level] < cells)
                g->cells[level] = cells;
}

static void require_window(struct rule_gauge *g, uint64_t window_ns)
{
        unsigned level = 0;

        while (level + 1 < series_shape.n_levels &&
               series_shape.levels[level].width_ns * series_shape.levels[level].most < window_ns) {
                require(g, level, cells_of(level, series_shape.levels[level + 1].width_ns));
                level++;
        }
        require(g, level, cells_of(level, window_ns));
        /* What is before the window has left the level. */
        if (g->cells[level] == series_shape.levels[level].most && level + 1 < series_shape.n_levels)
                require(g, level + 1, cells_of(level + 1, window_ns));
}

/* Of each gauge in a part of an expression. */
static void require_node(struct rule_gauge gauges[GAUGES], const struct node *n)
{
        if (!n)
                return;
        require_node(gauges, n->left);
        require_node(gauges, n->right);
        if (!n->series || n->kind == NODE_SERIES || GAUGE(n->series->id) >= GAUGES)
                return; /* not a gauge, or without a window: the newest value */
        if (n->window) {
                require_window(&gauges[GAUGE(n->series->id)], (uint64_t)(n->window->value * 1e9));
        } else {
                for (unsigned level = 0; level < series_shape.n_levels; level++)
                        require(&gauges[GAUGE(n->series->id)], level, series_shape.levels[level].most);
        }
}

void gauges_require(struct rule_gauge gauges[GAUGES], const struct ruleset *rules)
{
        const unsigned widest = series_shape.n_levels - 1;

        for (unsigned i = 0; i < GAUGES; i++) {
                for (unsigned level = 0; level < widest; level++)
                        gauges[i].cells[level] = FEW_CELLS;
                gauges[i].cells[widest] = COARSE_CELLS;
        }
        for (size_t i = 0; rules && i < rules->n; i++) {
                require_node(gauges, rules->rules[i]->expr.root);
                require_node(gauges, rules->rules[i]->until.root);
        }
}

void gauge_push(struct rule_gauge *g, uint64_t time_ns, double value)
{
        struct pyramid_shape shape = series_shape;

        for (unsigned level = 0; level < shape.n_levels; level++)
                shape.levels[level].most = g->cells[level];
        if (!isnan(value))
                (void)series_push(&g->series, &shape, time_ns, value);
}
