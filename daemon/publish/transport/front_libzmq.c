/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front_libzmq.c - DESIGN: the side of the front (front.c) that libzmq is on: its sockets, what they report, and orders
 * to connect. All but orders for the ROUTER, its monitor, and what the loop sends, is the front's thread.
 *
 * Ends. A session of libzmq whose peer breaks the protocol ends by itself, and its endpoint points to it until
 * zmq_disconnect(). By then another session may be at its address, and would be ended in its place: a client whose
 * request is never answered. So each thread reads its socket's monitor, which is written before a session ends, and
 * disconnects those that have ended, before it connects another. To free a session takes libzmq one more turn of the
 * socket's commands than to report its end, so none that ends meanwhile is at the address of the new one.
 *
 * The loop pushes each update, topic and body, into an inproc pipe, from which it goes to the XPUB. ZeroMQ looks up the
 * subscribers of a message in a trie of all subscriptions, and walks the whole trie whenever a connection ends: clients
 * decide how large it is, and the loop must not pay for it. The pipe holds far more than a second's updates; it is full
 * only while the thread is stuck. Then the update is dropped for everybody, and subscribers see the gap and ask for a
 * snapshot.
 *
 * XPUB gives the descriptor by which each subscription came, which is libzmq's end of a private connection: the address
 * of the other end has its number. A descriptor may be another connection's by then, so this only counts. The end of a
 * connection comes without one, and needs none: what it held goes with it.
 */
#include "daemon/publish/transport/front_private.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/log.h"
#include "daemon/publish/transport/admission.h"
#include "daemon/publish/transport/zloop.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/time.h"

#define FEED               "inproc://updates"
#define ORDERS             "inproc://orders"
#define PRIVATE_ENDPOINT   "ipc://@" PRIVATE_NAME
#define NEVER_MS           86400000 /* libzmq would connect again after a day */
#define UPDATES_SPACING_NS (2 * NS_PER_MS)

/* ------------------------------------------------------------------- orders */

static bool set_int(void *socket, int option, int value)
{
        return zmq_setsockopt(socket, option, &value, sizeof(value)) == 0;
}

static bool set_bytes(void *socket, int option, const void *bytes, size_t size)
{
        return zmq_setsockopt(socket, option, bytes, size) == 0;
}

/* For what is connected from now on. */
static bool set_options(struct front *f, void *socket, const struct order *o)
{
        if (socket == f->request && !set_bytes(socket, ZMQ_CONNECT_ROUTING_ID, &o->identity, sizeof(o->identity)))
                return false;
        if (!f->admission)
                return true;
        if (!o->keyed)
                return set_int(socket, ZMQ_CURVE_SERVER, 0) && set_int(socket, ZMQ_HEARTBEAT_IVL, 0);
        return admission_set_key(f->admission, socket) &&
               set_bytes(socket, ZMQ_ROUTING_ID, &o->identity.connection, sizeof(o->identity.connection)) &&
               set_int(socket, ZMQ_HEARTBEAT_IVL, HEARTBEAT_MS) &&
               set_int(socket, ZMQ_HEARTBEAT_TIMEOUT, HEARTBEAT_LOST_MS);
}

/* Messages of the CURVE handshake are longer than a subscription. */
static bool set_longest(struct front *f, void *socket, bool keyed)
{
        const int64_t longest = keyed ? LIMIT_KEYED_SUBSCRIPTION : LIMIT_SUBSCRIPTION_BYTES;

        return socket != f->publish || set_bytes(socket, ZMQ_MAXMSGSIZE, &longest, sizeof(longest));
}

static void *socket_of(const struct front *f, enum front_door door)
{
        return door == DOOR_REQUEST ? f->request : f->publish;
}

static void print_endpoint(char endpoint[64], uint64_t connection)
{
        (void)snprintf(endpoint, 64, PRIVATE_ENDPOINT "%016" PRIx64, connection);
}

/* Unless all was read that came by it, what waits is read first. */
static void disconnect_endpoint(struct front *f, enum front_door door, uint64_t connection, bool all_read)
{
        char endpoint[64];

        if (!all_read)
                zloop_pump(f->messages[door]);
        print_endpoint(endpoint, connection);
        (void)zmq_disconnect(socket_of(f, door), endpoint);
        zloop_pump(f->messages[door]); /* its descriptor may have been read meanwhile */
}

