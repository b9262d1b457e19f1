/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * screen.h - the terminal: the only part of the console that knows curses.
 *
 * While it is open, what is written to standard error (also by the daemon that
 * reads files) is held back and printed after screen_close, so that it does not
 * corrupt the screen.
 */
#ifndef HW_CLIENT_CONSOLE_SCREEN_H
#define HW_CLIENT_CONSOLE_SCREEN_H

#include <stdbool.h>

#include "client/console/draw/canvas.h"
#include "client/console/draw/keys.h"

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

#endif
