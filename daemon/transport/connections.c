/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/transport/connections.h"

#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/loop/accept.h"
#include "daemon/loop/receive.h"
#include "daemon/loop/send.h"
#include "daemon/transport/limits.h"
#include "daemon/transport/subscriber_quota.h"
#include "proto/base/clock.h"

#define TABLE_MAX 65536 /* descriptors; connections above it are accepted, but cannot be shut down one by one */

/* Which of our listeners a connection is to. */
enum service { SERVICE_NONE, SERVICE_PUBLISH, SERVICE_REQUEST };

#define SERVICES 2

struct connection {
        enum service service; /* SERVICE_NONE: no connection of ours */
        bool keyed;           /* the listener is for those with keys */
        bool has_key;
        uint8_t public[KEY_BYTES];
        uint64_t who;                 /* a process or a TCP address; never 0 */
        uint64_t unread;              /* bytes received, and not yet read as messages ... */
        uint64_t unread_ns;           /* ... when the newest came */
        uint64_t sent;                /* bytes that the kernel took */
        uint64_t taken;               /* by the peer, of these, when somebody last looked ... */
        uint64_t taken_ns;            /* ... and since when; 0: nobody looked yet */
        struct sockaddr_storage peer; /* AF_UNIX: nothing more is known */
};

/* A listening address. */
struct listener {
        char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)]; /* "": none */
        uint16_t port;                                             /* 0: none */
        atomic_uint keyed_port;                                    /* likewise; set while the others are in use */
        unsigned places;
        unsigned taken; /* at most: connections since they were counted are not known to have ended */
        size_t unread;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct connection *table;                         /* by descriptor */
static int n_table;
static struct subscriber_quota quota;
static struct peers stuck; /* the first bucket: until when it is known for it */
static struct listener listeners[SERVICES];
static atomic_ulong n_other_users, n_refused, n_disconnected;

/* ---------------------------------------------------------------- by address */

static enum service service_at(const struct sockaddr_storage *a, bool *ret_keyed)
{
        const uint16_t port = address_port(a);

        for (int i = 0; i < SERVICES; i++) {
                const struct listener *l = &listeners[i];
                *ret_keyed = port && port == l->keyed_port;
                if (*ret_keyed || (port && port == l->port))
                        return (enum service)(i + 1);
                if (a->ss_family == AF_UNIX && l->path[0] &&
                    !strncmp(((const struct sockaddr_un *)a)->sun_path, l->path, sizeof(l->path)))
                        return (enum service)(i + 1);
        }
        return SERVICE_NONE;
}

/* Of a connection or a listener. */
static enum service service_of(int fd, bool *ret_keyed)
{
        struct sockaddr_storage a = { .ss_family = AF_UNSPEC };
        socklen_t size = sizeof(a);

        *ret_keyed = false;
        return getsockname(fd, (struct sockaddr *)&a, &size) == 0 ? service_at(&a, ret_keyed) : SERVICE_NONE;
}

/* Whether it is a connection, not a listener. */
static bool is_connection(int fd)
{
        int listens = 1;
        socklen_t size = sizeof(listens);

        return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && !listens;
}

