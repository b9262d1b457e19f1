/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/process/live.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/kernel_file.h"

#define GROUPS "/sys/fs/cgroup"

/* The number after `key` in a file of lines, at its beginning for NULL; UINT64_MAX: there is none. */
static uint64_t number_in(const char *path, const char *key)
{
        char text[8192];
        uint64_t found;
        const bool is_there = kernel_file_read(text, sizeof(text), "%s", path) > 0 &&
                              (key ? kernel_field(text, key, &found) : kernel_number(text, &found));

        return is_there ? found : UINT64_MAX; /* "max" is not a number */
}

/* What a group leaves: files that it has read can be read again, and do not count. */
static uint64_t left_in(const char *group)
{
        static const char *const names[] = { "memory.max", "memory.current", "memory.stat", "memory.stat" };
        static const char *const keys[] = { NULL, NULL, "inactive_file", "active_file" };
        uint64_t values[4];

        for (size_t i = 0; i < 4; i++) {
                char path[PATH_MAX + 64];
                (void)snprintf(path, sizeof(path), GROUPS "%s/%s", group, names[i]);
                values[i] = number_in(path, keys[i]);
                if (values[i] == UINT64_MAX && i < 2)
                        return UINT64_MAX;
        }
        const uint64_t files = (values[2] == UINT64_MAX ? 0 : values[2]) + (values[3] == UINT64_MAX ? 0 : values[3]);
        const uint64_t used = values[1] > files ? values[1] - files : 0;
        return values[0] > used ? values[0] - used : 0;
}

/* Our group and those that it is in. */
static uint64_t left_in_groups(void)
{
        FILE *f = fopen("/proc/self/cgroup", "re");
        char line[PATH_MAX] = "";
        uint64_t least = UINT64_MAX;

        while (f && fgets(line, sizeof(line), f) && strncmp(line, "0::/", 4) != 0)
                line[0] = '\0';
        if (f)
                (void)fclose(f);
        char *group = line[0] ? line + 3 : NULL;
        if (group)
                group[strcspn(group, "\n")] = '\0';
        while (group) {
                char *slash = strrchr(group, '/');
                const uint64_t left = left_in(strcmp(group, "/") != 0 ? group : "");
                least = left < least ? left : least;
                if (!slash)
                        break;
                *slash = '\0';
        }
        return least;
}

uint64_t available_bytes(void)
{
        const uint64_t kib = number_in("/proc/meminfo", "MemAvailable"), groups = left_in_groups();
        const uint64_t machine = kib == UINT64_MAX ? UINT64_MAX : kib * 1024;

        return machine < groups ? machine : groups;
}

void available_yield(void)
{
        FILE *f = fopen("/proc/self/oom_score_adj", "we");

        if (!f)
                return;
        (void)fputs("1000", f);
        (void)fclose(f);
}
