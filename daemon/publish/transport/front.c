/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: libzmq bounds what is sent, not what comes, and neither reports who connects nor can close one connection. So
 * it owns none of the sockets that clients connect to. The front does: a thread with an event base of its own accepts,
 * checks who it is, and passes bytes between the client and libzmq, unchanged. CURVE stays between these two.
 *
 *      client ──(ipc, TCP)── front ──(private socket)── libzmq: XPUB (this thread), ROUTER (the loop)
 *
 * The private socket. For each client the front listens at an abstract address named by a random number, and has
 * libzmq connect to it (RECONNECT_IVL so long that it never does again); it accepts the one connection that comes from
 * this process, and stops listening. libzmq connects and does not listen, for three reasons. Options hold for what is
 * connected afterwards: so ZMQ_CONNECT_ROUTING_ID makes the client's identity the first frame of each of its requests,
 * ZMQ_ROUTING_ID tells with which connection a key came (zap.c), and a new server key needs no other bind. A listener
 * of libzmq ends the process when no descriptor is left for a connection; a connection that it cannot make is only
 * missing. And nobody else can connect to it.
 *
 * A ROUTER belongs to the loop, so it is the loop that connects and disconnects it: the front sends it orders. When a
 * connection of libzmq has ended, a monitor reports it, and only then is it disconnected, so that requests of a client
 * that has gone at once are read.
 *
 * Limits are members of struct connection, or computed from them. A client that is slower than libzmq makes the front
 * stop reading libzmq's end, so libzmq's high-water mark holds as if it wrote to the client itself. Bytes that libzmq
 * was given count as unread until the message is read; too many close the connection. libevent's rate limits would only
 * slow a client down, one connection at a time: a flood over many would fill the places, and the limits are a peer's.
 *
 * The lock protects the table of connections and what the loop uses of them. Only the front opens and closes
 * descriptors; the loop may shut one down, under the lock, which the front sees as the client's end.
 *
 * Costs: three descriptors a client, and a copy of each byte. Rejected: the loop's own base, where a flood would delay
 * the reading of logs; accept4(), recv() and send() of our own for libzmq to find, which a static build or another
 * libzmq ends.
 */
#include "daemon/publish/transport/front_private.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
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
#include "daemon/source/loop/descriptors.h"
#include "daemon/publish/transport/admission.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/event.h"
#include "proto/base/hash.h"
#include "proto/base/thread.h"
#include "proto/base/time.h"

#define ACCEPT_TURN      16u            /* connections, before others have their turn */
#define DESCRIPTORS_EACH 3u             /* of a connection: to the client, to libzmq, and libzmq's */
#define PENDING_NS       (5 * NS_PER_S) /* for libzmq to connect */
#define LOOK_NS          (NS_PER_S / 4) /* from one look after all connections to the next */
#define ENDING_NS        NS_PER_S       /* for the rest of the bytes, when one side has ended */
#define LAST_BYTES_MS    400            /* for all connections, when the daemon ends */

const char *const front_door_names[DOORS] = { "publish", "request" };

/* -------------------------------------------------------------------- table */

