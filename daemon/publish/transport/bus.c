/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: requests are inside libevent through a zloop, on the loop's thread; updates and replies are handed to the
 * front (front.h), which has the connections of all clients; ZeroMQ's own thread only moves bytes and frees messages.
 *
 * A message is packed once, behind a header that says whose it is and how many bytes; it is not copied, shared by
 * reference among all subscribers and freed by ZeroMQ when the last one has it. What waits is bounded per subscriber
 * by the high-water mark; beyond it XPUB drops for that subscriber only. The mark counts messages, and a census may be
 * large, so the waiting bytes are bounded too: beyond that, large updates are left out for everybody, and subscribers
 * that read nothing are shut down. A subscriber that keeps up sees the gap and gets the newest census from a snapshot;
 * the daemon does not grow because of one that has stopped reading.
 *
 * A request is one frame after the client's identity (and the empty delimiter frame of a REQ socket). A client that
 * requests too often or too much (quotas.h) gets an error that says so and when to retry.
 *
 * After one reply is dropped, all others to the same request are dropped too: a client must never take a snapshot with
 * a hole for a whole one because its last message got through. Waiting replies are bounded in bytes, of each client
 * and of all (quotas.h), so nobody can make the daemon grow by requesting snapshots and not reading them. An only
 * reply that finds no room is made again when there is some (daemon/watch/control/pending.h); who reads nothing while
 * others wait for that is shut down.
 */
#include "daemon/publish/transport/bus.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "daemon/log.h"
#include "daemon/publish/transport/admission.h"
#include "daemon/publish/transport/endpoint.h"
#include "daemon/publish/transport/front.h"
#include "daemon/publish/transport/limits.h"
#include "daemon/publish/transport/quotas.h"
#include "daemon/publish/transport/zloop.h"
#include "daemon/source/loop/memory.h"
#include "daemon/source/loop/watchdog.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/probes.h"
#include "proto/base/time.h"
#include "proto/wire/limits.h"

#define DEFAULT_HIGH_WATER_MARK 4096
#define UNHEARD_WAKE_NS         (2 * NS_PER_S)
#define MAX_FRAMES              8 /* of a request; more are read and dropped */

struct bus {
        void *context;
        struct front *front;
        struct endpoint publish_endpoint;
        struct endpoint request_endpoint;
        struct zloop *request_loop;
        struct bus_handler handler;
        struct bus_stats stats;
        struct peers clients;
        struct admission *admission; /* NULL: no TCP for others */
        struct client_memory room;
        atomic_size_t updates_waiting_bytes; /* handed to ZeroMQ and not yet freed by it */
        struct backlog replies_waiting;      /* likewise */
        uint64_t looked_ns[DOORS];           /* for those that are stuck */
        uint64_t woken_ns;                   /* the front, while nobody subscribes */
};

struct bus_client {
        struct bus *bus;
        struct front_identity identity;
        bool delimiter; /* a REQ socket: an empty frame comes before the request */
        bool has_id;
        uint64_t id;
        unsigned taken;  /* replies */
        unsigned missed; /* likewise, that were not taken: send no more */
        bool later;      /* the first one was not, and it was for lack of room */
        bool refused;    /* an error was sent */
        struct principal principal;
        char name[KEY_NAME_MAX + PEER_TEXT + 2];
};

/* ----------------------------------------------------------- messages */

/* In front of the bytes of each message. */
struct block {
        size_t size;
        struct backlog_client *client; /* NULL: an update */
        max_align_t bytes[];
};

/* Runs on ZeroMQ's thread, when nobody needs the message any more. */
static void free_packed(void *data, void *ctx)
{
        struct block *block = (struct block *)((char *)data - offsetof(struct block, bytes));
        struct bus *bus = ctx;

        if (block->client)
                backlog_remove(&bus->replies_waiting, block->client, block->size);
        else
                atomic_fetch_sub(&bus->updates_waiting_bytes, block->size);
        free(block);
}

static int pack_message(struct bus *bus, struct backlog_client *client, const ProtobufCMessage *message, size_t size,
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
                backlog_add(&bus->replies_waiting, client, size);
        else
                atomic_fetch_add(&bus->updates_waiting_bytes, size);
        return 0;
}

/* ------------------------------------------------------------ updates */

static void close_stuck(struct bus *bus, enum front_door door, uint64_t but)
{
        const uint64_t now_ns = clock_mono_ns();

        if (now_ns - bus->looked_ns[door] < STUCK_LOOK_NS)
                return;
        bus->looked_ns[door] = now_ns;
        front_close_stuck(bus->front, door, but);
}

