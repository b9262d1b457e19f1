/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/run/session.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/launch/program/agent_fit.h"
#include "client/launch/run/inside.h"
#include "heapwatch/text.h"
#include "proto/base/process_stat.h"
#include "proto/base/kernel_file.h"

#define DEPTH          32 /* wrappers around wrappers */
#define FIRST_PAUSE_MS 100
#define MOST_PAUSE_MS  30000

static bool is_below(pid_t pid, pid_t top)
{
        uint64_t parent = (uint64_t)pid;

        for (int i = 0; parent > 1 && i < DEPTH && process_stat_read((pid_t)parent, STAT_PARENT, &parent); i++)
                if (parent == (uint64_t)top)
                        return true;
        return false;
}

/* A tool that builds or starts others, by its name, and not GHC as the interpreter, whose heap is the program's. */
static bool is_tool(pid_t pid, const char *name)
{
        static char text[64 * 1024];
        const int n = inside_skips(name) ? kernel_file_read(text, sizeof(text), "/proc/%ld/cmdline", (long)pid) : 0;

        for (size_t at = 0; n > 0 && at < (size_t)n; at += strlen(text + at) + 1)
                if (!strcmp(text + at, "--interactive") || !strcmp(text + at, "-e"))
                        return false;
        return inside_skips(name);
}

/* Whether it was started with the agent's variable. An environment that may not be read is not ours. */
static bool has_our_environment(pid_t pid)
{
        static const char name[] = "HEAPWATCH_AGENT=";
        static char text[256 * 1024];
        const int n = kernel_file_read(text, sizeof(text), "/proc/%ld/environ", (long)pid);

        return n == (int)sizeof(text) - 1 || (n > 0 && memmem(text, (size_t)n, name, sizeof(name) - 1));
}

/*
 * Why the agent, of which there is no sign, is not in a GHC-compiled program; OBSTACLE_NONE: it soon may be. Once the
 * runtime has begun, with a thread that ticks, the agent has begun before, or does not.
 */
static enum obstacle obstacle_below(const struct below *b, pid_t pid, const struct agent_fit *fit, bool is_skipped)
{
        uint64_t threads;

        if (fit->obstacle != OBSTACLE_NONE && pid != b->planned)
                return fit->obstacle;
        if (is_skipped)
                return OBSTACLE_SKIPPED;
        if (!has_our_environment(pid))
                return OBSTACLE_ENVIRONMENT;
        return process_stat_read(pid, STAT_THREADS, &threads) && threads > 1 ? OBSTACLE_UNREACHABLE : OBSTACLE_NONE;
}

static void inspect(struct below *b, pid_t pid, bool skips)
{
        struct agent_fit fit;
        char path[64], file[NAME_MAX + 1], name[sizeof(b->program)], first[2];

        snprintf(path, sizeof(path), "/proc/%ld/exe", (long)pid);
        if (!process_program_name(pid, file, sizeof(file)) || !agent_fit_check(path, &fit, NULL) ||
            (!fit.ghc && !agent_fit_check_loaded(pid, &fit)))
                return; /* of another user, gone, or a shell or the like */
        /* within exec the file is the new one already, and there are neither arguments nor an environment yet */
        if (kernel_file_read(first, sizeof(first), "/proc/%ld/cmdline", (long)pid) <= 0)
                return; /* next time */
        (void)hw_terminal_text(name, sizeof(name), file);
        const bool tool = is_tool(pid, name);
        const enum obstacle obstacle = obstacle_below(b, pid, &fit, skips && inside_skips(name));
        if (obstacle == OBSTACLE_NONE || (b->pid != 0 && tool))
                return;
        b->pid = pid;
        b->is_tool = tool;
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
