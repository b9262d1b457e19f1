/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/transport/connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/loop/accept.h"

#define TABLE_MAX 65536 /* descriptors; connections above it are accepted, but cannot be shut down one by one */

struct connection {
        struct sockaddr_storage peer; /* ss_family 0: no connection */
        bool has_key;
        uint8_t public[KEY_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct connection *table; /* by descriptor */
static int n_table;
static char our_paths[2][sizeof(((struct sockaddr_un *)NULL)->sun_path)];
static uint16_t our_ports[2];
static atomic_ulong n_other_users;

/* ---------------------------------------------------------------- by address */

static uint16_t port_of(const struct sockaddr_storage *a)
{
        if (a->ss_family == AF_INET)
                return ntohs(((const struct sockaddr_in *)a)->sin_port);
        return a->ss_family == AF_INET6 ? ntohs(((const struct sockaddr_in6 *)a)->sin6_port) : 0;
}

static bool is_our_port(uint16_t port)
{
        return port != 0 && (port == our_ports[0] || port == our_ports[1]);
}

static bool is_our_path(const struct sockaddr_un *a)
{
        for (unsigned i = 0; i < 2; i++)
                if (our_paths[i][0] && !strncmp(a->sun_path, our_paths[i], sizeof(a->sun_path)))
                        return true;
        return false;
}

static bool same_peer(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
        if (a->ss_family != b->ss_family || port_of(a) != port_of(b))
                return false;
        if (a->ss_family == AF_INET)
                return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
                       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
        return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr, &((const struct sockaddr_in6 *)b)->sin6_addr,
                       sizeof(struct in6_addr));
}

/* ------------------------------------------------------- on libzmq's thread */

static bool is_friend(int fd)
{
        struct ucred peer = { .uid = (uid_t)-1 };
        socklen_t size = sizeof(peer);

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
                return true; /* already closed */
        if (peer.uid == geteuid() || peer.uid == 0)
                return true;
        log_warning("refused=ipc uid=%lu pid=%ld another user: the socket's directory may have been opened to others",
                    (unsigned long)peer.uid, (long)peer.pid);
        atomic_fetch_add(&n_other_users, 1);
        return false;
}

/* False: no memory. */
static bool has_place(int fd)
{
        if (fd < n_table)
                return true;
        int n = fd < 64 ? 128 : 2 * fd;
        struct connection *grown = reallocarray(table, (size_t)n, sizeof(*grown));
        if (!grown)
                return false;
        memset(grown + n_table, 0, (size_t)(n - n_table) * sizeof(*grown));
        table = grown;
        n_table = n;
        return true;
}

/* The descriptor may have been another connection's before. */
static void forget(int fd)
{
        (void)pthread_mutex_lock(&lock);
        if (fd < n_table)
                table[fd].peer.ss_family = AF_UNSPEC;
        (void)pthread_mutex_unlock(&lock);
}

static void remember(int fd)
{
        struct connection c = { .has_key = false };
        socklen_t size = sizeof(c.peer);

        if (fd >= TABLE_MAX || getpeername(fd, (struct sockaddr *)&c.peer, &size) != 0)
                return;
        (void)pthread_mutex_lock(&lock);
        if (has_place(fd))
                table[fd] = c;
        (void)pthread_mutex_unlock(&lock);
}

static bool look(int listener, int fd)
{
        struct sockaddr_storage a = { .ss_family = AF_UNSPEC };
        socklen_t size = sizeof(a);

        if (getsockname(listener, (struct sockaddr *)&a, &size) != 0)
                return true;
        forget(fd);
        if (a.ss_family == AF_UNIX)
                return !is_our_path((const struct sockaddr_un *)&a) || is_friend(fd);
        if (is_our_port(port_of(&a)))
                remember(fd);
        return true;
}

/* ------------------------------------------------------------ on our thread */

void connections_begin(const char *const paths[2], const uint16_t ports[2])
{
        for (unsigned i = 0; i < 2; i++) {
                (void)snprintf(our_paths[i], sizeof(our_paths[i]), "%s", paths[i] ? paths[i] : "");
                our_ports[i] = ports[i];
        }
        accept_looks(look);
}

void connections_end(void)
{
        accept_looks(NULL);
        free(table);
        table = NULL;
        n_table = 0;
}

static const char *peer_text(const struct sockaddr_storage *a, char out[PEER_TEXT])
{
        char host[INET6_ADDRSTRLEN] = "?";

        if (a->ss_family == AF_INET)
                (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, host, sizeof(host));
        else
                (void)inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)a)->sin6_addr, host, sizeof(host));
        if (!strncmp(host, "::ffff:", 7) && strchr(host, '.')) /* an IPv4 peer of a socket that takes both */
                (void)snprintf(out, PEER_TEXT, "%s:%u", host + 7, port_of(a));
        else
                (void)snprintf(out, PEER_TEXT, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port_of(a));
        return out;
}

const char *connections_peer(int fd, char out[PEER_TEXT])
{
        struct ucred local = { .uid = (uid_t)-1 };
        socklen_t size = sizeof(local);

        (void)snprintf(out, PEER_TEXT, "?");
        (void)pthread_mutex_lock(&lock);
        const bool known = fd >= 0 && fd < n_table && table[fd].peer.ss_family != AF_UNSPEC;
        if (known)
                (void)peer_text(&table[fd].peer, out);
        (void)pthread_mutex_unlock(&lock);
        if (!known && fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &local, &size) == 0)
                (void)snprintf(out, PEER_TEXT, "uid %lu pid %ld", (unsigned long)local.uid, (long)local.pid);
        return out;
}

void connections_note_key(int fd, const uint8_t public[KEY_BYTES])
{
        (void)pthread_mutex_lock(&lock);
        if (fd >= 0 && fd < n_table) {
                table[fd].has_key = true;
                memcpy(table[fd].public, public, KEY_BYTES);
        }
        (void)pthread_mutex_unlock(&lock);
}

/* Whether it is still the connection that was accepted. */
static bool is_there(int fd)
{
        struct sockaddr_storage now = { .ss_family = AF_UNSPEC };
        socklen_t size = sizeof(now);

        return getpeername(fd, (struct sockaddr *)&now, &size) == 0 && same_peer(&now, &table[fd].peer);
}

size_t connections_shut(bool (*holds)(const void *ctx, const uint8_t public[KEY_BYTES]), const void *ctx)
{
        size_t n = 0;

        (void)pthread_mutex_lock(&lock);
        for (int fd = 0; fd < n_table; fd++) {
                struct connection *c = &table[fd];
                if (c->peer.ss_family == AF_UNSPEC || (c->has_key && holds(ctx, c->public)))
                        continue;
                if (is_there(fd) && shutdown(fd, SHUT_RDWR) == 0)
                        n++;
                c->peer.ss_family = AF_UNSPEC;
        }
        (void)pthread_mutex_unlock(&lock);
        return n;
}

uint64_t connections_of_other_users(void)
{
        return atomic_load(&n_other_users);
}
