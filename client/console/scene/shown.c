/* SPDX-License-Identifier: BSD-3-Clause */
/* shown.c - the choice of view and target. */
#include "client/console/scene/shown.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct shown_view *console_view_of(struct console *c, const char *name)
{
        for (size_t i = 0; i < c->n_views; i++) {
                if (!strcmp(c->views[i].class->name, name))
                        return &c->views[i];
        }
        return NULL;
}

void console_show(struct console *c, const struct console_view *class)
{
        struct shown_view *to = console_view_of(c, class->name);

        if (!to)
                return;
        if (c->shown != to && c->shown && c->shown->class->letter)
                c->under = c->shown;
        c->shown = to;
        c->table = to->n_tables ? &to->tables[0] : NULL;
        c->entry = ENTRY_NONE;
        c->help_first = 0;
}

void console_back(struct console *c)
{
        if (!c->shown->class->letter && c->under)
                console_show(c, c->under->class);
}

void *console_state(const struct console *c)
{
        return c->shown->state;
}

const struct world_target *console_find_target(const struct console *c, size_t *ret_index)
{
        size_t n = world_targets(c->scene.world);

        *ret_index = 0;
        for (size_t i = 0; i < n; i++) {
                const struct world_target *t = world_target(c->scene.world, i);

                if (!strcmp(t->name, c->target) && (t->daemon == c->daemon || c->daemon == SIZE_MAX)) {
                        *ret_index = i;
                        return t;
                }
        }
        return c->target[0] ? NULL : world_target(c->scene.world, 0);
}

void console_choose(struct console *c, const struct world_target *t)
{
        (void)snprintf(c->target, sizeof(c->target), "%s", t->name);
        c->daemon = t->daemon;
        c->chosen = true;
        c->scene.target = t;
}

void console_step_target(struct console *c, int by)
{
        size_t index, n = world_targets(c->scene.world);

        if (!n)
                return;
        if (console_find_target(c, &index))
                index = (index + n + (size_t)by) % n;
        console_choose(c, world_target(c->scene.world, index));
}

void console_notify(struct console *c, bool bad, const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        (void)vsnprintf(c->message, sizeof(c->message), format, ap);
        va_end(ap);
        c->message_bad = bad;
}

struct hits *console_hits(struct console *c)
{
        return c->printing ? NULL : &c->hits;
}

void console_table(struct console *c, struct canvas *canvas, struct area area, struct table *t)
{
        table_draw(canvas, area, t, &c->scene, console_hits(c), c->table == t && !c->printing);
}
