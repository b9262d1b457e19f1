/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/process_stat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
        char path[64], text[TEXT_BYTES];

        (void)snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
        FILE *f = fopen(path, "re");
        const char *read = f ? fgets(text, sizeof(text), f) : NULL;
        if (f)
                (void)fclose(f);
        const char *at = read ? process_stat_find(text, field) : NULL;
        return at && sscanf(at, "%" SCNu64, ret) == 1;
}

bool process_has_program(pid_t pid)
{
        char path[64], target[1];

        (void)snprintf(path, sizeof(path), "/proc/%ld/exe", (long)pid);
        return readlink(path, target, sizeof(target)) >= 0 || (errno != ENOENT && errno != ESRCH);
}
