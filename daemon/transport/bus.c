/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: two sockets of one ZeroMQ context. Requests are inside libevent
 * through a zloop, on the loop's thread; updates are handed to a thread
 * (broadcast.h); ZeroMQ's own thread only moves bytes and runs free_packed.
 *
 * Updates. A message is packed once, not copied, shared by reference among all
 * subscribers and freed by ZeroMQ when the last one has it. What waits is
 * bounded per subscriber by the high-water mark; beyond it XPUB drops for that
 * subscriber only. The mark counts messages, and a census may be large, so the
 * waiting bytes are bounded too: beyond that, large updates are left out for
 * everybody. A subscriber that keeps up sees the gap and gets the newest census
 * from a snapshot; the daemon does not grow because of one that has stopped
 * reading.
 *
 * Requests. One frame after the client's identity (and the empty delimiter
 * frame of a REQ socket). With ROUTER_MANDATORY a send fails for a client that
 * is gone or does not read. After one reply is dropped, all others to the same
 * request are dropped too: a client must never take a snapshot with a hole for
 * a whole one because its last message got through. Waiting replies are bounded
 * in bytes, of each client and of all (waiting.h), so nobody can make the daemon
 * grow by requesting snapshots and not reading them. An only reply that finds no
 * room is made again when there is some (daemon/control/pending.h); who reads
 * nothing while others wait for that is shut down, and so are subscribers while
 * updates are left out.
 *
 * A client that requests too often or too much (request_quota.h) gets an error that
 * says so and when to retry.
 */
#include "daemon/transport/bus.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "daemon/transport/admission.h"
#include "daemon/transport/request_quota.h"
#include "daemon/transport/broadcast.h"
#include "daemon/transport/connections.h"
#include "daemon/transport/limits.h"
#include "daemon/transport/client_memory.h"
#include "daemon/transport/waiting.h"
#include "daemon/log.h"
#include "daemon/loop/memory.h"
#include "proto/base/clock.h"
#include "proto/base/hash.h"
#include "daemon/transport/endpoint.h"
#include "proto/base/probes.h"
#include "daemon/transport/zloop.h"
#include "proto/wire/limits.h"
#include "proto/base/error.h"

#define DEFAULT_HIGH_WATER_MARK 4096
#define LINGER_MS               200  /* to send what is waiting when the daemon ends */
#define HANDSHAKE_MS            5000 /* how long a silent connection may hold a descriptor */
#define MAX_FRAMES              8    /* of a request; more are read and dropped */

struct bus {
        void *context;
        struct broadcast *publish;
        void *request; /* ROUTER */
        struct endpoint publish_endpoint;
        struct endpoint request_endpoint;
        struct zloop *request_loop;
        struct bus_handler handler;
        struct bus_stats stats;
        struct peers clients;
        struct admission *admission; /* NULL: no TCP for others */
        struct client_memory room;
        atomic_size_t updates_waiting_bytes; /* handed to ZeroMQ and not yet freed by it */
        struct waiting replies_waiting;      /* likewise */
        uint64_t looked_ns[2];               /* for requesters, subscribers that are stuck */
};

struct bus_client {
        struct bus *bus;
        zmq_msg_t *identity;
        zmq_msg_t own_identity; /* of a client that is kept */
        bool delimiter;         /* a REQ socket: an empty frame comes before the request */
        bool has_id;
        uint64_t id;
        struct message_sender sender; /* not known who: its number is the client's */
        unsigned taken;               /* replies */
        unsigned missed;              /* likewise, that were not taken: send no more */
        bool later;                   /* the first one was not, and it was for lack of room */
        bool refused;                 /* an error was sent */
        struct principal principal;
        char name[KEY_NAME_MAX + PEER_TEXT + 2];
};

/* ------------------------------------------------------------ packing */

/* In front of the bytes of each message. */
struct block {
        size_t size;
        struct waiting_client *client; /* NULL: an update */
        max_align_t bytes[];
};