/* On the thread that owns the socket: a session has ended. Event (u16) and value (u32), then its endpoint. */
static int receive_end(void *ctx, void *socket)
{
        static const size_t prefix = sizeof(PRIVATE_ENDPOINT) - 1;
        const struct front_monitor *m = ctx;
        char endpoint[64] = "";

        if (zmq_recv(socket, NULL, 0, ZMQ_DONTWAIT) < 0)
                return 0;
        const int n = zmq_recv(socket, endpoint, sizeof(endpoint) - 1, ZMQ_DONTWAIT);
        if (n > (int)prefix && !memcmp(endpoint, PRIVATE_ENDPOINT, prefix))
                disconnect_endpoint(m->front, m->door, strtoull(endpoint + prefix, NULL, 16), false);
        return 1;
}

static void connect_endpoint(struct front *f, enum front_door door, const struct order *o)
{
        void *socket = socket_of(f, door);
        char endpoint[64];

        while (receive_end(&f->monitors[door], f->monitors[door].socket))
                ;
        print_endpoint(endpoint, o->identity.connection);
        if (!set_longest(f, socket, o->keyed) || !set_options(f, socket, o) || zmq_connect(socket, endpoint) != 0)
                log_warning("connection=%016" PRIx64 ": cannot be made: %s", o->identity.connection,
                            zmq_strerror(errno)); /* it stays pending for a while, and is closed */
        zloop_pump(f->messages[door]);            /* its descriptor may have been read meanwhile */
}

/* On the thread that owns the socket. */
static void execute_order(struct front *f, enum front_door door, const struct order *o)
{
        if (o->connect)
                connect_endpoint(f, door, o);
        else
                disconnect_endpoint(f, door, o->identity.connection, o->all_read);
}

bool front_give_order(struct front *f, enum front_door door, const struct order *o)
{
        if (door == DOOR_REQUEST)
                return zmq_send(f->ask, o, sizeof(*o), ZMQ_DONTWAIT) >= 0;
        if (f->publish)
                execute_order(f, DOOR_PUBLISH, o);
        return true;
}

static int receive_order(void *ctx, void *socket)
{
        struct order o;

        if (zmq_recv(socket, &o, sizeof(o), ZMQ_DONTWAIT) != (int)sizeof(o))
                return 0;
        execute_order(ctx, DOOR_REQUEST, &o);
        return 1;
}

/* ------------------------------------------------------------ subscriptions */

/* By the address that libzmq's end of the connection is connected to; NULL: it has ended. */
static struct connection *connection_behind(const struct front *f, int fd)
{
        struct sockaddr_un a = { .sun_family = AF_UNSPEC };
        socklen_t size = sizeof(a) - 1;

        if (fd < 0 || getpeername(fd, (struct sockaddr *)&a, &size) != 0 || a.sun_family != AF_UNIX ||
            strncmp(a.sun_path + 1, PRIVATE_NAME, strlen(PRIVATE_NAME)) != 0)
                return NULL;
        return front_find(f, strtoull(a.sun_path + 1 + strlen(PRIVATE_NAME), NULL, 16));
}

/* The place of a topic of the connection, by its hash; n_topics: it has none such. */
static unsigned find_topic(const struct connection *c, uint64_t topic)
{
        unsigned at = 0;

        while (at < c->n_topics && c->topics[at] != topic)
                at++;
        return at;
}

static void add_topic(struct front *f, struct connection *c, uint64_t topic)
{
        char why[160];

        if (find_topic(c, topic) < c->n_topics)
                return;
        if (!ARRAY_RESERVE_NEXT(c->topics, c->n_topics)) {
                front_report(c, "there is no memory for one more of its subscriptions");
                front_close(c);
                return;
        }
        c->topics[c->n_topics++] = topic;
        const unsigned long all = atomic_fetch_add(&f->subscriptions, 1) + 1;
        log_debug("subscriptions=%lu added", all);
        if (c->n_topics <= LIMIT_SUBSCRIPTIONS_OF_ONE && all <= f->most_subscriptions)
                return;
        (void)snprintf(why, sizeof(why), "it has %u subscriptions of %lu in all; the limits are %u and %u", c->n_topics,
                       all, LIMIT_SUBSCRIPTIONS_OF_ONE, f->most_subscriptions);
        front_report(c, why);
        front_close(c);
}