/* A number that nobody can guess; its low 16 bits are the place in the table. */
static uint64_t make_number(unsigned place)
{
        uint64_t random;

        while (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
                ;
        return random << 16 | place;
}

struct connection *front_find(const struct front *f, uint64_t number)
{
        const unsigned place = number & 0xffff;
        struct connection *c = place < f->n_table ? f->table[place] : NULL;

        return c && c->identity.connection == number ? c : NULL;
}

static bool enter_connection(struct front *f, struct connection *c)
{
        unsigned place = 0;

        while (place < f->n_table && f->table[place])
                place++;
        if (place == f->n_table) /* places bound how many there are */
                return false;
        c->identity.connection = make_number(place);
        (void)pthread_mutex_lock(&f->lock);
        f->table[place] = c;
        f->n_of[c->door]++;
        (void)pthread_mutex_unlock(&f->lock);
        f->n_pending++;
        return true;
}

/* Looks after all connections soon, but not more often than each LOOK_NS. */
static void arm_tick(struct front *f)
{
        static const struct timeval period = { 0, LOOK_NS / 1000 }, at_once = { 0, 0 };
        const bool due = clock_mono_ns() - f->looked_ns >= LOOK_NS;

        if (!evtimer_pending(f->tick, NULL))
                (void)event_add(f->tick, due ? &at_once : &period); /* if out of memory, the next updates do it */
}

void front_check_connections(struct front *f)
{
        if (clock_mono_ns() - f->looked_ns >= LOOK_NS)
                arm_tick(f);
}

static void enter_state(struct connection *c, enum connection_state state)
{
        if (state != OPEN)
                arm_tick(c->front);
        if (c->state == PENDING && state != PENDING)
                c->front->n_pending--;
        c->state = state;
        c->since_ns = clock_mono_ns();
}

/* --------------------------------------------------------------------- ends */

static void stop_listening(struct connection *c)
{
        free_event(&c->connects);
        close_fd(&c->listener);
}

/* From now on the loop cannot shut it down. */
static void free_client(struct connection *c)
{
        (void)pthread_mutex_lock(&c->front->lock);
        c->fd = -1;
        (void)pthread_mutex_unlock(&c->front->lock);
        if (c->client)
                bufferevent_free(c->client);
        c->client = NULL;
}

void front_close(struct connection *c)
{
        struct front *f = c->front;
        const struct order disconnect = { .identity = c->identity };

        if (c->state == PENDING) /* else the monitor reports when libzmq has read all */
                (void)front_give_order(f, c->door, &disconnect);
        enter_state(c, LIBZMQ_GONE);
        (void)pthread_mutex_lock(&f->lock);
        f->table[c->identity.connection & 0xffff] = NULL;
        f->n_of[c->door]--;
        (void)pthread_mutex_unlock(&f->lock);
        free_client(c);
        stop_listening(c);
        if (c->libzmq)
                bufferevent_free(c->libzmq);
        atomic_fetch_sub(&f->subscriptions, c->n_topics);
        free(c->topics);
        free(c);
        if (f->stopping && f->n_of[DOOR_PUBLISH] + f->n_of[DOOR_REQUEST] == 0)
                (void)event_base_loopbreak(f->base);
}

void front_report(struct connection *c, const char *why)
{
        const bool subscriber = c->door == DOOR_PUBLISH;

        log_warning("%s=%lu from=%s: %s", subscriber ? "subscribers_disconnected" : "connections_refused",
                    atomic_fetch_add(subscriber ? &c->front->disconnected : &c->front->refused, 1) + 1, c->address,
                    why);
}

static size_t bytes_for(struct bufferevent *b)
{
        return evbuffer_get_length(bufferevent_get_output(b));
}

/* No more bytes come from the client. To close here could discard what libzmq has not read. */
static void end_for_libzmq(struct connection *c)
{
        if (bytes_for(c->libzmq) == 0)
                (void)shutdown(bufferevent_getfd(c->libzmq), SHUT_WR);
}

static void end_client(struct connection *c)
{
        if (c->state != OPEN) {
                front_close(c);
                return;
        }
        enter_state(c, CLIENT_GONE);
        (void)pthread_mutex_lock(&c->front->lock);
        const bool all_read = c->unread == 0;
        (void)pthread_mutex_unlock(&c->front->lock);
        free_client(c);
        if (all_read) { /* what waits for it is given back before another request of its process comes */
                const struct order disconnect = { .identity = c->identity, .all_read = true };
                (void)front_give_order(c->front, c->door, &disconnect);
        }
        (void)bufferevent_enable(c->libzmq, EV_READ);
        end_for_libzmq(c);
}

/* ------------------------------------------------------------------- limits */

/* Of all connections to a door. */
static uint64_t unread_of(const struct front *f, enum front_door door)
{
        uint64_t all = 0;

        for (unsigned i = 0; i < f->n_table; i++)
                if (f->table[i] && f->table[i]->door == door)
                        all += f->table[i]->unread;
        return all;
}

/* Over TCP some bytes are heartbeats, which nobody reads. */
static void discount_heartbeats(struct connection *c, uint64_t now_ns)
{
        const uint64_t most = (now_ns - c->unread_ns) / 1000000u * HEARTBEAT_BYTES_PER_S / 1000u;

        if (c->is_tcp)
                c->unread -= c->unread < most ? c->unread : most;
        c->unread_ns = now_ns;
}

/* So many bytes came. Why the connection may not go on; NULL: it may. */
static const char *count_received(struct connection *c, size_t size)
{
        struct front *f = c->front;
        const uint64_t now_ns = clock_mono_ns(), part = f->unread / f->places[c->door];
        const bool slow =
                c->door != DOOR_PUBLISH || subscriber_quota_charge(&f->quota, c->identity.sender.who, now_ns, size);

        (void)pthread_mutex_lock(&f->lock);
        discount_heartbeats(c, now_ns);
        c->unread += size;
        const bool few = c->unread <= LIMIT_UNREAD_BYTES && (c->unread <= part || unread_of(f, c->door) <= f->unread);
        (void)pthread_mutex_unlock(&f->lock);
        if (!few)
                return "it sends more than can be read, or a message that does not end";
        return slow ? NULL : "it sends too many subscriptions";
}

void front_count_read(struct front *f, uint64_t connection, size_t size)
{
        const uint64_t most = size + MESSAGE_OVERHEAD_BYTES;

        (void)pthread_mutex_lock(&f->lock);
        struct connection *c = front_find(f, connection);
        if (c)
                c->unread -= c->unread < most ? c->unread : most;
        (void)pthread_mutex_unlock(&f->lock);
}

/* The lock is held. Its queue in the kernel is full, as it was before, and nothing went in or out meanwhile. */
static bool is_stuck(struct connection *c, uint64_t now_ns)
{
        struct pollfd room = { .fd = c->fd, .events = POLLOUT };
        int queued = 0;

        if (c->fd < 0 || c->shut || ioctl(c->fd, SIOCOUTQ, &queued) != 0)
                return false;
        const uint64_t taken = c->sent - (uint64_t)queued;
        if (c->taken_ns == 0 || taken != c->taken || poll(&room, 1, 0) != 0) {
                c->taken = taken;
                c->taken_ns = now_ns;
        }
        return now_ns - c->taken_ns >= STUCK_NS;
}

/* The lock is held. The front sees the client's end. */
static bool shut_down(struct connection *c)
{
        if (c->fd < 0 || c->shut)
                return false;
        c->shut = shutdown(c->fd, SHUT_RDWR) == 0;
        if (c->shut)
                front_wake(c->front);
        return c->shut;
}

void front_close_stuck(struct front *f, enum front_door door, uint64_t but)
{
        const uint64_t now_ns = clock_mono_ns();

        (void)pthread_mutex_lock(&f->lock);
        for (unsigned i = 0; i < f->n_table; i++) {
                struct connection *c = f->table[i];
                if (!c || c->door != door || c->identity.connection == but || !is_stuck(c, now_ns) || !shut_down(c))
                        continue;
                peers_find(&f->stuck, c->identity.sender.who, now_ns)->full_ns[0] = now_ns + STUCK_KNOWN_NS;
                front_report(c, "it reads nothing, and others wait for the memory");
        }
        (void)pthread_mutex_unlock(&f->lock);
}

bool front_was_stuck(struct front *f, uint64_t who)
{
        const uint64_t now_ns = clock_mono_ns();
        bool known = false;

        (void)pthread_mutex_lock(&f->lock);
        for (unsigned i = 0; i < PEERS_MAX && !known; i++)
                known = f->stuck.of[i].who == who && f->stuck.of[i].full_ns[0] > now_ns;
        (void)pthread_mutex_unlock(&f->lock);
        return known;
}

size_t front_close_keyed(struct front *f, bool (*holds)(const void *ctx, const uint8_t public[KEY_BYTES]),
                         const void *ctx)
{
        size_t n = 0;

        (void)pthread_mutex_lock(&f->lock);
        for (unsigned i = 0; i < f->n_table; i++) {
                struct connection *c = f->table[i];
                if (c && c->keyed && !(c->has_key && holds(ctx, c->public)))
                        n += shut_down(c);
        }
        (void)pthread_mutex_unlock(&f->lock);
        return n;
}

/* -------------------------------------------------------------------- bytes */

/*
 * What the kernel takes at once needs no other turn. While much waits to be written no more is read. Returns the bytes
 * that were written at once.
 */
static size_t pass_on(struct bufferevent *from, struct bufferevent *to)
{
        struct evbuffer *bytes = bufferevent_get_input(from);
        const int n = bytes_for(to) == 0 ? evbuffer_write(bytes, bufferevent_getfd(to)) : 0;

        (void)bufferevent_write_buffer(to, bytes); /* an error is reported when they cannot be written, too */
        if (bytes_for(to) >= RELAY_BYTES)
                (void)bufferevent_disable(from, EV_READ);
        return n > 0 ? (size_t)n : 0;
}

static void count_sent(struct connection *c, size_t size)
{
        (void)pthread_mutex_lock(&c->front->lock);
        c->sent += size;
        (void)pthread_mutex_unlock(&c->front->lock);
}

static void on_client_bytes(struct bufferevent *client, void *arg)
{
        struct connection *c = arg;
        const char *why = count_received(c, evbuffer_get_length(bufferevent_get_input(client)));

        if (!why) {
                (void)pass_on(client, c->libzmq);
                return;
        }
        front_report(c, why);
        front_close(c);
}

static void on_libzmq_bytes(struct bufferevent *libzmq, void *arg)
{
        struct connection *c = arg;
        struct evbuffer *bytes = bufferevent_get_input(libzmq);

        if (c->client)
                count_sent(c, pass_on(libzmq, c->client));
        else
                (void)evbuffer_drain(bytes, evbuffer_get_length(bytes));
}

/* All that there was has been written. */
static void on_client_written(struct bufferevent *client, void *arg)
{
        struct connection *c = arg;

        (void)client;
        if (c->state == OPEN)
                (void)bufferevent_enable(c->libzmq, EV_READ);
        else if (c->state == LIBZMQ_GONE)
                front_close(c);
}

static void on_libzmq_written(struct bufferevent *libzmq, void *arg)
{
        struct connection *c = arg;

        (void)libzmq;
        if (c->state == OPEN)
                (void)bufferevent_enable(c->client, EV_READ);
        else if (c->state == CLIENT_GONE)
                end_for_libzmq(c);
}

static void on_client_end(struct bufferevent *client, short what, void *arg)
{
        struct connection *c = arg;

        (void)client;
        if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
                return;
        if (c->state == LIBZMQ_GONE && what & BEV_EVENT_EOF && what & BEV_EVENT_READING)
                return; /* it may still read */
        end_client(c);
}

/* Ended by libzmq before it asked about a key, or by a client that had begun to send. */
static void count_failed(struct connection *c)
{
        const bool in_time = clock_mono_ns() - c->since_ns < (HANDSHAKE_MS - 100) * NS_PER_MS;

        (void)pthread_mutex_lock(&c->front->lock);
        const bool some = c->unread > 0;
        (void)pthread_mutex_unlock(&c->front->lock);
        if (c->keyed && !c->judged && (c->state == OPEN || some))
                admission_count_failed(c->front->admission, c->address, c->state == OPEN && in_time);
}

static void on_libzmq_end(struct bufferevent *libzmq, short what, void *arg)
{
        struct connection *c = arg;

        (void)libzmq;
        if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
                return;
        count_failed(c);
        if (c->state == OPEN && bytes_for(c->client) > 0) {
                enter_state(c, LIBZMQ_GONE);
                (void)bufferevent_disable(c->client, EV_READ);
        } else {
                front_close(c);
        }
}

static void on_sent(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *arg)
{
        struct connection *c = arg;

        (void)buffer;
        if (info->n_deleted > 0)
                count_sent(c, info->n_deleted);
}

/* -------------------------------------------------------------- connections */

static bool is_own_process(int fd)
{
        struct ucred peer = { .pid = 0 };
        socklen_t size = sizeof(peer);

        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == getpid();
}

/* libzmq connects; or somebody else, who is turned away. */
static void on_private(evutil_socket_t listener, short what, void *arg)
{
        struct connection *c = arg;
        const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        (void)what;
        if (fd < 0) {
                if (errno == EMFILE || errno == ENFILE) /* to wait for a descriptor would keep the thread busy */
                        front_close(c);
                return;
        }
        if (!is_own_process(fd)) {
                (void)close(fd);
                return;
        }
        stop_listening(c);
        c->libzmq = bufferevent_socket_new(c->front->base, fd, BEV_OPT_CLOSE_ON_FREE);
        if (!c->libzmq) {
                (void)close(fd);
                front_close(c);
                return;
        }
        enter_state(c, OPEN);
        bufferevent_setcb(c->client, on_client_bytes, on_client_written, on_client_end, c);
        bufferevent_setcb(c->libzmq, on_libzmq_bytes, on_libzmq_written, on_libzmq_end, c);
        (void)bufferevent_enable(c->client, EV_READ);
        (void)bufferevent_enable(c->libzmq, EV_READ);
}

/* Its private address. */
static bool listen_privately(struct connection *c)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        const int n =
                snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, PRIVATE_NAME "%016" PRIx64, c->identity.connection);
        const socklen_t size = (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1 + (socklen_t)n;

        c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (c->listener < 0 || bind(c->listener, (struct sockaddr *)&a, size) != 0 || listen(c->listener, 8) != 0)
                return false;
        c->connects = event_new(c->front->base, c->listener, EV_READ | EV_PERSIST, on_private, c);
        return c->connects && event_add(c->connects, NULL) == 0;
}

