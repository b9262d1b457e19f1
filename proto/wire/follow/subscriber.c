/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: per daemon a `link`: a SUB socket for updates, a DEALER for
 * snapshots, and a clone (clone.h) that knows what they mean. This file only
 * moves messages between sockets and clones.
 *
 * A turn takes at most one message from each socket and stops when a clone has
 * an event to give, so messages wait in ZeroMQ's queues only. hw_subscriber_next
 * returns NOTHING only after every socket returned EAGAIN: ZeroMQ's descriptors
 * are edge-triggered, and only then will they become readable again. The
 * descriptor for the caller (wakeup.c) has all of them and a timer, set to the
 * next thing that is due.
 *
 * The DEALER is ZMQ_IMMEDIATE: a request never waits in a queue for a daemon
 * that is not there; after clone_request_failed it is tried again.
 */
#include "heapwatch/subscriber.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/wire/follow/clone.h"
#include "proto/wire/follow/limits.h"
#include "proto/wire/endpoints.h"
#include "proto/wire/follow/zparts.h"

struct link {
        void *updates;  /* SUB */
        void *requests; /* DEALER */
        struct clone clone;
        char *publish;
        int n_keys;         /* of the daemon's, that are tried in turn */
        size_t key;         /* the one that is tried, or was answered to */
        uint64_t opened_ns; /* since then */
};

struct hw_subscriber {
        void *zmq;
        struct link *links;
        size_t n_links;
        char **targets; /* followed; NULL: all */
        size_t n_targets;
        uint32_t kinds; /* followed, as bits */
        bool chosen;    /* these kinds alone; false: all that there are */
        uint64_t last_id;
        struct queue_item *current; /* lent to the caller */
        size_t current_link, next_link;
        struct wakeup wakeup;
        struct hw_subscriber_stats stats;
};

/* --------------------------------------------------------------- connecting */

static int subscribe_kind(void *socket, Hw__Kind kind, const char *target)
{
        char topic[HW_TOPIC_MAX];
        size_t n = hw_topic(topic, kind, target ? target : "");

        if (!target && kind != HW__KIND__KIND_DAEMON)
                n--; /* "hw1/heap//" without its last slash matches every target */
        return zmq_setsockopt(socket, ZMQ_SUBSCRIBE, topic, n) < 0 ? -errno : 0;
}

/* One subscription per kind and target; of many targets all are received, and the others are dropped. */
static int subscribe_all(const struct hw_subscriber *s, void *socket)
{
        int r = subscribe_kind(socket, HW__KIND__KIND_DAEMON, NULL);

        for (unsigned k = HW__KIND__KIND_TARGET; hw_kind_name((Hw__Kind)k) && r == 0; k++) {
                if (!(s->kinds >> k & 1))
                        continue;
                if (!s->targets || s->n_targets > LIMIT_TOPIC_TARGETS)
                        r = subscribe_kind(socket, (Hw__Kind)k, NULL);
                for (size_t i = 0; i < s->n_targets && s->n_targets <= LIMIT_TOPIC_TARGETS && r == 0; i++)
                        r = subscribe_kind(socket, (Hw__Kind)k, s->targets[i]);
        }
        return r;
}

static void close_sockets(struct link *l)
{
        if (l->updates)
                zmq_close(l->updates);
        if (l->requests)
                zmq_close(l->requests);
        l->updates = l->requests = NULL;
}

/* Both sockets, by the link's key. */
static int open_sockets(struct hw_subscriber *s, struct link *l)
{
        const char *publish = l->publish;
        char request[ENDPOINT_MAX];
        int r = endpoint_request(request, sizeof(request), publish);

        if (r < 0)
                return -EINVAL;
        l->updates = zparts_open(s->zmq, ZMQ_SUB);
        l->requests = zparts_open(s->zmq, ZMQ_DEALER);
        if (!l->updates || !l->requests)
                return -ENOMEM;
        l->opened_ns = clock_mono_ns();
        l->n_keys = zparts_key(l->updates, publish, l->key);
        r = l->n_keys < 0 ? l->n_keys : zparts_key(l->requests, publish, l->key);
        if (r >= 0)
                r = subscribe_all(s, l->updates);
        if (r == 0 && (zmq_connect(l->updates, publish) < 0 || zmq_connect(l->requests, request) < 0))
                r = -EINVAL;
        if (r == 0)
                r = wakeup_add(&s->wakeup, l->updates);
        return r == 0 ? wakeup_add(&s->wakeup, l->requests) : r;
}

