/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mouse.c - what clicks do.
 *
 * DESIGN: while drawing, everything that can be clicked leaves its area in a
 * list; a click looks it up from the end, for what was drawn last is on top.
 */
#include "client/console/console.h"
#include "client/console/screen.h"

void console_hit(struct console *c, struct area area, struct hit hit)
{
        if (c->printing || c->n_hits == HITS_MAX)
                return;
        hit.area = area;
        c->hits[c->n_hits++] = hit;
}

static const struct hit *hit_at(const struct console *c, int row, int column)
{
        for (size_t i = c->n_hits; i > 0; i--) {
                const struct area *a = &c->hits[i - 1].area;

                if (row >= a->row && row < a->row + a->height && column >= a->column && column < a->column + a->width)
                        return &c->hits[i - 1];
        }
        return NULL;
}

static void click_row(struct console *c, const struct hit *hit, bool twice)
{
        c->table = hit->table;
        if (hit->index < hit->table->n)
                table_select(hit->table, hit->index);
        if (twice)
                console_key(c, SCREEN_ENTER);
}

static void click_time(struct console *c, const struct hit *hit, int column)
{
        double share = ((double)(column - hit->area.column) + 0.5) / (double)hit->area.width;

        c->cursor_ns = hit->from_ns + (uint64_t)(share * (double)(hit->to_ns - hit->from_ns));
        c->has_cursor = true;
}

void console_click(struct console *c, int row, int column, bool twice)
{
        const struct hit *hit = hit_at(c, row, column);

        c->message[0] = '\0';
        if (!hit)
                return;
        if (hit->what == HIT_TAB)
                console_show(c, console_views[hit->index]);
        else if (hit->what == HIT_COLUMN)
                table_sort(hit->table, hit->index);
        else if (hit->what == HIT_ROW)
                click_row(c, hit, twice);
        else if (hit->what == HIT_TIME)
                click_time(c, hit, column);
}

void console_wheel(struct console *c, int by)
{
        for (int i = 0; i < 3; i++)
                console_key(c, by > 0 ? SCREEN_DOWN : SCREEN_UP);
}
