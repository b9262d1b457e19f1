/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * select.h - which runs of an archive, or which parts of them, as people type it: TARGET@WHEN.
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
 */
#ifndef HW_CLIENT_ARCHIVE_SELECT_H
#define HW_CLIENT_ARCHIVE_SELECT_H

#include "client/archive/read.h"

/* Whether an argument is one: it has an '@', is not a recording, and no file has its name. */
bool select_is(const char *text);

/* Appends at least one run. False with a message. */
bool select_runs(struct database *d, const char *text, uint64_t now_ns, struct archived_runs *ret, struct error *error);

/* All runs of a target, clipped to a span of time; may be none. False with a message. */
bool select_between(struct database *d, const char *target, uint64_t from_ns, uint64_t to_ns, struct archived_runs *ret,
                    struct error *error);

#endif