/* Over the limit only small ones are sent: their number bounds their memory. */
static bool has_room(struct bus *bus, size_t size)
{
        if (size <= LIMIT_SMALL_UPDATE_BYTES || atomic_load(&bus->updates_waiting_bytes) <= bus->room.updates)
                return true;
        close_stuck(bus, DOOR_PUBLISH, 0);
        return false;
}

static int send_update(void *ctx, const Hw__Update *update)
{
        struct bus *bus = ctx;
        char topic[HW_TOPIC_MAX];

        if (!front_has_subscribers(bus->front)) {
                /*
                 * What nobody has subscribed to is not packed, and the front sleeps. It is woken now and then to look
                 * whether its sockets are still there, which a new subscriber needs.
                 */
                const uint64_t now_ns = clock_mono_ns();

                bus->stats.published++;
                if (now_ns - bus->woken_ns >= UNHEARD_WAKE_NS) {
                        bus->woken_ns = now_ns;
                        front_wake(bus->front);
                }
                return 0;
        }
        size_t topic_size = hw_topic(topic, hw_update_kind(update), update->target ? update->target : "");
        size_t size = hw__update__get_packed_size(update);
        zmq_msg_t msg;

        if (!has_room(bus, size) || pack_message(bus, NULL, &update->base, size, &msg)) {
                bus->stats.dropped++; /* its sequence number is used up: subscribers see a gap */
                log_debug("dropped=%llu update size=%zu: out of memory or too much is waiting",
                          (unsigned long long)bus->stats.dropped, size);
                return 0;
        }
        if (front_send(bus->front, topic, topic_size, &msg) < 0) {
                bus->stats.dropped++;
                (void)zmq_msg_close(&msg);
        } else {
                bus->stats.published++;
                bus->stats.bytes += size;
                PROBE_UPDATE_PUBLISHED(topic, size);
        }
        if (atomic_load(&bus->updates_waiting_bytes) > bus->room.updates / 4) /* a burst: soon there is no more room */
                front_wake(bus->front);
        return 0;
}

/* ------------------------------------------------------------ replies */

/* Bytes of replies that may wait, all clients together, when one for this client is added. */
static size_t room_of(const struct bus_client *client)
{
        const size_t room = client->bus->room.replies;

        return client->identity.was_stuck ? room / STUCK_PART : room;
}

static enum bus_took offer_reply(struct bus_client *client, Hw__Reply *reply, struct backlog_client *waiting,
                                 size_t room)
{
        struct bus *bus = client->bus;
        struct front_reply to;
        zmq_msg_t msg;

        memset(&to, 0, sizeof(to)); /* it is sent as bytes */
        client->refused = client->refused || reply->error;
        reply->has_id = client->has_id;
        reply->id = client->id;
        const size_t size = hw__reply__get_packed_size(reply);
        if (client->missed > 0 || !front_is_connected(bus->front, client->identity.connection))
                return BUS_GONE;
        if (!backlog_accepts(&bus->replies_waiting, waiting, size, room) ||
            pack_message(bus, waiting, &reply->base, size, &msg))
                return BUS_TAKES_LATER;
        to.delimiter = client->delimiter;
        to.connection = client->identity.connection;
        if (front_reply(bus->front, &to, &msg) == 0)
                return BUS_TOOK;
        (void)zmq_msg_close(&msg);
        return BUS_TAKES_LATER;
}

static struct backlog_client *waiting_of(const struct bus_client *client)
{
        return backlog_find(&client->bus->replies_waiting, client->identity.sender.who);
}

/* While memory is full those who can wait get little at a time: a large message, or some small ones. */
static bool is_held_back(const struct backlog_client *waiting)
{
        return memory_now() == MEMORY_FULL && atomic_load(&waiting->bytes) >= HELD_BACK_BYTES;
}

enum bus_took bus_offer(struct bus_client *client, Hw__Reply *reply)
{
        struct backlog_client *waiting = waiting_of(client);

        return is_held_back(waiting) ? BUS_TAKES_LATER : offer_reply(client, reply, waiting, room_of(client));
}

enum bus_took bus_offer_last(struct bus_client *client, Hw__Reply *reply)
{
        return offer_reply(client, reply, waiting_of(client), SIZE_MAX);
}