/* When the next key of the daemon is to be tried, or the only one again. UINT64_MAX: it is answered to, or has none. */
static uint64_t next_key_ns(const struct link *l)
{
        const bool silent = l->clone.stale || l->clone.heard_ns <= l->opened_ns;

        if (l->n_keys == 0 || !silent)
                return UINT64_MAX;
        return l->opened_ns + (l->n_keys > 1 ? LIMIT_TRY_KEY_NS : LIMIT_TRY_AGAIN_NS);
}

static int open_links(struct hw_subscriber *s, const char *const *endpoints, size_t n)
{
        char publish[ENDPOINT_MAX], request[ENDPOINT_MAX];
        const char *one = publish;
        int r = 0;

        if (!endpoints || n == 0) {
                r = hw_default_endpoints(publish, request, sizeof(publish));
                endpoints = &one;
                n = 1;
        }
        if (r < 0)
                return -EINVAL;
        s->links = calloc(n, sizeof(*s->links));
        if (!s->links)
                return -ENOMEM;
        for (; s->n_links < n && r == 0; s->n_links++) {
                struct link *l = &s->links[s->n_links];

                if (endpoint_request(request, sizeof(request), endpoints[s->n_links]) < 0)
                        return -EINVAL;
                if (trust_endpoint(endpoints[s->n_links], NULL) < 0 || trust_endpoint(request, NULL) < 0)
                        return -EPERM;
                clone_init(&l->clone, s->kinds, &s->stats, clock_mono_ns());
                l->publish = strdup(endpoints[s->n_links]);
                r = l->publish ? open_sockets(s, l) : -ENOMEM;
        }
        return r;
}

