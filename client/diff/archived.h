/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archived.h - runs of an archive as a side of a comparison.
 *
 * Rows of a run go into the same meter as the messages of a log, so the numbers are the same: counts, peaks, sums,
 * quantiles of pauses and means of bands agree with the log to the last digit, means over time up to rounding.
 * Intervals do not, since variation within a minute is not in the archive.
 */
#ifndef HW_CLIENT_DIFF_ARCHIVED_H
#define HW_CLIENT_DIFF_ARCHIVED_H

#include "client/diff/side.h"

/* Adds the runs that `selection` names (client/archive/select.h). `db` NULL: the default one. False after a report. */
bool side_read_archive(struct side *s, const struct command *command, const char *db, const char *selection);

#endif
