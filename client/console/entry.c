/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * entry.c - typing a search, a filter or a command. The first two work while one
 * types: the search moves to the first row that has the text, the filter hides
 * rows. Escape clears the search or the filter. Enter does not accept an invalid
 * expression: the rows shown would be those of another filter. A command is sent
 * by Enter; up and down offer all that there are.
 */
#include <string.h>

#include "client/console/console.h"
#include "client/console/draw/keys.h"
#include "proto/base/utf8.h"
#include "proto/wire/program_command.h"

void entry_begin(struct console *c, enum entry what)
{
        if (what == ENTRY_COMMAND) {
                c->entry = what;
                (void)snprintf(c->typed, sizeof(c->typed), "%s", program_commands[0].text);
                return;
        }
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
        table_fill(c->table, c, &c->scene);
        return true;
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

static void edit_typed(struct console *c, int key)
{
        if (key == SCREEN_ESCAPE)
                c->typed[0] = '\0';
        else if (key == SCREEN_BACKSPACE) {
                size_t n = strlen(c->typed);

                if (n > 0)
                        c->typed[utf8_cut(c->typed, n - 1)] = '\0';
        } else if (key >= ' ' && key != 0x7f && key < SCREEN_UP)
                append(c->typed, sizeof(c->typed), (uint32_t)key);
}

static void command_entry_key(struct console *c, int key)
{
        const struct program_command *typed = program_command_find(c->typed);

        if (key == SCREEN_DOWN || key == SCREEN_UP) {
                /* The next or previous command after the first that begins with what is typed. */
                const struct program_command *found = program_command_find(c->typed);
                size_t i = 0;

                if (found)
                        i = ((size_t)(found - program_commands) + (key == SCREEN_DOWN ? 1 : n_program_commands - 1)) %
                            n_program_commands;
                else
                        while (i + 1 < n_program_commands &&
                               strncmp(program_commands[i].text, c->typed, strlen(c->typed)) != 0)
                                i++;
                (void)snprintf(c->typed, sizeof(c->typed), "%s", program_commands[i].text);
                return;
        }
        edit_typed(c, key);
        if (key == SCREEN_ENTER && !typed) {
                console_notify(c, true, "no such command; up and down show all");
        } else if (key == SCREEN_ENTER || key == SCREEN_ESCAPE) {
                c->entry = ENTRY_NONE;
                if (key == SCREEN_ENTER)
                        command_begin(c, typed);
        }
}

void entry_key(struct console *c, int key)
{
        if (c->entry == ENTRY_COMMAND) {
                command_entry_key(c, key);
                return;
        }
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
        edit_typed(c, key);
        (void)apply(c);
        if (key == SCREEN_ESCAPE)
                c->entry = ENTRY_NONE;
}
