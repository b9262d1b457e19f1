/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - with kernel.yama.ptrace_scope 1 a process is traced by its ancestors, and by one other that it names itself:
 * the agent in it names who asks on its socket (docs/AGENT.md, `tracer`). That socket is one of those that the process
 * holds and that are named as an agent's: other programs' agents are not asked, which would take us for a reader.
 */
#include "inspect/process/stop.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/agent_peer.h"
#include "proto/base/permission.h"

#define WAIT_MS 2000u /* its thread answers at once, when it has a processor */

static bool holds_socket(pid_t pid, unsigned long inode)
{
        char path[64], name[32], link[32];
        const struct dirent *e;
        bool found = false;

        (void)snprintf(name, sizeof(name), "socket:[%lu]", inode);
        (void)snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
        DIR *d = opendir(path);
        while (d && !found && (e = readdir(d))) {
                const ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);
                link[n > 0 ? n : 0] = '\0';
                found = !strcmp(link, name);
        }
        if (d)
                (void)closedir(d);
        return found;
}

/* "0000000000000000: 00000002 00000000 00010000 0001 01 27041 /run/user/1000/heapwatch/agent-4711.sock" */
static bool is_agent(pid_t pid, const char *line, char *ret_path, size_t size)
{
        unsigned long inode;
        char uri[256];
        int path_at = 0;

        if (sscanf(line, "%*s %*s %*s %*s %*s %*s %lu %n", &inode, &path_at) < 1 || line[path_at] != '/')
                return false;
        const int n = (int)strcspn(line + path_at, "\n");
        return (size_t)snprintf(uri, sizeof(uri), "unix:%.*s", n, line + path_at) < sizeof(uri) &&
               agent_peer_is_uri(uri) && agent_peer_path(pid, uri + strlen("unix:"), ret_path, size) &&
               holds_socket(pid, inode);
}

static bool find_agent(pid_t pid, char *ret_path, size_t size)
{
        char path[64], *line = NULL;
        size_t capacity = 0;
        bool found = false;

        (void)snprintf(path, sizeof(path), "/proc/%ld/net/unix", (long)pid);
        FILE *f = fopen(path, "re");
        while (f && !found && getline(&line, &capacity, f) > 0)
                found = is_agent(pid, line, ret_path, size);
        free(line);
        if (f)
                (void)fclose(f);
        return found;
}

bool tracer_request(pid_t pid)
{
        struct error error;
        char path[256];

        return permission_scope(PERMISSION_SCOPE) == 1 && find_agent(pid, path, sizeof(path)) &&
               agent_request(path, "tracer", WAIT_MS, NULL, 0, &error);
}