/* Runs on ZeroMQ's thread, when nobody needs the message any more. */
static void free_packed(void *data, void *ctx)
{
        struct block *block = (struct block *)((char *)data - offsetof(struct block, bytes));
        struct bus *bus = ctx;

        if (block->client)
                waiting_give_back(&bus->replies_waiting, block->client, block->size);
        else
                atomic_fetch_sub(&bus->updates_waiting_bytes, block->size);
        free(block);
}

/* Packs into a message that counts as waiting until it is delivered or dropped. Returns 0 or -ENOMEM. */
static int pack(struct bus *bus, struct waiting_client *client, const ProtobufCMessage *message, size_t size,
                zmq_msg_t *ret_msg)
{
        struct block *block = malloc(sizeof(*block) + size);

        if (!block)
                return -ENOMEM;
        *block = (struct block){ .size = size, .client = client };
        (void)protobuf_c_message_pack(message, (uint8_t *)block->bytes);
        if (zmq_msg_init_data(ret_msg, block->bytes, size, free_packed, bus)) {
                free(block);
                return -ENOMEM;
        }
        if (client)
                waiting_take(&bus->replies_waiting, client, size);
        else
                atomic_fetch_add(&bus->updates_waiting_bytes, size);
        return 0;
}

/* Somebody waits for memory that others have: shuts down who reads nothing. */
static void make_room(struct bus *bus, bool subscribers, int but)
{
        const uint64_t now_ns = clock_mono_ns();

        if (now_ns - bus->looked_ns[subscribers] < STUCK_LOOK_NS)
                return;
        bus->looked_ns[subscribers] = now_ns;
        (void)connections_shut_stuck(subscribers, but);
}

/* ------------------------------------------------------------ updates */

/* Over the limit only small ones are sent: their number bounds their memory. */
static bool has_room(struct bus *bus, size_t size)
{
        if (size <= LIMIT_SMALL_UPDATE_BYTES || atomic_load(&bus->updates_waiting_bytes) <= bus->room.updates)
                return true;
        make_room(bus, true, -1);
        return false;
}

static int send_update(void *ctx, const Hw__Update *update)
{
        struct bus *bus = ctx;
        char topic[HW_TOPIC_MAX];
        size_t topic_size = hw_topic(topic, hw_update_kind(update), update->target ? update->target : "");
        size_t size = hw__update__get_packed_size(update);
        zmq_msg_t msg;

        if (!has_room(bus, size) || pack(bus, NULL, &update->base, size, &msg)) {
                bus->stats.dropped++; /* its sequence number is used up: subscribers see a gap */
                log_debug("dropped=%llu update size=%zu: out of memory or too much is waiting",
                          (unsigned long long)bus->stats.dropped, size);
                return 0;
        }
        if (broadcast_send(bus->publish, topic, topic_size, &msg) < 0) {
                bus->stats.dropped++;
                (void)zmq_msg_close(&msg);
        } else {
                bus->stats.published++;
                bus->stats.bytes += size;
                PROBE_UPDATE_PUBLISHED(topic, size);
        }
        return 0;
}

/* ------------------------------------------------------------ replies */

/* Any number but 0. */
static uint64_t number_of(const struct bus_client *client)
{
        return hash_bytes(zmq_msg_data(client->identity), zmq_msg_size(client->identity), 0) | 1;
}

