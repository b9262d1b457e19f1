/* SPDX-License-Identifier: BSD-3-Clause */
/* views/overview.c - one target on one screen. */
#include "client/console/overview/overview.h"
#include "client/console/views/views.h"
#include "client/console/draw/keys.h"

static void draw(struct console *c, struct canvas *canvas, struct area area)
{
        if (!c->printing) { /* its first line says what the frame says: the frame is drawn over it */
                area.row -= FRAME_TOP;
                area.height += FRAME_TOP;
        }
        draw_overview(canvas, area, &c->scene, c->scene.target);
}

static int rows(struct console *c, int width)
{
        return overview_rows(&c->scene, c->scene.target, width);
}

static bool key(struct console *c, int k)
{
        switch (k) {
        case SCREEN_DOWN:
                console_step_target(c, 1);
                return true;
        case SCREEN_UP:
                console_step_target(c, -1);
                return true;
        case SCREEN_TAB:
        case SCREEN_ENTER:
                console_show(c, &view_targets_list);
                return true;
        default:
                return false;
        }
}

/* clang-format off */
static const struct console_key keys[] = {
        { "↑ ↓", "target" }, { "enter", "all targets" }, { NULL, NULL },
};
/* clang-format on */

const struct console_view view_overview = {
        .name = "overview",
        .title = "Overview",
        .brief = "Over",
        .letter = 'o',
        .about = "Everything about one target in short: memory, collections, the largest bands, the newest notes, and "
                 "whether the stream can be trusted.",
        .keys = keys,
        .draw = draw,
        .rows = rows,
        .key = key,
};