static bool has_friend(const struct connection *c, int fd)
{
        struct ucred peer = { .uid = (uid_t)-1 };
        socklen_t size = sizeof(peer);

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0))
                return true;
        log_warning("refused=ipc uid=%lu pid=%ld another user: the socket's directory may have been opened to others",
                    (unsigned long)peer.uid, (long)peer.pid);
        atomic_fetch_add(&c->front->strangers, 1);
        return false;
}

/* Why it gets no place; NULL: it has one. */
static const char *admit_connection(struct front *f, struct connection *c)
{
        unsigned own = 0;

        for (unsigned i = 0; i < f->n_table; i++)
                own += f->table[i] && f->table[i]->door == c->door &&
                       f->table[i]->identity.sender.who == c->identity.sender.who;
        if (f->n_of[c->door] >= f->places[c->door])
                return "no more connections are taken";
        if (own >= f->places[c->door] / 2)
                return "half of all connections are its own";
        if (c->door == DOOR_PUBLISH && !subscriber_quota_admit(&f->quota, c->identity.sender.who, clock_mono_ns()))
                return "it connects and subscribes too often, or all together do";
        return enter_connection(f, c) ? NULL : "no more connections are taken";
}

/* It has a place. False: it was closed. */
static bool open_connection(struct connection *c, int fd)
{
        struct front *f = c->front;
        const struct order connect = { .connect = true, .keyed = c->keyed, .identity = c->identity };
        const int yes = 1;

        c->fd = fd;
        c->since_ns = clock_mono_ns();
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)); /* fails over ipc */
        c->client = bufferevent_socket_new(f->base, fd, BEV_OPT_CLOSE_ON_FREE);
        if (!c->client)
                (void)close(fd);
        if (c->client && evbuffer_add_cb(bufferevent_get_output(c->client), on_sent, c) && listen_privately(c) &&
            front_give_order(f, c->door, &connect))
                return true;
        log_warning("connections_refused=%lu socket=%s from=%s: too few descriptors or too little memory is left",
                    atomic_fetch_add(&f->refused, 1) + 1, front_door_names[c->door], c->address);
        front_close(c);
        return false;
}

