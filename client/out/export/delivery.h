/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delivery.h - delivers batches to one receiver, retrying within bounds of size and age.
 *
 *      add --> queue (and journal) --> sender --> taken: dropped, the next one
 *                      ^                  +-----> failed for now: again after a pause that doubles, or as long as
 *                      |                  |       the receiver asks (Retry-After)
 *                      +------------------+-----> refused for good (400, 404 ...): dropped and counted
 *
 * When the queue exceeds its size or age, the oldest is lost and counted. What is in the journal survives a
 * restart. Deliveries do not wait for each other.
 */
#pragma once

#include "client/out/export/batcher.h"
#include "client/out/export/sender.h"

struct delivery;

/* The plan outlives it. Journal: a path; "": none. NULL with a message in `error`. */
struct delivery *delivery_new(const struct sink_plan *plan, struct event_base *base, struct http *http,
                              const char *journal, struct error *error);

/* What was not sent stays in the journal; without one it is lost. Returns how many samples were lost. */
uint64_t delivery_destroy(struct delivery **d);

/* A batch_taker. */
void delivery_add(void *delivery, struct batch *batch);

/* Counts samples that never became a batch. */
void delivery_lost(struct delivery *d, uint64_t samples);

/* Fills all but name and kind. */
void delivery_health(const struct delivery *d, struct sink_health *ret);

/* Whether nothing waits. */
bool delivery_idle(const struct delivery *d);

/* The pause before the n-th retry (from 1): doubles up to a bound, with a quarter of jitter by `random` from 0 to 1. */
uint64_t delivery_pause_ms(unsigned n, double random, uint64_t retry_after_ns);

/*
 * journal.c: batches that were not sent yet, on disk, so that a restart can continue.
 *
 *      file    8 bytes "hwqueue1", u64 where the first record that counts begins, then records
 *      record  u32 size, u32 crc32 of all that follows, u64 samples, u64 wall_ns, `size` bytes
 *
 * Numbers are little-endian. A batch is appended when it is queued, and dropped by moving the beginning when it is
 * sent; a file without any is truncated to its head, and one with more dropped bytes than the limit is rewritten. The
 * file may be cut anywhere: what is before the cut is valid. Nothing is synced: a crash of the machine may lose the
 * newest batches, one of the exporter loses nothing.
 *
 * Failed writes are missing in the file, and counted; batches are in memory as well. Writing may wait for the disk.
 */

struct journal;

/*
 * Opens or makes the file, private and locked, and calls `take` with each batch in it, of at most `most` bytes. NULL
 * with a message in `error`: another exporter has it, or it cannot be created.
 */
struct journal *journal_open(const char *path, uint64_t most, batch_taker *take, void *ctx, struct error *error);

/* The file stays as it is. */
void journal_close(struct journal **j);

/* Appends a batch. */
void journal_append(struct journal *j, const struct batch *batch);

/* The oldest was sent, or dropped. */
void journal_drop(struct journal *j, const struct batch *oldest);

uint64_t journal_bytes(const struct journal *j);
uint64_t journal_failures(const struct journal *j);

/* Batches that wait for one receiver, oldest first, bounded in bytes and in age. Knows no clock. */

struct queued {
        struct queued *next;
        struct batch batch;
};

struct send_queue {
        struct queued *first, **last;
        uint64_t bytes, samples;
};

void queue_init(struct send_queue *q);
void queue_done(struct send_queue *q);

/* Takes over the bytes. False: out of memory, they are freed. */
bool queue_add(struct send_queue *q, struct batch *batch);

/* Whether to drop the oldest: more than `most_bytes` wait, or it was collected before `since_wall_ns`. */
bool queue_overdue(const struct send_queue *q, uint64_t most_bytes, uint64_t since_wall_ns);

/* NULL: it is empty. */
const struct batch *queue_oldest(const struct send_queue *q);
void queue_drop(struct send_queue *q);
