/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a message is packed behind a header that says whose it is and how many bytes; ZeroMQ's thread frees it, and
 * takes the bytes off what waits.
 */
#include "daemon/publish/transport/bus_private.h"

#include <stddef.h>
#include <stdlib.h>

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