static int compare_names(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

static int copy_filter(struct hw_subscriber *s, const struct hw_subscriber_options *o)
{
        if (o->targets && o->n_targets) {
                s->targets = calloc(o->n_targets, sizeof(*s->targets));
                if (!s->targets)
                        return -ENOMEM;
                for (; s->n_targets < o->n_targets; s->n_targets++) {
                        if (!hw_target_name_valid(o->targets[s->n_targets]))
                                return -EINVAL;
                        s->targets[s->n_targets] = strdup(o->targets[s->n_targets]);
                        if (!s->targets[s->n_targets])
                                return -ENOMEM;
                }
                ARRAY_SORT(s->targets, s->n_targets, compare_names);
        }
        s->chosen = o->kinds && o->n_kinds;
        s->kinds = 1u << HW__KIND__KIND_DAEMON | 1u << HW__KIND__KIND_TARGET; /* they always come */
        for (unsigned k = 1; hw_kind_name((Hw__Kind)k); k++) {
                bool wanted = !s->chosen;
                for (size_t i = 0; i < o->n_kinds && !wanted; i++)
                        wanted = o->kinds[i] == (Hw__Kind)k;
                if (wanted)
                        s->kinds |= 1u << k;
        }
        return 0;
}

struct hw_subscriber *hw_subscriber_new(const struct hw_subscriber_options *options)
{
        static const struct hw_subscriber_options defaults;
        struct hw_subscriber *s = calloc(1, sizeof(*s));

        if (!s)
                return NULL;
        options = options ? options : &defaults;
        s->wakeup = (struct wakeup){ -1, -1 };
        int r = wakeup_open(&s->wakeup);
        if (r == 0 && !(s->zmq = zmq_ctx_new()))
                r = -ENOMEM;
        if (r == 0)
                r = copy_filter(s, options);
        if (r == 0)
                r = open_links(s, options->endpoints, options->n_endpoints);
        if (r < 0) {
                hw_subscriber_destroy(&s);
                errno = -r;
        }
        return s;
}

void hw_subscriber_destroy(struct hw_subscriber **subscriber)
{
        struct hw_subscriber *s = *subscriber;

        if (!s)
                return;
        *subscriber = NULL;
        queue_item_free(s->current);
        for (size_t i = 0; i < s->n_links; i++) {
                close_sockets(&s->links[i]);
                clone_done(&s->links[i].clone);
                free(s->links[i].publish);
        }
        wakeup_close(&s->wakeup);
        if (s->zmq)
                zmq_ctx_term(s->zmq);
        for (size_t i = 0; i < s->n_targets; i++)
                free(s->targets[i]);
        free(s->targets);
        free(s->links);
        free(s);
}

/* ---------------------------------------------------------------- receiving */

/*
 * Unpacks an update with its topic, or counts it as bad and returns NULL. The topic must be that of the update; an
 * update of a kind that this version does not know may have any.
 */
static Hw__Update *unpack_update(struct hw_subscriber *s, int n_parts, zmq_msg_t parts[2])
{
        char topic[HW_TOPIC_MAX];
        const char *reason;
        Hw__Update *u = NULL;

        if (n_parts == 2)
                u = hw_update_unpack(zmq_msg_data(&parts[1]), zmq_msg_size(&parts[1]), &reason);
        const Hw__Kind kind = u ? hw_update_kind(u) : HW__KIND__KIND_NONE;
        const size_t n = kind ? hw_topic(topic, kind, u->target ? u->target : "") : 0;
        if (u && u->has_epoch && u->sequence > 0 &&
            (!kind || (zmq_msg_size(&parts[0]) == n && !memcmp(zmq_msg_data(&parts[0]), topic, n))))
                return u;
        s->stats.bad++;
        hw_update_unref(u);
        return NULL;
}

/* Each of these: 1 when it did something, 0 when there was nothing to do, or -errno. */
static int receive_update(struct hw_subscriber *s, struct link *l, uint64_t now)
{
        zmq_msg_t parts[2];
        int r = zparts_receive(l->updates, parts);

        if (r > 0) {
                size_t bytes = zmq_msg_size(&parts[1]);
                Hw__Update *u = unpack_update(s, r, parts);

                const bool followed =
                        u && (!s->targets || !u->target || !*u->target ||
                              bsearch(&u->target, s->targets, s->n_targets, sizeof(*s->targets), compare_names));
                if (followed)
                        r = clone_live(&l->clone, u, bytes, now);
                else
                        hw_update_unref(u);
                r = r < 0 ? r : 1;
        }
        zparts_close(parts);
        return r;
}

static int receive_reply(struct hw_subscriber *s, struct link *l, uint64_t now)
{
        zmq_msg_t parts[2];
        int r = zparts_receive(l->requests, parts);

        if (r > 0) {
                const char *reason;
                Hw__Reply *reply = NULL;

                if (r == 1)
                        reply = hw_reply_unpack(zmq_msg_data(&parts[0]), zmq_msg_size(&parts[0]), &reason);
                s->stats.bad += !reply;
                r = reply ? clone_reply(&l->clone, reply, now) : 0;
                r = r < 0 ? r : 1;
                hw_reply_unref(reply);
        }
        zparts_close(parts);
        return r;
}

static Hw__Request *snapshot_request(const struct hw_subscriber *s, char **targets, size_t n)
{
        Hw__Request *r = hw_request_new(HW__REQUEST__WHAT_SNAPSHOT);
        bool ok = r != NULL;

        for (size_t i = 0; ok && i < n; i++)
                ok = hw_request_add_target(r->snapshot, targets[i]) == 0;
        for (unsigned k = 1; s->chosen && ok && hw_kind_name((Hw__Kind)k); k++)
                ok = !(s->kinds >> k & 1) || hw_request_add_kind(r->snapshot, (Hw__Kind)k) == 0;
        if (!ok)
                hw_request_destroy(&r);
        return r;
}

/* Requests the snapshot that the clone wants, if any. */
static int request_snapshot(struct hw_subscriber *s, struct link *l, uint64_t now)
{
        char *names[LIMIT_RESYNC_TARGETS];
        Hw__Request *request;
        size_t n;
        int r;

        if (!clone_want(&l->clone, now, names, &n))
                return 0;
        request = n ? snapshot_request(s, names, n) : snapshot_request(s, s->targets, s->n_targets);
        if (!request)
                return -ENOMEM;
        request->has_id = true;
        request->id = ++s->last_id;
        r = zparts_send(l->requests, &request->base);
        if (r == 0)
                clone_request_sent(&l->clone, request->id, now);
        else if (r == -EAGAIN)
                clone_request_failed(&l->clone, now);
        hw_request_destroy(&request);
        return r == 0 || r == -EAGAIN ? 1 : r;
}

/* Returns more than 0 when it did something or an event waits, or -errno. */
static int run_turn(struct hw_subscriber *s, struct link *l, uint64_t now)
{
        int r = 0;

        if (now >= next_key_ns(l)) {
                close_sockets(l);
                l->key++;
                r = open_sockets(s, l);
        }
        if (r >= 0)
                r = clone_tick(&l->clone, now);
        int asked = r < 0 ? r : request_snapshot(s, l, now);
        int update = asked < 0 ? asked : receive_update(s, l, now);
        int reply = update < 0 ? update : receive_reply(s, l, now);

        return reply < 0 ? reply : asked + update + reply + (l->clone.out.first != NULL);
}

/* --------------------------------------------------------------- delivering */

/* Takes the next event of any clone; links take turns. */
static bool pop_event(struct hw_subscriber *s)
{
        for (size_t i = 0; i < s->n_links; i++) {
                size_t at = (s->next_link + i) % s->n_links;

                s->current = queue_pop(&s->links[at].clone.out);
                if (s->current) {
                        s->current_link = at;
                        s->next_link = at + 1;
                        return true;
                }
        }
        return false;
}

int hw_subscriber_next(struct hw_subscriber *s, int timeout_ms, const Hw__Update **ret_update)
{
        uint64_t now = clock_mono_ns();
        uint64_t until = timeout_ms < 0 ? UINT64_MAX : now + (uint64_t)timeout_ms * 1000000u;

        queue_item_free(s->current);
        s->current = NULL;
        for (;; now = clock_mono_ns()) {
                if (pop_event(s)) {
                        *ret_update = s->current->update;
                        return (int)s->current->event;
                }
                bool busy = false;
                for (size_t i = 0; i < s->n_links; i++) {
                        const int r = run_turn(s, &s->links[i], now);
                        if (r < 0)
                                return r;
                        busy = busy || r > 0;
                }
                if (busy)
                        continue;
                uint64_t due = UINT64_MAX;
                for (size_t i = 0; i < s->n_links; i++) {
                        const uint64_t clone_ns = clone_deadline(&s->links[i].clone);
                        const uint64_t key_ns = next_key_ns(&s->links[i]);
                        due = clone_ns < due ? clone_ns : due;
                        due = key_ns < due ? key_ns : due;
                }
                wakeup_at(&s->wakeup, due);
                if (due > now && (now >= until || wakeup_wait(&s->wakeup, now, until) == -EINTR))
                        return HW_SUBSCRIBER_NOTHING;
        }
}

size_t hw_subscriber_daemon(const struct hw_subscriber *s)
{
        return s->current_link;
}

int hw_subscriber_fd(const struct hw_subscriber *s)
{
        return s->wakeup.epoll;
}

const struct hw_subscriber_stats *hw_subscriber_stats(const struct hw_subscriber *s)
{
        return &s->stats;
}
