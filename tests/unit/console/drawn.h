/* SPDX-License-Identifier: BSD-3-Clause */
/* drawn.h - a console without a terminal, used like a real one: keys in, the picture as text out. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "client/console/console.h"
#include "proto/base/utf8.h"
#include "tests/unit/console/made_up.h"

#define NOW_NS (1700000000 * SECOND + 100 * SECOND)

/* The whole picture, rows ended by newlines; to free(). */
static inline char *drawn(struct console *c, int height, int width, bool ascii)
{
        struct canvas *canvas = canvas_new(height, width, ascii);
        char *all = calloc((size_t)height, (size_t)width * sizeof(struct screen_cell) + 2);

        assert_non_null(canvas);
        assert_non_null(all);
        console_prepare(c, NOW_NS);
        console_draw(c, canvas);
        for (int row = 0; row < height; row++) {
                char *text = canvas_row_text(canvas, row);

                assert_non_null(text);
                assert_true(text_columns(text) <= width);
                memcpy(all + strlen(all), text, strlen(text) + 1);
                memcpy(all + strlen(all), "\n", 2);
                free(text);
        }
        canvas_destroy(&canvas);
        return all;
}

static inline bool shows(struct console *c, const char *what)
{
        char *all = drawn(c, 40, 140, false);
        bool found = strstr(all, what) != NULL;

        if (!found)
                print_message("not on the screen: '%s'\n%s", what, all);
        free(all);
        return found;
}

static inline bool hides(struct console *c, const char *what)
{
        char *all = drawn(c, 40, 140, false);
        bool found = strstr(all, what) != NULL;

        if (found)
                print_message("on the screen: '%s'\n%s", what, all);
        free(all);
        return !found;
}

/* The first row that has `what`, to free(); fails when there is none. */
static inline char *row_with(struct console *c, const char *what)
{
        char *all = drawn(c, 40, 140, false), *at = strstr(all, what), *begin, *row;

        if (!at)
                print_message("no row with '%s'\n%s", what, all);
        assert_non_null(at);
        begin = at;
        while (begin > all && begin[-1] != '\n')
                begin--;
        *strchr(at, '\n') = '\0';
        row = strdup(begin);
        free(all);
        return row;
}

static inline bool row_shows(struct console *c, const char *of, const char *what)
{
        char *row = row_with(c, of);
        bool found = strstr(row, what) != NULL;

        if (!found)
                print_message("not in the row of '%s': '%s'\n%s\n", of, what, row);
        free(row);
        return found;
}

static inline void press(struct console *c, int key)
{
        console_prepare(c, NOW_NS);
        console_key(c, key);
}

static inline void type(struct console *c, const char *text)
{
        for (; *text; text++)
                press(c, *text);
}

/* Number of the row on the screen that has `what`; -1 when none. */
static inline int place_of(struct console *c, const char *what)
{
        char *all = drawn(c, 40, 140, false), *at = strstr(all, what);
        int row = at ? 0 : -1;

        for (char *p = all; at && p < at; p++)
                row += *p == '\n';
        free(all);
        return row;
}
