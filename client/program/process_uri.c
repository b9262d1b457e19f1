/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/program/process_uri.h"

#include <stdio.h>
#include <string.h>

#define START 22 /* the field of /proc/PID/stat, see proc(5) */

/* The name, in parentheses, may have blanks and parentheses itself: fields are counted from the last one. */
bool process_uri(pid_t pid, char ret[PROCESS_URI_SIZE])
{
        char path[64], text[1024];
        unsigned long long start;

        snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
        FILE *f = fopen(path, "re");
        const char *read = f ? fgets(text, sizeof(text), f) : NULL;
        if (f)
                (void)fclose(f);
        const char *at = read ? strrchr(text, ')') : NULL;
        for (int field = 2; at && field < START; field++)
                at = strchr(at + 1, ' ');
        if (!at || sscanf(at, "%llu", &start) != 1 || start == 0)
                return false;
        return snprintf(ret, PROCESS_URI_SIZE, "pid:%ld@%llu", (long)pid, start) < PROCESS_URI_SIZE;
}

void process_uri_outside(const char *process, char ret[PROCESS_URI_SIZE])
{
        (void)snprintf(ret, PROCESS_URI_SIZE, "outside:%s", process + strlen("pid:"));
}
