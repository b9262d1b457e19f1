/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: per daemon a `line`: a DEALER socket and the queue of requests that
 * no connection has taken yet. A request is kept in a slot; its id is made of
 * the slot's index and of how often the slot was used, so a reply finds its
 * request at once and a late one finds none:
 *
 *     id = 1 + index + SLOTS_MAX * uses
 *
 * Everything that ZeroMQ's edge-triggered descriptor demands is in `pump_line`:
 * it looks at ZMQ_EVENTS until nothing is left, or sets the timer to now when
 * its budget is spent. A send may swallow the hint, so it sets the timer, too.
 *
 * Deadlines: `next_due_ns` is never later than the earliest one. When it comes,
 * all slots are looked at and it is computed again; so a request costs nothing
 * for its deadline as long as replies come.
 *
 * A reply that cannot be read has no id. If one request alone waits on its line,
 * it ends that; among several it is unknown whose it was: they time out.
 *
 * A daemon that refuses by its rate limit says when to ask again: the request
 * goes back to the queue, and the line is quiet until then. From then on one
 * request is under way at a time, until the queue is empty: if all of N were
 * sent again at once, all but one would be refused again, N * N / 2 in all.
 *
 * A handler may send, which moves the slots: no pointer to one is kept across a
 * call.
 */
#include "heapwatch/requester.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/wire/follow/limits.h"
#include "proto/wire/follow/zparts.h"
#include "proto/wire/endpoints.h"

#define SLOTS_MAX (UINT32_C(1) << 20) /* of all daemons; more than they fill in practice */
#define NONE      UINT32_MAX

struct slot {
        uint64_t id; /* 0: free */
        uint64_t uses;
        uint64_t due_ns;
        hw_reply_handler *handler;
        void *ctx;
        uint32_t line;
        uint32_t next;   /* in the line's queue, or among the free ones; NONE: the last */
        uint8_t *packed; /* the request: it may have to be sent again */
        size_t n_packed;
        bool queued, refused; /* in the queue; by the daemon's rate limit */
};

struct line {
        void *socket;
        uint32_t first, last; /* of the queue; NONE: empty */
        size_t n, n_queued;   /* requests under way, including queued ones; these */
        bool paced;           /* one at a time: the daemon's rate limit has refused one */
        uint64_t quiet_ns;    /* nothing is sent until then: the daemon's rate limit */
        char *publish;
        int n_keys;         /* of the daemon's, that are tried in turn while nobody takes what waits */
        size_t key;         /* the one that is tried, or was answered to */
        uint64_t opened_ns; /* since then; what was taken pushes it on */
};

struct hw_requester {
        void *zmq;
        struct line *lines;
        size_t n_lines;
        struct slot *slots;
        uint32_t n_slots, free; /* `free`: the first of those not in use */
        size_t n;               /* under way */
        uint64_t next_due_ns;
        struct wakeup wakeup;
        bool pumping, closing;
};

/* -------------------------------------------------------------------- slots */

static int grow_slots(struct hw_requester *r)
{
        uint32_t n = r->n_slots ? r->n_slots * 2 : 16;
        struct slot *slots = n <= SLOTS_MAX ? reallocarray(r->slots, n, sizeof(*slots)) : NULL;

        if (!slots)
                return -ENOMEM;
        r->slots = slots;
        for (uint32_t i = n; i-- > r->n_slots;) {
                slots[i] = (struct slot){ .next = r->free };
                r->free = i;
        }
        r->n_slots = n;
        return 0;
}

/* The slot of a request under way, or NULL. */
static struct slot *find_slot(const struct hw_requester *r, uint64_t id)
{
        uint32_t index = (uint32_t)((id - 1) % SLOTS_MAX);

        return id && index < r->n_slots && r->slots[index].id == id ? &r->slots[index] : NULL;
}

static uint32_t index_of(const struct hw_requester *r, const struct slot *s)
{
        return (uint32_t)(s - r->slots);
}

/* Removes a slot from its line's queue, if it is there. */
static void unqueue_slot(struct hw_requester *r, struct slot *s)
{
        struct line *line = &r->lines[s->line];
        uint32_t before = NONE, at = line->first;

        if (!s->queued)
                return;
        line->n_queued--;
        for (; at != index_of(r, s); at = r->slots[at].next)
                before = at;
        if (before == NONE)
                line->first = s->next;
        else
                r->slots[before].next = s->next;
        if (line->last == at)
                line->last = before;
        s->queued = false;
}

static void release_slot(struct hw_requester *r, struct slot *s)
{
        unqueue_slot(r, s);
        free(s->packed);
        s->packed = NULL;
        r->lines[s->line].n--;
        r->n--;
        s->id = 0;
        s->next = r->free;
        r->free = index_of(r, s);
}

