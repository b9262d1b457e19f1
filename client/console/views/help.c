/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * views/help.c - explains every key and every number of the previous view.
 *
 * DESIGN: nothing is written twice: keys come from the view, numbers from its
 * figures and columns.
 */
#include <string.h>

#include "client/console/views/views.h"
#include "client/console/draw/keys.h"
#include "proto/base/utf8.h"

enum { TERM_LEAST = 16, LINE = 1024 };

/* Draws lines, of which those before `first` are above the area. */
struct pen {
        struct canvas *canvas;
        struct area area;
        int row;
        int skip; /* lines still to be left out */
        int term; /* columns of the terms: the longest of the view in full */
};

static void write_line(struct pen *p, enum tint tint, const char *term, const char *text, size_t n)
{
        char part[LINE];

        if (p->skip-- > 0)
                return;
        p->skip = 0;
        (void)snprintf(part, sizeof(part), "%.*s", (int)n, text);
        (void)canvas_put(p->canvas, p->area, p->row, 1, term && text[0] ? p->term - 2 : p->area.width - 2, tint,
                         term ? term : "");
        (void)canvas_put(p->canvas, p->area, p->row, 1 + p->term, p->area.width - p->term - 2, TINT_PLAIN, part);
        p->row++;
}

/* A term and what it means, wrapped. */
static void write_entry(struct pen *p, enum tint tint, const char *term, const char *text)
{
        int width = p->area.width - p->term - 2;

        do {
                size_t n = text_wrap(text, width > 8 ? width : 8);

                write_line(p, tint, term, text, n);
                text += n;
                term = NULL;
        } while (*text);
}

static void write_heading(struct pen *p, const char *text)
{
        write_line(p, TINT_PLAIN, "", "", 0);
        write_line(p, TINT_STRONG, text, "", 0);
}

static void write_columns(struct pen *p, const struct column *list, size_t n)
{
        char help[LINE];

        for (size_t i = 0; i < n; i++) {
                if (*column_help(help, sizeof(help), &list[i]))
                        write_entry(p, TINT_STRONG, list[i].title, help);
        }
}

static const struct console_key common[] = {
        { "0 - 9, F1 - F9", "the views, in the order of the tabs; each also by the letter below" },
        { ". ,", "next and previous target" },
        { "space", "freeze the screen; again: continue, with what came meanwhile" },
        { "left, right", "move the time cursor of charts; a click sets it; esc removes it" },
        { "c", "the other clock: time of day, or time since the program started" },
        { "+ -", "longer and shorter window of charts and histories" },
        { "/ n N", "search; next and previous match" },
        { "f", "show only rows with this text, or that match this /regular expression/" },
        { "< > r", "sort by the previous or next column; reverse. A click on a heading does both" },
        { "up, down", "move; also page up, page down, home, end, j, k and the wheel" },
        { "tab", "the other table of a view with two" },
        { "M", "mark this moment, or that of the cursor: Bands and Memory then show what was gained since mark" },
        { "C", "census now, by the agent in the program; of one with eventlog-socket a choice of its commands" },
        { "P", "profile now: which functions use CPU time, by samples of 10 s; again: end it before" },
        { "A", "profile now, likewise: which functions allocate" },
        { "W", "what threads wait for now, and where: read from the program's memory, which stops it for some ms" },
        { "s", "save the table as CSV; the screen shows the file name" },
        { "esc", "back: from the help, from one band, from one of several targets to their list" },
        { "?", "this page, and back" },
        { "q", "quit; on this page: back" },
        { NULL, NULL },
};

static void write_keys(struct pen *p, const struct console_key *list)
{
        for (; list && list->key; list++)
                write_entry(p, TINT_KEY, list->key, list->meaning);
}

static void write_all(struct pen *p, const struct console_view *v)
{
        write_line(p, TINT_STRONG, v->title, "", 0);
        const char *text = v->about;
        int width = p->area.width - 2;

        while (*text) {
                char part[LINE];
                size_t n = text_wrap(text, width > 8 ? width : 8);

                (void)snprintf(part, sizeof(part), "%.*s", (int)n, text);
                write_line(p, TINT_PLAIN, part, "", 0);
                text += n;
        }
        if (v->keys) {
                write_heading(p, "Keys of this view");
                write_keys(p, v->keys);
        }
        write_heading(p, "Numbers");
        for (const struct console_key *w = v->words; w && w->key; w++) /* first: all of them are on the screen */
                write_entry(p, TINT_STRONG, w->key, w->meaning);
        write_columns(p, v->figures, v->n_figures);
        for (size_t i = 0; i < VIEW_TABLES && v->tables[i]; i++)
                write_columns(p, v->tables[i]->columns, v->tables[i]->n_columns);
        write_entry(p, TINT_STRONG, UNKNOWN_TEXT, "unknown, which is never the same as 0");
        write_heading(p, "Keys everywhere");
        write_keys(p, common);
        write_heading(p, "Views");
        for (size_t i = 0; console_views[i]; i++) {
                char letter[2] = { (char)console_views[i]->letter, '\0' };

                if (letter[0])
                        write_entry(p, TINT_KEY, letter, console_views[i]->title);
        }
}

static int wider_column(int columns, const char *term)
{
        int own = text_columns(term) + 2;

        return own > columns ? own : columns;
}

/* Written twice: the first time off the screen, to count the lines. What does not fit leaves a row for "more". */
static void draw_view(struct console *c, struct canvas *canvas, struct area area)
{
        const struct console_view *v = c->under ? c->under->class : &view_overview;
        int columns = TERM_LEAST;

        for (size_t i = 0; i < v->n_figures; i++)
                columns = wider_column(columns, v->figures[i].title);
        for (size_t i = 0; i < VIEW_TABLES && v->tables[i]; i++)
                for (size_t n = 0; n < v->tables[i]->n_columns; n++)
                        columns = wider_column(columns, v->tables[i]->columns[n].title);
        for (const struct console_key *w = v->words; w && w->key; w++)
                columns = wider_column(columns, w->key);
        const int term = columns < area.width / 2 ? columns : area.width / 2;
        struct pen count = { canvas, { 0, 0, 0, area.width }, 0, 0, term };
        struct pen p = { canvas, area, 0, 0, term };
        size_t most;

        write_all(&count, v);
        most = count.row > area.height ? (size_t)(count.row - area.height) : 0;
        if (c->help_first > most)
                c->help_first = most;
        p.skip = (int)c->help_first;
        if (c->help_first < most)
                p.area.height--;
        write_all(&p, v);
        if (c->help_first < most)
                (void)canvas_put_right(canvas, area, area.height - 1, 0, area.width - 1, TINT_KEY, " more ↓ ");
}

static bool scroll_by(struct console *c, long by)
{
        c->help_first = by < 0 && (size_t)-by > c->help_first ? 0 : c->help_first + (size_t)by;
        return true;
}

static bool handle_key(struct console *c, int k)
{
        switch (k) {
        case SCREEN_UP:
        case 'k':
                return scroll_by(c, -1);
        case SCREEN_DOWN:
        case 'j':
                return scroll_by(c, 1);
        case SCREEN_PAGE_UP:
                return scroll_by(c, -10);
        case SCREEN_PAGE_DOWN:
                return scroll_by(c, 10);
        case SCREEN_HOME:
                return scroll_by(c, -(long)c->help_first);
        case SCREEN_ENTER:
                console_back(c);
                return true;
        default:
                return false;
        }
}

const struct console_view view_help = {
        .name = "help",
        .title = "Help",
        .brief = "Help",
        .about = "Every key and every number of the previous view.",
        .draw = draw_view,
        .key = handle_key,
};
