/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read.h - what an archive has of runs, for comparing, judging and showing it.
 *
 * Times are Unix times. Where rows of short intervals have been deleted, those of long ones are read instead; what
 * neither has is a gap, which is not filled in.
 */
#pragma once

#include <stdint.h>

#include "client/past/archive/database.h"
#include "daemon/watch/targets/log_reader.h"
#include "heapwatch/wire.h"
#include "proto/facts/cell.h"

#define ARCHIVE_SILENCE_NS (600 * UINT64_C(1000000000)) /* an archiver writes more often of a run that goes on */

/* Texts are owned; NULL: unknown. */
struct archived_run {
        int64_t id;
        char *target, *host, *program, *build_id, *ghc, *state, *growth, *until, *labels; /* labels: "a=b, c=d" */
        uint64_t start_ns, first_ns, seen_ns; /* event time 0; first and last of its events in the archive */
        uint64_t end_ns;                      /* 0: not over, or unknown */
        uint64_t from_ns, to_ns;              /* what was selected, before to_ns */
        bool whole;                           /* that is all of it */
        Hw__Breakdown breakdown;
        Hw__Verdict verdict; /* of live data */
        uint64_t census_period_ns, lost;
        double slope, slope_low, slope_high;              /* NaN: unknown */
        double limit_low_ns, limit_mid_ns, limit_high_ns; /* NaN: no limit is reached, or unknown */
};

struct archived_runs {
        struct archived_run *items;
        size_t n;
};

void archived_runs_done(struct archived_runs *r);

/*
 * Runs in order of their start, oldest first. `where`: SQL over the columns of runs, with ?1 the target and ?2 a text,
 * ?3 and ?4 numbers. Appended. False with a message.
 */
bool archived_runs_read(struct database *d, const char *where, const char *target, const char *text, int64_t a,
                        int64_t b, struct archived_runs *ret, struct error *error);

/* A series in one interval. */
struct archived_value {
        uint64_t time_s, width_s;
        struct cell cell; /* may be empty */
        double area, rise;
        uint64_t covered_ns;
};

/*
 * Minutes where they are kept, otherwise hours; `hourly`: hours alone. Calls `take` in order of time. SQLITE_OK or an
 * error.
 */
int archived_series(struct database *d, const struct archived_run *run, unsigned series, bool hourly,
                    void (*take)(void *ctx, const struct archived_value *value), void *ctx);

/* Pauses of one cell (PENDING_PAUSE_BITS), of all generations. */
int archived_pauses(struct database *d, const struct archived_run *run,
                    void (*take)(void *ctx, uint64_t pause_ns, uint64_t n), void *ctx);

/* A band in one interval, over the censuses that had it; in order of time. */
struct archived_band {
        uint64_t time_s, width_s, n;
        const char *name, *label; /* borrowed for the call */
        double sum, max;
};

/* By ten minutes where they are kept, otherwise by the hour: at least the largest. `hourly`: all, by the hour. */
int archived_bands(struct database *d, const struct archived_run *run, bool hourly,
                   void (*take)(void *ctx, const struct archived_band *band), void *ctx);

/* Labels of a target's bands, by the sum of their bytes over all censuses from from_s to to_s, largest first. */
int archived_largest(struct database *d, const char *target, uint64_t from_s, uint64_t to_s, size_t most,
                     void (*take)(void *ctx, const char *label), void *ctx);

/*
 * run_events.c: archived runs as the events that their programs would have sent, so that they are judged like any
 * other run (daemon/watch/targets/log_reader.h).
 *
 * For each minute they have what the verdict is based on: the minimum of live data, heap and blocks, and their maximum
 * and last values. For bands they have one census per hour, with their means. RSS is in no event.
 */

struct run_events {
        struct event_list *lists; /* n of them, in the order of the runs; owned */
        size_t n;
        bool by_hour; /* a part of them is only kept by the hour */
};

/* False with a message. run_events_done() either way. Neither the database nor the runs are needed after that. */
bool run_events_read(struct run_events *e, struct database *d, const struct archived_runs *runs, struct error *error);
void run_events_done(struct run_events *e);

/*
 * select.c: which runs of an archive, or which parts of them, as people type it: TARGET@WHEN.
 *
 *     api@now                     its newest run: the last day of it
 *     api@yesterday, @last-week, @last-month
 *                                 the day that ended a day, a week, 30 days ago: each run of it, as far as it was in it
 *     api@-3h                     the same, of a day that ended three hours ago
 *     api@2026-11-03              that day (UTC)
 *     api@2026-11-03..2026-11-05  from the first day's beginning to the last day's end
 *     api@run:0, @run:-1          the newest run, the one before it; all of it
 *     api@run:17                  the run with that number in the archive
 *     api@label:version=1.4.1     all runs with that label
 *     api@all                     all runs
 */

/* Whether an argument is one: it has an '@', is not a recording, and no file has its name. */
bool select_is(const char *text);

/* Appends at least one run. False with a message. */
bool select_runs(struct database *d, const char *text, uint64_t now_ns, struct archived_runs *ret, struct error *error);

/* All runs of a target, clipped to a span of time; may be none. False with a message. */
bool select_between(struct database *d, const char *target, uint64_t from_ns, uint64_t to_ns, struct archived_runs *ret,
                    struct error *error);
