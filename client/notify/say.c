/* SPDX-License-Identifier: BSD-3-Clause */
/* say.c - one message is one write(2), short enough for a writable pipe to take it whole. */
#include "client/notify/say.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES 2048 /* less than PIPE_BUF */

static enum say_level wanted = SAY_INFO;

static const char *const names[] = {
        [SAY_ERROR] = "error", [SAY_WARNING] = "warning", [SAY_INFO] = "info", [SAY_DEBUG] = "debug"
};

static const char *const priorities[] = {
        [SAY_ERROR] = "<3>", [SAY_WARNING] = "<4>", [SAY_INFO] = "<6>", [SAY_DEBUG] = "<7>"
};

void say_set_level(enum say_level level)
{
        wanted = level;
}

/* Under journald each line begins with its priority, as the daemon's do. */
static bool to_journal(void)
{
        const char *stream = getenv("JOURNAL_STREAM");
        unsigned long long device, inode;
        struct stat s;

        return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &s) == 0 &&
               device == s.st_dev && inode == s.st_ino;
}

static void write_line(char *line, size_t size)
{
        struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

        for (size_t i = 0; i < size; i++)
                if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
                        line[i] = '?';
        line[size++] = '\n';
        if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT))
                return;
        ssize_t n = write(STDERR_FILENO, line, size);
        (void)n; /* nobody is left to be told */
}

__attribute__((format(printf, 2, 0))) static void say(enum say_level level, const char *format, va_list args)
{
        char line[LINE_BYTES];

        if (level > wanted)
                return;
        int head = snprintf(line, sizeof(line), "%s%s ", to_journal() ? priorities[level] : "", names[level]);
        int body = vsnprintf(line + head, sizeof(line) - (size_t)head, format, args);
        size_t size = (size_t)head + (body > 0 ? (size_t)body : 0);
        write_line(line, size < LINE_BYTES - 2 ? size : LINE_BYTES - 2);
}

#define DEFINE_SAY(name, level)                                                                                        \
        void name(const char *format, ...)                                                                             \
        {                                                                                                              \
                va_list args;                                                                                          \
                va_start(args, format);                                                                                \
                say(level, format, args);                                                                              \
                va_end(args);                                                                                          \
        }

DEFINE_SAY(say_error, SAY_ERROR)
DEFINE_SAY(say_warning, SAY_WARNING)
DEFINE_SAY(say_info, SAY_INFO)
DEFINE_SAY(say_debug, SAY_DEBUG)
