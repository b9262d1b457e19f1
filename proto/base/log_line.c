/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/log_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *const log_level_names[LOG_LEVELS + 1] = {
        [LOG_ERROR] = "error", [LOG_WARNING] = "warning", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"
};

static const char *const priorities[LOG_LEVELS] = {
        [LOG_ERROR] = "<3>", [LOG_WARNING] = "<4>", [LOG_INFO] = "<6>", [LOG_DEBUG] = "<7>"
};

enum log_sink log_line_sink(void)
{
        const char *stream = getenv("JOURNAL_STREAM");
        unsigned long long device, inode;
        struct stat s;

        if (fstat(STDERR_FILENO, &s) != 0)
                return LOG_SINK_OTHER;
        if (stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && device == s.st_dev && inode == s.st_ino)
                return LOG_SINK_JOURNAL;
        return S_ISREG(s.st_mode) ? LOG_SINK_FILE : LOG_SINK_OTHER;
}

static size_t put_time(char line[LOG_LINE_BYTES])
{
        struct timespec now;
        struct tm utc;

        (void)clock_gettime(CLOCK_REALTIME, &now);
        if (!gmtime_r(&now.tv_sec, &utc))
                return 0;
        const size_t size = strftime(line, LOG_LINE_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
        return size + (size_t)snprintf(line + size, LOG_LINE_BYTES - size, ".%03dZ ", (int)(now.tv_nsec / 1000000));
}

size_t log_line_begin(char line[LOG_LINE_BYTES], enum log_level level, enum log_sink sink)
{
        const size_t size = sink == LOG_SINK_FILE ? put_time(line) : 0;

        return size + (size_t)snprintf(line + size, LOG_LINE_BYTES - size, "%s%s ",
                                       sink == LOG_SINK_JOURNAL ? priorities[level] : "", log_level_names[level]);
}

size_t log_line_end(char line[LOG_LINE_BYTES], size_t size)
{
        if (size > LOG_LINE_BYTES - 2)
                size = LOG_LINE_BYTES - 2;
        for (size_t i = 0; i < size; i++) {
                unsigned char c = (unsigned char)line[i];
                if (c < 0x20 || c == 0x7f)
                        line[i] = '?';
        }
        line[size] = '\n';
        return size + 1;
}
