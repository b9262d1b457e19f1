/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/process_stat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/kernel_file.h"
#include "proto/base/text_out.h"

#define TEXT_BYTES 2048

/* The name, in parentheses, may have blanks and parentheses itself: fields are counted from the last one. */
const char *process_stat_find(const char *text, enum process_stat field)
{
        const char *at = strrchr(text, ')');

        for (int i = STAT_STATE - 1; at && i < (int)field; i++) {
                at = strchr(at, ' ');
                if (at)
                        at++;
        }
        return at;
}

bool process_stat_read(pid_t pid, enum process_stat field, uint64_t *ret)
{
        char text[TEXT_BYTES];

        if (kernel_file_read(text, sizeof(text), "/proc/%ld/stat", (long)pid) < 0)
                return false;
        const char *at = process_stat_find(text, field);
        return at && sscanf(at, "%" SCNu64, ret) == 1;
}

bool process_program_name(pid_t pid, char *ret, size_t size)
{
        static const char gone[] = " (deleted)"; /* the kernel says that behind the name */
        char path[64], target[4096];

        (void)snprintf(path, sizeof(path), "/proc/%ld/exe", (long)pid);
        const ssize_t n = readlink(path, target, sizeof(target) - 1);
        if (n <= 0)
                return false;
        target[n] = '\0';
        if (text_has_suffix(target, gone))
                target[(size_t)n - strlen(gone)] = '\0';
        const char *slash = strrchr(target, '/');
        return (size_t)snprintf(ret, size, "%s", slash ? slash + 1 : target) < size;
}

bool process_has_program(pid_t pid)
{
        char path[64], target[1];

        (void)snprintf(path, sizeof(path), "/proc/%ld/exe", (long)pid);
        return readlink(path, target, sizeof(target)) >= 0 || (errno != ENOENT && errno != ESRCH);
}
