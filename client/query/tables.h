/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tables.h - the tables of `heapwatch query`, each with its columns, and the rows that messages about a source make.
 *
 * DESIGN: a table is a row of query_tables: its columns, and two functions. One makes rows of a message as it comes, so
 * that a table over time is read in one pass and never kept; the other makes rows of the state at the end. Every table
 * begins with source, target and run. Times are event time in seconds from the start of the runtime.
 */
#ifndef HW_CLIENT_QUERY_TABLES_H
#define HW_CLIENT_QUERY_TABLES_H

#include "client/commands/event_types.h"
#include "client/query/rows.h"
#include "client/state/world.h"

struct query_column {
        const char *name;
        enum query_type type;
        const char *unit; /* "B", "s", "B/s"; "": a number, or a text */
        const char *help;
};

#define QUERY_COLUMNS_MAX   24u
#define QUERY_FIRST_COLUMNS 3u /* source, target, run */

/* What a query asks of a table as far as it saves work: rows that do not fit may come all the same. Seconds. */
struct query_bounds {
        double time_from, time_to; /* NaN: not bounded */
        const char *key;           /* what the table's key column is; NULL: anything */
};

struct query_scan {
        const char *source;
        struct world *world; /* of all messages so far */
        struct query_bounds bounds;
        struct event_types *types; /* of a table of events */
        char **names;              /* of bands, by id - 1; of the run `names_run` of `names_target` */
        size_t n_names, names_room;
        uint32_t names_run;
        char names_target[WORLD_NAME_MAX + 1];
        struct query_rows rows;
};

void query_scan_done(struct query_scan *s); /* all but the world */

struct query_table {
        const char *name, *help;
        const struct query_column *columns; /* after the first three; n_columns of them */
        unsigned n_columns;
        int time, key;                                          /* which of them, or -1 */
        void (*add)(struct query_scan *s, const Hw__Update *u); /* after the world took it; NULL */
        void (*finish)(struct query_scan *s);                   /* NULL */
        bool events;                                            /* of finished logs alone */
        bool remembered;                                        /* of a live target: its daemon is asked for them */
};

extern const struct query_table query_tables[];
extern const unsigned n_query_tables;

/* The column at that place, the first three included. */
const struct query_column *query_column_at(const struct query_table *t, unsigned place);

/* Rows of `series` from what a daemon remembers of it. */
void query_add_points(struct query_scan *s, const Hw__History *history);

#endif
