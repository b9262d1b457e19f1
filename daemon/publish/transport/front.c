/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: libzmq bounds what is sent, not what comes, and neither reports who connects nor can close one connection. So
 * it owns none of the sockets that clients connect to. The front does: it accepts, checks who it is, and passes bytes
 * between the client and libzmq, unchanged. CURVE stays between these two.
 *
 *      client --(ipc, TCP)-- front --(private socket)-- libzmq: XPUB, ROUTER --(inproc)-- the loop
 *
 * All is one thread's, so nothing is locked: the loop sends updates and replies and gets requests through inproc
 * sockets, and leaves wishes in atomics (front_wake).
 *
 * The private socket. For each client the front listens at an abstract address named by a random number, and has libzmq
 * connect to it; it accepts the one connection that comes from this process, and stops listening. libzmq connects and
 * does not listen: options hold for what is connected afterwards, so ZMQ_CONNECT_ROUTING_ID makes that number the first
 * frame of each request, ZMQ_ROUTING_ID tells with which connection a key came, and a new server key needs no other
 * bind; and a listener of libzmq ends the process when no descriptor is left. XPUB gives the descriptor by which a
 * subscription came: the address of its other end has the number. It may be another connection's by then, so this only
 * counts. The end of a connection comes without one, and needs none: what it held goes with it.
 *
 * Ends. A client's end is passed on when libzmq has its last bytes; libzmq's end closes the connection, after what came
 * by it was read. A session of libzmq whose peer breaks the protocol ends by itself; its endpoint points to it until
 * zmq_disconnect(), when another may be at its address. To free one takes libzmq two turns of a socket's commands, and
 * its descriptor is closed before: so those that have ended are found by poll() before another is connected.
 *
 * A client that is slower than libzmq makes the front stop reading libzmq's end, so the high-water mark holds as if
 * libzmq wrote to the client itself. Bytes that libzmq was given count as unread until the message is read.
 *
 * Costs: three descriptors a client, and a copy of each byte. Rejected: libevent's rate limits, which slow one
 * connection down where a flood comes over many; the loop's own base, where a flood would delay the reading of logs.
 */
#include "daemon/publish/transport/front.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/publish/transport/admission.h"
#include "daemon/publish/transport/endpoint.h"
#include "daemon/publish/transport/limits.h"
#include "daemon/publish/transport/quotas.h"
#include "daemon/publish/transport/zloop.h"
#include "daemon/source/loop/descriptors.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/event.h"
#include "proto/base/hash.h"
#include "proto/base/thread.h"
#include "proto/base/time.h"
#include "proto/wire/limits.h"

#define PRIVATE_NAME     "heapwatch-" /* and the number of the connection, in 16 hexadecimal digits */
#define LISTENERS_MAX    4u
#define ACCEPT_TURN      16u /* connections, before others have their turn */
#define RELAY_TURN       64u /* messages of the loop, likewise */
#define UPDATES_SPACING  (2 * NS_PER_MS)
#define DESCRIPTORS_EACH 3u       /* of a connection: to the client, to libzmq, and libzmq's */
#define NEVER_MS         86400000 /* libzmq would connect again after a day */
#define LOOK_NS          NS_PER_S /* from one look after the listeners to the next */
#define LAST_BYTES_MS    400      /* for all connections, when the daemon ends */

static const struct timeval pending_time = { 5, 0 }; /* for libzmq to connect */
static const struct timeval ending_time = { 1, 0 };  /* for the next of the bytes, when one side has ended */
static const struct timeval stuck_time = { STUCK_NS / 2 / NS_PER_S, 0 };
static const char *const door_names[DOORS] = { "publish", "request" };

struct connection {
        struct front *front;
        struct front_identity identity;
        enum front_door door;
        bool keyed, is_tcp;
        bool judged;                         /* libzmq asked about its key */
        bool ended;                          /* libzmq has forgotten it */
        bool libzmq_gone;                    /* the client gets the rest */
        char address[2 * PEER_TEXT];         /* of the peer, with its port */
        struct bufferevent *client, *libzmq; /* NULL: gone, and libzmq gets the rest; it has not connected yet */
        int listener;                        /* at the private address, until then */
        struct event *connects;
        uint64_t opened_ns;
        uint64_t unread, unread_ns; /* bytes that libzmq was given and that were not read, when the newest came */
        int queued;                 /* bytes for the client in the kernel when it had taken nothing for a while; -1 */
        bool stuck;                 /* and nothing since */
        uint64_t *topics;           /* that it subscribes to, by their hashes */
        unsigned n_topics;
};

struct front_listener {
        struct front *front;
        enum front_door door;
        struct endpoint *endpoint; /* whose socket file is made again when it is lost; NULL if keyed */
        int fd;
        struct event *readable;
};

