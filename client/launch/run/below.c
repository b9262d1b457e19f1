/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/run/session.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/launch/program/agent_fit.h"
#include "client/launch/run/inside.h"
#include "heapwatch/text.h"
#include "proto/base/process_stat.h"
#include "proto/base/descriptors.h"

#define DEPTH          32 /* wrappers around wrappers */
#define FIRST_PAUSE_MS 100
#define MOST_PAUSE_MS  30000

static pid_t parent_of(pid_t pid)
{
        uint64_t parent;

        return process_stat_read(pid, STAT_PARENT, &parent) ? (pid_t)parent : 0;
}

static bool is_below(pid_t pid, pid_t top)
{
        for (int i = 0; pid > 1 && i < DEPTH; i++) {
                pid = parent_of(pid);
                if (pid == top)
                        return true;
        }
        return false;
}

/* Up to `size` bytes of a file below /proc/PID; 0: none, or it may not be read. */
static size_t read_of(pid_t pid, const char *file, char *ret, size_t size)
{
        char path[64];
        size_t n = 0;
        ssize_t r = 0;

        snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, file);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        while (fd >= 0 && n < size && (r = read(fd, ret + n, size - n)) > 0)
                n += (size_t)r;
        close_fd(&fd);
        return n;
}

/* Within exec the file is the new one already, and there are neither arguments nor an environment yet. */
static bool is_within_exec(pid_t pid)
{
        char first;

        return read_of(pid, "cmdline", &first, sizeof(first)) == 0;
}

/* Whether it was started with the agent's variable. An environment that may not be read is not ours. */
static bool has_our_environment(pid_t pid)
{
        static const char name[] = "HEAPWATCH_AGENT=";
        static char text[256 * 1024];
        const size_t n = read_of(pid, "environ", text, sizeof(text));

        return n == sizeof(text) || memmem(text, n, name, sizeof(name) - 1) != NULL;
}

static bool file_of(pid_t pid, char *path, size_t size, char *name, size_t name_size)
{
        char link[64], file[4096];

        snprintf(path, size, "/proc/%ld/exe", (long)pid);
        snprintf(link, sizeof(link), "%s", path);
        const ssize_t n = readlink(link, file, sizeof(file) - 1);
        if (n <= 0)
                return false;
        file[n] = '\0';
        const char *slash = strrchr(file, '/');
        (void)hw_terminal_text(name, name_size, slash ? slash + 1 : file);
        return true;
}

/* Its runtime has begun, with a thread that ticks: the agent has begun before, or does not. */
static bool has_begun(pid_t pid)
{
        uint64_t threads;

        return process_stat_read(pid, STAT_THREADS, &threads) && threads > 1;
}

/* Why the agent, of which there is no sign, is not in a GHC-compiled program; OBSTACLE_NONE: it soon may be. */
static enum obstacle obstacle_below(pid_t pid, const char *name, const struct agent_fit *fit, bool skips)
{
        if (fit->obstacle != OBSTACLE_NONE)
                return fit->obstacle;
        if (skips && inside_skips(name))
                return OBSTACLE_SKIPPED;
        if (!has_our_environment(pid))
                return OBSTACLE_ENVIRONMENT;
        return has_begun(pid) ? OBSTACLE_UNREACHABLE : OBSTACLE_NONE;
}

static void inspect(struct below *b, pid_t pid, bool skips)
{
        struct agent_fit fit;
        char path[64], name[sizeof(b->program)];

        if (!file_of(pid, path, sizeof(path), name, sizeof(name)) || !agent_fit_check(path, &fit, NULL) ||
            (!fit.ghc && !agent_fit_check_loaded(pid, &fit)) || is_within_exec(pid))
                return; /* of another user, gone, or a shell or the like; or next time */
        const enum obstacle obstacle = obstacle_below(pid, name, &fit, skips);
        if (obstacle == OBSTACLE_NONE || (b->pid != 0 && inside_skips(name)))
                return;
        b->pid = pid;
        b->obstacle = obstacle;
        memcpy(b->program, name, sizeof(b->program));
}

void below_search(struct below *b, pid_t top, bool skips, uint64_t now_ms)
{
        const struct dirent *e;

        if (now_ms < b->next_ms)
                return;
        b->pause_ms = b->pause_ms ? 2 * b->pause_ms : FIRST_PAUSE_MS;
        b->next_ms = now_ms + (b->pause_ms < MOST_PAUSE_MS ? b->pause_ms : MOST_PAUSE_MS);
        DIR *d = opendir("/proc");
        while (d && (e = readdir(d)) != NULL) {
                const pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)strtol(e->d_name, NULL, 10) : 0;
                if (pid > 0 && is_below(pid, top))
                        inspect(b, pid, skips);
        }
        if (d)
                (void)closedir(d);
}
