/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.h - one line per message to stderr: `level what key=value`. Under journald each line begins with its priority.
 *
 * error: an operator must act. warning: degraded but running. info: rare changes of state. debug: for developers; these
 * lines name their room (the folder below daemon/), by which they are selected: `info,source=debug`.
 *
 * Never blocks: lines that stderr does not accept now wait in a buffer of LOG_BUFFER_BYTES; when it is full they are
 * dropped and counted. A message that repeats fast is suppressed and counted. Pure rooms do not log; their callers do.
 * Bytes from outside must be passed through text_escape first. Any thread may log.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/log_line.h"

#define LOG_ROOMS        11
#define LOG_BUFFER_BYTES (64u << 10) /* of lines waiting for stderr */
#define LOG_LEVELS_TEXT  256         /* buffer for log_print_levels() */

/* The log level of each room. */
struct log_levels {
        enum log_level common;          /* of rooms not named */
        enum log_level room[LOG_ROOMS]; /* of each room */
};

/* The same level for all rooms. */
struct log_levels log_level_everywhere(enum log_level level);

/* Parses `info`, `info,source=debug` or `source=debug` (other rooms: info). False for anything else. */
bool log_parse_level(const char *text, struct log_levels *ret_levels);

/* Prints the levels as log_parse_level() reads them, into LOG_LEVELS_TEXT bytes. */
void log_print_levels(char *text, const struct log_levels *levels);

/* The rooms that can be named, for messages: "alerting, config, ...". */
const char *log_room_names(void);

/* Messages more verbose than their room's level are not written. Default: LOG_INFO everywhere. */
void log_set_levels(const struct log_levels *levels);
void log_set_level(enum log_level everywhere);

/* One place in the source that logs. */
struct log_site {
        const char *file;
        int line;
        enum log_level level;
        int room;                   /* index; 0: not determined yet */
        double tokens;              /* of its token bucket; see log.c */
        uint64_t last_ns;           /* of its last message; 0: none yet */
        unsigned long n_suppressed; /* since its last message that was written */
        struct log_site *next;      /* in the list of sites with n_suppressed > 0 */
};

extern enum log_level log_most_verbose; /* of all rooms: a more verbose message costs one comparison */

void log_write(struct log_site *site, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define LOG_AT(severity, ...)                                                                                          \
        do {                                                                                                           \
                static struct log_site log_site_ = { .file = __FILE__, .line = __LINE__, .level = (severity) };        \
                if ((severity) <= log_most_verbose)                                                                    \
                        log_write(&log_site_, __VA_ARGS__);                                                            \
        } while (0)

#define log_error(...)   LOG_AT(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) LOG_AT(LOG_WARNING, __VA_ARGS__)
#define log_info(...)    LOG_AT(LOG_INFO, __VA_ARGS__)
#define log_debug(...)   LOG_AT(LOG_DEBUG, __VA_ARGS__)

/* Determines what stderr is. Done at the first message; to be called after descriptor 2 has been replaced. */
void log_open(void);

/*
 * Where stderr is a file: at LOG_FILE_BYTES its contents go to the file `older`, whose own are lost, and it begins
 * again. A path of more than LOG_PATH_MAX bytes is not used.
 */
#define LOG_FILE_BYTES (1u << 20)
#define LOG_PATH_MAX   4200u
void log_bound_file(const char *older);

/* Routes libevent's own messages here; to be called before the first event base is created. */
void log_adopt_libevent(void);

/* A timer of this loop retries waiting lines, until log_detach(), which tries one last time. */
struct event_base;
void log_attach(struct event_base *base);
void log_detach(void);
