/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tables.h - the tables of `heapwatch query`, each with its columns, and the rows that messages about a source make.
 *
 * DESIGN: a table is a row of query_tables: its columns, and two functions. One makes rows of a message as it comes, so
 * that a table over time is read in one pass and never kept; the other makes rows of the state at the end. Every table
 * begins with source, target and run. Times are event time in seconds from the start of the runtime.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/out/convert/event_types.h"
#include "client/world/feed/feed.h"
#include "client/world/state/world.h"
#include "proto/base/error.h"
#include "proto/base/idtable.h"

/* Rows of a table as a scan makes them: values in order, texts in one buffer. */

enum query_type { QUERY_NULL, QUERY_INTEGER, QUERY_REAL, QUERY_TEXT };

struct query_value {
        enum query_type type;
        union {
                int64_t integer;
                double real;
                size_t text; /* where it begins in `texts` */
        };
};

struct query_rows {
        struct query_value *values;
        size_t n, room; /* of values */
        char *texts;
        size_t n_texts, texts_room;
        bool failed; /* out of memory: rows are missing */

        unsigned width; /* values of a row */
        uint32_t used;  /* a bit for each of them: texts of others are NULL */
};

/* Appends a value. What is not known is NULL: NaN, a text that is NULL. */
void query_rows_add_null(struct query_rows *r);
void query_rows_add_integer(struct query_rows *r, uint64_t value); /* beyond 2^63: as a real number */
void query_rows_add_real(struct query_rows *r, double value);
void query_rows_add_text(struct query_rows *r, const char *text); /* copied, as valid UTF-8 */

/*
 * Fields of a message by their names, with a space between: those that it does not have as NULL, enumerators by name,
 * what is called ..._ns as seconds.
 */
void query_rows_add_fields(struct query_rows *r, const ProtobufCMessage *m, const char *names);

/* NULL where it is not there. */
void query_rows_add_optional(struct query_rows *r, bool has, uint64_t value);

/* Whether the value that is added next is used. */
bool query_rows_next_is_used(const struct query_rows *r);

/* Nanoseconds as seconds. */
void query_rows_add_seconds(struct query_rows *r, uint64_t ns);

/* Forgets all rows, keeps the room. */
void query_rows_clear(struct query_rows *r);
void query_rows_done(struct query_rows *r);

struct query_column {
        const char *name;
        enum query_type type;
        const char *unit; /* "B", "s", "B/s", QUERY_UNIT_OF_SERIES; "": a number, or a text */
        const char *help;
};

#define QUERY_UNIT_OF_SERIES "B, s"

#define QUERY_FIRST_COLUMNS 3u /* source, target, run */

/* What a query asks of a table as far as it saves work: rows that do not fit may come all the same. Seconds. */
struct query_bounds {
        double time_from, time_to; /* NaN: not bounded */
        const char *key;           /* what the table's key column is; NULL: anything */
};

/* Several bands may have one name, as those of code that a compiler made several tables of. They are one. */
struct query_band {
        char *name;                       /* as other runs know it; NULL: not made yet */
        uint32_t first;                   /* the first band of that name */
        uint64_t census, bytes, closures; /* of the first: what all of them have in that census */
};

struct query_threads;

struct query_scan {
        const char *source;  /* its name */
        struct feed *feed;   /* of that source, while it is read */
        struct world *world; /* of all messages so far */
        struct query_bounds bounds;
        uint64_t until_ms;             /* monotonic; as of the query */
        struct event_types *types;     /* of a table of events */
        struct query_threads *threads; /* of the table of threads */
        struct query_band *bands;      /* by id - 1; of the run `bands_run` of `bands_target` */
        size_t n_bands, bands_room;
        struct idtable bands_by_name;
        uint64_t newest_census_ns;
        uint64_t least_note; /* of a live target: the number of the oldest note that its daemon has kept; 0: none */
        uint32_t bands_run;
        char bands_target[WORLD_NAME_MAX + 1];
        struct json_t *graph;     /* what `heapwatch heap` says of the heap graph `graph_source`; NULL: not read */
        const char *graph_source; /* as `source` */
        struct query_rows rows;
};

void query_scan_forget(struct query_scan *s); /* what belongs to one source */
void query_scan_done(struct query_scan *s);   /* all but feed and world */