static void remove_topic(struct front *f, struct connection *c, uint64_t topic)
{
        const unsigned at = find_topic(c, topic);

        if (at == c->n_topics)
                return;
        c->topics[at] = c->topics[--c->n_topics];
        const unsigned long all = atomic_fetch_sub(&f->subscriptions, 1) - 1;
        log_debug("subscriptions=%lu removed", all);
}

/*
 * With ZMQ_XPUB_VERBOSER each of a connection is reported: twice if it subscribes twice, though libzmq then holds it
 * once and its end comes once. So they are counted as libzmq holds them, as a set, which goes with the connection.
 */
static int receive_subscription(void *ctx, void *socket)
{
        struct front *f = ctx;
        zmq_msg_t msg;

        (void)zmq_msg_init(&msg);
        const bool some = zmq_msg_recv(&msg, socket, ZMQ_DONTWAIT) >= 0;
        const size_t size = some ? zmq_msg_size(&msg) : 0;
        const uint8_t *data = zmq_msg_data(&msg);
        struct connection *c = some ? connection_behind(f, zmq_msg_get(&msg, ZMQ_SRCFD)) : NULL;
        if (c)
                front_count_read(f, c->identity.connection, size);
        if (c && size > 0 && data[0] <= 1) {
                const uint64_t topic = hash_bytes(data + 1, size - 1, f->topic_seed);
                (data[0] ? add_topic : remove_topic)(f, c, topic);
        }
        (void)zmq_msg_close(&msg);
        return some;
}

/* ------------------------------------------------------------------ updates */

