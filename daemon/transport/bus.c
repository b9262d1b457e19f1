/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: two sockets of one ZeroMQ context. Requests (bus_requests.c) are
 * inside libevent through a zloop, on the loop's thread; updates are handed to a
 * thread (broadcast.h); ZeroMQ's own thread only moves bytes and frees messages
 * (bus_message.c).
 *
 * A message is packed once, not copied, shared by reference among all
 * subscribers and freed by ZeroMQ when the last one has it. What waits is
 * bounded per subscriber by the high-water mark; beyond it XPUB drops for that
 * subscriber only. The mark counts messages, and a census may be large, so the
 * waiting bytes are bounded too: beyond that, large updates are left out for
 * everybody, and subscribers that read nothing are shut down. A subscriber that
 * keeps up sees the gap and gets the newest census from a snapshot; the daemon
 * does not grow because of one that has stopped reading.
 */
#include "daemon/transport/bus_private.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/log.h"
#include "daemon/transport/broadcast.h"
#include "daemon/transport/limits.h"
#include "daemon/transport/zloop.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/probes.h"
#include "proto/wire/limits.h"

#define DEFAULT_HIGH_WATER_MARK 4096
#define LINGER_MS               200  /* to send what is waiting when the daemon ends */
#define HANDSHAKE_MS            5000 /* how long a silent connection may hold a descriptor */

/* ------------------------------------------------------------ updates */

void bus_shut_stuck(struct bus *bus, bool subscribers, int but)
{
        const uint64_t now_ns = clock_mono_ns();

        if (now_ns - bus->looked_ns[subscribers] < STUCK_LOOK_NS)
                return;
        bus->looked_ns[subscribers] = now_ns;
        (void)connections_shut_stuck(subscribers, but);
}

/* Over the limit only small ones are sent: their number bounds their memory. */
static bool has_room(struct bus *bus, size_t size)
{
        if (size <= LIMIT_SMALL_UPDATE_BYTES || atomic_load(&bus->updates_waiting_bytes) <= bus->room.updates)
                return true;
        bus_shut_stuck(bus, true, -1);
        return false;
}

static int send_update(void *ctx, const Hw__Update *update)
{
        struct bus *bus = ctx;
        char topic[HW_TOPIC_MAX];
        size_t topic_size = hw_topic(topic, hw_update_kind(update), update->target ? update->target : "");
        size_t size = hw__update__get_packed_size(update);
        zmq_msg_t msg;

        if (!has_room(bus, size) || bus_pack(bus, NULL, &update->base, size, &msg)) {
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
        bus->request_loop = zloop_new(base, bus->request, bus_receive_request, bus);
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