/* Source, target and run of a row; and whether one of that time, or with that text in the key column, is wanted. */
void query_begin_row(struct query_scan *s, const char *target, uint32_t run);
bool query_is_in_bounds(const struct query_scan *s, double time);
bool query_is_in_time(const struct query_scan *s, uint64_t ns);
bool query_is_key(const struct query_scan *s, const char *name);

enum query_memory {
        QUERY_REMEMBERED_NOTHING,
        QUERY_REMEMBERED_SERIES,
        QUERY_REMEMBERED_BANDS,
        QUERY_REMEMBERED_CENSUSES
};

struct query_table {
        const char *name, *help;
        const struct query_column *columns; /* after the first three; n_columns of them */
        unsigned n_columns;
        int time, key;                                                      /* which of them, or -1 */
        void (*add)(struct query_scan *s, const Hw__Update *u);             /* after the world took it; NULL */
        void (*finish)(struct query_scan *s, const struct world_target *t); /* at the end, for each target; NULL */
        bool (*event_ids)(const struct query_scan *s,
                          bool *ret); /* of single events of finished logs: which; or NULL */
        bool of_logs;                 /* a daemon keeps none of it: of finished logs and recordings alone */
        bool of_profile;              /* of the heap: it is empty where there is none */
        uint32_t kinds;               /* of messages that it is made of, a bit each; 0: all, and verdicts with them */
        enum query_memory remembers;  /* of a live target: what its daemon is asked for when all came */
        bool needs_key;               /* it is read by its key alone */
        /* of a heap graph, which has no messages: makes all rows. False with an error */
        bool (*add_graph)(struct query_scan *s, const char *path, struct error *error);
};

extern const struct query_table query_tables[];
extern const unsigned n_query_tables;

/* "B", or "s". */
const char *query_series_unit(Hw__Series series);

/* The column at that place, the first three included. */
const struct query_column *query_column_at(const struct query_table *t, unsigned place);

/* A row of `facts`, where there is a fact of that name. */
void query_add_fact(struct query_scan *s, const char *target, uint32_t run, const char *name, double value);

void query_add_series_row(struct query_scan *s, const char *target, uint32_t run, Hw__Series series,
                          const Hw__Point *p);

/* A band with its name. NULL: it is not defined, or out of memory. */
struct query_band *query_find_band(struct query_scan *s, const struct world_target *t, uint32_t id);

/* remembered.c: rows of what the daemon remembers of all targets of the scan. False with a sentence. */
bool query_add_remembered(struct query_scan *s, enum query_memory what, struct error *error);

/* table_events.c: the tables of `heapwatch query` that are made of single events of a log. */

extern const struct query_column query_event_columns[], query_thread_columns[];

enum { QUERY_EVENT_COLUMNS = 7, QUERY_THREAD_COLUMNS = 8 };

/* Which events a scan reads: `ret` has a place for each of EVENT_IDS. False: all of them. */
bool query_event_ids(const struct query_scan *s, bool *ret);
bool query_thread_ids(const struct query_scan *s, bool *ret);

void query_add_events(struct query_scan *s, const Hw__Update *u);

/* Threads are known when their run is over, so rows come with the next run's first event, and at the end. */
void query_add_threads(struct query_scan *s, const Hw__Update *u);
void query_finish_threads(struct query_scan *s);
void query_threads_destroy(struct query_threads **t);

/* table_heap.c: the tables that are made of a heap graph, a file of `heapwatch heap -o`. */

enum { QUERY_HEAP_COLUMNS = 6, QUERY_RETAINER_COLUMNS = 5 };

extern const struct query_column query_heap_columns[QUERY_HEAP_COLUMNS], query_retainer_columns[QUERY_RETAINER_COLUMNS];

bool query_graph_is(const char *path);
bool query_graph_check(const char *path, struct error *error); /* whether there is one; false with a sentence */
bool query_add_heap(struct query_scan *s, const char *path, struct error *error);
bool query_add_retainers(struct query_scan *s, const char *path, struct error *error);

/* table_archive.c: the tables that an archive has: a file, or TARGET@WHEN in the file `db` or the default one. */

struct query_archive;

bool query_archive_is(const char *what); /* an archive, as far as its first bytes say, or runs of one */
bool query_archive_has(const struct query_table *t);

/* NULL with a sentence. */
struct query_archive *query_archive_open(const char *what, const char *db, struct error *error);
void query_archive_close(struct query_archive **a);

/* Adds some rows, or none. False with a sentence. */
bool query_archive_read(struct query_scan *s, struct query_archive *a, const struct query_table *t, bool *ret_over,
                        struct error *error);
