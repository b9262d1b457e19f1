/* SPDX-License-Identifier: BSD-3-Clause */
/* table_keys.c - what keys do to a table: move, choose the column to sort by, open. */
#include "client/console/draw/keys.h"
#include "client/console/table/table.h"

static bool move(struct table *t, long by)
{
        long to = (long)t->at + by;

        if (t->n)
                table_select(t, to < 0 ? 0 : (size_t)to < t->n ? (size_t)to : t->n - 1);
        return true;
}

/* By a screenful: the screen scrolls as far as the selection moves. */
static bool move_page(struct table *t, int by)
{
        size_t page = t->page > 0 ? (size_t)t->page : 1, first = t->first;

        (void)move(t, by * (long)page);
        t->first = by > 0 ? first + page : first > page ? first - page : 0;
        table_settle(t);
        return true;
}

/* Sorts by the next or previous column. */
static bool step_sort(struct table *t, const struct scene *s, int by)
{
        const size_t n = t->class->n_columns;
        size_t to = t->sort < n ? t->sort : by > 0 ? n - 1 : 0;

        for (size_t steps = 0; steps < n; steps++) {
                to = (to + n + (size_t)by) % n;
                if (column_applies(&t->class->columns[to], s))
                        break;
        }
        table_sort(t, to);
        return true;
}

static bool open_row(struct table *t, struct console *c)
{
        const void *data = table_selected(t);

        if (!t->class->open || !data)
                return false;
        t->class->open(c, data);
        return true;
}

bool table_key(struct table *t, const struct scene *s, struct console *c, int key)
{
        switch (key) {
        case SCREEN_UP:
        case 'k':
                return move(t, -1);
        case SCREEN_DOWN:
        case 'j':
                return move(t, 1);
        case SCREEN_PAGE_UP:
                return move_page(t, -1);
        case SCREEN_PAGE_DOWN:
                return move_page(t, 1);
        case SCREEN_HOME:
                return move(t, -(long)t->at);
        case SCREEN_END:
                return move(t, (long)t->n);
        case '<':
                return step_sort(t, s, -1);
        case '>':
                return step_sort(t, s, 1);
        case 'r':
                t->reversed = !t->reversed;
                return true;
        case SCREEN_ENTER:
                return open_row(t, c);
        default:
                return false;
        }
}
