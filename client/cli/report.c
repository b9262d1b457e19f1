/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - one message is one write(2), short enough for a writable pipe to take it whole. */
#include "client/cli/report.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static enum log_level wanted = LOG_INFO;

void report_set_level(enum log_level level)
{
        wanted = level;
}

__attribute__((format(printf, 2, 0))) static void write_line(enum log_level level, const char *format, va_list args)
{
        struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
        char line[LOG_LINE_BYTES];

        if (level > wanted)
                return;
        size_t size = log_line_begin(line, level, log_line_sink());
        int body = vsnprintf(line + size, sizeof(line) - size, format, args);
        size = log_line_end(line, size + (body > 0 ? (size_t)body : 0));
        if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT))
                return;
        ssize_t n = write(STDERR_FILENO, line, size);
        (void)n; /* there is nobody else to report to */
}

#define DEFINE_REPORT(name, level)                                                                                     \
        void name(const char *format, ...)                                                                             \
        {                                                                                                              \
                va_list args;                                                                                          \
                va_start(args, format);                                                                                \
                write_line(level, format, args);                                                                       \
                va_end(args);                                                                                          \
        }

DEFINE_REPORT(report_error, LOG_ERROR)
DEFINE_REPORT(report_warning, LOG_WARNING)
DEFINE_REPORT(report_info, LOG_INFO)