struct front {
        struct front_options options;
        struct event_base *base;
        struct event *wake;
        int wake_fd;        /* an eventfd; -1: none */
        uint64_t looked_ns; /* after the listeners */
        struct front_listener listeners[LISTENERS_MAX];
        unsigned n_listeners;
        struct subscriber_quota quota;
        struct peers stuck; /* the first bucket: until when it is known for it */
        uint64_t topic_seed;
        struct connection **table;
        struct pollfd *ends;        /* for end_sessions() */
        unsigned n_places, n_table; /* that have ever been used, from the first on */
        unsigned n_pending, n_of[DOORS];
        pthread_t thread;
        bool started, stopping;
        void *sockets[DOORS];        /* XPUB, ROUTER */
        void *updates, *relay, *zap; /* PULL, PAIR of requests and replies, ROUTER of libzmq's questions */
        struct zloop *messages[DOORS], *updates_loop, *relay_loop, *zap_loop;
        void *feed, *requests; /* the loop's ends of updates and relay */
        /* For both threads: */
        _Atomic uint64_t *connected; /* the number of the connection at each place of the table, or 0 */
        atomic_size_t asked;         /* bytes of requests that the loop has not read */
        atomic_bool ending, check_keys;
        _Atomic uint64_t close_stuck[DOORS]; /* 0: no such wish; else all but this one */
        atomic_ulong subscriptions, strangers, refused, disconnected;
};

/* -------------------------------------------------------------------- table */

static struct connection *find_connection(const struct front *f, uint64_t number)
{
        const unsigned place = number & 0xffff;
        struct connection *c = place < f->n_table ? f->table[place] : NULL;

        return c && c->identity.connection == number ? c : NULL;
}

