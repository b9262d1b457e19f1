/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front_private.h - the front (front.h), shared by its files:
 *
 *   front.c        connections: who may connect, what it may cost, its bytes
 *   front_libzmq.c libzmq's sockets: updates, subscriptions, handshakes
 */
#ifndef HW_DAEMON_PUBLISH_TRANSPORT_FRONT_PRIVATE_H
#define HW_DAEMON_PUBLISH_TRANSPORT_FRONT_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "daemon/publish/transport/endpoint.h"
#include "daemon/publish/transport/front.h"
#include "daemon/publish/transport/limits.h"
#include "daemon/publish/transport/quotas.h"

#define PRIVATE_NAME  "heapwatch-" /* and the number of the connection, in 16 hexadecimal digits */
#define LISTENERS_MAX 4u
#define UPDATES_TURN  64u /* published at once */

enum connection_state {
        PENDING, /* libzmq has not connected yet */
        OPEN,
        CLIENT_GONE, /* libzmq gets the rest, and its end */
        LIBZMQ_GONE, /* the client gets the rest */
};

struct connection {
        struct front *front;
        struct front_identity identity;
        enum front_door door;
        bool keyed, is_tcp;
        bool judged;                 /* libzmq asked about its key */
        char address[2 * PEER_TEXT]; /* of the peer, with its port */
        enum connection_state state;
        uint64_t since_ns; /* in this state */
        struct bufferevent *client, *libzmq;
        int listener; /* at the private address; -1: libzmq has connected */
        struct event *connects;
        uint64_t *topics; /* that it subscribes to, by their hashes */
        unsigned n_topics;
        /* For both threads: */
        int fd;    /* the client's, to be shut down; -1: it has ended */
        bool shut; /* it was shut down */
        bool has_key;
        uint8_t public[KEY_BYTES];
        uint64_t unread;    /* bytes that libzmq was given, and that were not read as messages ... */
        uint64_t unread_ns; /* ... when the newest came */
        uint64_t sent;      /* bytes that the kernel took for the client */
        uint64_t taken;     /* by the client, of these, when somebody last looked ... */
        uint64_t taken_ns;  /* ... and since when; 0: nobody looked yet */
};

struct front_listener {
        struct front *front;
        enum front_door door;
        bool keyed;
        struct endpoint *endpoint; /* whose socket file is made again when it is lost; NULL if keyed */
        bool is_lost;              /* likewise, which was said */
        int fd;
        struct event *readable;
};

struct front_monitor {
        struct front *front;
        enum front_door door;
        void *socket;
        struct zloop *loop;
};

struct front {
        struct event_base *base;
        struct event *tick, *wake;
        uint64_t looked_ns; /* after all connections, last */
        int wake_fd;        /* an eventfd; -1: none */
        atomic_bool ending; /* set by the loop: no more updates come */
        struct admission *admission;
        struct front_listener listeners[LISTENERS_MAX];
        unsigned n_listeners;
        unsigned places[DOORS];
        size_t unread;
        unsigned most_subscriptions;
        uint64_t topic_seed;
        void *feed, *orders;           /* the loop's: PUSH of updates, PULL of orders */
        void *request;                 /* likewise, the ROUTER */
        struct zloop *orders_loop;     /* likewise */
        void *updates, *publish, *ask; /* ours: PULL, XPUB, PUSH of orders */
        void *zap;
        struct zloop *updates_loop, *zap_loop;
        struct zloop *messages[DOORS];        /* of XPUB; of ROUTER, which is the loop's */
        struct front_monitor monitors[DOORS]; /* likewise */
        struct subscriber_quota quota;
        pthread_t thread;
        bool started, stopping;
        atomic_ulong subscriptions, strangers, refused, disconnected;
        pthread_mutex_t lock; /* guards what follows */
        struct connection **table;
        unsigned n_table, n_pending, n_of[DOORS];
        struct peers stuck; /* the first bucket: until when it is known for it */
};

extern const char *const front_door_names[DOORS];

/* The lock is held, or it is the front's thread. NULL: it has ended. */
struct connection *front_find(const struct front *f, uint64_t number);

/* Logs and counts why it is to be closed. */
void front_report(struct connection *c, const char *why);
void front_close(struct connection *c);

/* To whom owns the socket: libzmq connects to a private address, or will never do so again. */
struct order {
        bool connect, keyed;
        bool all_read; /* of what it sent */
        struct front_identity identity;
};

/* At most so many of the updates that wait. False: none does. */
bool front_publish_updates(struct front *f, unsigned most);

/* Updates come: a time to look after all connections, when the last look was a while ago. */
void front_check_connections(struct front *f);

/* False: out of memory. */
bool front_give_order(struct front *f, enum front_door door, const struct order *o);

/* False: no memory or descriptors; front_close_sockets then, too. */
bool front_open_sockets(struct front *f, const struct front_options *o);
void front_close_sockets(struct front *f);

#endif
