/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/follow/zparts.h"
#include "proto/base/array.h"

#include <errno.h>
#include <stdlib.h>

#include "proto/wire/endpoints.h"
#include "proto/wire/limits.h"

#define RECONNECT_MS      50
#define RECONNECT_MAX_MS  2000
#define REFUSED_MS        300  /* libzmq's pauses grow only while nobody listens, not when we are not let in */
#define HEARTBEAT_MS      5000 /* other machines: a cut that nobody closed is noticed ... */
#define HEARTBEAT_LOST_MS 15000
#define RECEIVE_QUEUE     100000 /* messages of one daemon that wait for a slow reader; beyond, the daemon drops */

void *zparts_open(void *zmq, int type)
{
        const int options[][2] = {
                { ZMQ_LINGER, 0 },
                { ZMQ_RECONNECT_IVL, RECONNECT_MS },
                { ZMQ_RECONNECT_IVL_MAX, RECONNECT_MAX_MS },
                { ZMQ_RCVHWM, RECEIVE_QUEUE },
                { ZMQ_IPV6, 1 },
                { ZMQ_IMMEDIATE, type == ZMQ_DEALER },
        };
        int64_t max = LIMIT_MESSAGE_BYTES;
        void *socket = zmq_socket(zmq, type);

        if (!socket)
                return NULL;
        for (size_t i = 0; i < ARRAY_SIZE(options); i++)
                (void)zmq_setsockopt(socket, options[i][0], &options[i][1], sizeof(int)); /* known, in range */
        (void)zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &max, sizeof(max));
        return socket;
}

int zparts_key(void *socket, const char *publish, size_t which)
{
        const struct endpoint_keys *k = endpoint_keys_of(publish);
        const int alive_ms = HEARTBEAT_MS, lost_ms = HEARTBEAT_LOST_MS, again_ms = REFUSED_MS;

        if (!k)
                return 0;
        if (zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, k->secret, HW_KEY_BYTES) ||
            zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, k->public, HW_KEY_BYTES) ||
            zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, k->server[which % k->n_server], HW_KEY_BYTES))
                return -ENOTSUP;
        (void)zmq_setsockopt(socket, ZMQ_RECONNECT_IVL, &again_ms, sizeof(again_ms));
        (void)zmq_setsockopt(socket, ZMQ_HEARTBEAT_IVL, &alive_ms, sizeof(alive_ms));
        (void)zmq_setsockopt(socket, ZMQ_HEARTBEAT_TIMEOUT, &lost_ms, sizeof(lost_ms));
        return (int)k->n_server;
}

static int receive_more(void *socket, zmq_msg_t *last)
{
        int n = 0;

        while (zmq_msg_more(last)) {
                if (zmq_msg_recv(last, socket, ZMQ_DONTWAIT) < 0)
                        return -errno; /* parts of one message arrive together, so this is an error */
                n++;
        }
        return n;
}

int zparts_receive(void *socket, zmq_msg_t parts[2])
{
        zmq_msg_t rest;
        int n = 1;

        zmq_msg_init(&parts[0]);
        zmq_msg_init(&parts[1]);
        if (zmq_msg_recv(&parts[0], socket, ZMQ_DONTWAIT) < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        if (!zmq_msg_more(&parts[0]))
                return n;
        if (zmq_msg_recv(&parts[1], socket, ZMQ_DONTWAIT) < 0)
                return -errno;
        n++;
        if (!zmq_msg_more(&parts[1]))
                return n;
        zmq_msg_init(&rest);
        int r = zmq_msg_recv(&rest, socket, ZMQ_DONTWAIT) < 0 ? -errno : receive_more(socket, &rest);
        zmq_msg_close(&rest);
        return r < 0 ? r : n + 1 + r;
}

void zparts_close(zmq_msg_t parts[2])
{
        zmq_msg_close(&parts[0]);
        zmq_msg_close(&parts[1]);
}

int zparts_send_bytes(void *socket, const void *bytes, size_t size)
{
        int r;

        do
                r = zmq_send(socket, bytes, size, ZMQ_DONTWAIT);
        while (r < 0 && errno == EINTR);
        return r < 0 ? -errno : 0;
}

int zparts_send(void *socket, const ProtobufCMessage *message)
{
        size_t size = protobuf_c_message_get_packed_size(message);
        uint8_t *bytes = malloc(size ? size : 1);
        int r;

        if (!bytes)
                return -ENOMEM;
        protobuf_c_message_pack(message, bytes);
        r = zparts_send_bytes(socket, bytes, size);
        free(bytes);
        return r;
}