/* A number that nobody can guess; its low 16 bits are the place in the table. False: there is none. */
static bool enter_connection(struct front *f, struct connection *c)
{
        uint64_t random;
        unsigned place = 0;

        while (place < f->n_table && f->table[place])
                place++;
        if (place == f->n_places) /* places bound how many there are */
                return false;
        f->n_table += place == f->n_table;
        while (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
                ;
        c->identity.connection = random << 16 | place;
        f->table[place] = c;
        f->n_of[c->door]++;
        atomic_store(&f->connected[place], c->identity.connection);
        return true;
}

static void print_endpoint(char endpoint[64], uint64_t number)
{
        (void)snprintf(endpoint, 64, "ipc://@" PRIVATE_NAME "%016" PRIx64, number);
}

/* --------------------------------------------------------------------- ends */

static void stop_listening(struct connection *c)
{
        c->front->n_pending -= c->connects != NULL;
        free_event(&c->connects);
        close_fd(&c->listener);
}

/* libzmq forgets it, after what came by it was read. */
static void end_session(struct connection *c)
{
        struct front *f = c->front;
        char endpoint[64];

        if (c->ended || !f->sockets[c->door])
                return;
        c->ended = true;
        zloop_pump(f->messages[c->door]);
        print_endpoint(endpoint, c->identity.connection);
        (void)zmq_disconnect(f->sockets[c->door], endpoint);
        zloop_pump(f->messages[c->door]); /* its descriptor may have been read meanwhile */
}

static void close_connection(struct connection *c)
{
        struct front *f = c->front;
        const unsigned place = c->identity.connection & 0xffff;

        end_session(c);
        atomic_store(&f->connected[place], 0);
        f->table[place] = NULL;
        f->n_of[c->door]--;
        atomic_fetch_sub(&f->subscriptions, c->n_topics);
        stop_listening(c);
        if (c->client)
                bufferevent_free(c->client);
        if (c->libzmq)
                bufferevent_free(c->libzmq);
        free(c->topics);
        free(c);
        if (f->stopping && f->n_of[DOOR_PUBLISH] + f->n_of[DOOR_REQUEST] == 0)
                (void)event_base_loopbreak(f->base);
}

/* Logged and counted. */
static void refuse_connection(struct connection *c, const char *why)
{
        const bool subscriber = c->door == DOOR_PUBLISH;
        const unsigned long n = atomic_fetch_add(subscriber ? &c->front->disconnected : &c->front->refused, 1) + 1;

        log_warning("%s=%lu from=%s: %s", subscriber ? "subscribers_disconnected" : "connections_refused", n,
                    c->address, why);
        close_connection(c);
}

/* Whatever libzmq has ended by itself, it forgets; others may end meanwhile. */
static void end_sessions(struct front *f, enum front_door door)
{
        bool any = true;

        while (any) {
                for (unsigned i = 0; i < f->n_table; i++) {
                        const struct connection *c = f->table[i];
                        const bool counts = c && c->door == door && c->libzmq && !c->ended;
                        f->ends[i] = (struct pollfd){ .fd = counts ? bufferevent_getfd(c->libzmq) : -1 };
                }
                any = poll(f->ends, f->n_table, 0) > 0;
                for (unsigned i = 0; any && i < f->n_table; i++)
                        if (f->ends[i].revents && f->table[i]) /* what is read may close others */
                                end_session(f->table[i]);
        }
}

static size_t bytes_for(struct bufferevent *b)
{
        return evbuffer_get_length(bufferevent_get_output(b));
}

static void on_client_event(struct bufferevent *client, short what, void *arg)
{
        struct connection *c = arg;
        int queued = 0;

        if (what & BEV_EVENT_TIMEOUT && !c->libzmq_gone) { /* what waits for it was not taken */
                (void)ioctl(bufferevent_getfd(client), SIOCOUTQ, &queued);
                c->stuck = queued == c->queued;
                c->queued = queued;
                (void)bufferevent_enable(client, EV_WRITE);
        } else if (c->libzmq_gone) {
                close_connection(c);
        } else { /* to close libzmq's end here could discard what it has not read */
                bufferevent_free(client);
                c->client = NULL;
                (void)bufferevent_set_timeouts(c->libzmq, &ending_time, &ending_time);
                (void)bufferevent_enable(c->libzmq, EV_READ);
                if (bytes_for(c->libzmq) == 0)
                        (void)shutdown(bufferevent_getfd(c->libzmq), SHUT_WR);
        }
}

static void on_libzmq_event(struct bufferevent *libzmq, short what, void *arg)
{
        struct connection *c = arg;
        const bool in_time = clock_mono_ns() - c->opened_ns < (HANDSHAKE_MS - 100) * NS_PER_MS;

        if (c->keyed && !c->judged && (c->client || c->unread > 0)) /* a client that had begun to send, or is refused */
                admission_count_failed(c->front->options.admission, c->address, c->client && in_time);
        if (what & BEV_EVENT_TIMEOUT || !c->client || bytes_for(c->client) == 0) {
                close_connection(c);
                return;
        }
        c->libzmq_gone = true;
        end_session(c);
        (void)bufferevent_disable(c->client, EV_READ);
        (void)bufferevent_set_timeouts(c->client, NULL, &ending_time);
}

/* -------------------------------------------------------------------- bytes */

/*
 * What the kernel takes at once needs no other turn. While much waits to be written no more is read; an error is
 * reported when the rest cannot be written, too.
 */
static void pass_on(struct bufferevent *from, struct bufferevent *to)
{
        struct evbuffer *bytes = bufferevent_get_input(from);

        if (bytes_for(to) == 0)
                (void)evbuffer_write(bytes, bufferevent_getfd(to));
        (void)bufferevent_write_buffer(to, bytes);
        if (bytes_for(to) >= RELAY_BYTES)
                (void)bufferevent_disable(from, EV_READ);
}

/* Of all connections to a door. */
static uint64_t unread_of(const struct front *f, enum front_door door)
{
        uint64_t all = 0;

        for (unsigned i = 0; i < f->n_table; i++)
                if (f->table[i] && f->table[i]->door == door)
                        all += f->table[i]->unread;
        return all;
}

/* Bytes came: why the connection may not go on; NULL: it may. Over TCP some are heartbeats, which nobody reads. */
static const char *count_received(struct connection *c, size_t size)
{
        struct front *f = c->front;
        const uint64_t now_ns = clock_mono_ns(), part = f->options.unread / f->options.places[c->door];
        const uint64_t beats = c->is_tcp ? (now_ns - c->unread_ns) / NS_PER_MS * HEARTBEAT_BYTES_PER_S / 1000u : 0;

        c->unread -= c->unread < beats ? c->unread : beats;
        c->unread_ns = now_ns;
        c->unread += size;
        if (c->door == DOOR_PUBLISH && !subscriber_quota_charge(&f->quota, c->identity.sender.who, now_ns, size))
                return "it sends too many subscriptions";
        if (c->unread <= LIMIT_UNREAD_BYTES && (c->unread <= part || unread_of(f, c->door) <= f->options.unread))
                return NULL;
        return "it sends more than can be read, or a message that does not end";
}

static void count_read(struct connection *c, size_t size)
{
        const uint64_t most = size + MESSAGE_OVERHEAD_BYTES;

        if (c)
                c->unread -= c->unread < most ? c->unread : most;
}

static void on_client_bytes(struct bufferevent *client, void *arg)
{
        struct connection *c = arg;
        const char *why = count_received(c, evbuffer_get_length(bufferevent_get_input(client)));

        if (why)
                refuse_connection(c, why);
        else
                pass_on(client, c->libzmq);
}

static void on_libzmq_bytes(struct bufferevent *libzmq, void *arg)
{
        struct connection *c = arg;
        struct evbuffer *bytes = bufferevent_get_input(libzmq);

        if (c->client)
                pass_on(libzmq, c->client);
        else
                (void)evbuffer_drain(bytes, evbuffer_get_length(bytes));
}

/* All that there was has been written. */
static void on_client_written(struct bufferevent *client, void *arg)
{
        struct connection *c = arg;

        if (c->libzmq_gone)
                close_connection(c);
        else
                (void)bufferevent_enable(c->libzmq, EV_READ);
}

static void on_libzmq_written(struct bufferevent *libzmq, void *arg)
{
        struct connection *c = arg;

        if (c->client)
                (void)bufferevent_enable(c->client, EV_READ);
        else
                (void)shutdown(bufferevent_getfd(libzmq), SHUT_WR);
}

static void on_taken(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *arg)
{
        struct connection *c = arg;

        if (info->n_deleted > 0) {
                c->stuck = false;
                c->queued = -1;
        }
}

/* -------------------------------------------------------------- connections */

/* libzmq connects; or somebody else, who is turned away. */
static void on_private(evutil_socket_t listener, short what, void *arg)
{
        struct connection *c = arg;
        struct ucred peer = { .pid = 0 };
        socklen_t size = sizeof(peer);
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0 && !(what & EV_TIMEOUT) && errno != EMFILE && errno != ENFILE)
                return;
        if (fd >= 0 && (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid != getpid())) {
                (void)close(fd);
                return;
        }
        c->libzmq = fd < 0 ? NULL : bufferevent_socket_new(c->front->base, fd, BEV_OPT_CLOSE_ON_FREE);
        if (!c->libzmq) { /* to wait for a descriptor would keep the thread busy */
                close_fd(&fd);
                close_connection(c);
                return;
        }
        stop_listening(c);
        c->opened_ns = clock_mono_ns();
        bufferevent_setcb(c->client, on_client_bytes, on_client_written, on_client_event, c);
        bufferevent_setcb(c->libzmq, on_libzmq_bytes, on_libzmq_written, on_libzmq_event, c);
        (void)bufferevent_set_timeouts(c->client, NULL, &stuck_time);
        (void)bufferevent_enable(c->client, EV_READ);
        (void)bufferevent_enable(c->libzmq, EV_READ);
}

