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

/* Whether all of these texts, ended by NULL, are there, or none of them. */
static inline bool all_are(bool there, const char *in, const char *const *texts)
{
        for (; *texts; texts++)
                if ((strstr(in, *texts) != NULL) != there) {
                        print_message("%s there: '%s'\n%s\n", there ? "not" : "is", *texts, in);
                        return false;
                }
        return true;
}

static inline bool screen_has(struct console *c, int height, int width, bool there, const char *const *texts)
{
        char *all = drawn(c, height, width, false);
        const bool good = all_are(there, all, texts);

        free(all);
        return good;
}

#define ALL_OF(...)                     ((const char *const[]){ __VA_ARGS__, NULL })
#define shows(c, ...)                   screen_has(c, 40, 140, true, ALL_OF(__VA_ARGS__))
#define hides(c, ...)                   screen_has(c, 40, 140, false, ALL_OF(__VA_ARGS__))
#define shows_in(c, height, width, ...) screen_has(c, height, width, true, ALL_OF(__VA_ARGS__))
#define hides_in(c, height, width, ...) screen_has(c, height, width, false, ALL_OF(__VA_ARGS__))

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

static inline bool row_has(struct console *c, const char *of, const char *const *texts)
{
        char *row = row_with(c, of);
        const bool good = all_are(true, row, texts);

        free(row);
        return good;
}

static inline void press(struct console *c, int key)
{
        console_prepare(c, NOW_NS);
        console_key(c, key);
}

static inline void press_times(struct console *c, int n, int key)
{
        while (n-- > 0)
                press(c, key);
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