static void accept_connection(struct front_listener *l, int fd)
{
        struct front *f = l->front;
        struct connection *c = calloc(1, sizeof(*c));
        struct sockaddr_storage peer = { .ss_family = AF_UNSPEC };
        socklen_t size = sizeof(peer);

        if (!c || getpeername(fd, (struct sockaddr *)&peer, &size) != 0)
                goto closed;
        *c = (struct connection){ .front = f, .door = l->door, .keyed = l->keyed, .listener = -1, .fd = -1 };
        c->is_tcp = peer.ss_family != AF_UNIX;
        address_sender(fd, &peer, &c->identity.sender);
        address_print(&peer, &c->identity.sender, c->address);
        if (!c->is_tcp && !has_friend(c, fd))
                goto closed;
        const char *why = admit_connection(f, c);
        if (!why) {
                (void)open_connection(c, fd);
                return;
        }
        log_warning("connections_refused=%lu socket=%s from=%s: %s", atomic_fetch_add(&f->refused, 1) + 1,
                    front_door_names[c->door], c->address, why);
closed:
        (void)close(fd);
        free(c);
}

static void on_listener(evutil_socket_t fd, short what, void *arg)
{
        struct front_listener *l = arg;

        (void)what;
        arm_tick(l->front);
        for (unsigned i = 0; i < ACCEPT_TURN; i++) {
                const int accepted = descriptors_accept(fd, DESCRIPTORS_EACH * (l->front->n_pending + 1));
                if (accepted < 0)
                        return;
                accept_connection(l, accepted);
        }
}

