/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue.h - from the program's threads to the one thread that reads sockets.
 *
 * Bounded: what does not fit is dropped as a whole and counted. Nothing here
 * waits for a reader, a disk or the runtime; the lock is held for a few
 * instructions. A chunk is what the runtime wrote at once (the header, or
 * whole blocks) or a message of ours.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum chunk_kind {
        CHUNK_LOG,
        CHUNK_MESSAGE, /* text: the server makes an event of it */
        CHUNK_START,   /* no bytes: a log begins, forget the one before */
};

/* Owned by its holder, freed by chunk_release. Threads share it through the queue only. */
struct chunk {
        struct chunk *next;
        enum chunk_kind kind;
        unsigned holders;
        size_t size;
        uint8_t bytes[];
};

struct chunk *chunk_new(enum chunk_kind kind, const void *bytes, size_t size); /* NULL: out of memory */
void chunk_release(struct chunk *c);

void queue_open(size_t limit_bytes);

/* Takes a copy. False: dropped, and counted. `always`: small things that must not be lost, such as the end mark. */
bool queue_push(enum chunk_kind kind, const void *bytes, size_t size, bool always);

/* All that is there, in order; NULL after timeout_ns without any. */
struct chunk *queue_receive(int64_t timeout_ns);

struct queue_losses {
        uint64_t blocks, bytes;
};

struct queue_losses queue_losses(void);

/* No more will be pushed. From then on queue_receive does not wait: it returns NULL when nothing is left. */
void queue_close(void);
bool queue_closed(void);

/* Around fork(2): the child has a queue that is closed and empty of threads. */
void queue_fork_prepare(void);
void queue_fork_parent(void);
void queue_fork_child(void);
