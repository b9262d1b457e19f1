/* SPDX-License-Identifier: BSD-3-Clause */
/* side.h - one side of a comparison: the runs of some logs, each reduced to its numbers. */
#ifndef HW_CLIENT_DIFF_SIDE_H
#define HW_CLIENT_DIFF_SIDE_H

#include "client/diff/quantities.h"
#include "client/diff/rows.h"
#include "client/diff/part.h"

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
 * Adds all runs of a finished log, or the part of each. False after a report in the name of `command`, also when the
 * log has no run.
 */
bool side_read(struct side *s, const struct command *command, const char *log, const struct part *part);

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

#endif