/* At its private address. */
static bool await_libzmq(struct connection *c)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        const int n =
                snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, PRIVATE_NAME "%016" PRIx64, c->identity.connection);
        const socklen_t size = (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1 + (socklen_t)n;

        c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (c->listener < 0 || bind(c->listener, (struct sockaddr *)&a, size) != 0 || listen(c->listener, 8) != 0)
                return false;
        c->connects = event_new(c->front->base, c->listener, EV_READ | EV_PERSIST, on_private, c);
        c->front->n_pending += c->connects != NULL;
        return c->connects && event_add(c->connects, &pending_time) == 0;
}

static bool set_int(void *socket, int option, int value)
{
        return zmq_setsockopt(socket, option, &value, sizeof(value)) == 0;
}

static bool connect_libzmq(struct front *f, const struct connection *c)
{
        /* Messages of the CURVE handshake are longer than a subscription. */
        const int64_t longest = c->door == DOOR_REQUEST ? 2 * (int64_t)LIMIT_REQUEST_BYTES
                                : c->keyed              ? LIMIT_KEYED_SUBSCRIPTION
                                                        : LIMIT_SUBSCRIPTION_BYTES;
        const uint64_t number = c->identity.connection;
        void *socket = f->sockets[c->door];
        char endpoint[64];

        end_sessions(f, c->door);
        print_endpoint(endpoint, number);
        if (zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &longest, sizeof(longest)) != 0 ||
            (c->door == DOOR_REQUEST && zmq_setsockopt(socket, ZMQ_CONNECT_ROUTING_ID, &number, sizeof(number)) != 0) ||
            !set_int(socket, ZMQ_HEARTBEAT_IVL, c->keyed ? HEARTBEAT_MS : 0) ||
            !(c->keyed ? admission_set_key(f->options.admission, socket) : set_int(socket, ZMQ_CURVE_SERVER, 0)) ||
            (c->keyed && zmq_setsockopt(socket, ZMQ_ROUTING_ID, &number, sizeof(number)) != 0))
                return false;
        const bool connected = zmq_connect(socket, endpoint) == 0;
        zloop_pump(f->messages[c->door]); /* its descriptor may have been read meanwhile */
        return connected;
}

/* Why it gets no place; NULL: it has one. */
static const char *admit_connection(struct front *f, struct connection *c)
{
        const unsigned places = f->options.places[c->door];
        unsigned own = 0;

        for (unsigned i = 0; i < f->n_table; i++)
                own += f->table[i] && f->table[i]->door == c->door &&
                       f->table[i]->identity.sender.who == c->identity.sender.who;
        if (own >= places / 2)
                return "half of all connections are its own";
        if (c->door == DOOR_PUBLISH && !subscriber_quota_admit(&f->quota, c->identity.sender.who, clock_mono_ns()))
                return "it connects and subscribes too often, or all together do";
        return f->n_of[c->door] < places && enter_connection(f, c) ? NULL : "no more connections are accepted";
}

static void accept_connection(struct front_listener *l, int fd)
{
        struct front *f = l->front;
        struct connection *c = calloc(1, sizeof(*c));
        struct sockaddr_storage peer = { .ss_family = AF_UNSPEC };
        socklen_t size = sizeof(peer);
        unsigned long refused;
        const char *why;
        const int yes = 1;

        if (!c || getpeername(fd, (struct sockaddr *)&peer, &size) != 0)
                goto closed;
        *c = (struct connection){ .front = f, .door = l->door, .keyed = !l->endpoint, .listener = -1, .queued = -1 };
        c->is_tcp = peer.ss_family != AF_UNIX;
        address_sender(fd, &peer, &c->identity.sender);
        address_print(&peer, &c->identity.sender, c->address);
        if (c->identity.sender.is_other_user) {
                atomic_fetch_add(&f->strangers, 1);
                log_warning("refused=ipc from=%s: another user: the socket's directory may have been opened to others",
                            c->address);
                goto closed;
        }
        why = admit_connection(f, c);
        if (why)
                goto refused;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)); /* fails over ipc */
        c->client = bufferevent_socket_new(f->base, fd, BEV_OPT_CLOSE_ON_FREE);
        if (c->client && evbuffer_add_cb(bufferevent_get_output(c->client), on_taken, c) && await_libzmq(c) &&
            connect_libzmq(f, c))
                return;
        why = "too few descriptors or too little memory is left";
