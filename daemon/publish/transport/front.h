/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.h - the daemon's side of every connection by a client: what it may cost, who is at the other end.
 *
 * It runs on a thread of its own, which owns all connections and libzmq's two sockets: XPUB and ROUTER. What clients
 * send, how they connect and how they end costs the loop that reads the programs' logs nothing but their requests.
 * All functions are for the loop's thread.
 *
 * Each door has a number of places, half of which one peer may take (a process, or a TCP address); further connections
 * are closed at once. So is one over ipc by another user, whatever the mode of the socket's directory has become. The
 * rate of what subscribers send is limited (quotas.h), and so are their subscriptions, and what any connection has sent
 * that was not read as messages yet. A connection that sends too much is closed, and so is one that reads nothing while
 * others wait for the memory that its messages have.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

#include "proto/cli/keys/key.h"

struct admission;
struct endpoint;
struct front;
struct sockaddr_storage;

#define PEER_TEXT 64

/* Who is at the other end. */
struct message_sender {
        uint64_t who;         /* the process, or the TCP address, as a number by which shares are counted; never 0 */
        bool is_root;         /* over ipc */
        bool is_other_user;   /* likewise: neither ours nor root's */
        char name[PEER_TEXT]; /* "uid 1000 pid 4711" over ipc, "192.0.2.7" */
};

/* Of the connection `fd`, whose other end is `peer`; AF_UNIX: the kernel is asked for the process. Padding is zero. */
void address_sender(int fd, const struct sockaddr_storage *peer, struct message_sender *ret);

/* The same for logs: "uid 1000 pid 4711", "192.0.2.7:40312", "[2001:db8::1]:40312". */
void address_print(const struct sockaddr_storage *peer, const struct message_sender *sender, char out[2 * PEER_TEXT]);

enum front_door { DOOR_PUBLISH, DOOR_REQUEST, DOORS };

struct front_options {
        void *context;               /* of ZeroMQ */
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

/* The first frame of each request that is read from front_requests(); the client's frames follow. */
struct front_identity {
        uint64_t connection;
        struct message_sender sender;
        bool was_stuck; /* a connection of this process or address was closed so within STUCK_KNOWN_NS */
        bool has_key;
        uint8_t public[KEY_BYTES];
};

/* A socket of the loop's, which ends with the front. */
void *front_requests(struct front *f);

/* A request of so many bytes was read from it. */
void front_count_read(struct front *f, size_t size);

struct front_reply {
        uint64_t connection;
        bool delimiter; /* an empty frame comes before it: the client is a REQ */
};

/* As front_send. What is sent so may have read the descriptor of front_requests(). */
int front_reply(struct front *f, const struct front_reply *to, zmq_msg_t *message);
bool front_is_connected(const struct front *f, uint64_t connection);

/* Somebody waits for memory: a connection to a door, not `but`, that has taken nothing for STUCK_NS is to be closed. */
void front_close_stuck(struct front *f, enum front_door door, uint64_t but);

/* So is a connection to a keyed listener whose key is not authorised any more. */
void front_check_keys(struct front *f);

/* Sends what is queued, for a short time, and ends the thread, if it runs. */
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
