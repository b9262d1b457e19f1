/* SPDX-License-Identifier: BSD-3-Clause */
/* request.c - the call that waits: a new requester for each request, so no earlier reply can be taken for its own. */
#include "heapwatch/requester.h"

#include <errno.h>
#include <poll.h>

struct exchange {
        void (*each)(void *ctx, const Hw__Reply *reply);
        void *ctx;
        int status;
};

static void on_reply(void *ctx, int status, const Hw__Reply *reply)
{
        struct exchange *x = ctx;

        x->status = status == -ENOTCONN ? -ETIMEDOUT : status;
        if (reply)
                x->each(x->ctx, reply);
}

int hw_request(const char *publish_endpoint, Hw__Request *request, int timeout_ms,
               void (*each)(void *ctx, const Hw__Reply *reply), void *ctx)
{
        struct hw_requester *r = hw_requester_new(&publish_endpoint, 1);
        struct exchange x = { .each = each, .ctx = ctx };
        struct pollfd readable = { .events = POLLIN };
        int result;

        if (!r)
                return -errno;
        result = hw_requester_send(r, 0, request, timeout_ms > 0 ? timeout_ms : 0, on_reply, &x, NULL);
        readable.fd = hw_requester_fd(r);
        while (result == 0 && hw_requester_pump(r))
                if (poll(&readable, 1, -1) < 0 && errno != EINTR)
                        result = -errno;
        hw_requester_destroy(&r);
        return result < 0 ? result : x.status;
}