/*
 * The runtime directory was emptied or replaced, as by a logout: listens there again. A daemon that has come meanwhile
 * is not to be one of two: this one ends.
 */
static void restore_listener(struct front_listener *l)
{
        struct endpoint again;
        struct error error;

        if (!l->endpoint || !endpoint_is_lost(l->endpoint))
                return;
        const int fd = endpoint_open(&again, l->endpoint->address, &error);
        if (fd < 0 && !l->is_lost)
                log_error("socket=%s was removed, and cannot be made again yet: %s", l->endpoint->path, error.text);
        l->is_lost = fd < 0;
        if (fd == -EADDRINUSE)
                (void)kill(getpid(), SIGTERM);
        if (fd < 0)
                return;
        event_free(l->readable);
        (void)close(l->fd);
        *l->endpoint = again;
        l->endpoint->path = l->endpoint->address + (again.path - again.address);
        l->fd = fd;
        l->readable = event_new(l->front->base, fd, EV_READ | EV_PERSIST, on_listener, l);
        if (l->readable)
                (void)event_add(l->readable, NULL);
        log_warning("socket=%s was removed; it is made again", l->endpoint->path);
}

/*
 * Whoever takes too long to begin or to end; and whom the loop has shut down. Once a second, as updates come, and more
 * often while there are such.
 */
