/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clone.h - what a subscriber knows of one daemon, and what it must request.
 *
 * The Clone pattern without its sockets: live updates and replies go in with
 * the time, events come out of `out` in order, and clone_want says which
 * snapshot to request. Times are monotonic ns. Not thread-safe.
 */
#pragma once

#include "heapwatch/subscriber.h"
#include "proto/wire/limits.h"

/* Updates in order, each owned by the queue that holds it; also the events a subscriber delivers. */

struct queue_item {
        struct queue_item *next;
        enum hw_subscriber_event event;
        Hw__Update *update; /* NULL for events without one */
        size_t bytes;       /* of the message as it was sent */
};

struct queue {
        struct queue_item *first, **last; /* `last` is NULL when empty */
        size_t count, bytes;
};

/* Appends; takes `update` in any case. Returns 0 or -ENOMEM. */
int queue_push(struct queue *q, enum hw_subscriber_event event, Hw__Update *update, size_t bytes);

/* Removes the first, for queue_item_free; NULL when empty. */
struct queue_item *queue_pop(struct queue *q);

void queue_item_free(struct queue_item *item);
void queue_clear(struct queue *q);

#define CLONE_KINDS 16u /* more than the schema has */

struct clone_target {
        char name[LIMIT_TARGET_NAME_BYTES + 1]; /* "" holds the daemon's own topic */
        uint64_t newest[CLONE_KINDS];           /* per topic: newest sequence delivered, covered or given up */
        uint64_t live[CLONE_KINDS];             /* per topic: newest that came live */
        uint64_t resynced_ns;                   /* last requested; 0: never */
        uint64_t resync_at_ns;                  /* not before */
        uint64_t backoff_ns;                    /* between two resyncs; doubles while they come often */
        unsigned absent;                        /* heartbeats in a row that do not name it */
        bool gap;                               /* messages of it were missed */
        bool asked;                             /* the snapshot under way covers it */
};

struct clone {
        uint64_t epoch, old_epoch; /* of this daemon process, and of the one before */
        bool known;                /* an epoch is known */
        bool stale;
        uint64_t heard_ns;            /* last sign of life */
        struct clone_target *targets; /* by name */
        size_t n_targets, max_targets;
        uint32_t kinds;       /* bit per kind that is followed */
        bool want_all;        /* a snapshot of everything is needed */
        bool asked_all;       /* ... and is under way */
        bool active;          /* a snapshot is under way */
        uint64_t id;          /* of its request */
        uint64_t progress_ns; /* when it last moved */
        uint64_t timeout_ns;  /* how long it may make no progress */
        uint64_t all_at_ns;   /* the next request for everything: not before */
        struct queue held;    /* live updates of what the snapshot covers */
        struct queue out;     /* events for the caller */
        struct hw_subscriber_stats *stats;
};

/* `kinds`: a bit (1 << kind) for each that is subscribed. `stats` is borrowed for the life of the clone. */
void clone_init(struct clone *c, uint32_t kinds, struct hw_subscriber_stats *stats, uint64_t now_ns);
void clone_done(struct clone *c);

/* A checked update came on the SUB socket; takes it. `bytes`: as sent. Returns 0 or -ENOMEM. */
int clone_live(struct clone *c, Hw__Update *update, size_t bytes, uint64_t now_ns);

/* A checked reply came; its update is moved out of it. Returns 0 or -ENOMEM. */
int clone_reply(struct clone *c, Hw__Reply *reply, uint64_t now_ns);

/* To be called as time passes. Returns 0 or -ENOMEM. */
int clone_tick(struct clone *c, uint64_t now_ns);

/* When clone_tick or clone_want has something to do; UINT64_MAX: never. */
uint64_t clone_deadline(const struct clone *c);

/*
 * Whether a snapshot should be requested now. Fills `names` (room for
 * LIMIT_RESYNC_TARGETS, borrowed until the next call) when it is of some
 * targets only; *ret_n is 0 for all. Then call clone_request_sent or clone_request_failed.
 */
bool clone_want(struct clone *c, uint64_t now_ns, char **names, size_t *ret_n);

/* The request of clone_want was sent with this id / could not be sent: the daemon is not connected. */
void clone_request_sent(struct clone *c, uint64_t id, uint64_t now_ns);
void clone_request_failed(struct clone *c, uint64_t now_ns);