refused:
        refused = atomic_fetch_add(&f->refused, 1) + 1;
        log_warning("connections_refused=%lu socket=%s from=%s: %s", refused, door_names[l->door], c->address, why);
closed:
        if (!c || !c->client)
                (void)close(fd);
        if (c && c->identity.connection)
                close_connection(c);
        else
                free(c);
}

static void on_listener(evutil_socket_t fd, short what, void *arg)
{
        struct front_listener *l = arg;

        for (unsigned i = 0; i < ACCEPT_TURN; i++) {
                const int accepted = descriptors_accept(fd, DESCRIPTORS_EACH * (l->front->n_pending + 1));
                if (accepted < 0)
                        return;
                accept_connection(l, accepted);
        }
}

static bool watch_listener(struct front_listener *l)
{
        free_event(&l->readable);
        l->readable = event_new(l->front->base, l->fd, EV_READ | EV_PERSIST, on_listener, l);
        return l->readable && event_add(l->readable, NULL) == 0;
}

/* The runtime directory was emptied or replaced, as by a logout: listens there again. */
static void restore_listeners(struct front *f)
{
        const uint64_t now_ns = clock_mono_ns();

        if (now_ns - f->looked_ns < LOOK_NS)
                return;
        f->looked_ns = now_ns;
        for (unsigned i = 0; i < f->n_listeners; i++) {
                struct front_listener *l = &f->listeners[i];
                const int fd = l->endpoint ? endpoint_restore(l->endpoint) : -1;
                if (fd < 0)
                        continue;
                free_event(&l->readable);
                (void)close(l->fd);
                l->fd = fd;
                (void)watch_listener(l);
        }
}

/* ----------------------------------------------------------------- messages */

/* By the address that libzmq's end of the connection is connected to; NULL: it has ended. */
static struct connection *connection_behind(const struct front *f, int fd)
{
        static const size_t prefix = sizeof(PRIVATE_NAME); /* behind a zero */
        struct sockaddr_un a = { .sun_family = AF_UNSPEC };
        socklen_t size = sizeof(a) - 1;

        if (fd < 0 || getpeername(fd, (struct sockaddr *)&a, &size) != 0 || a.sun_family != AF_UNIX ||
            memcmp(a.sun_path, "\0" PRIVATE_NAME, prefix) != 0)
                return NULL;
        return find_connection(f, strtoull(a.sun_path + prefix, NULL, 16));
}

/*
 * With ZMQ_XPUB_VERBOSER each of a connection is reported: twice if it subscribes twice, though libzmq then holds it
 * once and its end comes once. So they are counted as libzmq holds them, as a set, which goes with the connection.
 */
static void count_topic(struct front *f, struct connection *c, uint64_t topic, bool add)
{
        unsigned at = 0;
        char why[160];

        while (at < c->n_topics && c->topics[at] != topic)
                at++;
        if (add == (at < c->n_topics))
                return;
        if (!add) {
                c->topics[at] = c->topics[--c->n_topics];
                const unsigned long left = atomic_fetch_sub(&f->subscriptions, 1) - 1;
                log_debug("subscriptions=%lu removed", left);
                return;
        }
        if (!ARRAY_RESERVE_NEXT(c->topics, c->n_topics)) {
                refuse_connection(c, "there is no memory for one more of its subscriptions");
                return;
        }
        c->topics[c->n_topics++] = topic;
        const unsigned long all = atomic_fetch_add(&f->subscriptions, 1) + 1;
        log_debug("subscriptions=%lu added", all);
        if (c->n_topics <= LIMIT_SUBSCRIPTIONS_OF_ONE && all <= f->options.subscriptions)
                return;
        (void)snprintf(why, sizeof(why), "it has %u subscriptions of %lu in all; the limits are %u and %u", c->n_topics,
                       all, LIMIT_SUBSCRIPTIONS_OF_ONE, f->options.subscriptions);
        refuse_connection(c, why);
}

static int receive_subscription(void *ctx, void *socket)
{
        struct front *f = ctx;
        zmq_msg_t msg;

        (void)zmq_msg_init(&msg);
        const bool some = zmq_msg_recv(&msg, socket, ZMQ_DONTWAIT) >= 0;
        const size_t size = some ? zmq_msg_size(&msg) : 0;
        const uint8_t *data = zmq_msg_data(&msg);
        struct connection *c = some ? connection_behind(f, zmq_msg_get(&msg, ZMQ_SRCFD)) : NULL;
        count_read(c, size);
        if (c && !c->ended && size > 0 && data[0] <= 1)
                count_topic(f, c, hash_bytes(data + 1, size - 1, f->topic_seed), data[0]);
        (void)zmq_msg_close(&msg);
        return some;
}

