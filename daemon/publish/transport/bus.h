/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bus.h - the daemon's two sockets: XPUB for updates, ROUTER for requests.
 *
 * With keys they listen at a TCP port each as well (admission.h).
 * Endpoints are checked before anything is bound: ipc in a directory that only
 * the user can enter, or tcp on loopback; anything else is refused. A stale
 * ipc socket file of a dead daemon is replaced, a running daemon's is not
 * (-EADDRINUSE). Slow subscribers lose messages at the high-water mark, which
 * they see as a gap in the sequence.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/publish/update_sink.h"
#include "daemon/publish/transport/front.h"
#include "proto/base/error.h"

struct admission;
struct event_base;
struct principal;
struct bus;
struct bus_client; /* whom to answer; valid only inside the handler, unless kept */

struct bus_handler {
        void *ctx;
        /*
         * One validated request; answer with bus_reply any number of times before returning, or keep the client. A
         * reply that finds no room is lost, unless the handler keeps the client and is called again.
         */
        void (*request)(void *ctx, const Hw__Request *request, struct bus_client *client);
};

struct bus_options {
        const char *publish_endpoint;
        const char *request_endpoint;
        int high_water_mark; /* messages per subscriber; 0: 4096 */
        const char *listen;  /* tcp://ADDRESS:PORT, also, for those who have keys; NULL: nowhere */
        const char *keys;    /* the directory of these keys */
        uint64_t memory;     /* the daemon's budget, of which clients get a part (quotas.h); 0 or UNKNOWN_U64: none */
};

/* Binds both sockets. NULL with a sentence in `error`. */
struct bus *bus_new(struct event_base *base, const struct bus_options *options, const struct bus_handler *handler,
                    struct error *error);

/* Closes with a bounded linger and removes ipc socket files. */
void bus_destroy(struct bus **bus);

struct update_sink bus_sink(struct bus *bus);

/* Sends one reply; the id of the request is filled in. */
void bus_reply(struct bus_client *client, Hw__Reply *reply);

/* Likewise, when the client may have it now. Of a client that was kept bus_pump has to be called afterwards. */
enum bus_took { BUS_TOOK, BUS_TAKES_LATER, BUS_GONE };
enum bus_took bus_offer(struct bus_client *client, Hw__Reply *reply);

/* Likewise, however much waits: for a small reply that ends a request, if that is rare. */
enum bus_took bus_offer_last(struct bus_client *client, Hw__Reply *reply);

/* Whether it has taken most of what was sent: worth making more, and a reply of any size finds room. */
bool bus_client_is_ready(const struct bus_client *client);

/* Requesters wait for memory: those that read nothing are shut down, but `but` (or NULL), which waits for itself. */
void bus_make_room(struct bus *bus, const struct bus_client *but);

/* Whether the only reply found no room. It is not counted as lost then: the request is to be handled again. */
bool bus_client_again(struct bus_client *client);

/* The process or TCP address that it is, as a number. */
uint64_t bus_client_who(const struct bus_client *client);

/* The same client, to be answered after the handler has returned; NULL when out of memory. */
struct bus_client *bus_client_keep(const struct bus_client *client);
void bus_client_release(struct bus_client **client);

/* Whether both are one client's, of whichever request. */
bool bus_client_is_same(const struct bus_client *a, const struct bus_client *b);

/* Processor time that was spent for it outside the handler. */
void bus_client_spend(struct bus_client *client, uint64_t cpu_ns);

/* Reads requests, if there are some; after replies were sent outside a handler. May call the handler. */
void bus_pump(struct bus *bus);

/* Who asks: over ipc it is us, and may control. Borrowed until the handler returns. */
const struct principal *bus_client_principal(const struct bus_client *client);

/* As people read it: "alice@192.0.2.7", "uid 1000 pid 4711". Borrowed, as above. */
const char *bus_client_name(struct bus_client *client);

/* Whether root asks, over ipc. */
bool bus_client_is_root(const struct bus_client *client);

/* An error was the answer, so far. */
bool bus_client_refused(const struct bus_client *client);

/* Reads the keys again, when there are any. False with a sentence, all as it was. */
bool bus_reload_keys(struct bus *bus, struct error *error);

/* NULL: there are no keys. */
struct admission *bus_admission(const struct bus *bus);

struct bus_stats {
        uint64_t published, bytes;
        uint64_t requests, bad_requests;
        uint64_t paced_requests; /* by the quota of a client: to be sent again later */
        uint64_t dropped;        /* out of memory, or too much is waiting: subscribers see a gap */
        struct front_stats clients;
        uint64_t replies_dropped; /* the client did not take them */
        uint64_t forbidden;       /* requests: the key's role does not allow them */
        uint64_t controls;        /* requests that changed something, or tried to */
};

const struct bus_stats *bus_stats(struct bus *bus);

/* What the handler counts. */
void bus_count_control(struct bus *bus, bool forbidden);
