/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_line.h - what a line of a log looks like: `level what key=value`, after a
 * priority where it goes to journald, and after the time (UTC) where it goes to a
 * file: journald, containers and syslog add the time themselves. Shared by heapwatchd and `heapwatch notify`,
 * whose lines usually go to the same place.
 */
#pragma once

#include <stddef.h>

#define LOG_LINE_BYTES 2048 /* longer messages are cut; less than PIPE_BUF */

/* error: an operator must act. warning: degraded, going on. info: rare changes of state. debug: developers. */
enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG, LOG_LEVELS };

/* "error" ..., in order; ended by NULL. */
extern const char *const log_level_names[LOG_LEVELS + 1];

/* JOURNAL: the socket that systemd made for journald, not redirected elsewhere. FILE: a regular file. */
enum log_sink { LOG_SINK_OTHER, LOG_SINK_JOURNAL, LOG_SINK_FILE };

/* What descriptor 2 is. */
enum log_sink log_line_sink(void);

/* "error ", "<3>error " for journald, "2026-05-01T12:30:59.123Z error " for a file. Returns its length. */
size_t log_line_begin(char line[LOG_LINE_BYTES], enum log_level level, enum log_sink sink);

/*
 * Ends the line and makes it printable. `size` is as snprintf counts it, so it may be more than fits; the rest is cut.
 * Control characters become '?', so nothing that slipped through can forge a second line or move a terminal's cursor.
 * Returns the size of the line.
 */
size_t log_line_end(char line[LOG_LINE_BYTES], size_t size);