static bool was_stuck(const struct front *f, const struct connection *c)
{
        for (unsigned i = 0; i < PEERS_MAX; i++)
                if (f->stuck.of[i].who == c->identity.sender.who)
                        return f->stuck.of[i].full_ns[0] > clock_mono_ns();
        return false;
}

/* From libzmq to the loop, unless much waits there. */
static int receive_request(void *ctx, void *socket)
{
        struct front *f = ctx;
        uint64_t number = 0;
        size_t size = 0;
        zmq_msg_t part;

        if (atomic_load(&f->asked) > f->options.unread)
                return -1;
        (void)zmq_msg_init(&part);
        if (zmq_msg_recv(&part, socket, ZMQ_DONTWAIT) < 0)
                return 0;
        if (zmq_msg_size(&part) == sizeof(number))
                memcpy(&number, zmq_msg_data(&part), sizeof(number));
        struct connection *c = find_connection(f, number);
        if (c)
                c->identity.was_stuck = was_stuck(f, c);
        if (c && zmq_send(f->relay, &c->identity, sizeof(c->identity), ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0)
                c = NULL; /* out of memory */
        for (bool more = true; more && zmq_msg_recv(&part, socket, ZMQ_DONTWAIT) >= 0;) {
                more = zmq_msg_more(&part);
                const size_t cost = zmq_msg_size(&part) + MESSAGE_OVERHEAD_BYTES;
                size += cost;
                if (c) {
                        atomic_fetch_add(&f->asked, cost);
                        (void)zmq_msg_send(&part, f->relay, (more ? ZMQ_SNDMORE : 0) | ZMQ_DONTWAIT);
                }
        }
        (void)zmq_msg_close(&part);
        count_read(c, size);
        zloop_pump(f->relay_loop); /* its descriptor may have been read meanwhile */
        return 1;
}

static void send_reply(struct front *f, const struct front_reply *to, zmq_msg_t *body)
{
        void *router = f->sockets[DOOR_REQUEST];
        struct connection *c = find_connection(f, to->connection);

        if (!c)
                return;
        if (zmq_send(router, &to->connection, sizeof(to->connection), ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) {
                if (errno == EAGAIN) /* a client must never take an answer with a hole for a whole one */
                        refuse_connection(c, "it reads nothing, and too many replies wait for it");
                return;
        }
        if (to->delimiter)
                (void)zmq_send(router, "", 0, ZMQ_SNDMORE | ZMQ_DONTWAIT);
        (void)zmq_msg_send(body, router, ZMQ_DONTWAIT);
}

/*
 * From the loop to libzmq. It looks up the subscribers of an update in a trie of all subscriptions, and walks the whole
 * trie whenever a connection ends: clients decide how large it is. To read ZMQ_EVENTS is a system call: once for all.
 */
static bool relay_messages(struct front *f, void *socket, unsigned most)
{
        zmq_msg_t head, body;
        unsigned n = 0;

        (void)zmq_msg_init(&head);
        (void)zmq_msg_init(&body);
        for (; n < most && zmq_msg_recv(&head, socket, ZMQ_DONTWAIT) >= 0; n++) {
                (void)zmq_msg_recv(&body, socket, 0); /* all parts of a message arrive at once */
                if (socket == f->relay)
                        send_reply(f, zmq_msg_data(&head), &body);
                else if (zmq_msg_send(&head, f->sockets[DOOR_PUBLISH], ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0)
                        (void)zmq_msg_send(&body, f->sockets[DOOR_PUBLISH], ZMQ_DONTWAIT); /* XPUB never refuses */
        }
        (void)zmq_msg_close(&head);
        (void)zmq_msg_close(&body);
        for (unsigned i = 0; n > 0 && i < DOORS; i++)
                zloop_pump(f->messages[i]); /* sending may have read its descriptor */
        return n > 0;
}

/* A heartbeat comes each second. */
static int receive_messages(void *ctx, void *socket)
{
        restore_listeners(ctx);
        return relay_messages(ctx, socket, RELAY_TURN);
}

static int send_head_and_body(void *socket, const void *head, size_t head_size, zmq_msg_t *message)
{
        if (zmq_send(socket, head, head_size, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0 ||
            zmq_msg_send(message, socket, ZMQ_DONTWAIT) < 0)
                return -errno;
        return 0;
}

int front_send(struct front *f, const char *topic, size_t topic_size, zmq_msg_t *message)
{
        return send_head_and_body(f->feed, topic, topic_size, message);
}

int front_reply(struct front *f, const struct front_reply *to, zmq_msg_t *message)
{
        return send_head_and_body(f->requests, to, sizeof(*to), message);
}

/* libzmq asks about a key. */
static bool judge_peer(void *ctx, const struct zap_request *r, const char *wrong)
{
        struct front *f = ctx;
        struct connection *c = find_connection(f, r->connection);

        if (!c)
                return false;
        c->judged = true;
        c->identity.has_key = admission_judge(f->options.admission, r, wrong, c->identity.sender.name);
        memcpy(c->identity.public, r->public, KEY_BYTES);
        return c->identity.has_key;
}

static int receive_question(void *ctx, void *socket)
{
        return zap_serve(socket, judge_peer, ctx);
}

/* ------------------------------------------------------------------- wishes */

static void close_stuck(struct front *f, enum front_door door, uint64_t but)
{
        const uint64_t now_ns = clock_mono_ns();

        for (unsigned i = 0; i < f->n_table; i++) {
                struct connection *c = f->table[i];
                if (!c || c->door != door || !c->stuck || c->identity.connection == but)
                        continue;
                peers_find(&f->stuck, c->identity.sender.who, now_ns)->full_ns[0] = now_ns + STUCK_KNOWN_NS;
                refuse_connection(c, "it reads nothing, and others wait for the memory");
        }
}

/* Updates need not wait for the spacing of pumps; or no more come, and the loop ends when all are published. */
static void on_wake(evutil_socket_t fd, short what, void *arg)
{
        struct front *f = arg;
        eventfd_t n;

        (void)eventfd_read(fd, &n); /* before the wishes are read: what is set later wakes again */
        restore_listeners(f);
        for (unsigned door = 0; door < DOORS; door++) {
                const uint64_t but = atomic_exchange(&f->close_stuck[door], 0);
                if (but)
                        close_stuck(f, (enum front_door)door, but);
        }
        if (atomic_exchange(&f->check_keys, false)) {
                for (unsigned i = 0; i < f->n_table; i++) {
                        struct connection *c = f->table[i];
                        /* one whose handshake is not over yet is judged by the new keys */
                        if (c && c->identity.has_key && !admission_holds(f->options.admission, c->identity.public)) {
                                admission_count_shut(f->options.admission, c->address);
                                close_connection(c);
                        }
                }
        }
        f->stopping = atomic_load(&f->ending);
        (void)relay_messages(f, f->updates, f->stopping ? UINT_MAX : RELAY_TURN);
        zloop_pump(f->updates_loop); /* its descriptor was read */
        if (!f->stopping)
                return;
        (void)relay_messages(f, f->relay, UINT_MAX);
        (void)event_base_loopbreak(f->base);
}

void front_wake(struct front *f)
{
        (void)eventfd_write(f->wake_fd, 1);
}

void front_close_stuck(struct front *f, enum front_door door, uint64_t but)
{
        atomic_store(&f->close_stuck[door], but ? but : UINT64_MAX);
        front_wake(f);
}

void front_check_keys(struct front *f)
{
        atomic_store(&f->check_keys, true);
        front_wake(f);
}

bool front_is_connected(const struct front *f, uint64_t connection)
{
        const unsigned place = connection & 0xffff;

        return place < f->n_places && atomic_load(&f->connected[place]) == connection;
}

bool front_has_subscribers(const struct front *f)
{
        return atomic_load(&f->subscriptions) > 0;
}

void *front_requests(struct front *f)
{
        return f->requests;
}

void front_count_read(struct front *f, size_t size)
{
        atomic_fetch_sub(&f->asked, size);
}

struct front_stats front_stats(const struct front *f)
{
        return (struct front_stats){ .subscriptions = atomic_load(&f->subscriptions),
                                     .strangers = atomic_load(&f->strangers),
                                     .refused = atomic_load(&f->refused),
                                     .disconnected = atomic_load(&f->disconnected) };
}

/* --------------------------------------------------------------------- life */

static void stop_accepting(struct front *f)
{
        for (unsigned i = 0; i < f->n_listeners; i++) {
                free_event(&f->listeners[i].readable);
                (void)close(f->listeners[i].fd);
        }
        f->n_listeners = 0;
}

static void close_sockets(struct front *f)
{
        struct zloop **const loops[] = { &f->messages[0], &f->messages[1], &f->updates_loop, &f->relay_loop,
                                         &f->zap_loop };
        void **const sockets[] = { &f->sockets[0], &f->sockets[1], &f->updates, &f->relay, &f->zap };

        for (unsigned i = 0; i < ARRAY_SIZE(loops); i++) {
                zloop_destroy(loops[i]);
                if (*sockets[i])
                        (void)zmq_close(*sockets[i]);
                *sockets[i] = NULL;
        }
}

static void *run_front(void *ctx)
{
        static const struct timeval last = { 0, LAST_BYTES_MS * 1000 };
        struct front *f = ctx;

        while (!f->stopping)
                (void)event_base_loop(f->base, EVLOOP_NO_EXIT_ON_EMPTY);
        stop_accepting(f);
        close_sockets(f);
        (void)event_base_loopexit(f->base, &last);
        if (f->n_of[DOOR_PUBLISH] + f->n_of[DOOR_REQUEST] > 0)
                (void)event_base_dispatch(f->base);
        return NULL;
}

static bool open_door(struct front *f, enum front_door door, int kind, int sent, int option)
{
        void *s = f->sockets[door] = zmq_socket(f->options.context, kind);

        return s && set_int(s, ZMQ_SNDHWM, sent) && set_int(s, ZMQ_RCVHWM, LIMIT_REQUESTS_WAITING) &&
               set_int(s, option, 1) && set_int(s, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS) &&
               set_int(s, ZMQ_HEARTBEAT_TIMEOUT, HEARTBEAT_LOST_MS) && set_int(s, ZMQ_LINGER, LINGER_MS) &&
               set_int(s, ZMQ_RECONNECT_IVL, NEVER_MS);
}

/* Two ends within this process, the second one the loop's, from which at most so many messages wait. */
static bool open_inner(struct front *f, const char *name, void **ret_own, int own, void **ret_loops, int loops,
                       int most)
{
        *ret_own = zmq_socket(f->options.context, own);
        *ret_loops = zmq_socket(f->options.context, loops);
        return *ret_own && *ret_loops && set_int(*ret_own, ZMQ_RCVHWM, most > 0) && set_int(*ret_own, ZMQ_SNDHWM, 0) &&
               set_int(*ret_loops, ZMQ_SNDHWM, most) && set_int(*ret_loops, ZMQ_RCVHWM, 0) &&
               set_int(*ret_own, ZMQ_LINGER, 0) && zmq_bind(*ret_own, name) == 0 && zmq_connect(*ret_loops, name) == 0;
}

static bool open_sockets(struct front *f)
{
        f->zap = zmq_socket(f->options.context, ZMQ_ROUTER);
        if (!f->zap || !set_int(f->zap, ZMQ_LINGER, 0) || zmq_bind(f->zap, ZAP_ENDPOINT) != 0 ||
            !open_inner(f, "inproc://updates", &f->updates, ZMQ_PULL, &f->feed, ZMQ_PUSH, LIMIT_UPDATES_WAITING) ||
            !open_inner(f, "inproc://requests", &f->relay, ZMQ_PAIR, &f->requests, ZMQ_PAIR, 0) ||
            !open_door(f, DOOR_PUBLISH, ZMQ_XPUB, f->options.high_water_mark, ZMQ_XPUB_VERBOSER) ||
            !open_door(f, DOOR_REQUEST, ZMQ_ROUTER, LIMIT_REPLIES_WAITING, ZMQ_ROUTER_MANDATORY))
                return false;
        f->messages[DOOR_PUBLISH] = zloop_new(f->base, f->sockets[DOOR_PUBLISH], receive_subscription, f);
        f->messages[DOOR_REQUEST] = zloop_new(f->base, f->sockets[DOOR_REQUEST], receive_request, f);
        f->updates_loop = zloop_new(f->base, f->updates, receive_messages, f);
        f->relay_loop = zloop_new(f->base, f->relay, receive_messages, f);
        f->zap_loop = zloop_new(f->base, f->zap, receive_question, f);
        if (f->updates_loop)
                zloop_set_spacing(f->updates_loop, UPDATES_SPACING);
        return f->messages[DOOR_PUBLISH] && f->messages[DOOR_REQUEST] && f->updates_loop && f->relay_loop &&
               f->zap_loop;
}

static bool open_base(struct front *f)
{
        f->base = event_base_new();
        if (!f->base || event_base_priority_init(f->base, LOOP_PRIORITIES) != 0)
                return false;
        f->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        f->wake = f->wake_fd < 0 ? NULL : event_new(f->base, f->wake_fd, EV_READ | EV_PERSIST, on_wake, f);
        return f->wake && event_add(f->wake, NULL) == 0;
}

struct front *front_new(const struct front_options *o)
{
        struct front *f = calloc(1, sizeof(*f));

        if (!f)
                return NULL;
        f->options = *o;
        f->wake_fd = -1;
        f->topic_seed = hash_seed(f);
        f->n_places = o->places[DOOR_PUBLISH] + o->places[DOOR_REQUEST];
        f->table = calloc(f->n_places, sizeof(*f->table));
        f->ends = calloc(f->n_places, sizeof(*f->ends));
        f->connected = calloc(f->n_places, sizeof(*f->connected));
        if (!f->table || !f->ends || !f->connected || !open_base(f) || !open_sockets(f))
                front_destroy(&f);
        return f;
}

bool front_listen(struct front *f, enum front_door door, int fd, struct endpoint *endpoint)
{
        struct front_listener *l = &f->listeners[f->n_listeners++];

        *l = (struct front_listener){ .front = f, .door = door, .endpoint = endpoint, .fd = fd };
        return watch_listener(l);
}

bool front_start(struct front *f)
{
        f->started = thread_create_masked(&f->thread, run_front, f) == 0;
        return f->started;
}

void front_stop(struct front *f)
{
        if (!f || !f->started)
                return;
        atomic_store(&f->ending, true);
        front_wake(f);
        (void)pthread_join(f->thread, NULL);
        f->started = false;
}

void front_destroy(struct front **fp)
{
        struct front *f = *fp;

        *fp = NULL;
        if (!f)
                return;
        front_stop(f);
        stop_accepting(f);
        close_sockets(f);
        for (unsigned i = 0; f->table && i < f->n_table; i++)
                if (f->table[i])
                        close_connection(f->table[i]);
        if (f->feed)
                (void)zmq_close(f->feed);
        if (f->requests)
                (void)zmq_close(f->requests);
        free_event(&f->wake);
        close_fd(&f->wake_fd);
        if (f->base)
                event_base_free(f->base);
        free(f->connected);
        free(f->ends);
        free(f->table);
        free(f);
}
