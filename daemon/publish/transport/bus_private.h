/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bus_private.h - the bus (bus.h) and whom it answers, shared by its files:
 *
 *   bus.c          its life, updates, and messages that are counted while they wait
 *   bus_requests.c requests, as they come
 *   bus_client.c   replies, and what is known of who asks
 */
#ifndef HW_DAEMON_PUBLISH_TRANSPORT_BUS_PRIVATE_H
#define HW_DAEMON_PUBLISH_TRANSPORT_BUS_PRIVATE_H

#include <stdatomic.h>
#include <zmq.h>

#include "daemon/publish/transport/admission.h"
#include "daemon/publish/transport/bus.h"
#include "daemon/publish/transport/quotas.h"
#include "daemon/publish/transport/endpoint.h"
#include "daemon/publish/transport/front.h"

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

/* bus.c: somebody waits for memory that others have: closes connections that read nothing, except `but` (0: none). */
void bus_close_stuck(struct bus *bus, enum front_door door, uint64_t but);

/* bus.c: packs into a message that counts as waiting until it is delivered or dropped. Returns 0 or -ENOMEM. */
int bus_pack(struct bus *bus, struct backlog_client *client, const ProtobufCMessage *message, size_t size,
             zmq_msg_t *ret_msg);

/* At the end of a request: counts the replies that were not taken. */
void bus_client_count_missed(const struct bus_client *client);

/* bus_requests.c: takes one request from the socket; 0 when there is none. For zloop. */
int bus_receive_request(void *ctx, void *socket);

#endif
