/* SPDX-License-Identifier: BSD-3-Clause */
/* views/overview.c - one target on one screen. */
#include "client/console/overview/sections.h"
#include "client/console/views/views.h"
#include "client/console/draw/keys.h"

static void draw(struct console *c, struct canvas *canvas, struct area area)
{
        if (!c->printing) { /* its first line repeats what the frame says, so the frame is drawn over it */
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

/* What its sections show besides the figures. */
static const struct console_key words[] = {
        { "wrong",
          "how it ended, if it did; then the verdict, with its rate and interval, or when there can be one; alerts" },
        { "since", "when growth began, and the marker or message near it; otherwise since when it has been steady" },
        { "grows", "the band that grows most: size and rate, module and source; otherwise the largest" },
        { "where", "in live data, elsewhere on the heap, in foreign memory, or nowhere; and how much each holds now" },
        { "why", "what keeps it alive, as an alert has found out, or the command that finds it out; while it grows" },
        { "until", "when the lowest known limit is reached if it goes on, with the interval; which limit that is" },
        { "next", "what to do: the most urgent step that the evidence supports" },
        { "but", "reasons to trust all this less: damage, a late stream, an idle program" },
        { "limit in", "as until: by the rate" },
        { "leak: +", "the verdict in short: rate, onset (the note near it), what grows" },
        { "lost, lag", "bytes of the log that were damaged and skipped; how far the stream is behind the clock" },
        { "alloc", "bytes allocated per second of the last 10 s" },
        { "live, heap, RSS",
          "live data after the last major collection; what the runtime holds for it; resident memory" },
        { "of RSS",
          "its six parts: live data; slop and copy reserve; kept by the runtime; given back, which the kernel takes "
          "when it needs memory; files; foreign: malloc, C code, stacks" },
        { "old, max", "age of the live bytes, that is of the last major collection; their maximum so far in this run" },
        { "of -M, cgroup", "how much of that limit is in use" },
        { "in total", "bytes allocated since the run began" },
        { "Collections", "share of the last 10 s and of the run spent in them; below, by generation" },
        { "gen, p50, p99",
          "number of collections; half, and 99 of 100, of their pauses were no longer than this; max, total" },
        { "census", "the newest heap profile sample: its number and age; bands beyond the daemon's limit" },
        { "share, change", "of a band: its share of the census; how much it has grown over the window" },
        { "Notes", "markers (▸) and messages of the program, with their time; the newest at the bottom" },
        { "late", "samples that came too late for their second and are not in the charts" },
        { "read", "bytes of the log that were read" },
        { "▸ (Stream)", "which flag would show more" },
        { NULL, NULL },
};

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
        .about = "One target on one screen: is anything wrong, since when and what the program said then, what grows, "
                 "where, until when, what to do next; below memory, collections, the largest bands, the newest notes, "
                 "and whether the stream can be trusted.",
        .keys = keys,
        .figures = target_columns + 1, /* its name is shown anyway */
        .n_figures = TARGET_COLUMNS - 1,
        .words = words,
        .draw = draw,
        .rows = rows,
        .key = key,
};
