/* SPDX-License-Identifier: BSD-3-Clause */
/* views/targets.c - all targets, a line each, the worst first: is anything wrong, and where. */
#include "client/console/views/views.h"
#include "proto/base/hash.h"

/* -------------------------------------------------------------------- rows */

static void rows(const struct console *c, struct table *t)
{
        for (size_t i = 0; i < world_targets(c->scene.world); i++) {
                const struct world_target *row = world_target(c->scene.world, i);

                table_add(t, hash_text(row->name, row->daemon), row);
        }
}

static void open_target(struct console *c, const void *row)
{
        console_choose(c, row);
        console_show(c, &view_overview);
}

static const struct table_class table = {
        .name = "targets",
        .empty = "no target",
        .columns = target_columns,
        .n_columns = TARGET_LIST_COLUMNS,
        .sort = 1, /* what is wrong */
        .single = true,
        .rows = rows,
        .open = open_target,
};

static const struct console_key keys[] = {
        { "↑ ↓", "move" }, { "enter", "open" }, { "< >", "sort" }, { "r", "reverse" },
        { "/", "search" }, { "f", "filter" },   { NULL, NULL },
};

const struct console_view view_targets_list = {
        .name = "targets",
        .title = "Targets",
        .brief = "Targ",
        .letter = 't',
        .about = "All monitored programs, a line each, the worst first.",
        .keys = keys,
        .tables = { &table },
        .all_targets = true,
};
