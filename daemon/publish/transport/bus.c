/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: requests (bus_requests.c) are inside libevent through a zloop, on the loop's thread; updates and replies are
 * handed to the front (front.h), which has the connections of all clients; ZeroMQ's own thread only moves bytes and
 * frees messages.
 *
 * A message is packed once, behind a header that says whose it is and how many bytes; it is not copied, shared by
 * reference among all subscribers and freed by ZeroMQ when the last one has it. What waits is bounded per subscriber by
 * the high-water mark; beyond it XPUB drops for that subscriber only. The mark counts messages, and a census may be
 * large, so the waiting bytes are bounded too: beyond that, large updates are left out for everybody, and subscribers
 * that read nothing are shut down. A subscriber that keeps up sees the gap and gets the newest census from a snapshot;
 * the daemon does not grow because of one that has stopped reading.
 */
#include "daemon/publish/transport/bus_private.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "daemon/log.h"
#include "daemon/publish/transport/limits.h"
#include "daemon/publish/transport/zloop.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/probes.h"
#include "proto/base/time.h"

#define DEFAULT_HIGH_WATER_MARK 4096
#define UNHEARD_WAKE_NS         (2 * NS_PER_S)

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

int bus_pack(struct bus *bus, struct backlog_client *client, const ProtobufCMessage *message, size_t size,
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

void bus_close_stuck(struct bus *bus, enum front_door door, uint64_t but)
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
        bus_close_stuck(bus, DOOR_PUBLISH, 0);
        return false;
}

/*
 * What nobody has subscribed to is not packed, and the front sleeps. It is woken now and then to look whether its
 * sockets are still there, which a new subscriber needs.
 */
static void drop_unheard(struct bus *bus)
{
        const uint64_t now_ns = clock_mono_ns();

        bus->stats.published++;
        if (now_ns - bus->woken_ns < UNHEARD_WAKE_NS)
                return;
        bus->woken_ns = now_ns;
        front_wake(bus->front);
}

static int send_update(void *ctx, const Hw__Update *update)
{
        struct bus *bus = ctx;
        char topic[HW_TOPIC_MAX];

        if (!front_has_subscribers(bus->front)) {
                drop_unheard(bus);
                return 0;
        }
        size_t topic_size = hw_topic(topic, hw_update_kind(update), update->target ? update->target : "");
        size_t size = hw__update__get_packed_size(update);
        zmq_msg_t msg;

        if (!has_room(bus, size) || bus_pack(bus, NULL, &update->base, size, &msg)) {
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

static bool open_loop(struct bus *bus, struct event_base *base)
{
        bus->request_loop = zloop_new(base, front_requests(bus->front), bus_receive_request, bus);
        return bus->request_loop;
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
        if (open_loop(bus, base) && front_start(bus->front))
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