/* The frames before the payload. ROUTER fails here, before anything is sent, when the client cannot take more. */
static int send_envelope(struct bus_client *client)
{
        void *socket = client->bus->request;
        zmq_msg_t identity;

        (void)zmq_msg_init(&identity);
        if (zmq_msg_copy(&identity, client->identity) ||
            zmq_msg_send(&identity, socket, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) {
                int status = -errno;
                (void)zmq_msg_close(&identity);
                return status;
        }
        if (client->delimiter && zmq_send(socket, "", 0, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0)
                return -errno;
        return 0;
}

/* Packs and sends it. */
static enum bus_took send_reply(struct bus_client *client, struct waiting_client *waiting, const Hw__Reply *reply,
                                size_t size)
{
        zmq_msg_t msg;

        if (pack(client->bus, waiting, &reply->base, size, &msg))
                return BUS_TAKES_LATER;
        int status = send_envelope(client);
        if (status == 0 && zmq_msg_send(&msg, client->bus->request, ZMQ_DONTWAIT) >= 0)
                return BUS_TOOK;
        (void)zmq_msg_close(&msg);
        return status == -EAGAIN ? BUS_TAKES_LATER : BUS_GONE;
}

/* Bytes of replies that may wait, all clients together, when one for this client is added. */
static size_t room_of(const struct bus_client *client)
{
        const size_t room = client->bus->room.replies;

        return connections_known_stuck(client->sender.who) ? room / STUCK_PART : room;
}

static enum bus_took offer(struct bus_client *client, Hw__Reply *reply, struct waiting_client *waiting)
{
        struct bus *bus = client->bus;

        client->refused = client->refused || reply->error;
        reply->has_id = client->has_id;
        reply->id = client->id;
        const size_t size = hw__reply__get_packed_size(reply);
        if (client->missed > 0)
                return BUS_GONE;
        if (!waiting_may(&bus->replies_waiting, waiting, size, room_of(client)))
                return BUS_TAKES_LATER;
        return send_reply(client, waiting, reply, size);
}

static struct waiting_client *waiting_of(const struct bus_client *client)
{
        return waiting_find(&client->bus->replies_waiting, client->sender.who);
}

/* While memory is full those who can wait get a message at a time. */
static bool is_held_back(const struct waiting_client *waiting)
{
        return memory_now() == MEMORY_FULL && atomic_load(&waiting->bytes) > 0;
}

enum bus_took bus_offer(struct bus_client *client, Hw__Reply *reply)
{
        struct waiting_client *waiting = waiting_of(client);

        return is_held_back(waiting) ? BUS_TAKES_LATER : offer(client, reply, waiting);
}

void bus_reply(struct bus_client *client, Hw__Reply *reply)
{
        const enum bus_took took = offer(client, reply, waiting_of(client));

        client->later = client->later || (took == BUS_TAKES_LATER && client->taken == 0);
        client->taken += took == BUS_TOOK;
        client->missed += took != BUS_TOOK;
        zloop_pump(client->bus->request_loop); /* inside a handler, the calling pump does it */
}

/* At the end of a request. */
static void count_missed(const struct bus_client *client)
{
        if (client->missed == 0)
                return;
        client->bus->stats.replies_dropped += client->missed;
        log_debug("replies_dropped=%llu: the client does not read",
                  (unsigned long long)client->bus->stats.replies_dropped);
}

void bus_pump(struct bus *bus)
{
        zloop_pump(bus->request_loop);
}

bool bus_client_is_ready(const struct bus_client *client)
{
        const struct waiting_client *waiting = waiting_of(client);

        return !is_held_back(waiting) && waiting_is_ready(&client->bus->replies_waiting, waiting, room_of(client));
}

void bus_client_waits(struct bus_client *client)
{
        struct bus *bus = client->bus;

        if (waiting_is_short(&bus->replies_waiting, room_of(client)) || memory_now() == MEMORY_FULL)
                make_room(bus, false, client->principal.fd);
}

bool bus_client_again(struct bus_client *client)
{
        if (!client->later)
                return false;
        client->missed = 0;
        client->later = client->refused = false;
        return true;
}

uint64_t bus_client_who(const struct bus_client *client)
{
        return client->sender.who;
}

struct bus_client *bus_client_keep(const struct bus_client *client)
{
        struct bus_client *kept = malloc(sizeof(*kept));

        if (!kept)
                return NULL;
        *kept = *client;
        kept->identity = &kept->own_identity;
        (void)zmq_msg_init(kept->identity);
        if (zmq_msg_copy(kept->identity, client->identity))
                bus_client_release(&kept);
        return kept;
}

void bus_client_release(struct bus_client **client)
{
        if (*client) {
                count_missed(*client);
                (void)zmq_msg_close((*client)->identity);
        }
        free(*client);
        *client = NULL;
}

bool bus_client_is_same(const struct bus_client *a, const struct bus_client *b)
{
        return zmq_msg_size(a->identity) == zmq_msg_size(b->identity) &&
               !memcmp(zmq_msg_data(a->identity), zmq_msg_data(b->identity), zmq_msg_size(a->identity));
}

void bus_client_spend(struct bus_client *client, uint64_t cpu_ns)
{
        request_quota_spend(&client->bus->clients, number_of(client), clock_mono_ns(), cpu_ns);
}

/* -------------------------------------------------------------- who asks */

const struct principal *bus_client_principal(const struct bus_client *client)
{
        return &client->principal;
}

const char *bus_client_name(struct bus_client *client)
{
        char peer[PEER_TEXT];

        (void)connections_peer(client->principal.fd, peer);
        (void)snprintf(client->name, sizeof(client->name), "%s%s%s", client->principal.name,
                       client->principal.name[0] ? "@" : "", peer);
        return client->name;
}

bool bus_client_is_root(const struct bus_client *client)
{
        return client->sender.is_root;
}

bool bus_client_refused(const struct bus_client *client)
{
        return client->refused;
}

/* ----------------------------------------------------------- requests */

static void refuse_request(struct bus_client *client, const char *reason)
{
        Hw__Reply reply = HW__REPLY__INIT;

        client->bus->stats.bad_requests++;
        log_debug("bad_requests=%llu: %s", (unsigned long long)client->bus->stats.bad_requests, reason);
        reply.error = (char *)reason;
        bus_reply(client, &reply);
}

/* False: this client has requested too much, and got an error. */
static bool may_ask(struct bus_client *client)
{
        Hw__Reply reply = HW__REPLY__INIT;
        enum request_quota_why why;
        struct error error;
        uint64_t wait_ns = request_quota_ask(&client->bus->clients, number_of(client), clock_mono_ns(), &why);

        if (wait_ns == 0)
                return true;
        client->bus->stats.bad_requests++;
        if (why == REQUEST_QUOTA_RATE)
                error_set(&error, "too many requests from this client: %u per second are allowed; retry in %llu ms",
                          LIMIT_REQUESTS_PER_S, (unsigned long long)wait_ns / 1000000 + 1);
        else
                error_set(&error,
                          "this client's requests cost too much: %u %% of a processor is allowed; retry in %llu ms",
                          LIMIT_COST_PERCENT, (unsigned long long)wait_ns / 1000000 + 1);
        reply.error = error.text;
        reply.what_case = HW__REPLY__WHAT_RETRY_AFTER_NS;
        reply.retry_after_ns = wait_ns;
        bus_reply(client, &reply);
        return false;
}

static void handle(struct bus_client *client, const Hw__Request *request)
{
        struct bus *bus = client->bus;
        const uint64_t began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

        bus->stats.requests++;
        bus->handler.request(bus->handler.ctx, request, client);
        request_quota_spend(&bus->clients, number_of(client), clock_mono_ns(),
                            clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns);
}

static void take_request(struct bus_client *client, const void *bytes, size_t size)
{
        const char *reason = "the request could not be read";

        if (size > LIMIT_REQUEST_BYTES) {
                refuse_request(client, "the request is too large");
                return;
        }
        Hw__Request *request = hw_request_unpack(bytes, size, &reason);
        if (!request) {
                refuse_request(client, reason);
                return;
        }
        client->has_id = request->has_id;
        client->id = request->id;
        if (client->principal.revoked)
                refuse_request(client, "the key was revoked");
        else if (may_ask(client))
                handle(client, request);
        hw_request_destroy(&request);
}

/* frames[0] is the identity that ROUTER puts there itself. */
static void take_message(struct bus *bus, zmq_msg_t *frames, size_t n)
{
        struct bus_client client = { .bus = bus, .identity = &frames[0] };

        client.delimiter = n > 1 && zmq_msg_size(&frames[1]) == 0;
        size_t payload = client.delimiter ? 2 : 1;
        admission_who(bus->admission, &frames[n - 1], &client.principal);
        const char *address = zmq_msg_gets(&frames[n - 1], "Peer-Address");
        connections_sender(address ? address : "", &client.sender);
        if (client.sender.who == 0)
                client.sender.who = number_of(&client);
        if (n != payload + 1)
                refuse_request(&client, "a request is one frame");
        else
                take_request(&client, zmq_msg_data(&frames[payload]), zmq_msg_size(&frames[payload]));
        count_missed(&client);
}

static int receive_request(void *ctx, void *socket)
{
        zmq_msg_t frames[MAX_FRAMES];
        size_t n = 0;
        bool more = true, whole = true;

        while (more) {
                zmq_msg_t frame;
                (void)zmq_msg_init(&frame);
                if (zmq_msg_recv(&frame, socket, ZMQ_DONTWAIT) < 0) {
                        (void)zmq_msg_close(&frame);
                        whole = false;
                        break;
                }
                more = zmq_msg_more(&frame);
                connections_read(zmq_msg_get(&frame, ZMQ_SRCFD), zmq_msg_size(&frame));
                if (n < MAX_FRAMES)
                        (void)zmq_msg_init(&frames[n++]);
                (void)zmq_msg_move(&frames[n - 1], &frame); /* beyond MAX_FRAMES the last one is kept */
        }
        if (whole)
                take_message(ctx, frames, n);
        for (size_t i = 0; i < n; i++)
                (void)zmq_msg_close(&frames[i]);
        return whole;
}

/* -------------------------------------------------------------- life */

static int set_int(void *socket, int option, int value)
{
        return zmq_setsockopt(socket, option, &value, sizeof(value));
}

static int set_max_message(void *socket, int64_t bytes)
{
        return zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &bytes, sizeof(bytes));
}

static bool open_sockets(struct bus *bus, int high_water_mark)
{
        bus->context = zmq_ctx_new();
        if (!bus->context)
                return false;
        bus->publish = broadcast_new(bus->context, high_water_mark);
        bus->request = zmq_socket(bus->context, ZMQ_ROUTER);
        if (!bus->publish || !bus->request)
                return false;
        void *publish = broadcast_socket(bus->publish);
        /* ZeroMQ closes the connection of a peer that sends more; a request slightly too large still gets an answer. */
        return !(set_int(publish, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS) ||
                 set_int(bus->request, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS) || set_int(publish, ZMQ_LINGER, LINGER_MS) ||
                 set_int(publish, ZMQ_IPV6, 1) || set_max_message(publish, LIMIT_SUBSCRIPTION_BYTES) ||
                 set_int(bus->request, ZMQ_SNDHWM, LIMIT_REPLIES_WAITING) ||
                 set_int(bus->request, ZMQ_RCVHWM, LIMIT_REQUESTS_WAITING) ||
                 set_int(bus->request, ZMQ_LINGER, LINGER_MS) || set_int(bus->request, ZMQ_IPV6, 1) ||
                 set_int(bus->request, ZMQ_ROUTER_MANDATORY, 1) ||
                 set_max_message(bus->request, 2 * (int64_t)LIMIT_REQUEST_BYTES));
}

static bool bind_socket(void *socket, struct endpoint *endpoint, const char *text, struct error *error)
{
        if (endpoint_prepare(endpoint, text, error))
                return false;
        bool bound = zmq_bind(socket, endpoint->address) == 0;
        if (!bound)
                error_set(error, "%s: cannot listen there: %s", text, zmq_strerror(errno));
        endpoint_bound(endpoint, bound);
        return bound;
}

/* After the ipc endpoints: what is bound from then on is by keys. */
static bool open_admission(struct bus *bus, struct event_base *base, const struct bus_options *options,
                           struct error *error)
{
        const struct admission_options o = { .base = base,
                                             .context = bus->context,
                                             .sockets = { broadcast_socket(bus->publish), bus->request },
                                             .listen = options->listen,
                                             .keys = options->keys };

        if (options->listen)
                bus->admission = admission_new(&o, error);
        return bus->admission || !options->listen;
}

/* Last: from then on its socket is the thread's. */
static bool start_broadcast(struct bus *bus, struct error *error)
{
        return broadcast_start(bus->publish, bus->room.subscriptions) ||
               error_set(error, "out of memory for another thread");
}

static void begin_connections(const struct bus *bus)
{
        const struct connections_listener listeners[2] = {
                { bus->publish_endpoint.address, bus->room.subscribers, bus->room.unread },
                { bus->request_endpoint.address, bus->room.requesters, bus->room.unread },
        };

        connections_begin(listeners);
}

struct bus *bus_new(struct event_base *base, const struct bus_options *options, const struct bus_handler *handler,
                    struct error *error)
{
        struct bus *bus = calloc(1, sizeof(*bus));
        int mark = options->high_water_mark > 0 ? options->high_water_mark : DEFAULT_HIGH_WATER_MARK;

        if (!bus)
                goto no_memory;
        bus->publish_endpoint.directory = bus->request_endpoint.directory = -1;
        bus->handler = *handler;
        bus->room = client_memory_of(options->memory, (unsigned)mark);
        if (!open_sockets(bus, (int)bus->room.mark))
                goto no_memory;
        if (!bind_socket(broadcast_socket(bus->publish), &bus->publish_endpoint, options->publish_endpoint, error) ||
            !bind_socket(bus->request, &bus->request_endpoint, options->request_endpoint, error))
                goto failed;
        begin_connections(bus);
        bus->request_loop = zloop_new(base, bus->request, receive_request, bus);
        if (!bus->request_loop)
                goto no_memory;
        if (open_admission(bus, base, options, error) && start_broadcast(bus, error))
                return bus;
        goto failed;
no_memory:
        error_set(error, "no memory or descriptors left for the daemon's sockets");
failed:
        bus_destroy(&bus);
        return NULL;
}

void bus_destroy(struct bus **b)
{
        struct bus *bus = *b;

        if (!bus)
                return;
        zloop_destroy(&bus->request_loop);
        broadcast_stop(bus->publish);
        admission_destroy(&bus->admission);
        endpoint_remove(&bus->publish_endpoint);
        endpoint_remove(&bus->request_endpoint);
        broadcast_destroy(&bus->publish);
        if (bus->request)
                (void)zmq_close(bus->request);
        while (bus->context && zmq_ctx_term(bus->context) && errno == EINTR)
                ;
        connections_end(); /* after the context: its thread looks there, and counts in the bus */
        free(bus);
        *b = NULL;
}

struct update_sink bus_sink(struct bus *bus)
{
        return (struct update_sink){ .ctx = bus, .send = send_update };
}

const struct bus_stats *bus_stats(struct bus *bus)
{
        bus->stats.subscriptions = broadcast_subscriptions(bus->publish);
        bus->stats.disconnected = broadcast_disconnected(bus->publish) + connections_disconnected();
        return &bus->stats;
}

void bus_count_control(struct bus *bus, bool forbidden)
{
        bus->stats.controls++;
        bus->stats.forbidden += forbidden;
}

bool bus_reload_keys(struct bus *bus, struct error *error)
{
        if (!bus->admission)
                return true;
        broadcast_pause(bus->publish);
        const bool good = admission_reload(bus->admission, error);
        broadcast_resume(bus->publish);
        if (good)
                return true;
        log_error("keys: not read again, the old ones hold: %s", error->text);
        return false;
}

const struct admission *bus_admission(const struct bus *bus)
{
        return bus->admission;
}