/* The request is done: calls its handler for the last time. */
static void finish_slot(struct hw_requester *r, struct slot *s, int status, const Hw__Reply *reply)
{
        struct slot done = *s;

        release_slot(r, s);
        done.handler(done.ctx, status, reply);
}

/* ---------------------------------------------------------------- deadlines */

/* Ends the requests that are due by `now_ns`. */
static void expire_slots(struct hw_requester *r, uint64_t now_ns)
{
        uint64_t next = WAKEUP_NEVER;

        if (now_ns < r->next_due_ns)
                return;
        r->next_due_ns = WAKEUP_NEVER; /* a handler that sends lowers it again */
        for (uint32_t i = 0; i < r->n_slots; i++) {
                struct slot *s = &r->slots[i];

                if (!s->id)
                        continue;
                if (s->due_ns <= now_ns)
                        finish_slot(r, s, !s->queued ? -ETIMEDOUT : s->refused ? -EBUSY : -ENOTCONN, NULL);
                else if (s->due_ns < next)
                        next = s->due_ns;
        }
        if (next < r->next_due_ns)
                r->next_due_ns = next;
}

/* ----------------------------------------------------------------- messages */

static void enqueue_slot(struct hw_requester *r, struct line *line, uint32_t index)
{
        r->slots[index].queued = true;
        line->n_queued++;
        r->slots[index].next = NONE;
        if (line->last == NONE)
                line->first = index;
        else
                r->slots[line->last].next = index;
        line->last = index;
}

static int events_of(const struct line *line)
{
        int events = 0;
        size_t size = sizeof(events);

        return zmq_getsockopt(line->socket, ZMQ_EVENTS, &events, &size) == 0 ? events : 0;
}

/* Whether the first of the queue may be sent now, if the connection takes it. */
static bool may_send(const struct line *line)
{
        return line->first != NONE && !line->quiet_ns && (!line->paced || line->n == line->n_queued);
}

/* Sends what is queued, as long as the connection takes it. Whether anything was sent. */
static bool send_queue(struct hw_requester *r, struct line *line)
{
        bool sent = false;

        if (line->quiet_ns && clock_mono_ns() < line->quiet_ns)
                return false;
        line->quiet_ns = 0;
        while (may_send(line)) {
                struct slot *s = &r->slots[line->first];

                if (zparts_send_bytes(line->socket, s->packed, s->n_packed) < 0)
                        return sent; /* not connected, or its queue is full: ZMQ_POLLOUT will tell */
                unqueue_slot(r, s);
                sent = true;
        }
        line->paced = line->paced && line->first != NONE;
        return sent;
}

/* The request that waits alone for a reply on this line, or NULL. */
static struct slot *only_one(struct hw_requester *r, const struct line *line)
{
        for (uint32_t i = 0; i < r->n_slots && line->n == 1; i++) {
                struct slot *s = &r->slots[i];

                if (s->id && &r->lines[s->line] == line)
                        return s->queued ? NULL : s;
        }
        return NULL;
}

static void handle_malformed(struct hw_requester *r, const struct line *line)
{
        struct slot *s = only_one(r, line);

        if (s)
                finish_slot(r, s, -EPROTO, NULL);
}

/* The request of a reply. An error without an id is the daemon's answer to a request that it could not read. */
static struct slot *slot_of(struct hw_requester *r, const struct line *line, const Hw__Reply *reply)
{
        struct slot *s = find_slot(r, reply->has_id ? reply->id : 0);

        if (!reply->has_id && reply->error)
                s = only_one(r, line);
        return s && &r->lines[s->line] == line ? s : NULL;
}

/* The daemon's rate limit refused the request: it is sent again later, like whatever else waits for this daemon. */
static void resend_later(struct hw_requester *r, struct line *line, struct slot *s, uint64_t after_ns)
{
        const uint64_t until_ns = clock_mono_ns() + (after_ns < LIMIT_QUIET_NS ? after_ns : LIMIT_QUIET_NS);

        if (until_ns > line->quiet_ns)
                line->quiet_ns = until_ns;
        s->refused = line->paced = true;
        enqueue_slot(r, line, index_of(r, s));
}

static void handle_reply(struct hw_requester *r, struct line *line, zmq_msg_t *frame)
{
        const char *reason;
        Hw__Reply *reply = hw_reply_unpack(zmq_msg_data(frame), zmq_msg_size(frame), &reason);

        if (!reply) {
                handle_malformed(r, line);
                return;
        }
        struct slot *s = slot_of(r, line, reply);
        if (s && reply->error && reply->what_case == HW__REPLY__WHAT_RETRY_AFTER_NS && !s->queued)
                resend_later(r, line, s, reply->retry_after_ns);
        else if (s && reply->more)
                s->handler(s->ctx, HW_REPLY_PART, reply);
        else if (s)
                finish_slot(r, s, HW_REPLY_LAST, reply);
        hw_reply_unref(reply);
}

