/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * entry.c - typing a search or a filter. Both work while one types: the search
 * moves to the first row that has the text, the filter hides rows. Escape
 * clears the search or the filter. Enter does not accept an invalid expression:
 * the rows shown would be those of another filter.
 */
#include <string.h>

#include "client/console/console.h"
#include "client/console/draw/keys.h"
#include "proto/base/utf8.h"

void entry_begin(struct console *c, enum entry what)
{
        if (!c->table || !c->table->searched) {
                console_notify(c, false, "there are no rows to %s in this view",
                               what == ENTRY_SEARCH ? "search" : "filter");
                return;
        }
        c->entry = what;
        (void)snprintf(c->typed, sizeof(c->typed), "%s", what == ENTRY_FILTER ? c->table->filter : "");
}

/* False: what is typed is not a valid expression. */
static bool apply(struct console *c)
{
        struct error refused;

        if (c->entry == ENTRY_SEARCH) {
                (void)snprintf(c->table->search, sizeof(c->table->search), "%s", c->typed);
                if (c->typed[0] && !table_find(c->table, 1, true))
                        console_notify(c, true, "not found");
                return true;
        }
        if (!table_set_filter(c->table, c->typed, &refused)) {
                console_notify(c, true, "%s", refused.text);
                return false;
        }
        console_fill(c, c->table);
        return true;
}

static void rub_out(char *text)
{
        size_t n = strlen(text);

        if (n > 0)
                text[utf8_cut(text, n - 1)] = '\0';
}

/* Appends a character as UTF-8 when there is room. */
static void append(char *text, size_t size, uint32_t code)
{
        size_t n = strlen(text);
        int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0 };

        if (n + (size_t)more + 2 > size)
                return;
        text[n++] = (char)(lead[more] | code >> (6 * more));
        while (more-- > 0)
                text[n++] = (char)(0x80 | (code >> (6 * more) & 0x3f));
        text[n] = '\0';
}

void entry_key(struct console *c, int key)
{
        if (key == SCREEN_ENTER) {
                if (apply(c))
                        c->entry = ENTRY_NONE;
                return;
        }
        if (key == SCREEN_DOWN || key == SCREEN_UP) {
                (void)(c->entry == ENTRY_SEARCH ? table_find(c->table, key == SCREEN_DOWN ? 1 : -1, false)
                                                : table_key(c->table, &c->scene, c, key));
                return;
        }
        if (key == SCREEN_ESCAPE)
                c->typed[0] = '\0';
        else if (key == SCREEN_BACKSPACE)
                rub_out(c->typed);
        else if (key >= ' ' && key != 0x7f && key < SCREEN_UP)
                append(c->typed, sizeof(c->typed), (uint32_t)key);
        (void)apply(c);
        if (key == SCREEN_ESCAPE)
                c->entry = ENTRY_NONE;
}
