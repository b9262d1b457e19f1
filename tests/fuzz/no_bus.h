/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * no_bus.h - the functions of bus.h without sockets. Every message must be one that our own readers accept, the last
 * reply to a request, and only that one, says that no more come. Included once per program.
 */
#ifndef HW_TESTS_FUZZ_NO_BUS_H
#define HW_TESTS_FUZZ_NO_BUS_H

#include <stdlib.h>

#include "daemon/transport/admission.h"
#include "daemon/transport/bus.h"
#include "heapwatch/wire.h"
#include "proto/wire/limits.h"

struct bus_client {
        unsigned replies;
        bool over;
};

static bool no_bus_checks; /* memory is needed by a check, not by the daemon */

static int no_bus_send(void *ctx, const Hw__Update *update)
{
        const char *reason = NULL;
        size_t size = hw__update__get_packed_size(update);
        uint8_t *packed;

        no_bus_checks = true;
        packed = malloc(size + 1);
        (void)ctx;
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
        (void)bus;
        return (struct update_sink){ .send = no_bus_send };
}

void bus_reply(struct bus_client *client, Hw__Reply *reply)
{
        const char *reason = NULL;
        size_t size = hw__reply__get_packed_size(reply);
        uint8_t *packed;

        no_bus_checks = true;
        packed = malloc(size + 1);
        if (!packed || client->over || size > LIMIT_MESSAGE_BYTES || hw__reply__pack(reply, packed) != size)
                abort();
        Hw__Reply *read = hw_reply_unpack(packed, size, &reason);
        if (!read)
                abort();
        client->replies++;
        client->over = !read->more;
        hw_reply_unref(read);
        free(packed);
        no_bus_checks = false;
}

const struct principal *bus_client_principal(const struct bus_client *client)
{
        static const struct principal owner = { .role = ROLE_CONTROL, .fd = -1 };

        (void)client;
        return &owner;
}

const char *bus_client_name(struct bus_client *client)
{
        (void)client;
        return "?";
}

bool bus_client_refused(const struct bus_client *client)
{
        (void)client;
        return false;
}

bool bus_client_lost(const struct bus_client *client)
{
        (void)client;
        return false;
}

bool bus_reload_keys(struct bus *bus, struct error *error)
{
        (void)bus;
        (void)error;
        return true;
}

const struct admission *bus_admission(const struct bus *bus)
{
        (void)bus;
        return NULL;
}

const struct bus_stats *bus_stats(struct bus *bus)
{
        static const struct bus_stats none;

        (void)bus;
        return &none;
}

void bus_count_control(struct bus *bus, bool forbidden)
{
        (void)bus;
        (void)forbidden;
}

#endif
