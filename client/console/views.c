/* SPDX-License-Identifier: BSD-3-Clause */
/* views.c - the views of the console: what each draws and which keys are its own. */
#include "client/console/console.h"

#include "client/console/screen.h"

/* ------------------------------------------------------------- one target */

static void overview_draw(struct console *c, struct canvas *canvas, struct area area)
{
        size_t index;
        const struct view_target *t = console_target(c, &index);

        if (t)
                draw_overview(canvas, area, &c->scene, t);
}

static bool step_target(struct console *c, int by)
{
        size_t index, n = view_targets(c->view);

        if (!n)
                return true;
        (void)console_target(c, &index);
        console_choose(c, (index + n + (size_t)by) % n);
        c->chosen = true;
        return true;
}

static bool overview_key(struct console *c, int key)
{
        switch (key) {
        case SCREEN_TAB:
        case SCREEN_ENTER:
        case SCREEN_ESCAPE:
                c->shown = &view_list;
                return true;
        case SCREEN_DOWN:
                return step_target(c, 1);
        case SCREEN_UP:
                return step_target(c, -1);
        default:
                return false;
        }
}

const struct console_view view_overview = {
        .name = "overview",
        .keys = "q quit  ? help  space freeze  tab targets",
        .draw = overview_draw,
        .key = overview_key,
};

/* ------------------------------------------------------------- all targets */

static void list_draw(struct console *c, struct canvas *canvas, struct area area)
{
        size_t index;

        (void)console_target(c, &index);
        c->page = area.height > 1 ? area.height - 1 : 1;
        if (index < c->first)
                c->first = index;
        if (index >= c->first + (size_t)c->page)
                c->first = index - (size_t)c->page + 1;
        draw_targets(canvas, area, &c->scene, c->first, index);
}

static bool move(struct console *c, int rows)
{
        size_t index, n = view_targets(c->view);
        long to;

        (void)console_target(c, &index);
        to = (long)index + rows;
        console_choose(c, to < 0 ? 0 : (size_t)to < n ? (size_t)to : n ? n - 1 : 0);
        return true;
}

static bool list_key(struct console *c, int key)
{
        switch (key) {
        case SCREEN_UP:
        case 'k':
                return move(c, -1);
        case SCREEN_DOWN:
        case 'j':
                return move(c, 1);
        case SCREEN_PAGE_UP:
                return move(c, -c->page);
        case SCREEN_PAGE_DOWN:
                return move(c, c->page);
        case SCREEN_HOME:
                return move(c, -VIEW_TARGETS);
        case SCREEN_END:
                return move(c, VIEW_TARGETS);
        case SCREEN_ENTER:
        case SCREEN_TAB:
                (void)move(c, 0);
                c->chosen = true;
                c->shown = &view_overview;
                return true;
        default:
                return false;
        }
}

const struct console_view view_list = {
        .name = "targets",
        .keys = "q quit  ? help  space freeze  arrows choose  enter open",
        .draw = list_draw,
        .key = list_key,
};

/* -------------------------------------------------------------------- help */

static void help_draw(struct console *c, struct canvas *canvas, struct area area)
{
        static const char *const lines[] = {
                "q             leave",
                "space         freeze the picture; again: go on (nothing is lost meanwhile)",
                "tab, enter    from the list into a target, and back",
                "up, down      choose a target",
                "?             this page, and back",
                "",
                "live          bytes that the last major collection found in use, and how old that is",
                "heap          memory that the runtime holds; RSS: what the system says of the process",
                "alloc         bytes allocated per second over the last 10 s",
                "pause p99     99 of 100 collections were not longer",
                "change        of a band, over the censuses that its history shows",
                "late          samples that came too late for their second; lag: how far the stream is behind",
                "–             not known: never the same as 0",
        };

        (void)c;
        (void)canvas_put(canvas, area, 0, 1, area.width - 2, TINT_STRONG, "heapwatch top");
        for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
                (void)canvas_put(canvas, area, (int)i + 2, 1, area.width - 2, TINT_PLAIN, lines[i]);
}

static bool help_key(struct console *c, int key)
{
        if (key != SCREEN_ESCAPE && key != SCREEN_ENTER)
                return false;
        c->shown = c->under;
        return true;
}

const struct console_view view_help = {
        .name = "help",
        .keys = "q quit  ? back",
        .draw = help_draw,
        .key = help_key,
};
