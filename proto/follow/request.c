/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one question, one connection: a DEALER of its own, so no reply of an
 * earlier request can be mistaken. The id is checked all the same; only an error
 * without an id (the daemon could not read the request) counts as ours.
 * The time allowed is for the whole exchange.
 */
#include <errno.h>

#include "proto/wire/limits.h"
#include "proto/base/clock.h"
#include "proto/wire/endpoints.h"
#include "heapwatch/subscriber.h"
#include "proto/follow/zparts.h"

struct exchange {
        void *socket;
        uint64_t id;
        uint64_t until_ms;
        void (*each)(void *ctx, const Hw__Reply *reply);
        void *ctx;
};

static int wait_for(const struct exchange *x, short events)
{
        zmq_pollitem_t item = { .socket = x->socket, .events = events };

        for (;;) {
                uint64_t now = clock_mono_ms();

                if (now >= x->until_ms)
                        return -ETIMEDOUT;
                int r = zmq_poll(&item, 1, (long)(x->until_ms - now));
                if (r > 0)
                        return 0;
                if (r < 0 && errno != EINTR)
                        return -errno;
        }
}

/* Hands one reply on. Returns 1 when it was the last, 0 when more follow, or -errno. */
static int take_reply(const struct exchange *x, zmq_msg_t *frame)
{
        const char *reason;
        Hw__Reply *reply = hw_reply_unpack(zmq_msg_data(frame), zmq_msg_size(frame), &reason);
        int r = 0;

        if (!reply)
                return -EPROTO;
        if (reply->id == x->id || (!reply->has_id && reply->error)) {
                x->each(x->ctx, reply);
                r = !reply->more;
        }
        hw__reply__free_unpacked(reply, NULL);
        return r;
}

static int receive(const struct exchange *x)
{
        for (int r = 0;;) {
                zmq_msg_t parts[2];
                int n;

                r = wait_for(x, ZMQ_POLLIN);
                if (r < 0)
                        return r;
                n = zparts_receive(x->socket, parts);
                if (n < 0 || n > 1)
                        r = n < 0 ? n : -EPROTO;
                else if (n == 1)
                        r = take_reply(x, &parts[0]);
                zparts_close(parts);
                if (r != 0)
                        return r > 0 ? 0 : r;
        }
}

static int send_request(const struct exchange *x, const Hw__Request *request)
{
        int r;

        do {
                r = wait_for(x, ZMQ_POLLOUT); /* writable once connected */
                if (r == 0)
                        r = zparts_send(x->socket, &request->base);
        } while (r == -EAGAIN);
        return r;
}

static int exchange(void *socket, const char *endpoint, Hw__Request *request, struct exchange *x)
{
        static const int options[][2] = { { ZMQ_LINGER, 0 },
                                          { ZMQ_IMMEDIATE, 1 },
                                          { ZMQ_RECONNECT_IVL, 50 },
                                          { ZMQ_RCVHWM, 100000 },
                                          { ZMQ_IPV6, 1 } };
        int64_t max = LIMIT_MESSAGE_BYTES;

        for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
                (void)zmq_setsockopt(socket, options[i][0], &options[i][1], sizeof(int)); /* known, in range */
        (void)zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &max, sizeof(max));
        if (zmq_connect(socket, endpoint) < 0)
                return -EINVAL;
        x->socket = socket;
        int r = send_request(x, request);
        return r < 0 ? r : receive(x);
}

int hw_request(const char *publish_endpoint, Hw__Request *request, int timeout_ms,
               void (*each)(void *ctx, const Hw__Reply *reply), void *ctx)
{
        char endpoint[ENDPOINT_MAX];
        void *zmq, *socket;
        int r = -ENOMEM;

        if (endpoint_request(endpoint, sizeof(endpoint), publish_endpoint) < 0)
                return -EINVAL;
        if (!request->has_id) {
                request->has_id = true;
                request->id = 1;
        }
        struct exchange x = { .id = request->id, .each = each, .ctx = ctx };
        x.until_ms = clock_mono_ms() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0);
        zmq = zmq_ctx_new();
        if (!zmq)
                return -ENOMEM;
        socket = zmq_socket(zmq, ZMQ_DEALER);
        if (socket) {
                r = exchange(socket, endpoint, request, &x);
                zmq_close(socket);
        }
        zmq_ctx_term(zmq);
        return r;
}
