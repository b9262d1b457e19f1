/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: /proc/PID/cgroup names the group; the way up to the root is walked by
 * cutting the path, and the smallest limit found is the one that binds. Usage
 * is taken from that same group: comparing the usage of a child with the limit
 * of its parent would ignore the siblings.
 *
 * Version 2 has one line "0::PATH"; version 1 one line per hierarchy, of which
 * "N:memory:PATH" counts (and is preferred: where both are mounted, the memory
 * controller is in the hierarchy that lists it).
 *
 * In a container without a cgroup namespace the path is that of the host, while
 * only the container's own part is mounted: then the mount's root is that part.
 * It is used only if it has a limit, because otherwise it may as well be the
 * whole machine.
 */
#include "daemon/source/procfs.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/array.h"
#include "proto/base/kernel_file.h"
#include "proto/base/ckd.h"

#define UNLIMITED_V1 ((uint64_t)1 << 62) /* version 1 writes a huge number instead of "max" */

/*
 * The keys are those of memory.stat that the kernel can take back. Pages that a process has freed with MADV_FREE are
 * among the inactive ones of files there. Version 1 has sums with the groups below under "total_...".
 */
struct generation {
        const char *mount, *current, *max, *oom, *taken_back[3];
};

static const struct generation first = { "/sys/fs/cgroup/memory",
                                         "memory.usage_in_bytes",
                                         "memory.limit_in_bytes",
                                         "memory.oom_control",
                                         { "total_inactive_file", "total_active_file" } };
static const struct generation second = { "/sys/fs/cgroup",
                                          "memory.current",
                                          "memory.max",
                                          "memory.events",
                                          { "inactive_file", "active_file", "slab_reclaimable" } };

static bool is_listed(const char *controllers, size_t size, const char *controller)
{
        while (size) {
                const char *comma = memchr(controllers, ',', size);
                size_t n = comma ? (size_t)(comma - controllers) : size;
                if (n == strlen(controller) && !memcmp(controllers, controller, n))
                        return true;
                n += comma != NULL;
                controllers += n;
                size -= n;
        }
        return false;
}

/* One line "N:CONTROLLERS:PATH", terminated. Returns its version if it has that controller. */
static const struct generation *parse_line(const char *line, const char *controller, const char **ret_path)
{
        const char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;

        if (!path || path[1] != '/')
                return NULL;
        *ret_path = path + 1;
        if (is_listed(controllers + 1, (size_t)(path - controllers - 1), controller))
                return &first;
        return path == controllers + 1 ? &second : NULL;
}

/* Finds the group in the text of /proc/PID/cgroup; cuts it into lines. */
static const struct generation *find_group(char *text, const char *controller, const char **ret_path)
{
        const struct generation *found = NULL;

        while (text && *text && found != &first) {
                char *end = strchr(text, '\n');
                const char *path;
                if (end)
                        *end++ = '\0';
                const struct generation *g = parse_line(text, controller, &path);
                if (g) {
                        found = g;
                        *ret_path = path;
                }
                text = end;
        }
        return found;
}

static uint64_t read_number(const char *root, const struct generation *g, const char *group, const char *file)
{
        char text[64];
        uint64_t number;

        if (kernel_file_read(text, sizeof(text), "%s%s%s/%s", root, g->mount, group, file) < 0)
                return UNKNOWN_U64;
        return kernel_number(text, &number) ? number : UNKNOWN_U64; /* "max" is not a number */
}

static uint64_t read_limit(const char *root, const struct generation *g, const char *group)
{
        uint64_t limit = read_number(root, g, group, g->max);

        return g == &first && limit >= UNLIMITED_V1 ? UNKNOWN_U64 : limit;
}

/* What of the group's usage the kernel cannot take back; UNKNOWN_U64 when it does not say. */
static uint64_t read_held(const char *root, const struct generation *g, const char *group, uint64_t current)
{
        char text[8192];
        uint64_t bytes, held = current;

        if (current == UNKNOWN_U64 ||
            kernel_file_read(text, sizeof(text), "%s%s%s/memory.stat", root, g->mount, group) < 0)
                return UNKNOWN_U64;
        for (size_t i = 0; i < ARRAY_SIZE(g->taken_back) && g->taken_back[i]; i++) {
                if (kernel_field(text, g->taken_back[i], &bytes))
                        held = sub_sat(held, bytes);
                else if (i < 2) /* not all kernels have the third */
                        return UNKNOWN_U64;
        }
        return held;
}

