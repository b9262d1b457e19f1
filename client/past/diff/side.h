/* SPDX-License-Identifier: BSD-3-Clause */
/* side.h - one side of a comparison: the runs of some logs, each reduced to its numbers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/past/diff/meter.h"
#include "client/past/diff/rows.h"

/* quantities.c: the numbers of a run that are compared: one table, which bounds (bounds.c) and all outputs use. */

enum quantity_unit { UNIT_BYTES, UNIT_RATE /* bytes per s */, UNIT_NS, UNIT_COUNT, UNIT_SHARE /* 0..1 */ };

struct quantity {
        const char *name;  /* "peak(live)": with the series' name in the rules' language, where there is one */
        const char *title; /* for people */
        enum quantity_unit unit;
        double (*of)(const struct run_meter *m, const struct quantity *q, struct noise *noise); /* NaN: unknown */
        unsigned which;                                                                         /* gauge or flow */
        double quantile;
};

extern const struct quantity quantities[];
extern const size_t n_quantities;

/* Whether it can be below 0. */
bool quantity_is_signed(const struct quantity *q);

/* By name; NULL when there is none. */
const struct quantity *quantity_find(const char *name, size_t n);

/* "1.20 MiB", "+3.5 ms": with `change` it has a sign. Not finite: "?". Returns `out`. */
char *quantity_text(char *out, size_t size, enum quantity_unit unit, double value, bool change);

#define QUANTITY_TEXT 64u

/*
 * part.c: the part of a run to compare, as given by an option: "FROM..TO", each of which is empty (the run's start,
 * its end), a time since the start ("90s", "5m"), a share of the run ("25%"), or "note:TEXT", the first note of the
 * program that contains TEXT (as TO: the first one after FROM).
 */

enum edge_kind { EDGE_OPEN, EDGE_TIME, EDGE_SHARE, EDGE_NOTE };

struct part_edge {
        enum edge_kind kind;
        uint64_t ns;
        double share; /* 0..1 */
        char *note;   /* owned */
};

struct part {
        struct part_edge from, to;
        char *text; /* owned; as it was written; NULL: the whole run */
};

/* False with a message in `error`. All bytes 0 is the whole run. */
bool part_parse(struct part *s, const char *text, struct error *error);
void part_done(struct part *s);

/* Whether the part depends on the run's length or its notes: then its log is read twice. */
bool part_needs_run(const struct part *s);

/* A run as its first reading found it. */
struct extent {
        uint64_t first_ns, last_ns; /* of its events */
        bool has_from, has_to;      /* the edges given as notes were found */
        uint64_t from_ns, to_ns;
};

/* Event times, both ends included. False with a message in `error`: no such note, or an empty part. */
bool part_resolve(const struct part *s, const struct extent *run, uint64_t *ret_from_ns, uint64_t *ret_to_ns,
                  struct error *error);

struct command;

struct side_run {
        char *log;           /* as it was given */
        uint32_t number;     /* within its log, from 1 */
        double *values;      /* by quantity; NaN: unknown */
        struct noise *noise; /* by quantity */
        struct rows rows;
        char *program, *ghc;       /* NULL: unknown */
        Hw__Breakdown breakdown;   /* NONE: no heap profile */
        uint64_t census_period_ns; /* 0: unknown */
        Hw__Verdict verdict;       /* of live data, over the whole run */
        char *growth;              /* the sentence that says where memory grows; NULL: none, or a part was measured */
        uint64_t left_out;         /* samples that are not in the numbers */
        bool truncated;            /* the log ends without its end marker */
        bool live;                 /* measured from what a daemon keeps (live.h) */
};

struct side {
        struct side_run *runs;
        size_t n;
};

/*
 * Adds all runs of a finished log, or with `part` a part of each. False after a report in the name of `command`, also
 * when the log has no run.
 */
bool side_read(struct side *s, const struct command *command, const char *log, const struct part *part);

/*
 * archived.c: adds the runs of an archive that `selection` names (client/past/archive/select.c). `db` NULL: the default
 * one. False after a report. Rows of a run go into the same meter as the messages of a log, so the numbers are the
 * same: counts, peaks, sums, quantiles of pauses and means of bands over censuses agree with the log to the last digit,
 * means over time up to rounding. Intervals do not, since variation within a minute is not in the archive.
 */
bool side_read_archive(struct side *s, const struct command *command, const char *db, const char *selection);

/*
 * live.c: adds the run of a target as it is now, the same numbers as of its log, from the daemon's state and history.
 * Waits for the daemon, a few seconds for each answer. False with a message. Peaks, totals, counts and the longest
 * pause are exact. Means over time, and the noise of everything, are of the history's points, which get wider with age;
 * quantiles of pauses are within 1/64. Bands are not measured: the page has them itself, and a daemon has thousands.
 */
bool side_read_live(struct side *s, const char *endpoint, const char *target, struct error *error);

/* Adds a run that a meter has measured to its end; its rows go over. NULL: out of memory. */
struct side_run *side_add(struct side *s, const char *log, uint32_t number, struct run_meter *meter);

/* The same, with what meter->target says of the program. */
struct side_run *side_add_described(struct side *s, const char *log, uint32_t number, struct run_meter *meter);

/*
 * For whoever reads a log anyway: adds its whole runs from the messages of its target, in their order. Both return 0 or
 * -ENOMEM; side_reader_end adds the last run and destroys the reader. NULL: out of memory.
 */
struct side_reader;
struct side_reader *side_reader_new(struct side *s, const char *log);
int side_reader_add(struct side_reader *r, const Hw__Update *update);
int side_reader_end(struct side_reader **r);
void side_done(struct side *s);
