/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: after one reply is dropped, all others to the same request are
 * dropped too: a client must never take a snapshot with a hole for a whole one
 * because its last message got through. Waiting replies are bounded in bytes,
 * of each client and of all (quotas.h), so nobody can make the daemon grow by
 * requesting snapshots and not reading them. An only reply that finds no room
 * is made again when there is some (daemon/watch/control/pending.h); who reads nothing
 * while others wait for that is shut down.
 */
#include "daemon/publish/transport/bus_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/source/loop/memory.h"
#include "daemon/publish/transport/limits.h"
#include "daemon/publish/transport/zloop.h"
#include "proto/base/clock.h"

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
            bus_pack(bus, waiting, &reply->base, size, &msg))
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
        bus_close_stuck(bus, DOOR_REQUEST, but ? but->identity.connection : 0);
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
                bus_client_count_missed(*client);
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