/* Who is at the other end, as people read it. The lock is held. */
static const char *describe(int fd, char out[PEER_TEXT])
{
        static const struct sockaddr_storage unknown = { .ss_family = AF_UNIX };
        const bool known = fd >= 0 && fd < n_table && table[fd].service != SERVICE_NONE;

        return address_text(fd, known ? &table[fd].peer : &unknown, out);
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

/* Whether it is still the connection that was accepted. */
static bool is_there(int fd)
{
        struct sockaddr_storage now = { .ss_family = AF_UNSPEC };
        socklen_t size = sizeof(now);
        bool keyed;

        if (service_of(fd, &keyed) != table[fd].service || !is_connection(fd))
                return false;
        return table[fd].peer.ss_family == AF_UNIX ||
               (getpeername(fd, (struct sockaddr *)&now, &size) == 0 && address_same(&now, &table[fd].peer));
}

/* Counts the connections to a service anew; returns how many of them are of this peer. */
static unsigned count(enum service service, uint64_t who)
{
        unsigned all = 0, own = 0;

        for (int fd = 0; fd < n_table; fd++) {
                if (table[fd].service != service)
                        continue;
                if (!is_there(fd)) {
                        table[fd].service = SERVICE_NONE;
                        continue;
                }
                all++;
                own += table[fd].who == who;
        }
        listeners[service - 1].taken = all;
        return own;
}

/* They are counted only when there may be too few. */
static bool has_places(enum service service, uint64_t who)
{
        const struct listener *l = &listeners[service - 1];

        if (l->taken < l->places / 2)
                return true;
        const unsigned own = count(service, who);
        return l->taken < l->places && own < l->places / 2;
}

/* NULL: it may come in. */
static const char *admit(int fd, const struct connection *c)
{
        const struct listener *l = &listeners[c->service - 1];

        if (!has_places(c->service, c->who))
                return l->taken < l->places ? "half of all connections are its own" : "no more connections are taken";
        if (c->service == SERVICE_PUBLISH && !subscriber_quota_connects(&quota, c->who, clock_mono_ns()))
                return "it connects and subscribes too often, or all together do";
        if (fd < TABLE_MAX && has_place(fd)) {
                table[fd] = *c;
                listeners[c->service - 1].taken++;
        }
        return NULL;
}

static bool remember(int fd, enum service service, bool keyed)
{
        struct connection c = { .service = service, .keyed = keyed, .peer.ss_family = AF_UNIX };
        char peer[PEER_TEXT];
        socklen_t size = sizeof(c.peer);

        if (getpeername(fd, (struct sockaddr *)&c.peer, &size) != 0)
                return true; /* already closed */
        if (c.peer.ss_family == AF_UNIX && !is_friend(fd))
                return false;
        c.who = address_who(fd, &c.peer);
        (void)pthread_mutex_lock(&lock);
        const char *why = admit(fd, &c);
        (void)pthread_mutex_unlock(&lock);
        if (!why)
                return true;
        log_warning("connections_refused=%lu socket=%s from=%s: %s", atomic_fetch_add(&n_refused, 1) + 1,
                    service == SERVICE_PUBLISH ? "publish" : "request", connections_peer(fd, peer), why);
        return false;
}

/* The descriptor may have been another connection's before. */
static void forget(int fd)
{
        (void)pthread_mutex_lock(&lock);
        if (fd < n_table)
                table[fd] = (struct connection){ .service = SERVICE_NONE };
        (void)pthread_mutex_unlock(&lock);
}

static bool on_accepted(int listener, int fd)
{
        bool keyed;

        forget(fd);
        const enum service service = service_of(listener, &keyed);
        return service == SERVICE_NONE || remember(fd, service, keyed);
}

/* Of all connections to a service. Those that have ended count only as long as they are small. */
static uint64_t unread_of(enum service service, uint64_t small)
{
        uint64_t all = 0;

        for (int fd = 0; fd < n_table; fd++) {
                if (table[fd].service != service)
                        continue;
                if (table[fd].unread > small && !is_there(fd))
                        table[fd].service = SERVICE_NONE;
                else
                        all += table[fd].unread;
        }
        return all;
}

/* Over TCP some bytes are heartbeats, which nobody reads. */
static void forgive_heartbeats(struct connection *c, uint64_t now_ns)
{
        const uint64_t most = (now_ns - c->unread_ns) / 1000000u * HEARTBEAT_BYTES_PER_S / 1000u;

        if (c->peer.ss_family != AF_UNIX)
                c->unread -= c->unread < most ? c->unread : most;
        c->unread_ns = now_ns;
}

static bool waits_too_much(struct connection *c, size_t size, uint64_t now_ns)
{
        const struct listener *l = &listeners[c->service - 1];
        const uint64_t part = l->unread / l->places;

        forgive_heartbeats(c, now_ns);
        c->unread += size;
        return c->unread > LIMIT_UNREAD_BYTES || (c->unread > part && unread_of(c->service, part) > l->unread);
}

/* Why this connection may not go on; NULL: it may. */
static const char *objection(int fd, size_t size)
{
        const uint64_t now_ns = clock_mono_ns();

        if (fd < 0 || fd >= n_table || table[fd].service == SERVICE_NONE)
                return NULL;
        const char *why = NULL;
        if (waits_too_much(&table[fd], size, now_ns))
                why = "it sends more than can be read, or a message that does not end";
        else if (table[fd].service == SERVICE_PUBLISH && !subscriber_quota_take(&quota, table[fd].who, now_ns, size))
                why = "it sends too many subscriptions";
        return why && is_there(fd) ? why : NULL;
}

/* The lock is held. */
static void shut(int fd, char ret_peer[PEER_TEXT])
{
        (void)describe(fd, ret_peer);
        (void)shutdown(fd, SHUT_RDWR);
        table[fd].service = SERVICE_NONE;
}

static void say_shut(bool subscriber, const char *peer, const char *why)
{
        log_warning("%s=%lu from=%s: %s", subscriber ? "subscribers_disconnected" : "connections_refused",
                    atomic_fetch_add(subscriber ? &n_disconnected : &n_refused, 1) + 1, peer, why);
}

static bool on_received(int fd, size_t size)
{
        char peer[PEER_TEXT];

        (void)pthread_mutex_lock(&lock);
        const char *why = objection(fd, size);
        const bool subscriber = why && table[fd].service == SERVICE_PUBLISH;
        if (why)
                shut(fd, peer);
        (void)pthread_mutex_unlock(&lock);
        if (why)
                say_shut(subscriber, peer, why);
        return !why;
}

static void on_sent(int fd, size_t size)
{
        (void)pthread_mutex_lock(&lock);
        if (fd >= 0 && fd < n_table)
                table[fd].sent += size;
        (void)pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------ on our thread */

static void set_listener(struct listener *l, const struct connections_listener *from)
{
        const char *a = from->address, *colon = strrchr(a, ':');

        *l = (struct listener){ .places = from->places, .unread = from->unread };
        if (!strncmp(a, "ipc://", 6))
                (void)snprintf(l->path, sizeof(l->path), "%s", a + 6);
        else if (!strncmp(a, "tcp://", 6) && colon)
                l->port = (uint16_t)strtoul(colon + 1, NULL, 10);
}

void connections_begin(const struct connections_listener from[2])
{
        (void)pthread_mutex_lock(&lock);
        memset(&quota, 0, sizeof(quota));
        memset(&stuck, 0, sizeof(stuck));
        for (int i = 0; i < SERVICES; i++)
                set_listener(&listeners[i], &from[i]);
        (void)pthread_mutex_unlock(&lock);
        accept_looks(on_accepted);
        receive_looks(on_received);
        send_looks(on_sent);
}

void connections_keyed(uint16_t port)
{
        for (int i = 0; i < SERVICES; i++)
                listeners[i].keyed_port = port + (unsigned)i;
}

void connections_end(void)
{
        accept_looks(NULL);
        receive_looks(NULL);
        send_looks(NULL);
        free(table);
        table = NULL;
        n_table = 0;
}

bool connections_is_subscriber(int fd)
{
        bool keyed;

        return service_of(fd, &keyed) == SERVICE_PUBLISH && is_connection(fd);
}

const char *connections_peer(int fd, char out[PEER_TEXT])
{
        (void)pthread_mutex_lock(&lock);
        (void)describe(fd, out);
        (void)pthread_mutex_unlock(&lock);
        return out;
}

void connections_read(int fd, size_t size)
{
        (void)pthread_mutex_lock(&lock);
        if (fd >= 0 && fd < n_table) {
                const uint64_t most = size + MESSAGE_OVERHEAD_BYTES;
                table[fd].unread -= table[fd].unread < most ? table[fd].unread : most;
        }
        (void)pthread_mutex_unlock(&lock);
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

size_t connections_shut(bool (*holds)(const void *ctx, const uint8_t public[KEY_BYTES]), const void *ctx)
{
        size_t n = 0;

        (void)pthread_mutex_lock(&lock);
        for (int fd = 0; fd < n_table; fd++) {
                struct connection *c = &table[fd];
                if (c->service == SERVICE_NONE || !c->keyed || (c->has_key && holds(ctx, c->public)))
                        continue;
                if (is_there(fd) && shutdown(fd, SHUT_RDWR) == 0)
                        n++;
                c->service = SERVICE_NONE;
        }
        (void)pthread_mutex_unlock(&lock);
        return n;
}

/* Its queue in the kernel is full, as it was at the look before, and nothing went in or out meanwhile. */
static bool is_stuck(int fd, struct connection *c, uint64_t now_ns)
{
        struct pollfd room = { .fd = fd, .events = POLLOUT };
        int queued = 0;

        if (ioctl(fd, SIOCOUTQ, &queued) != 0)
                return false;
        const uint64_t taken = c->sent - (uint64_t)queued;
        if (c->taken_ns == 0 || taken != c->taken || poll(&room, 1, 0) != 0) {
                c->taken = taken;
                c->taken_ns = now_ns;
        }
        return now_ns - c->taken_ns >= STUCK_NS;
}

/* Shuts down the first one from *fd on that is stuck. False: there is none. */
static bool shut_next_stuck(int *fd, enum service service, int but, uint64_t now_ns, char ret_peer[PEER_TEXT])
{
        bool found = false;

        (void)pthread_mutex_lock(&lock);
        for (; !found && *fd < n_table; ++*fd) {
                found = table[*fd].service == service && *fd != but && is_stuck(*fd, &table[*fd], now_ns) &&
                        is_there(*fd);
                if (found) {
                        peers_find(&stuck, table[*fd].who, now_ns)->full_ns[0] = now_ns + STUCK_KNOWN_NS;
                        shut(*fd, ret_peer);
                }
        }
        (void)pthread_mutex_unlock(&lock);
        return found;
}

size_t connections_shut_stuck(bool subscribers, int but)
{
        const enum service service = subscribers ? SERVICE_PUBLISH : SERVICE_REQUEST;
        const uint64_t now_ns = clock_mono_ns();
        char peer[PEER_TEXT];
        size_t n = 0;
        int fd = 0;

        for (; shut_next_stuck(&fd, service, but, now_ns, peer); n++)
                say_shut(subscribers, peer, "it reads nothing, and others wait for the memory");
        return n;
}

bool connections_known_stuck(uint64_t who)
{
        const uint64_t now_ns = clock_mono_ns();
        bool known = false;

        (void)pthread_mutex_lock(&lock);
        for (unsigned i = 0; i < PEERS_MAX && !known; i++)
                known = stuck.of[i].who == who && stuck.of[i].full_ns[0] > now_ns;
        (void)pthread_mutex_unlock(&lock);
        return known;
}

uint64_t connections_of_other_users(void)
{
        return atomic_load(&n_other_users);
}

uint64_t connections_refused(void)
{
        return atomic_load(&n_refused);
}

uint64_t connections_disconnected(void)
{
        return atomic_load(&n_disconnected);
}
