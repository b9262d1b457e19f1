/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/transport/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "proto/base/hash.h"

uint16_t address_port(const struct sockaddr_storage *a)
{
        if (a->ss_family == AF_INET)
                return ntohs(((const struct sockaddr_in *)a)->sin_port);
        return a->ss_family == AF_INET6 ? ntohs(((const struct sockaddr_in6 *)a)->sin6_port) : 0;
}

static uint64_t who_of(const void *bytes, size_t n)
{
        return hash_bytes(bytes, n, 0) | 1;
}

uint64_t address_who(int fd, const struct sockaddr_storage *peer)
{
        struct ucred local = { .pid = 0 };
        socklen_t size = sizeof(local);

        if (peer->ss_family == AF_INET)
                return who_of(&((const struct sockaddr_in *)peer)->sin_addr, sizeof(struct in_addr));
        if (peer->ss_family == AF_INET6)
                return who_of(&((const struct sockaddr_in6 *)peer)->sin6_addr, sizeof(struct in6_addr));
        (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &local, &size);
        return who_of(&local.pid, sizeof(local.pid));
}

bool address_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
        if (a->ss_family != b->ss_family || address_port(a) != address_port(b))
                return false;
        if (a->ss_family == AF_INET)
                return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
                       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
        return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr, &((const struct sockaddr_in6 *)b)->sin6_addr,
                       sizeof(struct in6_addr));
}

static void write_tcp(const struct sockaddr_storage *a, char out[PEER_TEXT])
{
        char host[INET6_ADDRSTRLEN] = "?";

        if (a->ss_family == AF_INET)
                (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, host, sizeof(host));
        else
                (void)inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)a)->sin6_addr, host, sizeof(host));
        if (!strncmp(host, "::ffff:", 7) && strchr(host, '.')) /* an IPv4 peer of a socket that takes both */
                (void)snprintf(out, PEER_TEXT, "%s:%u", host + 7, address_port(a));
        else
                (void)snprintf(out, PEER_TEXT, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, address_port(a));
}

const char *address_text(int fd, const struct sockaddr_storage *peer, char out[PEER_TEXT])
{
        struct ucred local = { .uid = (uid_t)-1 };
        socklen_t size = sizeof(local);

        (void)snprintf(out, PEER_TEXT, "?");
        if (peer->ss_family != AF_UNIX)
                write_tcp(peer, out);
        else if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &local, &size) == 0)
                (void)snprintf(out, PEER_TEXT, "uid %lu pid %ld", (unsigned long)local.uid, (long)local.pid);
        return out;
}

/* UID, GID, PID of "NAME:UID:GID:PID". False: it is something else. */
static bool read_local(const char *address, unsigned long ret[3])
{
        char *at = strchr(address, ':');

        for (int i = 0; i < 3; i++) {
                if (!at || *at != ':' || at[1] < '0' || at[1] > '9')
                        return false;
                ret[i] = strtoul(at + 1, &at, 10);
        }
        return *at == '\0';
}

void address_sender(const char *address, struct message_sender *ret)
{
        unsigned long local[3];
        struct in6_addr v6;
        struct in_addr v4;

        *ret = (struct message_sender){ .who = 0 };
        (void)snprintf(ret->name, sizeof(ret->name), "%s", address[0] ? address : "?");
        if (inet_pton(AF_INET, address, &v4) == 1) {
                ret->who = who_of(&v4, sizeof(v4));
        } else if (inet_pton(AF_INET6, address, &v6) == 1) {
                ret->who = who_of(&v6, sizeof(v6));
        } else if (read_local(address, local) && local[2] > 0) {
                const pid_t pid = (pid_t)local[2];
                ret->who = who_of(&pid, sizeof(pid));
                ret->is_root = local[0] == 0;
                (void)snprintf(ret->name, sizeof(ret->name), "uid %lu pid %lu", local[0], local[2]);
        }
}