/* ---------------------------------------------------------------- sockets */

static int open_socket(struct hw_requester *r, struct line *line)
{
        char endpoint[ENDPOINT_MAX];

        if (endpoint_request(endpoint, sizeof(endpoint), line->publish) < 0)
                return -EINVAL;
        line->socket = zparts_open(r->zmq, ZMQ_DEALER);
        if (!line->socket)
                return -errno;
        line->opened_ns = clock_mono_ns();
        line->n_keys = zparts_key(line->socket, line->publish, line->key);
        if (line->n_keys < 0)
                return line->n_keys;
        return zmq_connect(line->socket, endpoint) < 0 ? -EINVAL : wakeup_add(&r->wakeup, line->socket);
}

/* When the daemon's next key is to be tried, or the only one again: nobody takes what waits. UINT64_MAX: never. */
static uint64_t next_key_ns(const struct line *line)
{
        if (line->n_keys == 0 || line->first == NONE || line->quiet_ns)
                return UINT64_MAX;
        return line->opened_ns + (line->n_keys > 1 ? LIMIT_TRY_KEY_NS : LIMIT_TRY_AGAIN_NS);
}

static void try_next_key(struct hw_requester *r, struct line *line)
{
        void *before = line->socket;

        line->key++;
        if (open_socket(r, line) < 0) { /* out of descriptors: what there is stays, and the requests' time runs out */
                if (line->socket && line->socket != before)
                        (void)zmq_close(line->socket);
                line->socket = before;
                return;
        }
        (void)zmq_close(before);
}

/* False: the budget is spent and there may be more. */
static bool pump_line(struct hw_requester *r, struct line *line)
{
        for (unsigned budget = LIMIT_REPLIES_PER_PUMP;; budget--) {
                if (next_key_ns(line) <= clock_mono_ns())
                        try_next_key(r, line);
                int events = events_of(line);

                if (events & ZMQ_POLLOUT) {
                        line->opened_ns = clock_mono_ns(); /* it is answered to */
                        (void)send_queue(r, line);
                }
                if (!(events & ZMQ_POLLIN))
                        return true;
                if (budget == 0)
                        return false;
                zmq_msg_t parts[2];
                int n = zparts_receive(line->socket, parts);
                if (n == 1)
                        handle_reply(r, line, &parts[0]);
                else if (n > 1)
                        handle_malformed(r, line);
                zparts_close(parts);
        }
}

/* When there is something to do even if nothing arrives. */
static uint64_t next_ns(const struct hw_requester *r)
{
        uint64_t next = r->next_due_ns;

        for (size_t i = 0; i < r->n_lines; i++)
                if (r->lines[i].first != NONE && r->lines[i].quiet_ns > 0 && r->lines[i].quiet_ns < next)
                        next = r->lines[i].quiet_ns;
        for (size_t i = 0; i < r->n_lines; i++)
                if (next_key_ns(&r->lines[i]) < next)
                        next = next_key_ns(&r->lines[i]);
        return next;
}

size_t hw_requester_pump(struct hw_requester *r)
{
        bool drained = true;

        if (r->pumping)
                return r->n;
        r->pumping = true;
        for (size_t i = 0; i < r->n_lines; i++)
                drained = pump_line(r, &r->lines[i]) && drained;
        expire_slots(r, clock_mono_ns());
        for (size_t i = 0; i < r->n_lines; i++) /* of a paced line, the one under way may have expired */
                drained = !(r->lines[i].paced && send_queue(r, &r->lines[i])) && drained;
        /* A handler may have sent on any of them, and a connection may have come since its line was looked at. */
        for (size_t i = 0; i < r->n_lines && drained; i++) {
                const int events = events_of(&r->lines[i]);
                drained = !(events & ZMQ_POLLIN) && !((events & ZMQ_POLLOUT) && may_send(&r->lines[i]));
        }
        wakeup_at(&r->wakeup, drained ? next_ns(r) : WAKEUP_NOW);
        r->pumping = false;
        return r->n;
}

/* ------------------------------------------------------------------ sending */

static int pack_request(struct slot *s, const Hw__Request *request)
{
        s->n_packed = hw__request__get_packed_size(request);
        s->packed = malloc(s->n_packed ? s->n_packed : 1);
        if (!s->packed)
                return -ENOMEM;
        hw__request__pack(request, s->packed);
        return 0;
}

