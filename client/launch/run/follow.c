/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/run/session.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/launch/run/inside.h"
#include "proto/base/kernel_file.h"
#include "proto/base/process_stat.h"

#define ADD_TRIES    10
#define ADD_PAUSE_MS 500

/* Calls `each` with the process of every "NAME-PID" beside `socket`, whose own file name is NAME. */
static void each_socket(const char *socket, void (*each)(void *ctx, pid_t pid), void *ctx)
{
        const char *name = strrchr(socket, '/') + 1;
        const struct dirent *e;
        char directory[340], *end;
        size_t n = strlen(name);

        snprintf(directory, sizeof(directory), "%.*s", (int)(name - socket), socket);
        DIR *d = opendir(directory);
        while (d && (e = readdir(d)) != NULL) {
                long pid =
                        !strncmp(e->d_name, name, n) && e->d_name[n] == '-' ? strtol(e->d_name + n + 1, &end, 10) : 0;
                if (pid > 0 && *end == '\0')
                        each(ctx, (pid_t)pid);
        }
        if (d)
                (void)closedir(d);
}

struct look {
        struct follow *f;
        struct follow now;
        pid_t found;
};

static bool has_process(const struct follow *f, pid_t pid)
{
        for (unsigned i = 0; i < f->count; i++)
                if (f->seen[i] == pid)
                        return true;
        return false;
}

static void see_process(void *ctx, pid_t pid)
{
        struct look *l = ctx;
        bool known = has_process(l->f, pid);

        if (l->now.count == FOLLOW_AT_ONCE || (!known && l->found != 0))
                return; /* one at a time */
        if (!known)
                l->found = pid;
        l->now.seen[l->now.count++] = pid;
}

pid_t follow_next(struct follow *f, const char *socket)
{
        struct look l = { .f = f };

        each_socket(socket, see_process, &l);
        *f = l.now;
        return l.found;
}

/* Whether that descriptor is of the claim. Only a file of its name is examined: another's file system may hang. */
static bool is_claim(int fds, const char *fd, const struct stat *claim)
{
        char path[512];
        struct stat st;
        const size_t n = sizeof(INSIDE_CLAIM) - 1;
        const ssize_t length = readlinkat(fds, fd, path, sizeof(path));

        return length > (ssize_t)n && !memcmp(path + length - n, INSIDE_CLAIM, n) && fstatat(fds, fd, &st, 0) == 0 &&
               st.st_ino == claim->st_ino && st.st_dev == claim->st_dev;
}

/* Whether this process has the claim open; `unknown` for those of other users. */
static bool has_claim(long pid, const struct stat *claim, bool unknown)
{
        char path[64];
        const struct dirent *e;

        snprintf(path, sizeof(path), "/proc/%ld/fd", pid);
        DIR *d = opendir(path);
        bool found = !d && errno == EACCES && unknown;
        while (d && !found && (e = readdir(d)) != NULL)
                found = is_claim(dirfd(d), e->d_name, claim);
        if (d)
                (void)closedir(d);
        return found;
}

/* Whether one of its threads runs, or waits for a processor or a disk. */
static bool is_running(long pid)
{
        char path[64], text[1024];
        const struct dirent *e;
        bool runs = false;

        snprintf(path, sizeof(path), "/proc/%ld/task", pid);
        DIR *d = opendir(path);
        while (d && !runs && (e = readdir(d)) != NULL) {
                const char *state = kernel_file_read(text, sizeof(text), "%s/%s/stat", path, e->d_name) > 0
                                            ? process_stat_find(text, STAT_STATE)
                                            : NULL;
                runs = state && strchr("RD", *state);
        }
        if (d)
                (void)closedir(d);
        return runs;
}

enum follow_unserved follow_unserved(const struct follow *f, const char *socket)
{
        const struct dirent *e;
        const pid_t owner = inside_owner(socket);
        enum follow_unserved most = UNSERVED_NONE;
        bool served = false;
        struct stat claim;

        if (!inside_forked_lives(socket) || lstat(inside_claim(socket), &claim) < 0)
                return UNSERVED_NONE;
        DIR *d = opendir("/proc");
        while (d && most != UNSERVED_RUNS && (e = readdir(d)) != NULL) {
                const long pid = strtol(e->d_name, NULL, 10);
                const bool known = pid == owner || has_process(f, (pid_t)pid);
                if (pid <= 0 || !has_claim(pid, &claim, known))
                        continue;
                if (known)
                        served = true;
                else
                        most = is_running(pid) ? UNSERVED_RUNS : UNSERVED_SLEEPS;
        }
        if (d)
                (void)closedir(d);
        /* The list of processes is read in pieces: one may have been forked, and its parent have ended, meanwhile. */
        return most == UNSERVED_NONE && !served ? UNSERVED_SLEEPS : most;
}

bool follow_add(const struct daemon_link *link, const char *socket, pid_t pid, const struct daemon_wish *wish)
{
        char uri[420], name[DAEMON_NAME_MAX], ret_name[DAEMON_NAME_MAX];

        daemon_name_of_process(pid, name);
        snprintf(uri, sizeof(uri), "unix:%s-%ld", socket, (long)pid);
        for (int i = 0; i < ADD_TRIES; i++) {
                const enum daemon_outcome outcome = daemon_add(link, name, false, uri, wish, ret_name, NULL);
                if (outcome != DAEMON_SILENT || kill(pid, 0) < 0)
                        return outcome == DAEMON_OK;
                (void)poll(NULL, 0, ADD_PAUSE_MS);
        }
        return false;
}

static void clean_process(void *ctx, pid_t pid)
{
        const char *socket = ctx;
        char path[400];

        if (kill(pid, 0) == 0 || errno != ESRCH)
                return; /* it keeps running without us */
        snprintf(path, sizeof(path), "%s-%ld", socket, (long)pid);
        (void)unlink(path);
}

void follow_clean(const char *socket)
{
        each_socket(socket, clean_process, (void *)(size_t)socket);
}
