/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_daemon.h - a daemon that the test controls step by step: XPUB and ROUTER on private ipc sockets. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "proto/base/clock.h"
#include "heapwatch/requester.h"
#include "heapwatch/subscriber.h"

struct fake_daemon {
        void *zmq, *publish, *request;
        char directory[64], endpoint[128];
        uint64_t epoch;
        zmq_msg_t peer; /* who asked last */
        bool has_peer;
        uint64_t id;      /* of its request */
        size_t n_targets; /* that it names */
        char first_target[65];
};

static inline void fake_bind(struct fake_daemon *d)
{
        char request[128];
        int zero = 0, verbose = 1;

        d->zmq = zmq_ctx_new();
        d->publish = zmq_socket(d->zmq, ZMQ_XPUB);
        d->request = zmq_socket(d->zmq, ZMQ_ROUTER);
        zmq_setsockopt(d->publish, ZMQ_LINGER, &zero, sizeof(zero));
        zmq_setsockopt(d->publish, ZMQ_SNDHWM, &zero, sizeof(zero)); /* a test decides what is lost */
        zmq_setsockopt(d->publish, ZMQ_XPUB_VERBOSE, &verbose, sizeof(verbose));
        zmq_setsockopt(d->request, ZMQ_LINGER, &zero, sizeof(zero));
        snprintf(d->endpoint, sizeof(d->endpoint), "ipc://%s/publish", d->directory);
        snprintf(request, sizeof(request), "ipc://%s/request", d->directory);
        if (zmq_bind(d->publish, d->endpoint) < 0 || zmq_bind(d->request, request) < 0)
                abort();
}

static inline void fake_start(struct fake_daemon *d, uint64_t epoch)
{
        *d = (struct fake_daemon){ .epoch = epoch };
        snprintf(d->directory, sizeof(d->directory), "/tmp/hw-test-XXXXXX");
        if (!mkdtemp(d->directory))
                abort();
        fake_bind(d);
}

static inline void fake_unbind(struct fake_daemon *d)
{
        if (d->has_peer)
                zmq_msg_close(&d->peer);
        d->has_peer = false;
        zmq_close(d->publish);
        zmq_close(d->request);
        zmq_ctx_term(d->zmq);
}

static inline void fake_stop(struct fake_daemon *d)
{
        char path[128];

        fake_unbind(d);
        snprintf(path, sizeof(path), "%s/publish", d->directory);
        unlink(path);
        snprintf(path, sizeof(path), "%s/request", d->directory);
        unlink(path);
        rmdir(d->directory);
}

/* An update whose body the caller sets. */
static inline Hw__Update fake_update(struct fake_daemon *d, const char *target, uint64_t sequence)
{
        Hw__Update u = HW__UPDATE__INIT;

        SET(u, epoch, d->epoch);
        SET(u, sequence, sequence);
        u.target = (char *)(uintptr_t)target;
        return u;
}

static inline void fake_publish_bytes(struct fake_daemon *d, const char *topic, const void *bytes, size_t size)
{
        if (zmq_send(d->publish, topic, strlen(topic), ZMQ_SNDMORE) < 0 || zmq_send(d->publish, bytes, size, 0) < 0)
                abort();
}

static inline void fake_publish(struct fake_daemon *d, const Hw__Update *u)
{
        char topic[HW_TOPIC_MAX];
        uint8_t bytes[4096];

        hw_topic(topic, hw_update_kind(u), u->target);
        fake_publish_bytes(d, topic, bytes, hw__update__pack(u, bytes));
}

static inline void fake_reply(struct fake_daemon *d, Hw__Reply *reply)
{
        uint8_t bytes[4096];

        SET(*reply, id, d->id);
        zmq_send(d->request, zmq_msg_data(&d->peer), zmq_msg_size(&d->peer), ZMQ_SNDMORE);
        zmq_send(d->request, bytes, hw__reply__pack(reply, bytes), 0);
}

/* Each kind of message a test needs, live or as part of a snapshot. */
static inline void fake_send(struct fake_daemon *d, const Hw__Update *u, bool snapshot)
{
        Hw__Reply reply = HW__REPLY__INIT;

        if (!snapshot) {
                fake_publish(d, u);
                return;
        }
        reply.has_more = reply.more = true;
        reply.what_case = HW__REPLY__WHAT_UPDATE;
        reply.update = (Hw__Update *)(uintptr_t)u;
        fake_reply(d, &reply);
}

static inline void fake_heap(struct fake_daemon *d, const char *target, uint64_t sequence, uint64_t live, bool snapshot)
{
        Hw__Update u = fake_update(d, target, sequence);
        Hw__Heap heap = HW__HEAP__INIT;

        SET(heap, live_bytes, live);
        u.body_case = HW__UPDATE__BODY_HEAP;
        u.heap = &heap;
        fake_send(d, &u, snapshot);
}

static inline void fake_target(struct fake_daemon *d, const char *target, uint64_t sequence, uint64_t heap_head,
                               Hw__Target__State state, bool snapshot)
{
        Hw__Update u = fake_update(d, target, sequence);
        Hw__Target t = HW__TARGET__INIT;
        Hw__TopicHead head = HW__TOPIC_HEAD__INIT, *heads[] = { &head };

        SET(head, kind, HW__KIND__KIND_HEAP);
        SET(head, sequence, heap_head);
        t.n_heads = 1;
        t.heads = heads;
        SET(t, state, state);
        u.body_case = HW__UPDATE__BODY_TARGET_STATE;
        u.target_state = &t;
        fake_send(d, &u, snapshot);
}

static inline void fake_heartbeat(struct fake_daemon *d, uint64_t sequence)
{
        Hw__Update u = fake_update(d, "", sequence);
        Hw__DaemonState state = HW__DAEMON_STATE__INIT;
        char *names[] = { d->first_target };

        state.n_targets = d->n_targets;
        state.targets = names;
        u.body_case = HW__UPDATE__BODY_DAEMON;
        u.daemon = &state;
        fake_publish(d, &u);
}

static inline void fake_snapshot_end(struct fake_daemon *d)
{
        Hw__Reply reply = HW__REPLY__INIT;
        Hw__SnapshotEnd end = HW__SNAPSHOT_END__INIT;

        SET(end, epoch, d->epoch);
        reply.what_case = HW__REPLY__WHAT_SNAPSHOT_END;
        reply.snapshot_end = &end;
        fake_reply(d, &reply);
}

/* Takes a request that has arrived, keeping who asked. NULL when none has. */
static inline Hw__Request *fake_take_request(struct fake_daemon *d)
{
        const char *reason;
        zmq_msg_t peer, body;
        Hw__Request *request;

        zmq_msg_init(&peer);
        zmq_msg_init(&body);
        if (zmq_msg_recv(&peer, d->request, ZMQ_DONTWAIT) < 0 || zmq_msg_recv(&body, d->request, 0) < 0) {
                zmq_msg_close(&peer);
                zmq_msg_close(&body);
                return NULL;
        }
        if (d->has_peer)
                zmq_msg_close(&d->peer);
        d->peer = peer;
        d->has_peer = true;
        request = hw_request_unpack(zmq_msg_data(&body), zmq_msg_size(&body), &reason);
        zmq_msg_close(&body);
        if (request)
                d->id = request->id;
        return request;
}
