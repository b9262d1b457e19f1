/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/source/medium.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

static void v6_address(const struct source_uri *uri, const char *host, struct address *a)
{
        struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(uri->port) };

        (void)inet_pton(AF_INET6, host, &in6.sin6_addr); /* the URI's parser accepted it */
        memcpy(&a->storage, &in6, sizeof(in6));
        a->size = sizeof(in6);
}

static void v4_address(const struct source_uri *uri, const char *host, struct address *a)
{
        struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(uri->port) };

        (void)inet_pton(AF_INET, host, &in.sin_addr); /* the URI's parser accepted it */
        memcpy(&a->storage, &in, sizeof(in));
        a->size = sizeof(in);
}

void address_of(const struct source_uri *uri, bool second, struct address *ret_address)
{
        struct address a = { 0 };

        if (uri->path_at) {
                const char *path = source_uri_path(uri);
                struct sockaddr_un un = { .sun_family = AF_UNIX };

                /* The URI's parser checked its length. */
                memcpy(un.sun_path, path, strnlen(path, sizeof(un.sun_path) - 1));
                memcpy(&a.storage, &un, sizeof(un));
                a.size = sizeof(un);
        } else if (!strcmp(uri->host, "localhost") && second) {
                v6_address(uri, "::1", &a);
        } else if (!strcmp(uri->host, "localhost")) {
                v4_address(uri, "127.0.0.1", &a);
        } else if (strchr(uri->host, ':')) {
                v6_address(uri, uri->host, &a);
        } else {
                v4_address(uri, uri->host, &a);
        }
        *ret_address = a;
}

int address_socket(const struct address *address)
{
        return socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}
