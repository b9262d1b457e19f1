/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/log_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const log_level_names[LOG_LEVELS + 1] = {
        [LOG_ERROR] = "error", [LOG_WARNING] = "warning", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"
};

static const char *const priorities[LOG_LEVELS] = {
        [LOG_ERROR] = "<3>", [LOG_WARNING] = "<4>", [LOG_INFO] = "<6>", [LOG_DEBUG] = "<7>"
};

bool log_line_to_journal(void)
{
        const char *stream = getenv("JOURNAL_STREAM");
        unsigned long long device, inode;
        struct stat s;

        return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &s) == 0 &&
               device == s.st_dev && inode == s.st_ino;
}

size_t log_line_begin(char line[LOG_LINE_BYTES], enum log_level level, bool to_journal)
{
        return (size_t)snprintf(line, LOG_LINE_BYTES, "%s%s ", to_journal ? priorities[level] : "",
                                log_level_names[level]);
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