int hw_requester_send(struct hw_requester *r, size_t daemon, Hw__Request *request, int timeout_ms,
                      hw_reply_handler *handler, void *ctx, uint64_t *ret_id)
{
        if (daemon >= r->n_lines || r->closing)
                return r->closing ? -ECANCELED : -EINVAL;
        struct line *line = &r->lines[daemon];
        if (line->n >= HW_REQUESTS_MAX)
                return -ENOBUFS;
        if (r->free == NONE && grow_slots(r) < 0)
                return -ENOMEM;
        uint32_t index = r->free, next = r->slots[index].next;
        struct slot *s = &r->slots[index];
        request->has_id = true;
        request->id = 1 + index + SLOTS_MAX * s->uses;
        if (pack_request(s, request) < 0)
                return -ENOMEM;
        s->id = request->id;
        s->uses++;
        s->due_ns = timeout_ms < 0 ? WAKEUP_NEVER : clock_mono_ns() + (uint64_t)timeout_ms * 1000000u;
        s->handler = handler;
        s->ctx = ctx;
        s->line = (uint32_t)daemon;
        s->refused = false;
        r->free = next;
        r->n++;
        line->n++;
        enqueue_slot(r, line, index);
        if (s->due_ns < r->next_due_ns)
                r->next_due_ns = s->due_ns;
        (void)send_queue(r, line);
        wakeup_at(&r->wakeup, WAKEUP_NOW);
        if (ret_id)
                *ret_id = request->id;
        return 0;
}

const char *hw_reply_error(int status)
{
        switch (status) {
        case -ETIMEDOUT:
                return "the daemon did not answer";
        case -ENOTCONN:
                return "no daemon is connected";
        case -EPROTO:
                return "the daemon's reply is malformed";
        case -EBUSY:
                return "the daemon accepts no more requests from this client for now";
        case -ECANCELED:
                return "the request was given up";
        case -ENOBUFS:
                return "too many requests are waiting for the daemon";
        case -EINVAL:
                return "no such daemon, or its endpoint is malformed";
        case -ENOMEM:
                return "out of memory";
        default:
                return "the request could not be sent";
        }
}

void hw_requester_cancel(struct hw_requester *r, uint64_t id)
{
        struct slot *s = find_slot(r, id);

        if (s)
                release_slot(r, s);
}

int hw_requester_fd(const struct hw_requester *r)
{
        return r->wakeup.epoll;
}

/* ----------------------------------------------------------------- its life */

static int open_line(struct hw_requester *r, struct line *line, const char *publish)
{
        char endpoint[ENDPOINT_MAX];

        *line = (struct line){ .first = NONE, .last = NONE };
        if (endpoint_request(endpoint, sizeof(endpoint), publish) < 0)
                return -EINVAL;
        if (trust_endpoint(endpoint, NULL) < 0)
                return -EPERM;
        line->publish = strdup(publish);
        r->n_lines++;
        return line->publish ? open_socket(r, line) : -ENOMEM;
}

static int open_lines(struct hw_requester *r, const char *const *endpoints, size_t n)
{
        char publish[ENDPOINT_MAX], request[ENDPOINT_MAX];
        const char *one = publish;
        int result = wakeup_open(&r->wakeup);

        if (result == 0 && (!endpoints || n == 0)) {
                result = hw_default_endpoints(publish, request, sizeof(publish)) < 0 ? -EINVAL : 0;
                endpoints = &one;
                n = 1;
        }
        if (result < 0)
                return result;
        r->zmq = zmq_ctx_new();
        r->lines = calloc(n, sizeof(*r->lines));
        if (!r->zmq || !r->lines)
                return -ENOMEM;
        for (size_t i = 0; i < n && result == 0; i++)
                result = open_line(r, &r->lines[i], endpoints[i]);
        return result;
}

struct hw_requester *hw_requester_new(const char *const *publish_endpoints, size_t n)
{
        struct hw_requester *r = calloc(1, sizeof(*r));
        int result;

        if (!r) {
                errno = ENOMEM;
                return NULL;
        }
        r->free = NONE;
        r->next_due_ns = WAKEUP_NEVER;
        r->wakeup = (struct wakeup){ -1, -1 };
        result = open_lines(r, publish_endpoints, n);
        if (result < 0) {
                hw_requester_destroy(&r);
                errno = -result;
        }
        return r;
}

void hw_requester_destroy(struct hw_requester **r)
{
        struct hw_requester *s = *r;

        if (!s)
                return;
        s->closing = true;
        for (uint32_t i = 0; i < s->n_slots; i++)
                if (s->slots[i].id)
                        finish_slot(s, &s->slots[i], -ECANCELED, NULL);
        wakeup_close(&s->wakeup);
        for (size_t i = 0; i < s->n_lines; i++) {
                if (s->lines[i].socket)
                        (void)zmq_close(s->lines[i].socket);
                free(s->lines[i].publish);
        }
        if (s->zmq)
                (void)zmq_ctx_term(s->zmq);
        free(s->lines);
        free(s->slots);
        free(s);
        *r = NULL;
}