/*
 * The group of a process for that controller, "" for the root. NULL when there is none, or it is outside of what our
 * namespace shows.
 */
static const struct generation *find_group_of(const char *root, uint32_t pid, const char *controller,
                                              char group[KERNEL_PATH_MAX])
{
        char text[KERNEL_PATH_MAX + 4096];
        const char *path = NULL;

        if (kernel_file_read(text, sizeof(text), "%s/proc/%u/cgroup", root, pid) < 0)
                return NULL;
        const struct generation *g = find_group(text, controller, &path);
        if (!g || strstr(path, "/..") || strlen(path) >= KERNEL_PATH_MAX)
                return NULL;
        memcpy(group, path, strlen(path) + 1);
        if (!strcmp(group, "/"))
                group[0] = '\0';
        return g;
}

static const struct generation *group_of(const char *root, uint32_t pid, char group[KERNEL_PATH_MAX])
{
        return find_group_of(root, pid, "memory", group);
}

bool cgroup_is_frozen(const char *root, uint32_t pid)
{
        char group[KERNEL_PATH_MAX], text[256];
        const struct generation *g = find_group_of(root, pid, "freezer", group);
        uint64_t frozen;

        if (g == &first)
                return kernel_file_read(text, sizeof(text), "%s/sys/fs/cgroup/freezer%s/freezer.state", root, group) >=
                               0 &&
                       !strncmp(text, "FROZEN", 6);
        return g && kernel_file_read(text, sizeof(text), "%s%s%s/cgroup.events", root, g->mount, group) >= 0 &&
               kernel_field(text, "frozen", &frozen) && frozen;
}

bool cgroup_oom_file(const char *root, uint32_t pid, char *ret_path, size_t size)
{
        char group[KERNEL_PATH_MAX];
        const struct generation *g = group_of(root, pid, group);

        if (!g)
                return false;
        int n = snprintf(ret_path, size, "%s%s%s/%s", root, g->mount, group, g->oom);
        return n > 0 && (size_t)n < size && cgroup_oom_kills(ret_path) != UNKNOWN_U64;
}

uint64_t cgroup_oom_kills(const char *path)
{
        char text[1024];
        uint64_t kills;

        if (kernel_file_read(text, sizeof(text), "%s", path) < 0 || !kernel_field(text, "oom_kill", &kills))
                return UNKNOWN_U64;
        return kills;
}

/* Whether cgroup.procs has more than one line. */
static uint64_t has_others(const char *root, const struct generation *g, const char *group)
{
        char text[64];
        int n = kernel_file_read(text, sizeof(text), "%s%s%s/cgroup.procs", root, g->mount, group);

        if (n <= 0)
                return UNKNOWN_U64;
        const char *end = strchr(text, '\n');
        return end && end[1];
}

void cgroup_company(const char *root, uint32_t pid, char *ret_group, size_t size, uint64_t *ret_shared)
{
        char group[KERNEL_PATH_MAX];
        const struct generation *g = group_of(root, pid, group);
        size_t n = g ? strlen(group) : 0;

        *ret_group = '\0';
        *ret_shared = UNKNOWN_U64;
        if (!g)
                return;
        (void)snprintf(ret_group, size, "%s", n == 0 ? "/" : n < size ? group : group + n - size + 1);
        *ret_shared = has_others(root, g, group);
}

void cgroup_memory(const char *root, uint32_t pid, struct process_sample *s)
{
        char group[KERNEL_PATH_MAX], binding[KERNEL_PATH_MAX];
        const struct generation *g = group_of(root, pid, group);

        s->cgroup_current_bytes = s->cgroup_held_bytes = s->cgroup_max_bytes = UNKNOWN_U64;
        if (!g)
                return;
        bool counts = group[0];
        memcpy(binding, group, strlen(group) + 1);
        for (;;) { /* ends at the mount's root, where group is "" */
                uint64_t limit = read_limit(root, g, group);
                if (limit < s->cgroup_max_bytes) {
                        s->cgroup_max_bytes = limit;
                        counts = true;
                        memcpy(binding, group, strlen(group) + 1);
                }
                if (!group[0])
                        break;
                char *slash = strrchr(group, '/');
                if (slash)
                        *slash = '\0';
        }
        if (!counts)
                return;
        s->cgroup_current_bytes = read_number(root, g, binding, g->current);
        s->cgroup_held_bytes = read_held(root, g, binding, s->cgroup_current_bytes);
}