void bus_reply(struct bus_client *client, Hw__Reply *reply)
{
        const struct bus *bus = client->bus;
        /* What a request changed is reported, also while other connections of its process do not read. */
        const bool small = !reply->more && hw__reply__get_packed_size(reply) <= LIMIT_SMALL_UPDATE_BYTES &&
                           atomic_load(&bus->replies_waiting.bytes) / 2 < bus->room.replies;
        const enum bus_took took = offer_reply(client, reply, waiting_of(client), small ? SIZE_MAX : room_of(client));

        client->later = client->later || (took == BUS_TAKES_LATER && client->taken == 0);
        client->taken += took == BUS_TOOK;
        client->missed += took != BUS_TOOK;
        zloop_pump(client->bus->request_loop); /* inside a handler, the calling pump does it */
}

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
        const struct backlog_client *waiting = waiting_of(client);

        return !is_held_back(waiting) && backlog_is_ready(&client->bus->replies_waiting, waiting, room_of(client));
}

void bus_make_room(struct bus *bus, const struct bus_client *but)
{
        close_stuck(bus, DOOR_REQUEST, but ? but->identity.connection : 0);
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
        return client->identity.sender.who;
}

struct bus_client *bus_client_keep(const struct bus_client *client)
{
        struct bus_client *kept = malloc(sizeof(*kept));

        if (kept)
                *kept = *client;
        return kept;
}

void bus_client_release(struct bus_client **client)
{
        if (*client)
                count_missed(*client);
        free(*client);
        *client = NULL;
}

bool bus_client_is_same(const struct bus_client *a, const struct bus_client *b)
{
        return a->identity.connection == b->identity.connection;
}

void bus_client_spend(struct bus_client *client, uint64_t cpu_ns)
{
        request_quota_spend(&client->bus->clients, client->identity.connection, clock_mono_ns(), cpu_ns);
}

/* -------------------------------------------------------------- who asks */

const struct principal *bus_client_principal(const struct bus_client *client)
{
        return &client->principal;
}

const char *bus_client_name(struct bus_client *client)
{
        (void)snprintf(client->name, sizeof(client->name), "%s%s%s", client->principal.name,
                       client->principal.name[0] ? "@" : "", client->identity.sender.name);
        return client->name;
}

bool bus_client_is_root(const struct bus_client *client)
{
        return client->identity.sender.is_root;
}

bool bus_client_refused(const struct bus_client *client)
{
        return client->refused;
}

/* ------------------------------------------------------------ requests */

static void refuse_request(struct bus_client *client, const char *reason)
{
        Hw__Reply reply = HW__REPLY__INIT;

        client->bus->stats.bad_requests++;
        log_debug("bad_requests=%llu: %s", (unsigned long long)client->bus->stats.bad_requests, reason);
        reply.error = (char *)reason;
        bus_reply(client, &reply);
}

/* False: this client has requested too much, and got an error. */
static bool is_within_quota(struct bus_client *client)
{
        Hw__Reply reply = HW__REPLY__INIT;
        enum request_quota_why why;
        struct error error;
        uint64_t wait_ns =
                request_quota_acquire(&client->bus->clients, client->identity.connection, clock_mono_ns(), &why);

        if (wait_ns == 0)
                return true;
        client->bus->stats.paced_requests++;
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

static void receive_request(struct bus_client *client, const void *bytes, size_t size)
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
        if (client->principal.revoked) {
                refuse_request(client, "the key was revoked");
        } else if (is_within_quota(client)) {
                struct bus *bus = client->bus;
                const uint64_t began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
                bus->stats.requests++;
                bus->handler.request(bus->handler.ctx, request, client);
                request_quota_spend(&bus->clients, client->identity.connection, clock_mono_ns(),
                                    clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns);
        }
        hw_request_destroy(&request);
}

static void receive_message(struct bus *bus, zmq_msg_t *frames, size_t n)
{
        struct bus_client client = { .bus = bus };

        memcpy(&client.identity, zmq_msg_data(&frames[0]), sizeof(client.identity));
        client.delimiter = n > 1 && zmq_msg_size(&frames[1]) == 0;
        size_t payload = client.delimiter ? 2 : 1;
        admission_who(bus->admission, &client.identity, &client.principal);
        if (n != payload + 1)
                refuse_request(&client, "a request is one frame");
        else
                receive_request(&client, zmq_msg_data(&frames[payload]), zmq_msg_size(&frames[payload]));
        count_missed(&client);
}

