/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/publish/transport/front.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/hash.h"

static uint16_t port_of(const struct sockaddr_storage *a)
{
        return ntohs(a->ss_family == AF_INET ? ((const struct sockaddr_in *)a)->sin_port
                                             : ((const struct sockaddr_in6 *)a)->sin6_port);
}

static uint64_t who_of(const void *bytes, size_t n)
{
        return hash_bytes(bytes, n, 0) | 1;
}

/* "192.0.2.7", "2001:db8::1". */
static void write_host(const struct sockaddr_storage *a, char out[PEER_TEXT])
{
        char host[INET6_ADDRSTRLEN] = "?";

        if (a->ss_family == AF_INET)
                (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, host, sizeof(host));
        else
                (void)inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)a)->sin6_addr, host, sizeof(host));
        /* An IPv4 peer of a socket that takes both: */
        (void)snprintf(out, PEER_TEXT, "%s", !strncmp(host, "::ffff:", 7) && strchr(host, '.') ? host + 7 : host);
}

void address_sender(int fd, const struct sockaddr_storage *peer, struct message_sender *ret)
{
        struct ucred local = { .pid = 0, .uid = (uid_t)-1 };
        socklen_t size = sizeof(local);

        memset(ret, 0, sizeof(*ret)); /* it is sent as bytes */
        if (peer->ss_family == AF_INET) {
                ret->who = who_of(&((const struct sockaddr_in *)peer)->sin_addr, sizeof(struct in_addr));
                write_host(peer, ret->name);
        } else if (peer->ss_family == AF_INET6) {
                ret->who = who_of(&((const struct sockaddr_in6 *)peer)->sin6_addr, sizeof(struct in6_addr));
                write_host(peer, ret->name);
        } else {
                (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &local, &size);
                ret->who = who_of(&local.pid, sizeof(local.pid));
                ret->is_root = local.uid == 0;
                ret->is_other_user = local.uid != 0 && local.uid != geteuid();
                (void)snprintf(ret->name, sizeof(ret->name), "uid %lu pid %ld", (unsigned long)local.uid,
                               (long)local.pid);
        }
}

void address_print(const struct sockaddr_storage *peer, const struct message_sender *sender, char out[2 * PEER_TEXT])
{
        if (peer->ss_family == AF_UNIX)
                (void)snprintf(out, 2 * PEER_TEXT, "%s", sender->name);
        else
                (void)snprintf(out, 2 * PEER_TEXT, strchr(sender->name, ':') ? "[%s]:%u" : "%s:%u", sender->name,
                               port_of(peer));
}
