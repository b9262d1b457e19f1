/* SPDX-License-Identifier: BSD-3-Clause */
/* say.c - one message is one write(2), short enough for a writable pipe to take it whole. */
#include "client/cli/say.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static enum log_level wanted = LOG_INFO;

void say_set_level(enum log_level level)
{
        wanted = level;
}

__attribute__((format(printf, 2, 0))) static void say(enum log_level level, const char *format, va_list args)
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

#define DEFINE_SAY(name, level)                                                                                        \
        void name(const char *format, ...)                                                                             \
        {                                                                                                              \
                va_list args;                                                                                          \
                va_start(args, format);                                                                                \
                say(level, format, args);                                                                              \
                va_end(args);                                                                                          \
        }

DEFINE_SAY(say_error, LOG_ERROR)
DEFINE_SAY(say_warning, LOG_WARNING)
DEFINE_SAY(say_info, LOG_INFO)
