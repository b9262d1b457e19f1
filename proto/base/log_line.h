/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_line.h - what a line of a log looks like: `level what key=value`, after a
 * priority where it goes to journald. Shared by heapwatchd and `heapwatch notify`,
 * whose lines usually go to the same place.
 */
#ifndef HW_PROTO_BASE_LOG_LINE_H
#define HW_PROTO_BASE_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>

#define LOG_LINE_BYTES 2048 /* longer messages are cut; less than PIPE_BUF */

/* error: an operator must act. warning: degraded, going on. info: rare changes of state. debug: developers. */
enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG, LOG_LEVELS };

/* "error" ..., in order; ended by NULL. */
extern const char *const log_level_names[LOG_LEVELS + 1];

/* Whether descriptor 2 is the socket that systemd made for journald, not redirected elsewhere. */
bool log_line_to_journal(void);

/* "error ", or "<3>error " for journald. Returns its length. */
size_t log_line_begin(char line[LOG_LINE_BYTES], enum log_level level, bool to_journal);

/*
 * Ends the line and makes it printable. `size` is as snprintf counts it, so it may be more than fits; the rest is cut.
 * Control characters become '?', so nothing that slipped through can forge a second line or move a terminal's cursor.
 * Returns the size of the line.
 */
size_t log_line_end(char line[LOG_LINE_BYTES], size_t size);

#endif