static void on_tick(evutil_socket_t fd, short what, void *arg)
{
        struct front *f = arg;
        const uint64_t now_ns = clock_mono_ns();

        (void)fd;
        (void)what;
        f->looked_ns = now_ns;
        for (unsigned i = 0; i < f->n_listeners; i++)
                restore_listener(&f->listeners[i]);
        for (unsigned i = 0; i < f->n_table; i++) {
                struct connection *c = f->table[i];
                if (!c)
                        continue;
                (void)pthread_mutex_lock(&f->lock);
                const bool shut = c->shut;
                (void)pthread_mutex_unlock(&f->lock);
                const uint64_t least = c->state == PENDING ? PENDING_NS : ENDING_NS;
                if (c->state != OPEN && now_ns - c->since_ns > least)
                        front_close(c);
                else if (c->state == OPEN && shut)
                        end_client(c);
                if (f->table[i] && f->table[i]->state != OPEN)
                        arm_tick(f);
        }
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

static void *run_front(void *ctx)
{
        static const struct timeval last = { 0, LAST_BYTES_MS * 1000 };
        struct front *f = ctx;

        while (!f->stopping)
                (void)event_base_loop(f->base, EVLOOP_NO_EXIT_ON_EMPTY);
        stop_accepting(f);
        front_close_sockets(f);
        (void)event_base_loopexit(f->base, &last);
        if (f->n_of[DOOR_PUBLISH] + f->n_of[DOOR_REQUEST] > 0)
                (void)event_base_dispatch(f->base);
        return NULL;
}

/* Updates need not wait for the spacing of pumps; or no more come, and the loop ends when all are published. */
static void on_wake(evutil_socket_t fd, short what, void *arg)
{
        struct front *f = arg;
        eventfd_t n;

        (void)what;
        (void)eventfd_read(fd, &n); /* before the flag is read: what is set later wakes again */
        arm_tick(f);
        f->stopping = atomic_load(&f->ending);
        (void)front_publish_updates(f, f->stopping ? UINT_MAX : UPDATES_TURN);
        if (f->stopping)
                (void)event_base_loopbreak(f->base);
}

static bool open_base(struct front *f)
{
        f->base = event_base_new();
        if (!f->base || event_base_priority_init(f->base, LOOP_PRIORITIES) != 0)
                return false;
        f->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        f->wake = f->wake_fd < 0 ? NULL : event_new(f->base, f->wake_fd, EV_READ | EV_PERSIST, on_wake, f);
        f->tick = evtimer_new(f->base, on_tick, f);
        return f->wake && event_add(f->wake, NULL) == 0 && f->tick;
}

struct front *front_new(const struct front_options *o)
{
        struct front *f = calloc(1, sizeof(*f));

        if (!f)
                return NULL;
        (void)pthread_mutex_init(&f->lock, NULL);
        f->wake_fd = -1;
        f->admission = o->admission;
        f->request = o->request;
        f->unread = o->unread;
        f->most_subscriptions = o->subscriptions;
        f->topic_seed = hash_seed(f);
        memcpy(f->places, o->places, sizeof(f->places));
        f->n_table = o->places[DOOR_PUBLISH] + o->places[DOOR_REQUEST];
        f->table = calloc(f->n_table, sizeof(struct connection *));
        if (!f->table || !open_base(f) || !front_open_sockets(f, o))
                front_destroy(&f);
        return f;
}

bool front_listen(struct front *f, enum front_door door, int fd, struct endpoint *endpoint)
{
        struct front_listener *l = &f->listeners[f->n_listeners];

        *l = (struct front_listener){ .front = f, .door = door, .keyed = !endpoint, .endpoint = endpoint, .fd = fd };
        l->readable = event_new(f->base, fd, EV_READ | EV_PERSIST, on_listener, l);
        if (!l->readable) {
                (void)close(fd);
                return false;
        }
        f->n_listeners++;
        return event_add(l->readable, NULL) == 0;
}

bool front_start(struct front *f)
{
        f->started = thread_create_masked(&f->thread, run_front, f) == 0;
        return f->started;
}

void front_wake(struct front *f)
{
        (void)eventfd_write(f->wake_fd, 1);
}

bool front_has_subscribers(const struct front *f)
{
        return atomic_load(&f->subscriptions) > 0;
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
        front_detach(f);
        front_stop(f);
        stop_accepting(f);
        front_close_sockets(f);
        for (unsigned i = 0; f->table && i < f->n_table; i++)
                if (f->table[i])
                        front_close(f->table[i]);
        if (f->feed)
                (void)zmq_close(f->feed);
        if (f->orders)
                (void)zmq_close(f->orders);
        free_event(&f->tick);
        free_event(&f->wake);
        close_fd(&f->wake_fd);
        if (f->base)
                event_base_free(f->base);
        (void)pthread_mutex_destroy(&f->lock);
        free(f->table);
        free(f);
}

struct front_stats front_stats(const struct front *f)
{
        return (struct front_stats){ .subscriptions = atomic_load(&f->subscriptions),
                                     .strangers = atomic_load(&f->strangers),
                                     .refused = atomic_load(&f->refused),
                                     .disconnected = atomic_load(&f->disconnected) };
}
