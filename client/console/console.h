/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * console.h - the interactive console. It knows neither terminal nor feed: keys
 * go in, a canvas comes out, so that tests can use it as people do. loop.c
 * joins it to both. What it shows is in scene/shown.h.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "client/console/draw/canvas.h"
#include "client/console/draw/keys.h"
#include "client/world/feed/feed.h"
#include "client/world/state/world.h"
#include "proto/wire/program_command.h"
#include "client/console/views/views.h"

/* NULL when out of memory. `world` is borrowed; the console only adds what daemons remember. */
struct console *console_new(struct world *world, bool live);
extern const struct history_options console_past; /* how much of the past the console needs */
void console_destroy(struct console **c);

/* Before the world applies an update; before it forgets a daemon. */
void console_watch(struct console *c, size_t daemon, const Hw__Update *update);
void console_forget(struct console *c, size_t daemon);

/* Determines what this frame shows: the target, the tables' rows. Before drawing, keys and printing. */
void console_prepare(struct console *c, uint64_t now_wall_ns);

/* The whole screen; console_prepare first. */
void console_draw(struct console *c, struct canvas *canvas);

/* What users do. Keys as in draw/keys.h. */
void console_key(struct console *c, int key);
void console_click(struct console *c, int row, int column, bool twice);
void console_wheel(struct console *c, int by);

/* Name of the window: "10 min". */
const char *console_window(const struct console *c);

/* frame.c: what surrounds every view. */
void draw_frame(struct console *c, struct canvas *canvas);

/* entry.c: the line in which a search, a filter or a command is typed. */
void entry_begin(struct console *c, enum entry what);
void entry_key(struct console *c, int key);

/* command.c: what `C` does, and a command that was typed. Poll a few times a second; true: there is news to show. */
void command_key(struct console *c);
void command_begin(struct console *c, const struct program_command *command);
bool command_poll(struct console *c);

/* inspections.c: what `P`, `A` and `W` do. Poll as above. */
void console_profile_key(struct console *c, int key);
void console_threads_key(struct console *c);
bool console_inspections_poll(struct console *c);
void console_inspections_prepare(struct console *c); /* whether the scene has them */
void console_inspections_done(struct console *c);

/* save.c: what `s` does. */
void console_save(struct console *c);

struct plain_options {
        const char *view;           /* name; NULL: the overview, or the list of targets when it is brief */
        const char *const *targets; /* names; none: all */
        size_t n_targets;
        bool brief; /* with several targets and no view given, the list is enough */
        bool json;
        int width;
        bool ascii;
};

/* plain.c: prints one report. Returns 0 or -errno. */
int plain_report(FILE *to, struct console *c, const struct plain_options *o, uint64_t now_wall_ns);

/*
 * loop.c: runs on the terminal until the user quits; returns the exit status. Begins with the view of
 * that name (which must exist) and the target of that name; either may be NULL.
 * Borrows feed and world.
 */
int console_run(struct feed *feed, struct world *world, const char *view_name, const char *target,
                uint64_t interval_ns);

/*
 * screen.c: the terminal: the only part of the console that knows curses.
 *
 * While it is open, what is written to standard error (also by the daemon that
 * reads files) is held back and printed after screen_close, so that it does not
 * corrupt the screen.
 */

/* Whether standard input and output are a terminal that can be drawn on. */
bool screen_possible(void);

/* Whether the locale's characters are UTF-8. */
bool screen_has_utf8(void);

/* Holds standard error back if it is the terminal; and releases it. */
void screen_hold_messages(void);
void screen_release_messages(void);

/* 0 or -errno. Grabs the mouse, too: with shift held, terminals still select text. */
int screen_open(void);
void screen_close(void);

void screen_size(int *ret_height, int *ret_width);

/* Whether tints are shown as colours: the terminal has them, and NO_COLOR is not set. After screen_open. */
bool screen_has_colours(void);

/* Shows a canvas; only cells that changed are sent. */
void screen_show(const struct canvas *c);

/* The next key, or SCREEN_NONE; does not wait. */
int screen_key(void);

/* Where the last click was. */
void screen_mouse(int *ret_row, int *ret_column);
