/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/agent_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "proto/base/agent_socket.h"

#define PROC "/proc/"
#define ROOT "/root/"
#define NAME "/agent" /* how all names in agent_socket.h begin */

bool agent_peer_path(pid_t process, const char *path, char *ret, size_t size)
{
        return (size_t)snprintf(ret, size, PROC "%ld/root%s", (long)process, path) < size;
}

pid_t agent_peer_process(const char *path)
{
        char *end;

        if (strncmp(path, PROC, sizeof(PROC) - 1) != 0 || path[sizeof(PROC) - 1] < '1' || path[sizeof(PROC) - 1] > '9')
                return 0;
        long process = strtol(path + sizeof(PROC) - 1, &end, 10);
        if (process > INT32_MAX || strncmp(end, ROOT, sizeof(ROOT) - 1) != 0 || strstr(end, "/../") ||
            strncmp(strrchr(path, '/'), NAME, sizeof(NAME) - 1) != 0)
                return 0;
        return (pid_t)process;
}

bool agent_peer_listens(const char *path, int fd)
{
        const pid_t process = agent_peer_process(path);
        struct ucred peer = { .pid = 0 };
        socklen_t size = sizeof(peer);

        return process == 0 || (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == process);
}

pid_t agent_peer_number(const char *uri)
{
        const char *slash = strrchr(uri, '/');
        long pid = 0;
        int end = 0;

        if (strncmp(uri, "unix:", 5) != 0 || !slash || sscanf(slash, "/" AGENT_SOCKET_NAME "%n", &pid, &end) != 1 ||
            !end || slash[end] || pid <= 0 || pid > INT32_MAX)
                return 0;
        const pid_t process = agent_peer_process(uri + 5);
        return process ? process : (pid_t)pid;
}

bool agent_peer_is_uri(const char *uri)
{
        const char *slash = strrchr(uri, '/');
        long pid;
        int end = 0;

        if (strncmp(uri, "unix:", 5) != 0 || !slash)
                return false;
        if (!strcmp(slash + 1, AGENT_SOCKET_OF_RUN))
                return true;
        /* also of a process that the program has started: AGENT_SOCKET_OF_RUN and its number */
        return agent_peer_number(uri) ||
               (sscanf(slash, "/" AGENT_SOCKET_OF_RUN "-%ld%n", &pid, &end) == 1 && !slash[end]);
}
