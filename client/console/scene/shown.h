/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shown.h - what is shown: the views, which of them, of which target and of what
 * time; and what views need from the console.
 *
 * A view is a console_view: a file in views/ with one constant, and a line in
 * views/views.h. One that only has a table needs no function at all: its rows are
 * drawn, sorted, searched, explained and saved by table*.c.
 *
 * Every number on the screen is in a struct column, as part of a table or
 * of the view's figures: so it is explained by `?`, and is in CSV and JSON.
 */
#pragma once

#include "client/console/draw/chart.h"
#include "client/world/state/recall.h"
#include "client/console/scene/scene.h"
#include "client/console/table/table.h"
#include "client/world/state/world.h"

/*
 * journal.c: what happened to the streams while this console was open: states,
 * reconnections, losses, daemons that stopped and came back. The newest
 * JOURNAL_ENTRIES are kept.
 */

enum { JOURNAL_ENTRIES = 256, JOURNAL_TEXT = 200 };

struct journal_entry {
        char target[WORLD_NAME_MAX + 1]; /* "": about the daemon, so about all its targets */
        size_t daemon;
        uint64_t time_ns; /* event time of the target then; 0 when unknown */
        char text[JOURNAL_TEXT];
};

struct journal {
        struct journal_entry entries[JOURNAL_ENTRIES];
        size_t count, next;
};

/* Records what an update changes; call it before the world applies the update. */
void journal_watch(struct journal *j, const struct world *before, size_t daemon, const Hw__Update *update);

/* The daemon stopped or came back. */
void journal_daemon(struct journal *j, const struct world *world, size_t daemon, const char *text);

/* The i-th, oldest first; NULL after the last. */
const struct journal_entry *journal_entry(const struct journal *j, size_t i);
bool journal_is_about(const struct journal_entry *e, const struct world_target *t);

enum { VIEW_TABLES = 3 };

enum { FRAME_TOP = 1, FRAME_BOTTOM = 2 }; /* rows above and below a view */

struct console;

struct console_key {
        const char *key, *meaning;
};

struct console_view {
        const char *name;                              /* for --view and file names: "memory" */
        const char *title;                             /* "Memory" */
        const char *brief;                             /* where there is little room: "Mem" */
        int letter;                                    /* key that shows it; 0: not among the tabs */
        const char *about;                             /* which question it answers, for the help */
        const struct console_key *keys;                /* its own; ends with a NULL key; may be NULL */
        const struct table_class *tables[VIEW_TABLES]; /* keys move in the first */
        const struct column *figures;                  /* numbers outside tables; their row is the target */
        size_t n_figures;
        const struct console_key
                *words;    /* words on its screen that need explaining; ends with a NULL key; may be NULL */
        size_t state_size; /* of what it remembers, initially zeroed; 0: nothing */
        void (*state_done)(void *state); /* frees what is inside; may be NULL */
        /* NULL: the first table on the whole area. The tables are filled before. */
        void (*draw)(struct console *c, struct canvas *canvas, struct area area);
        /* Rows needed to show everything; NULL: the first table in full. */
        int (*rows)(struct console *c, int width);
        bool (*key)(struct console *c, int key); /* whether it handled the key; NULL: only the table's keys */
        bool all_targets;                        /* it is about all targets, not the chosen one */
};

enum entry { ENTRY_NONE, ENTRY_SEARCH, ENTRY_FILTER, ENTRY_COMMAND };

/* A view as it is on this screen. */
struct shown_view {
        const struct console_view *class;
        struct table tables[VIEW_TABLES];
        size_t n_tables;
        void *state;
};

/* The run of a target whose process heapwatch-inspect reads. */
struct console_subject {
        char target[WORLD_NAME_MAX + 1];
        size_t daemon;
        uint32_t run;
        struct inspecting *inspecting; /* NULL: done */
};

struct console_profile {
        struct console_subject subject;
        uint64_t begin_ns;
        int key;                 /* that it was begun by */
        struct cpu_trees trees;  /* by thread; no sentences: there are none */
        struct cpu_trees merged; /* of all threads together */
        bool by_thread, of_waiting;
        bool hidden; /* cost centres are shown */
};

struct console_threads {
        struct console_subject subject;
        struct thread_groups groups; /* no sentences: there are none */
};

struct console {
        struct scene scene;       /* what is drawn */
        struct past band_past;    /* of scene.band */
        bool frozen;              /* nothing is applied to the world */
        struct world *live;       /* of the daemons as they are */
        struct world *before;     /* owned: as it was when a daemon was restarted, until the chosen target is back */
        struct shown_view *views; /* owned; one for each of console_views */
        size_t n_views;
        struct shown_view *shown, *under; /* under: what help and a single band return to */
        struct table *table;              /* that keys move in; NULL: none */
        char target[WORLD_NAME_MAX + 1];  /* the chosen target; by name, because the list moves */
        size_t daemon;                    /* and its daemon; SIZE_MAX: any */
        bool chosen;                      /* a target was given or opened */
        uint32_t band;                    /* the open one, by id */
        bool has_cursor;
        uint64_t cursor_ns; /* event time */
        uint64_t step_ns;   /* how far one key moves the cursor: a column of the chart drawn last */
        size_t window;      /* index of scene.window_ns */
        enum entry entry;   /* what is being typed */
        char typed[TABLE_TEXT];
        char message[256];              /* until the next key */
        struct command_job *command;    /* command.c; NULL: none is under way */
        struct console_profile profile; /* inspections.c */
        struct console_threads threads;
        bool message_bad;
        size_t help_first;
        struct journal journal; /* filled by console_watch */
        struct hits hits;
        bool printing; /* a report: nothing is selected, nothing can be clicked */
        bool ended, quit;
        char trouble[512]; /* why the feed failed: shown until the end */
};

/* The view of a name, or NULL. */
struct shown_view *console_view_of(struct console *c, const char *name);
void console_show(struct console *c, const struct console_view *class);
void console_back(struct console *c);         /* from help or a single band to the view before */
void *console_state(const struct console *c); /* of the shown view */

/* The chosen target in the scene's world, or the first one while none is chosen; NULL when it is not there. */
const struct world_target *console_find_target(const struct console *c, size_t *ret_index);
void console_choose(struct console *c, const struct world_target *t);
void console_step_target(struct console *c, int by); /* chooses the next or previous one */

/* Shown in the line above the tabs until the next key. */
void console_notify(struct console *c, bool bad, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* How far the profile that is being taken is; "": none is. Returns `out`. */
char *console_profile_text(const struct console *c, char *out, size_t size);
/*
 * By a key: `x`, cost centres in place of the profile, `T`, stacks by thread; and back. False: another key, or there is
 * no profile.
 */
bool console_profile_toggle(struct console *c, int key);

/* Where drawing reports what can be clicked; NULL in a report. */
struct hits *console_hits(struct console *c);

/* Draws one of the shown view's tables. */
void console_table(struct console *c, struct canvas *canvas, struct area area, struct table *t);

/* timeline.c: a chart of the window with cursor and notes; add lines, then draw it (and have it clicked). */
void timeline_begin(const struct console *c, struct chart *chart, enum unit unit);
/* Requests the series that charts show, the largest bands and the open one. */
void timeline_recall(const struct console *c);
void timeline_draw(struct console *c, struct canvas *canvas, struct area area, const struct chart *chart);
