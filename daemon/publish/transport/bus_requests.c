/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a request is one frame after the client's identity (and the empty
 * delimiter frame of a REQ socket). A client that requests too often or too much
 * (quotas.h) gets an error that says so and when to retry.
 */
#include "daemon/publish/transport/bus_private.h"

#include <string.h>

#include "daemon/log.h"
#include "daemon/source/loop/watchdog.h"
#include "daemon/publish/transport/limits.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/wire/limits.h"

#define MAX_FRAMES 8 /* of a request; more are read and dropped */

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
        bus_client_count_missed(&client);
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

int bus_receive_request(void *ctx, void *socket)
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
