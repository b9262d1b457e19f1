/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.h - one line per message to stderr: `level what key=value`.
 *
 * error: an operator must act. warning: degraded, going on. info: rare
 * changes of state. debug: developers. Pure stages do not log; their callers
 * do. Bytes from outside must be passed through text_escape first.
 */
#ifndef HW_DAEMON_LOG_H
#define HW_DAEMON_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/* Messages above `level` are dropped. Default: LOG_INFO. */
void log_set_level(enum log_level level);

/* Parses "error", "warning", "info" or "debug". */
bool log_parse_level(const char *name, enum log_level *ret_level);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Routes libevent's own messages here; call before the first event base is made. */
void log_adopt_libevent(void);

#endif
