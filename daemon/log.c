/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one message is one line is one write(2), short enough for a pipe to
 * take it whole. Control characters become '?', so nothing that slipped through
 * can forge a second line or move a terminal's cursor.
 *
 * The loop must not block on whoever reads stderr: when it cannot take a line
 * now, the line is dropped and counted, and the count is told before the next
 * line that fits.
 */
#include "daemon/log.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 2048 /* less than PIPE_BUF: a writable pipe takes it without blocking */

static enum log_level wanted = LOG_INFO;
static atomic_ulong n_dropped; /* actions are logged by a thread of their own */

static const char *const names[] = {
        [LOG_ERROR] = "error", [LOG_WARNING] = "warning", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"
};

void log_set_level(enum log_level level)
{
        wanted = level;
}

bool log_parse_level(const char *name, enum log_level *ret_level)
{
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
                if (!strcmp(name, names[i])) {
                        *ret_level = (enum log_level)i;
                        return true;
                }
        }
        return false;
}

static bool stderr_takes_a_line(void)
{
        struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

        return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT);
}

static bool write_line(const char *line, size_t size)
{
        ssize_t n;

        if (!stderr_takes_a_line())
                return false;
        do
                n = write(STDERR_FILENO, line, size);
        while (n < 0 && errno == EINTR);
        return n > 0;
}

/* Makes what snprintf left in `line` one printable line; returns its size. */
static size_t finish_line(char *line, int printed)
{
        size_t size = printed < 0 ? 0 : (size_t)printed;

        if (size > LINE_BYTES - 2)
                size = LINE_BYTES - 2;
        for (size_t i = 0; i < size; i++) {
                unsigned char c = (unsigned char)line[i];
                if (c < 0x20 || c == 0x7f)
                        line[i] = '?';
        }
        line[size] = '\n';
        return size + 1;
}

static void tell_dropped(void)
{
        char line[LINE_BYTES];

        unsigned long lost = atomic_exchange(&n_dropped, 0);
        if (!lost)
                return;
        size_t size =
                finish_line(line, snprintf(line, sizeof(line), "warning stderr was blocked; lines lost=%lu", lost));
        if (!write_line(line, size))
                atomic_fetch_add(&n_dropped, lost);
}

__attribute__((format(printf, 2, 0))) static void log_line(enum log_level level, const char *format, va_list args)
{
        char line[LINE_BYTES];

        if (level > wanted)
                return;
        int head = snprintf(line, sizeof(line), "%s ", names[level]);
        int body = vsnprintf(line + head, sizeof(line) - (size_t)head, format, args);
        size_t size = finish_line(line, body < 0 ? head : head + body);
        tell_dropped();
        if (!write_line(line, size))
                atomic_fetch_add(&n_dropped, 1);
}

#define DEFINE_LOG(name, level)                                                                                        \
        void name(const char *format, ...)                                                                             \
        {                                                                                                              \
                va_list args;                                                                                          \
                va_start(args, format);                                                                                \
                log_line(level, format, args);                                                                         \
                va_end(args);                                                                                          \
        }

DEFINE_LOG(log_error, LOG_ERROR)
DEFINE_LOG(log_warning, LOG_WARNING)
DEFINE_LOG(log_info, LOG_INFO)
DEFINE_LOG(log_debug, LOG_DEBUG)

static void from_libevent(int severity, const char *message)
{
        switch (severity) {
        case EVENT_LOG_ERR:
                log_error("libevent: %s", message);
                break;
        case EVENT_LOG_WARN:
                log_warning("libevent: %s", message);
                break;
        default:
                log_debug("libevent: %s", message);
                break;
        }
}

void log_adopt_libevent(void)
{
        event_set_log_callback(from_libevent);
}
