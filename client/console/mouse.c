/* SPDX-License-Identifier: BSD-3-Clause */
/* mouse.c - what clicks do. */
#include "client/console/console.h"
#include "client/console/draw/keys.h"

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

        c->cursor_ns = hit->range.from_ns + (uint64_t)(share * (double)(hit->range.to_ns - hit->range.from_ns));
        c->has_cursor = true;
}

void console_click(struct console *c, int row, int column, bool twice)
{
        const struct hit *hit = hits_at(&c->hits, row, column);

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
