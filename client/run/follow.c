/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/run/follow.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static bool has(const struct follow *f, pid_t pid)
{
        for (unsigned i = 0; i < f->count; i++)
                if (f->seen[i] == pid)
                        return true;
        return false;
}

static void see(void *ctx, pid_t pid)
{
        struct look *l = ctx;
        bool known = has(l->f, pid);

        if (l->now.count == FOLLOW_AT_ONCE || (!known && l->found != 0))
                return; /* one at a time */
        if (!known)
                l->found = pid;
        l->now.seen[l->now.count++] = pid;
}

pid_t follow_next(struct follow *f, const char *socket)
{
        struct look l = { .f = f };

        each_socket(socket, see, &l);
        *f = l.now;
        return l.found;
}

bool follow_add(const struct daemon_link *link, const char *socket, pid_t pid, const struct daemon_wish *wish)
{
        char uri[420], name[DAEMON_NAME_MAX], ret_name[DAEMON_NAME_MAX];

        daemon_name_of_process(pid, name);
        snprintf(uri, sizeof(uri), "unix:%s-%ld", socket, (long)pid);
        return daemon_add(link, name, false, uri, wish, ret_name, NULL) == DAEMON_OK;
}

static void clean(void *ctx, pid_t pid)
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
        each_socket(socket, clean, (void *)(size_t)socket);
}