/* False: none waits. */
static bool publish_update(struct front *f)
{
        zmq_msg_t topic, body;

        (void)zmq_msg_init(&topic);
        if (zmq_msg_recv(&topic, f->updates, ZMQ_DONTWAIT) < 0) {
                (void)zmq_msg_close(&topic);
                return false;
        }
        (void)zmq_msg_init(&body);
        (void)zmq_msg_recv(&body, f->updates, 0); /* all parts of a message arrive at once */
        if (zmq_msg_send(&topic, f->publish, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0 ||
            zmq_msg_send(&body, f->publish, ZMQ_DONTWAIT) < 0) { /* out of memory: XPUB itself never refuses */
                (void)zmq_msg_close(&topic);
                (void)zmq_msg_close(&body);
        }
        return true;
}

/* To read ZMQ_EVENTS is a system call: once for all that wait, not for each. */
bool front_publish_updates(struct front *f, unsigned most)
{
        unsigned n = 0;

        while (n < most && publish_update(f))
                n++;
        if (n > 0)
                zloop_pump(f->messages[DOOR_PUBLISH]); /* sending may have read its descriptor */
        return n > 0;
}

/* A heartbeat comes each second. */
static int receive_updates(void *ctx, void *socket)
{
        (void)socket;
        front_check_connections(ctx);
        return front_publish_updates(ctx, UPDATES_TURN);
}

int front_send(struct front *f, const char *topic, size_t topic_size, zmq_msg_t *message)
{
        if (zmq_send(f->feed, topic, topic_size, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0 ||
            zmq_msg_send(message, f->feed, ZMQ_DONTWAIT) < 0)
                return -errno;
        return 0;
}

/* --------------------------------------------------------------- handshakes */

/* libzmq asks about a key. */
static bool judge_peer(void *ctx, const struct zap_request *r, const char *wrong)
{
        struct front *f = ctx;
        struct connection *c = front_find(f, r->connection);
        const bool welcome = c && admission_judge(f->admission, r, wrong, c->identity.sender.name);

        if (c)
                c->judged = true;
        if (welcome) {
                (void)pthread_mutex_lock(&f->lock);
                c->has_key = true;
                memcpy(c->public, r->public, KEY_BYTES);
                (void)pthread_mutex_unlock(&f->lock);
        }
        return welcome;
}

static int receive_question(void *ctx, void *socket)
{
        return zap_serve(socket, judge_peer, ctx);
}

static bool open_monitor(struct front *f, enum front_door door, void *context, void *watched)
{
        struct front_monitor *m = &f->monitors[door];
        char endpoint[32];

        *m = (struct front_monitor){ .front = f, .door = door, .socket = zmq_socket(context, ZMQ_PAIR) };
        (void)snprintf(endpoint, sizeof(endpoint), "inproc://monitor-%s", front_door_names[door]);
        return m->socket && set_int(m->socket, ZMQ_RCVHWM, 0) && /* libzmq's thread would wait */
               zmq_socket_monitor(watched, endpoint, ZMQ_EVENT_DISCONNECTED) == 0 &&
               zmq_connect(m->socket, endpoint) == 0;
}

/* ------------------------------------------------------------------ sockets */

static void close_socket(void **socket)
{
        if (*socket)
                (void)zmq_close(*socket);
        *socket = NULL;
}

/* First its other end, which libzmq's thread would wait to write to. */
static void close_monitor(struct front *f, enum front_door door)
{
        struct front_monitor *m = &f->monitors[door];

        zloop_destroy(&m->loop);
        if (m->socket)
                (void)zmq_socket_monitor(socket_of(f, door), NULL, 0);
        close_socket(&m->socket);
}

void front_close_sockets(struct front *f)
{
        zloop_destroy(&f->updates_loop);
        zloop_destroy(&f->messages[DOOR_PUBLISH]);
        zloop_destroy(&f->zap_loop);
        close_monitor(f, DOOR_PUBLISH);
        close_socket(&f->updates);
        close_socket(&f->publish);
        close_socket(&f->zap);
        close_socket(&f->ask);
}

static bool open_sockets(struct front *f, const struct front_options *o)
{
        f->feed = zmq_socket(o->context, ZMQ_PUSH);
        f->updates = zmq_socket(o->context, ZMQ_PULL);
        f->ask = zmq_socket(o->context, ZMQ_PUSH);
        f->orders = zmq_socket(o->context, ZMQ_PULL);
        f->publish = zmq_socket(o->context, ZMQ_XPUB);
        f->zap = zmq_socket(o->context, ZMQ_ROUTER);
        return f->feed && f->updates && f->ask && f->orders && f->publish && f->zap &&
               set_int(f->feed, ZMQ_SNDHWM, LIMIT_UPDATES_WAITING) && set_int(f->updates, ZMQ_RCVHWM, 1) &&
               set_int(f->ask, ZMQ_SNDHWM, 0) && set_int(f->ask, ZMQ_LINGER, 0) && /* places bound them */
               set_int(f->orders, ZMQ_RCVHWM, 0) && set_int(f->publish, ZMQ_SNDHWM, o->high_water_mark) &&
               set_int(f->publish, ZMQ_XPUB_VERBOSER, 1) && set_int(f->publish, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS) &&
               set_int(f->publish, ZMQ_LINGER, LINGER_MS) && set_int(f->publish, ZMQ_RECONNECT_IVL, NEVER_MS) &&
               set_int(f->request, ZMQ_RECONNECT_IVL, NEVER_MS) && set_int(f->zap, ZMQ_LINGER, 0) &&
               zmq_bind(f->updates, FEED) == 0 && zmq_connect(f->feed, FEED) == 0 && zmq_bind(f->orders, ORDERS) == 0 &&
               zmq_connect(f->ask, ORDERS) == 0 && zmq_bind(f->zap, ZAP_ENDPOINT) == 0;
}

static bool watch_monitor(struct front *f, enum front_door door, struct event_base *base)
{
        struct front_monitor *m = &f->monitors[door];

        m->loop = zloop_new(base, m->socket, receive_end, m);
        return m->loop;
}

static bool open_loops(struct front *f)
{
        f->updates_loop = zloop_new(f->base, f->updates, receive_updates, f);
        f->messages[DOOR_PUBLISH] = zloop_new(f->base, f->publish, receive_subscription, f);
        f->zap_loop = zloop_new(f->base, f->zap, receive_question, f);
        if (f->updates_loop)
                zloop_set_spacing(f->updates_loop, UPDATES_SPACING_NS);
        return f->updates_loop && f->messages[DOOR_PUBLISH] && f->zap_loop && watch_monitor(f, DOOR_PUBLISH, f->base);
}

bool front_open_sockets(struct front *f, const struct front_options *o)
{
        return open_sockets(f, o) && open_monitor(f, DOOR_PUBLISH, o->context, f->publish) &&
               open_monitor(f, DOOR_REQUEST, o->context, f->request) && open_loops(f);
}

bool front_attach(struct front *f, struct event_base *base, struct zloop *requests)
{
        f->messages[DOOR_REQUEST] = requests;
        f->orders_loop = zloop_new(base, f->orders, receive_order, f);
        return f->orders_loop && watch_monitor(f, DOOR_REQUEST, base);
}

void front_detach(struct front *f)
{
        zloop_destroy(&f->orders_loop);
        close_monitor(f, DOOR_REQUEST);
}
