/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * console.h - the interactive picture: a table of views, and what all of them
 * share. It knows no terminal and no feed: keys go in, a canvas comes out, so
 * that tests can use it as people do. loop.c joins it to both.
 *
 * A view is a console_view: a file in views/ with one constant, and a line in
 * views.c. One that only has a table needs no function at all: its rows are
 * drawn, sorted, searched, explained and saved by table*.c.
 *
 * Every number on the screen stands in a struct column, as part of a table or
 * of the view's figures: so it is explained by `?`, and is in CSV and JSON.
 */
#ifndef HW_CLIENT_CONSOLE_CONSOLE_H
#define HW_CLIENT_CONSOLE_CONSOLE_H

#include "client/console/draw/chart.h"
#include "client/console/journal.h"
#include "client/console/past.h"
#include "client/console/recall.h"
#include "client/console/scene.h"
#include "client/console/table/table.h"

enum { VIEWS_MAX = 12, WORLD_TABLES = 3, HITS_MAX = 1024 };

struct console;

struct console_key {
        const char *key, *meaning;
};

struct console_view {
        const char *name;                               /* for --view and file names: "memory" */
        const char *title;                              /* "Memory" */
        const char *brief;                              /* where there is little room: "Mem" */
        int letter;                                     /* key that shows it; 0: not among the tabs */
        const char *about;                              /* what it answers, for the help */
        const struct console_key *keys;                 /* its own; ends with a NULL key; may be NULL */
        const struct table_class *tables[WORLD_TABLES]; /* the first is what keys move in */
        const struct column *figures;                   /* numbers outside tables; their row is the target */
        size_t n_figures;
        size_t state_size;               /* of what it remembers; zeroed at first; 0: nothing */
        void (*state_done)(void *state); /* frees what is inside; may be NULL */
        /* NULL: the first table on the whole area. The tables are filled before. */
        void (*draw)(struct console *c, struct canvas *canvas, struct area area);
        /* Rows that a picture of everything wants; NULL: the first table as a whole. */
        int (*rows)(struct console *c, int width);
        bool (*key)(struct console *c, int key); /* whether the key was its own; NULL: none but the table's */
        bool (*chart)(struct console *c, struct chart *chart); /* fills the chart that `s` saves; NULL: none */
        bool all_targets;                                      /* it is about all targets, not the chosen one */
};

/* views.c: all of them in the order of the tabs, NULL at the end; help and one band are not among them. */
extern const struct console_view *const console_views[];
extern const struct console_view view_overview, view_targets_list, view_memory, view_bands, view_gc, view_profile,
        view_threads, view_notes, view_alerts, view_band, view_help;

/* What a click means: filled while drawing. */
enum hit_what { HIT_NONE, HIT_TAB, HIT_COLUMN, HIT_ROW, HIT_TIME };
struct hit {
        enum hit_what what;
        size_t index; /* of the tab, column or row */
        struct table *table;
        struct area area;
        uint64_t from_ns, to_ns; /* HIT_TIME: what the area spans */
};

enum entry { ENTRY_NONE, ENTRY_SEARCH, ENTRY_FILTER };

/* A view as it is on this screen. */
struct shown_view {
        const struct console_view *class;
        struct table tables[WORLD_TABLES];
        size_t n_tables;
        void *state;
};

struct console {
        struct scene scene;       /* what is drawn: its view is the live one or the frozen copy */
        const struct world *live; /* goes on while the picture is frozen */
        struct world *frozen;     /* owned copy, or NULL */
        struct shown_view views[VIEWS_MAX];
        size_t n_views;
        struct shown_view *shown, *under; /* under: where help and one band return to */
        struct table *table;              /* that keys move in; NULL: none */
        char target[WORLD_NAME_MAX + 1];  /* the chosen target: by name, for the list moves */
        size_t daemon;                    /* and its daemon; SIZE_MAX: any */
        bool chosen;                      /* a target was asked for or opened */
        uint32_t band;                    /* the one that is open, by id */
        bool has_cursor;
        uint64_t cursor_ns; /* event time */
        uint64_t step_ns;   /* what one key moves the cursor by: a column of the chart drawn last */
        size_t window;      /* index of scene.window_ns */
        enum entry entry;   /* what is being typed */
        char typed[TABLE_TEXT];
        char message[256]; /* until the next key */
        bool message_bad;
        size_t help_first;
        struct journal journal; /* filled by console_watch */
        struct recall *recall;  /* NULL: nothing is asked (files) */
        struct hit hits[HITS_MAX];
        size_t n_hits;
        bool printing; /* a report: nothing is selected, nothing can be clicked */
        bool ended, quit;
        char trouble[512]; /* the feed failed: shown until the end */
};

/* NULL when out of memory. `view` is borrowed, and read only. */
struct console *console_new(const struct world *view, bool live);
void console_destroy(struct console **c);

/* An update that the view is about to take in, and a daemon that the view is about to forget. */
void console_watch(struct console *c, size_t daemon, const Hw__Update *update);
void console_forget(struct console *c, size_t daemon);

/* The view of a name, or NULL. */
struct shown_view *console_view_of(struct console *c, const char *name);
void console_show(struct console *c, const struct console_view *class);
void *console_state(const struct console *c); /* of the view that is shown */

/* Settles what this picture shows: the target, the tables' rows. Before drawing, keys and printing. */
void console_prepare(struct console *c, uint64_t now_wall_ns);

/* The whole picture; console_prepare first. */
void console_draw(struct console *c, struct canvas *canvas);

/* What users do. Keys as in screen.h. */
void console_key(struct console *c, int key);
void console_click(struct console *c, int row, int column, bool twice);
void console_wheel(struct console *c, int by);

/* The chosen target becomes the index-th. */
void console_choose(struct console *c, const struct world_target *t);
void console_step_target(struct console *c, int by);

/* Name of the window: "10 min". */
const char *console_window(const struct console *c);

/* While drawing: this area can be clicked. */
void console_hit(struct console *c, struct area area, struct hit hit);

/* Shown in the line above the tabs until the next key. */
void console_say(struct console *c, bool bad, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* frame.c: the first line, and the last two. */
enum { FRAME_TOP = 1, FRAME_BOTTOM = 2 };
void draw_frame(struct console *c, struct canvas *canvas);

/* entry.c: the line in which a search or filter is typed. */
void entry_begin(struct console *c, enum entry what);
void entry_key(struct console *c, int key);

/* figures.c: label and value of each figure, in as many columns as there is room for. Returns the rows used. */
int draw_figures(struct canvas *canvas, struct area area, int row, const struct scene *s, const struct column *figures,
                 size_t n);
int figures_rows(const struct column *figures, size_t n, int width);

/* timeline.c: a chart of the window with cursor and notes; add lines, then draw it (and have it clicked). */
void timeline_begin(const struct console *c, struct chart *chart, const char *title, enum unit unit);
/* A band of the chosen target over the whole run, as far as it is known; the daemon is asked for what is not. */
const struct world_ring *timeline_band(const struct console *c, const struct world_band *b);
/* Asks for the series that charts show. */
void timeline_recall(const struct console *c);
void timeline_draw(struct console *c, struct canvas *canvas, struct area area, const struct chart *chart);

/* save.c: what `s` does. */
void console_save(struct console *c);

#endif
