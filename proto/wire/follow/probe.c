/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe.c - DESIGN: libzmq reconnects forever and does not report why. A monitor of a socket reports how the handshake
 * went: that it succeeded, that the other end refused us by ZAP, or that it broke off.
 */
#include "heapwatch/keys.h"

#include <stdint.h>
#include <string.h>
#include <zmq.h>

#include "proto/base/clock.h"
#include "proto/wire/follow/zparts.h"
#include "proto/wire/endpoints.h"

#define MONITOR "inproc://heapwatch-probe"
#define EVENTS                                                                                                         \
        (ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |       \
         ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL)

/* The next report; NOBODY: none came in time. */
static enum hw_probe report(void *monitor, int timeout_ms)
{
        zmq_pollitem_t item = { .socket = monitor, .events = ZMQ_POLLIN };
        uint8_t frame[ENDPOINT_MAX];
        uint16_t event = 0;

        if (timeout_ms <= 0 || zmq_poll(&item, 1, timeout_ms) <= 0)
                return HW_PROBE_NOBODY;
        if (zmq_recv(monitor, frame, sizeof(frame), 0) == 6)
                memcpy(&event, frame, sizeof(event));
        (void)zmq_recv(monitor, frame, sizeof(frame), 0);
        if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED)
                return HW_PROBE_OPEN;
        return event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH ? HW_PROBE_REFUSED : HW_PROBE_ANOTHER;
}

/* By one of the daemon's keys. *ret_n: how many it has. */
static enum hw_probe probe(void *zmq, const char *publish, size_t key, int timeout_ms, int *ret_n)
{
        enum hw_probe result = HW_PROBE_NOBODY;
        char request[ENDPOINT_MAX];
        void *socket = zparts_open(zmq, ZMQ_DEALER), *monitor = zmq_socket(zmq, ZMQ_PAIR);

        *ret_n = socket ? zparts_key(socket, publish, key) : 0;
        if (socket && monitor && *ret_n >= 0 && zmq_socket_monitor(socket, MONITOR, EVENTS) == 0 &&
            zmq_connect(monitor, MONITOR) == 0 && endpoint_request(request, sizeof(request), publish) == 0 &&
            zmq_connect(socket, request) == 0)
                result = report(monitor, timeout_ms);
        if (socket) {
                (void)zmq_socket_monitor(socket, NULL, 0);
                (void)zmq_close(socket);
        }
        if (monitor)
                (void)zmq_close(monitor);
        return result;
}

enum hw_probe hw_endpoint_probe(const char *publish, int timeout_ms)
{
        const uint64_t until_ms = clock_mono_ms() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0);
        enum hw_probe best = HW_PROBE_NOBODY;
        void *zmq = zmq_ctx_new();
        int n = 1;

        for (int i = 0; zmq && i < n; i++) {
                const uint64_t now_ms = clock_mono_ms();
                enum hw_probe one =
                        probe(zmq, publish, (size_t)i, until_ms > now_ms ? (int)(until_ms - now_ms) : 0, &n);
                if (one == HW_PROBE_OPEN || one == HW_PROBE_REFUSED || best == HW_PROBE_NOBODY)
                        best = one;
                if (best == HW_PROBE_OPEN || best == HW_PROBE_REFUSED)
                        break;
        }
        if (zmq)
                (void)zmq_ctx_term(zmq);
        return best;
}
