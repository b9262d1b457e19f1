/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requester.h - ask heapwatch daemons: status, history, snapshots, control.
 *
 * Asynchronous and single-threaded: hw_requester_send never waits, replies are
 * handed to a function of the caller from within hw_requester_pump. Any number
 * of daemons, and of requests under way, through one descriptor:
 *
 *     struct hw_requester *r = hw_requester_new(&endpoint, 1);
 *     hw_requester_send(r, 0, request, 2000, on_reply, ctx, NULL);
 *     for (;;) {
 *             poll() on hw_requester_fd(r) and on whatever else there is
 *             hw_requester_pump(r);
 *     }
 *
 * A request waits in a bounded queue until its daemon is connected; a lost
 * connection is made again in the background. A request sent to a daemon that
 * went away is not repeated: it may have been carried out. Whoever has nothing
 * else to do meanwhile calls hw_request, which waits.
 *
 * Not thread-safe; make it after fork, not before.
 */
#ifndef HEAPWATCH_REQUESTER_H
#define HEAPWATCH_REQUESTER_H

#include "heapwatch/wire.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_REQUESTS_MAX 2000 /* under way with one daemon: a further one is refused with -ENOBUFS */

struct hw_requester;

/*
 * A reply came, or none will. Both pointers are borrowed for the call, which may send and cancel requests but must not
 * pump or destroy the requester. status:
 *   HW_REPLY_PART  `reply` is one of several, others follow
 *   HW_REPLY_LAST  `reply` is the only or last one: the request is done
 *   negative       the request is done and `reply` is NULL: -ETIMEDOUT (no last reply in time), -ENOTCONN (it could
 *                  not even be sent in time), -EBUSY (the daemon's rate limit refused it until the time was up),
 *                  -EPROTO (a malformed reply), -ECANCELED (the requester is destroyed)
 * A reply with `error` set is the daemon's refusal and is delivered like any other. A refusal by the rate limit is not:
 * the request is sent again after the delay that the daemon names.
 */
#define HW_REPLY_LAST 0
#define HW_REPLY_PART 1
typedef void hw_reply_handler(void *ctx, int status, const Hw__Reply *reply);

/*
 * For the daemons of these publish endpoints, which are copied; NULL or 0: the default one. NULL with errno: ENOMEM,
 * EINVAL (an endpoint is malformed), EPERM (it is not to be trusted: hw_endpoint_check) or the system's error.
 * Connecting happens in the background.
 */
struct hw_requester *hw_requester_new(const char *const *publish_endpoints, size_t n);

/* Requests that are under way end with -ECANCELED first. */
void hw_requester_destroy(struct hw_requester **r);

/*
 * Sends a request to the daemon of that index. The request is borrowed for the call; its id is set. timeout_ms is for
 * the whole exchange, from now; negative: no limit. `handler` is called by hw_requester_pump only, never from here.
 * *ret_id is for hw_requester_cancel; may be NULL. Returns 0, -EINVAL (no such daemon), -ENOBUFS (HW_REQUESTS_MAX are
 * under way), -ENOMEM or another -errno: then `handler` is never called.
 */
int hw_requester_send(struct hw_requester *r, size_t daemon, Hw__Request *request, int timeout_ms,
                      hw_reply_handler *handler, void *ctx, uint64_t *ret_id);

/* Why there was no reply, as a static sentence, for a negative status of a handler or of hw_requester_send. */
const char *hw_reply_error(int status);

/* Forgets a request: its handler is no longer called. The daemon may have carried it out. Unknown ids are ignored. */
void hw_requester_cancel(struct hw_requester *r, uint64_t id);

/* A descriptor (epoll, owned by the requester) that is readable as long as hw_requester_pump has something to do,
 * deadlines included. It needs no timer beside it. */
int hw_requester_fd(const struct hw_requester *r);

/* Sends, receives and times out what is due, without waiting. Returns how many requests are under way. */
size_t hw_requester_pump(struct hw_requester *r);

/*
 * Sends one request to the daemon of this publish endpoint and waits for its
 * replies, calling `each` for every one (borrowed). The time-out covers the
 * whole exchange. The request's id is set. Returns 0, -EINVAL (the endpoint is
 * malformed), -EPERM (it is not to be trusted), -ETIMEDOUT, -EBUSY, -EPROTO (malformed reply) or -ENOMEM. An error
 * reply is passed to `each` like any other.
 */
int hw_request(const char *publish_endpoint, Hw__Request *request, int timeout_ms,
               void (*each)(void *ctx, const Hw__Reply *reply), void *ctx);

#ifdef __cplusplus
}
#endif
#endif