/* All frames of a message, of which the front gave the first (struct front_identity). False: there is none. */
static bool receive_frames(struct bus *bus, void *socket, zmq_msg_t frames[MAX_FRAMES], size_t *ret_n)
{
        size_t n = 0, size = 0;
        bool more = true, whole = true;

        while (more && whole) {
                zmq_msg_t frame;
                (void)zmq_msg_init(&frame);
                whole = zmq_msg_recv(&frame, socket, ZMQ_DONTWAIT) >= 0;
                more = zmq_msg_more(&frame);
                size += n > 0 ? zmq_msg_size(&frame) + MESSAGE_OVERHEAD_BYTES : 0;
                if (whole && n < MAX_FRAMES)
                        (void)zmq_msg_init(&frames[n++]);
                if (whole)
                        (void)zmq_msg_move(&frames[n - 1], &frame); /* beyond MAX_FRAMES the last one is kept */
                (void)zmq_msg_close(&frame);
        }
        front_count_read(bus->front, size);
        *ret_n = n;
        return whole && zmq_msg_size(&frames[0]) == sizeof(struct front_identity);
}

static int on_request(void *ctx, void *socket)
{
        zmq_msg_t frames[MAX_FRAMES];
        size_t n = 0;

        watchdog_begin(WATCHDOG_REQUEST);
        const bool whole = receive_frames(ctx, socket, frames, &n);
        if (whole)
                receive_message(ctx, frames, n);
        for (size_t i = 0; i < n; i++)
                (void)zmq_msg_close(&frames[i]);
        watchdog_end();
        return whole;
}

/* -------------------------------------------------------------- life */

static bool open_front(struct bus *bus)
{
        bus->context = zmq_ctx_new();
        const struct front_options o = { .context = bus->context,
                                         .admission = bus->admission,
                                         .places = { bus->room.subscribers, bus->room.requesters },
                                         .unread = bus->room.unread,
                                         .subscriptions = bus->room.subscriptions,
                                         .high_water_mark = (int)bus->room.mark };

        bus->front = bus->context ? front_new(&o) : NULL;
        return bus->front;
}

static bool listen_at(struct bus *bus, enum front_door door, struct endpoint *endpoint, const char *text,
                      struct error *error)
{
        const int listener = endpoint_open(endpoint, text, error);

        return listener >= 0 &&
               (front_listen(bus->front, door, listener, endpoint) || error_set(error, "out of memory"));
}

static bool listen_keyed(struct bus *bus, const char *listen, struct error *error)
{
        char addresses[DOORS][LISTEN_MAX];

        if (!endpoint_split(listen, addresses, error))
                return false;
        for (unsigned i = 0; i < DOORS; i++) {
                const int listener = endpoint_listen(addresses[i], error);
                if (listener < 0)
                        return false;
                if (!front_listen(bus->front, (enum front_door)i, listener, NULL))
                        return error_set(error, "out of memory");
        }
        return true;
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
        if (options->listen && !(bus->admission = admission_new(options->listen, options->keys, error)))
                goto failed;
        if (!open_front(bus))
                goto no_memory;
        if (!listen_at(bus, DOOR_PUBLISH, &bus->publish_endpoint, options->publish_endpoint, error) ||
            !listen_at(bus, DOOR_REQUEST, &bus->request_endpoint, options->request_endpoint, error) ||
            (options->listen && !listen_keyed(bus, options->listen, error)))
                goto failed;
        bus->request_loop = zloop_new(base, front_requests(bus->front), on_request, bus);
        if (bus->request_loop && front_start(bus->front))
                return bus;
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
        front_stop(bus->front);
        endpoint_remove(&bus->publish_endpoint);
        endpoint_remove(&bus->request_endpoint);
        front_destroy(&bus->front);
        while (bus->context && zmq_ctx_term(bus->context) && errno == EINTR)
                ;
        admission_destroy(&bus->admission);
        free(bus); /* after the context: its thread counts in the bus */
        *b = NULL;
}

struct update_sink bus_sink(struct bus *bus)
{
        return (struct update_sink){ .ctx = bus, .send = send_update };
}

const struct bus_stats *bus_stats(struct bus *bus)
{
        bus->stats.clients = front_stats(bus->front);
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
        if (admission_reload(bus->admission, error)) {
                front_check_keys(bus->front);
                return true;
        }
        log_error("keys: not read again, the old ones hold: %s", error->text);
        return false;
}

struct admission *bus_admission(const struct bus *bus)
{
        return bus->admission;
}
