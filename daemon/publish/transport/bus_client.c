/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: with ROUTER_MANDATORY a send fails for a client that is gone or does
 * not read. After one reply is dropped, all others to the same request are
 * dropped too: a client must never take a snapshot with a hole for a whole one
 * because its last message got through. Waiting replies are bounded in bytes,
 * of each client and of all (quotas.h), so nobody can make the daemon grow by
 * requesting snapshots and not reading them. An only reply that finds no room
 * is made again when there is some (daemon/watch/control/pending.h); who reads nothing
 * while others wait for that is shut down.
 */
#include "daemon/publish/transport/bus_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/source/loop/memory.h"
#include "daemon/publish/transport/limits.h"
#include "daemon/publish/transport/zloop.h"
#include "proto/base/clock.h"
#include "proto/base/hash.h"

/* ------------------------------------------------------------ replies */

uint64_t bus_client_number(const struct bus_client *client)
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
static enum bus_took send_reply(struct bus_client *client, struct backlog_client *waiting, const Hw__Reply *reply,
                                size_t size)
{
        zmq_msg_t msg;

        if (bus_pack(client->bus, waiting, &reply->base, size, &msg))
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

        return front_was_stuck(client->bus->front, client->sender.who) ? room / STUCK_PART : room;
}

static enum bus_took offer_reply(struct bus_client *client, Hw__Reply *reply, struct backlog_client *waiting,
                                 size_t room)
{
        struct bus *bus = client->bus;

        client->refused = client->refused || reply->error;
        reply->has_id = client->has_id;
        reply->id = client->id;
        const size_t size = hw__reply__get_packed_size(reply);
        if (client->missed > 0)
                return BUS_GONE;
        if (!backlog_accepts(&bus->replies_waiting, waiting, size, room))
                return BUS_TAKES_LATER;
        return send_reply(client, waiting, reply, size);
}

static struct backlog_client *waiting_of(const struct bus_client *client)
{
        return backlog_find(&client->bus->replies_waiting, client->sender.who);
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

void bus_client_count_missed(const struct bus_client *client)
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
        bus_close_stuck(bus, DOOR_REQUEST, but ? but->connection : 0);
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
                bus_client_count_missed(*client);
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
        request_quota_spend(&client->bus->clients, bus_client_number(client), clock_mono_ns(), cpu_ns);
}

/* -------------------------------------------------------------- who asks */

const struct principal *bus_client_principal(const struct bus_client *client)
{
        return &client->principal;
}

const char *bus_client_name(struct bus_client *client)
{
        (void)snprintf(client->name, sizeof(client->name), "%s%s%s", client->principal.name,
                       client->principal.name[0] ? "@" : "", client->sender.name);
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
