/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * no_bus.h - the functions of bus.h without sockets. Every message must be one that our own readers accept, the last
 * reply to a request, and only that one, says that no more come. A client may take its replies slowly: as many as its
 * `room` says. Included once per program.
 */
#pragma once

#include <stdlib.h>

#include "daemon/publish/transport/admission.h"
#include "daemon/publish/transport/bus.h"
#include "heapwatch/wire.h"
#include "proto/wire/limits.h"

struct no_bus_answer {
        unsigned replies;
        bool over;
};

struct bus_client {
        struct no_bus_answer *answer;
        unsigned *room; /* replies that it takes now; NULL: any number */
        bool late;      /* there was none for the only reply */
};

static bool no_bus_checks; /* memory is needed by a check, not by the daemon */

static int no_bus_send(void *ctx, const Hw__Update *update)
{
        const char *reason = NULL;
        size_t size = hw__update__get_packed_size(update);
        uint8_t *packed;

        no_bus_checks = true;
        packed = malloc(size + 1);
        if (!packed || size > LIMIT_MESSAGE_BYTES || hw__update__pack(update, packed) != size)
                abort();
        Hw__Update *read = hw_update_unpack(packed, size, &reason);
        if (!read)
                abort();
        hw_update_unref(read);
        free(packed);
        no_bus_checks = false;
        return 0;
}

struct update_sink bus_sink(struct bus *bus)
{
        return (struct update_sink){ .send = no_bus_send };
}

static void no_bus_take(struct bus_client *client, Hw__Reply *reply)
{
        const char *reason = NULL;
        size_t size = hw__reply__get_packed_size(reply);
        uint8_t *packed;

        no_bus_checks = true;
        packed = malloc(size + 1);
        if (!packed || client->answer->over || size > LIMIT_MESSAGE_BYTES || hw__reply__pack(reply, packed) != size)
                abort();
        Hw__Reply *read = hw_reply_unpack(packed, size, &reason);
        if (!read)
                abort();
        client->answer->replies++;
        client->answer->over = !read->more;
        hw_reply_unref(read);
        free(packed);
        no_bus_checks = false;
}

enum bus_took bus_offer(struct bus_client *client, Hw__Reply *reply)
{
        if (client->room && *client->room == 0)
                return BUS_TAKES_LATER;
        if (client->room)
                --*client->room;
        no_bus_take(client, reply);
        return BUS_TOOK;
}

void bus_reply(struct bus_client *client, Hw__Reply *reply)
{
        client->late = bus_offer(client, reply) == BUS_TAKES_LATER;
}

bool bus_client_is_ready(const struct bus_client *client)
{
        return !client->room || *client->room > 0;
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
        free(*client);
        *client = NULL;
}

bool bus_client_is_same(const struct bus_client *a, const struct bus_client *b)
{
        return a->room == b->room;
}

void bus_client_spend(struct bus_client *client, uint64_t cpu_ns)
{
}

void bus_pump(struct bus *bus)
{
}

const struct principal *bus_client_principal(const struct bus_client *client)
{
        static const struct principal owner = { .role = ROLE_CONTROL };

        return &owner;
}

const char *bus_client_name(struct bus_client *client)
{
        return "?";
}

bool bus_client_is_root(const struct bus_client *client)
{
        return false;
}

bool bus_client_refused(const struct bus_client *client)
{
        return false;
}

enum bus_took bus_offer_last(struct bus_client *client, Hw__Reply *reply)
{
        return bus_offer(client, reply);
}

void bus_make_room(struct bus *bus, const struct bus_client *but)
{
}

/* A reply that found no room is not one. */
bool bus_client_again(struct bus_client *client)
{
        const bool again = client->late;

        client->late = false;
        return again;
}

uint64_t bus_client_who(const struct bus_client *client)
{
        return client->room != NULL;
}

bool bus_reload_keys(struct bus *bus, struct error *error)
{
        return true;
}

struct admission *bus_admission(const struct bus *bus)
{
        return NULL;
}

const struct bus_stats *bus_stats(struct bus *bus)
{
        static const struct bus_stats none;

        return &none;
}

void bus_count_control(struct bus *bus, bool forbidden)
{
}
