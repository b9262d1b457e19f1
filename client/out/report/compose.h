/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compose.h - the data of a report as one JSON object (docs/WEB.md, "The
 * report's data"), within a bound of numbers: the file stays below 10 MB.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "client/cli/options.h"
#include "client/answers/api/state_json.h"
#include "client/out/report/profiles.h"
#include "client/world/state/world.h"
#include "heapwatch/wire.h"
#include "proto/base/json_out.h"

struct report_options {
        uint32_t bands;   /* drawn first; 0: all */
        const char *sort; /* size, stddev, name, number or gradient */
        bool reverse;
        struct text_list include, exclude;
        bool no_notes, trace_events;
        uint64_t y_axis_bytes; /* 0: automatic */
};

struct report {
        const struct report_options *options;
        const struct state_source *state;
        const struct pair *pair;                        /* two logs to compare; NULL: there are not exactly two */
        const struct report_profiles *profiles;         /* NULL: none were wished */
        const struct report_inspected *heaps, *threads; /* the same */
        struct world *world;                            /* that of `state`; its targets have no past any more then */
        bool watched; /* targets of a daemon: what it remembers of them was recalled */
};

/* False: out of memory. */
bool compose_report(struct json_out *j, const struct report *r);

/*
 * notes.c: all notes of the logs of a report (the world keeps only the newest
 * 512). Bounded in number and bytes; markers have a share of their own, so that
 * a flood of messages does not push them out. What does not fit is counted.
 */

#define REPORT_NOTES       8000         /* of each kind (messages, or all others), all targets together */
#define REPORT_NOTES_BYTES (768u << 10) /* the same limit in bytes of JSON */

struct report_notes;

struct report_notes *report_notes_new(void);
void report_notes_destroy(struct report_notes **n);

/* Takes the notes of an update; one of a newer run drops those of the run before. 0 or -ENOMEM. */
int report_notes_add(struct report_notes *n, const Hw__Update *update);

/* Writes those of a target as one update, when there are any. */
void report_notes_put(void *notes, struct json_out *j, const struct world_target *t);

/* page.c: the built page with the data of a report in it. */

/*
 * Writes the page up to the data, and opens the stream for these, which are JSON. NULL with errno; ENOTSUP: the page
 * has no place for them. page_end() closes it and writes the rest.
 */
FILE *page_begin(FILE *to);
void page_end(FILE *to, FILE *data);

/*
 * Whether a file is a report that heapwatch wrote, as a page or as data alone, or does not exist: only such a file is
 * overwritten without --force.
 */
bool page_may_replace(const char *path);

/* pair.c: two logs, compared as `heapwatch diff` does, from the messages of the one time that they are read. */

struct pair;

/* Names are borrowed. NULL: out of memory. */
struct pair *pair_new(const char *baseline, const char *new_log);
void pair_destroy(struct pair **p);

/* Messages of both logs, one log after the other. 0 or -ENOMEM. */
int pair_add(struct pair *p, const Hw__Update *update);
int pair_end(struct pair *p);

/* The object of `diff --format json`. False: a log had no run, or out of memory. */
bool pair_put(const struct pair *p, struct json_out *j);
