/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader.h - one who reads the log: what waits for it, and its requests.
 *
 * What the runtime writes is shared by all readers; each has a ring of what
 * waits for it. What does not fit is left out as a whole, counted, and reported
 * in the stream as soon as there is room. Nothing here waits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/descriptor.h"
#include "agent/limits.h"
#include "agent/preamble.h"
#include "agent/queue.h"
#include "proto/base/error.h"

/*
 * given.c: censuses of this program that another process has read from outside, without a pause, and gives to be
 * written into the log:
 *
 *      9 given 48213\n             followed by that many bytes: the events of one census, as in a log by closure type
 *
 * The bytes are anybody's of this user: what is not exactly one census is refused as a whole. Times are written here,
 * by how old its first event says that it is, and a number that says that it was read from outside
 * (proto/base/outside_census.h). It goes into the log after the next block of the program's, so that the collection
 * that it was read after comes first. On the server's thread only.
 */

/* One that is being received on a connection. All bytes 0: none. */
struct given {
        struct chunk *chunk; /* its events, behind the room for a block's marker */
        size_t left;         /* bytes still to come */
        uint32_t id;         /* of the request */
};

enum given_line {
        GIVEN_OTHER, /* it is another request */
        GIVEN_BEGUN, /* given_place() is where its bytes go */
        GIVEN_BAD,   /* how many bytes follow is not known: the connection is of no use any more */
};

enum given_line given_begin(struct given *g, const char *line);

/* Where the next of the `left` bytes go. */
uint8_t *given_place(const struct given *g);

/*
 * `n` of them are there. The last one completes it: it waits for its block then, or the request is answered with no.
 * `now_ns`: by the log's clock, 0 where that cannot be read.
 */
void given_add(struct given *g, size_t n, uint64_t now_ns);

void given_forget(struct given *g);

/* What was received. False with a sentence: it is not one census. Pure. */
bool given_check(const uint8_t *events, size_t size, struct error *error);

/*
 * The newest census that waits, as a block of when it was read, once the log has come further since it was received;
 * else NULL. `block_ns`: the end of the log's newest block.
 */
struct chunk *given_make_block(uint64_t block_ns);

/* It cannot be written now: the request is answered with no. Nothing when none waits. */
void given_refuse(const char *why);

/* In the child of a fork: as server_fork_child(). */
void given_fork_child(void);

struct reader {
        bool used;
        struct descriptor socket; /* none yet: the first reader, before it comes */
        struct chunk *ring[AGENT_READER_CHUNKS];
        unsigned first, count;
        size_t limit;       /* of bytes */
        size_t sent;        /* of ring[first] */
        size_t bytes;       /* in the ring */
        size_t definitions; /* of these, the preamble: it does not count against the limit */
        bool here;          /* counted as connected */
        bool asks;          /* it has made a request */
        uint64_t lost_blocks, lost_bytes;
        char line[AGENT_REQUEST_BYTES]; /* of a request that is not whole */
        size_t line_size;
        struct given given; /* a census that is being received */
};

/* A place for one that has not come; `definitions` (or NULL) is the first it will get, and stays the caller's. */
void reader_begin(struct reader *r, size_t limit, struct chunk *definitions);

/* Frees what waits and the connection; the place is free then. */
void reader_end(struct reader *r);

bool reader_has_room(const struct reader *r, size_t size);

/* Gives it a piece. False: it was left out. `p` writes the messages about that. */
bool reader_give(struct reader *r, struct chunk *c, const struct preamble *p);

/* Its requests are posted (control.h). False when the connection ends. */
bool reader_receive_requests(struct reader *r);

/* Sends as much as it takes. False when the connection ends. */
bool reader_send(struct reader *r);
