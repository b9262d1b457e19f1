/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.h - the daemon's side of every connection by a client: what it may cost, who is at the other end.
 *
 * It runs on a thread of its own, which also sends updates to all subscribers: what clients send, how they connect and
 * how they end costs the loop that reads the programs' logs nothing but their requests. Functions are for the loop's
 * thread unless they say otherwise.
 *
 * Each door has a number of places, half of which one peer may take (a process, or a TCP address); further connections
 * are closed at once. So is one over ipc by another user, whatever the mode of the socket's directory has become. The
 * rate of what subscribers send is limited (quotas.h), and so are their subscriptions, and what any
 * connection has sent that was not read as messages yet. A connection that sends too much is closed, and so is one
 * that reads nothing while others wait for the memory that its messages have.
 */
#ifndef HW_DAEMON_PUBLISH_TRANSPORT_FRONT_H
#define HW_DAEMON_PUBLISH_TRANSPORT_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

#include "proto/cli/keys/key.h"

/*
 * Who is at the other end of a connection: as a number, by which
 * shares are counted, and as people read it. Over ipc that is a process, over
 * TCP an address.
 */

#define PEER_TEXT 64

struct sockaddr_storage;

/* Who is at the other end. */
struct message_sender {
        uint64_t who;         /* the process, or the TCP address, as a number; never 0 */
        bool is_root;         /* over ipc */
        char name[PEER_TEXT]; /* "uid 1000 pid 4711" over ipc, "192.0.2.7" */
};

/* Of the connection `fd`, whose other end is `peer`; AF_UNIX: the kernel is asked for the process. Padding is zero. */
void address_sender(int fd, const struct sockaddr_storage *peer, struct message_sender *ret);

/* The same for logs: "uid 1000 pid 4711", "192.0.2.7:40312", "[2001:db8::1]:40312". */
void address_print(const struct sockaddr_storage *peer, const struct message_sender *sender, char out[2 * PEER_TEXT]);

struct admission;
struct endpoint;
struct event_base;
struct front;
struct zloop;

enum front_door { DOOR_PUBLISH, DOOR_REQUEST, DOORS };

struct front_options {
        void *context;               /* of ZeroMQ */
        void *request;               /* the ROUTER: it stays the loop's */
        struct admission *admission; /* NULL: no keys */
        unsigned places[DOORS];      /* connections */
        size_t unread;               /* bytes of all connections of a door; beyond, those above their part close */
        unsigned subscriptions;      /* of all connections */
        int high_water_mark;         /* messages a subscriber */
};

/* NULL: out of memory or descriptors. */
struct front *front_new(const struct front_options *options);

/*
 * Before front_start: connections to this listening socket, which becomes the front's. When the socket file of the
 * `endpoint` is lost, it is made again. NULL: who connects needs a key. False: out of memory.
 */
bool front_listen(struct front *f, enum front_door door, int listener, struct endpoint *endpoint);

/* False: no thread. */
bool front_start(struct front *f);

/* Never blocks. 0: takes ownership of the message; else -errno, and the caller keeps it. */
int front_send(struct front *f, const char *topic, size_t topic_size, zmq_msg_t *message);

/* Updates that wait are published now: the front waits for more, a few milliseconds, before it does so by itself. */
void front_wake(struct front *f);

/* Whether anybody subscribes to anything now. */
bool front_has_subscribers(const struct front *f);

/*
 * From now on the ROUTER is connected to clients, and disconnected, in the loop of `base`; `requests` is pumped before
 * a connection is forgotten that may have sent more. False: out of memory; front_detach then, too, before the ROUTER
 * and `requests` end.
 */
bool front_attach(struct front *f, struct event_base *base, struct zloop *requests);
void front_detach(struct front *f);

/* The first frame of each message of the ROUTER: who sent it. */
struct front_identity {
        uint64_t connection;
        struct message_sender sender;
};

/* A message of `size` bytes, or a part of one, was read that came by this connection, which may have ended. */
void front_count_read(struct front *f, uint64_t connection, size_t size);

/*
 * Somebody waits for memory: closes the connections to a door that have taken nothing for STUCK_NS of what waits for
 * them; not `but`. To be called again and again meanwhile: who is stuck is seen by comparing.
 */
void front_close_stuck(struct front *f, enum front_door door, uint64_t but);

/* Whether a connection of this process or address was closed so within STUCK_KNOWN_NS. */
bool front_was_stuck(struct front *f, uint64_t who);

/* Closes all connections to keyed listeners whose key is not known to hold; returns how many. */
size_t front_close_keyed(struct front *f, bool (*holds)(const void *ctx, const uint8_t public[KEY_BYTES]),
                         const void *ctx);

/* Sends what is queued, for a short time, and ends the thread, if it runs. After the ROUTER was closed. */
void front_stop(struct front *f);

/* NULL is allowed. */
void front_destroy(struct front **f);

struct front_stats {
        uint64_t subscriptions; /* now, of all connections */
        uint64_t strangers;     /* connections over ipc by other users */
        uint64_t refused;       /* connections closed for want of a place, for their requests or unread replies */
        uint64_t disconnected;  /* subscribers closed for what they sent or did not read */
};

struct front_stats front_stats(const struct front *f);

#endif
