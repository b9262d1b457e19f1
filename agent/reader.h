/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader.h - one who reads the log: what waits for it, and its requests.
 *
 * What the runtime writes is shared by all readers; each has a ring of what
 * waits for it. What does not fit is left out as a whole, counted, and reported
 * in the stream as soon as there is room. Nothing here waits.
 */
#ifndef HW_AGENT_READER_H
#define HW_AGENT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/descriptor.h"
#include "agent/given.h"
#include "agent/limits.h"
#include "agent/preamble.h"
#include "agent/queue.h"

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

#endif
