/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * console.h - the interactive screen: a loop and a table of views.
 *
 * A view is a table of functions; adding one is adding a file and a line in
 * console.c. Views draw on a canvas and know no terminal.
 */
#ifndef HW_CLIENT_CONSOLE_H
#define HW_CLIENT_CONSOLE_H

#include "client/console/scene.h"
#include "client/feed.h"

struct console;

struct console_view {
        const char *name;
        const char *keys;       /* for the bottom line */
        void (*draw)(struct console *c, struct canvas *canvas, struct area area);
        bool (*key)(struct console *c, int key); /* whether the key was its own */
};

extern const struct console_view view_overview;         /* one target */
extern const struct console_view view_list;             /* all targets */
extern const struct console_view view_help;

struct console {
        struct feed *feed;
        struct view *view;
        struct scene scene;
        const struct console_view *shown, *under; /* under: where help returns to */
        char target[VIEW_NAME_MAX + 1]; /* the chosen target: by name, for the list moves */
        size_t daemon;                  /* and its daemon */
        size_t first;                   /* first row of the list */
        int page;                       /* rows of the list */
        bool chosen;                    /* a target was asked for or opened: do not fall back to the list */
        bool frozen, ended, quit, dirty;
        uint64_t interval_ns;           /* least time between pictures */
        char trouble[512];              /* the feed failed: shown until the end */
};

/* The chosen target, the first one when it is gone; NULL when there are none. `ret_index`: its place in the list. */
const struct view_target *console_target(const struct console *c, size_t *ret_index);
void console_choose(struct console *c, size_t index);

/* Runs until the user leaves. Returns the exit status. Takes neither feed nor view. */
int console_run(struct feed *feed, struct view *view, const char *target, uint64_t interval_ns);

#endif
