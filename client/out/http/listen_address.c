/* SPDX-License-Identifier: BSD-3-Clause */
/* listen_address.c - addresses as texts, and listening on them. */
#include "client/out/http/connections.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/descriptors.h"
#include "proto/base/digits.h"
#include "proto/base/error.h"

#define BACKLOG 128

static struct sockaddr_in *as_ipv4(struct listen_address *p)
{
        return (struct sockaddr_in *)&p->address;
}

static struct sockaddr_in6 *as_ipv6(struct listen_address *p)
{
        return (struct sockaddr_in6 *)&p->address;
}

static const char *unix_path(const struct listen_address *p)
{
        return ((const struct sockaddr_un *)&p->address)->sun_path;
}

bool listen_address_is_unix(const struct listen_address *p)
{
        return p->address.ss_family == AF_UNIX;
}

/* ------------------------------------------------------------------ parsing */

static bool parse_unix(struct listen_address *p, const char *path)
{
        struct sockaddr_un *un = (struct sockaddr_un *)&p->address;

        if (path[0] != '/' || strlen(path) >= sizeof(un->sun_path))
                return false;
        un->sun_family = AF_UNIX;
        memcpy(un->sun_path, path, strlen(path) + 1);
        p->length = sizeof(*un);
        return true;
}

static bool parse_v4(struct listen_address *p, const char *address, uint16_t port)
{
        if (inet_pton(AF_INET, !strcmp(address, "localhost") ? "127.0.0.1" : address, &as_ipv4(p)->sin_addr) != 1)
                return false;
        as_ipv4(p)->sin_family = AF_INET;
        as_ipv4(p)->sin_port = htons(port);
        p->length = sizeof(struct sockaddr_in);
        return true;
}

/* `address` in brackets, which are cut off. */
static bool parse_v6(struct listen_address *p, char *address, uint16_t port)
{
        size_t n = strlen(address);

        if (n < 2 || address[0] != '[' || address[n - 1] != ']')
                return false;
        address[n - 1] = '\0';
        if (inet_pton(AF_INET6, address + 1, &as_ipv6(p)->sin6_addr) != 1)
                return false;
        as_ipv6(p)->sin6_family = AF_INET6;
        as_ipv6(p)->sin6_port = htons(port);
        p->length = sizeof(struct sockaddr_in6);
        return true;
}

bool listen_address_parse(struct listen_address *p, const char *text)
{
        const char *colon = strrchr(text, ':');
        char address[INET6_ADDRSTRLEN + 2];
        size_t n = colon ? (size_t)(colon - text) : 0;
        uint64_t port;

        memset(p, 0, sizeof(*p));
        if (!strncmp(text, "unix:", 5))
                return parse_unix(p, text + 5);
        if (!n || n >= sizeof(address) || !digits_parse(colon + 1, UINT16_MAX, &port))
                return false;
        memcpy(address, text, n);
        address[n] = '\0';
        return parse_v4(p, address, (uint16_t)port) || parse_v6(p, address, (uint16_t)port);
}

bool listen_address_is_local(const struct listen_address *p)
{
        if (p->address.ss_family == AF_INET)
                return ntohl(((const struct sockaddr_in *)&p->address)->sin_addr.s_addr) >> 24 == 127;
        return listen_address_is_unix(p) ||
               IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)&p->address)->sin6_addr);
}

/* ---------------------------------------------------------------- listening */

static struct evconnlistener *bind_to(struct listen_address *p, struct event_base *base)
{
        unsigned flags =
                LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | (listen_address_is_unix(p) ? 0 : LEV_OPT_REUSEABLE);
        mode_t before = umask(0117);
        struct evconnlistener *l = evconnlistener_new_bind(base, NULL, NULL, flags, BACKLOG,
                                                           (const struct sockaddr *)&p->address, (int)p->length);
        int error = errno;

        (void)umask(before);
        errno = error;
        return l;
}

struct evconnlistener *listen_address_listen(struct listen_address *p, struct event_base *base, struct error *error)
{
        struct evconnlistener *l;
        char name[LISTEN_ADDRESS_TEXT_MOST];

        if (listen_address_is_unix(p) && unix_is_left_over(unix_path(p)))
                (void)unlink(unix_path(p));
        l = bind_to(p, base);
        if (!l) {
                int reason = errno;

                listen_address_name(p, name, sizeof(name));
                error_set(error, "cannot listen on %s: %s%s", name, strerror(reason),
                          reason == EADDRINUSE ? "; give another one with --listen" : "");
                return NULL;
        }
        if (!listen_address_is_unix(p)) {
                p->length = sizeof(p->address);
                (void)getsockname(evconnlistener_get_fd(l), (struct sockaddr *)&p->address, &p->length);
        }
        return l;
}

void listen_address_leave(const struct listen_address *p)
{
        if (listen_address_is_unix(p))
                (void)unlink(unix_path(p));
}

/* ------------------------------------------------------------------ as text */

static void address_text(const struct sockaddr_storage *a, char out[INET6_ADDRSTRLEN])
{
        const void *bytes = a->ss_family == AF_INET ? (const void *)&((const struct sockaddr_in *)a)->sin_addr
                                                    : (const void *)&((const struct sockaddr_in6 *)a)->sin6_addr;

        if ((a->ss_family != AF_INET && a->ss_family != AF_INET6) ||
            !inet_ntop(a->ss_family, bytes, out, INET6_ADDRSTRLEN))
                out[0] = '\0';
}

unsigned listen_address_port(const struct listen_address *p)
{
        if (listen_address_is_unix(p))
                return 0;
        return ntohs(p->address.ss_family == AF_INET ? ((const struct sockaddr_in *)&p->address)->sin_port
                                                     : ((const struct sockaddr_in6 *)&p->address)->sin6_port);
}

void listen_address_name(const struct listen_address *p, char *out, size_t size)
{
        char address[INET6_ADDRSTRLEN];
        bool is_v6 = p->address.ss_family == AF_INET6;

        if (listen_address_is_unix(p)) {
                (void)snprintf(out, size, "unix:%s", unix_path(p));
                return;
        }
        address_text(&p->address, address);
        (void)snprintf(out, size, "http://%s%s%s:%u/", is_v6 ? "[" : "", address, is_v6 ? "]" : "",
                       listen_address_port(p));
}

void listen_address_of_connection(int fd, char out[INET6_ADDRSTRLEN])
{
        struct sockaddr_storage a;
        socklen_t length = sizeof(a);

        out[0] = '\0';
        if (fd >= 0 && getsockname(fd, (struct sockaddr *)&a, &length) == 0)
                address_text(&a, out);
}

void listen_address_of_peer(int fd, char out[INET6_ADDRSTRLEN])
{
        struct listen_address p = { .length = sizeof(p.address) };

        out[0] = '\0';
        if (fd >= 0 && getpeername(fd, (struct sockaddr *)&p.address, &p.length) == 0 && !listen_address_is_local(&p))
                address_text(&p.address, out);
}
