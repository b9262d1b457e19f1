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
#ifndef HW_CLIENT_EXPORT_DELIVERY_H
#define HW_CLIENT_EXPORT_DELIVERY_H

#include "client/export/sender.h"

struct delivery;

struct delivery_options {
        const char *name;
        struct sender_options sender; /* without name, done and ctx */
        uint64_t queue_bytes, queue_ns;
        const char *journal; /* path; NULL: none */
};

/* What `options` points to outlives it. NULL with a message in `error`. */
struct delivery *delivery_new(const struct delivery_options *options, struct error *error);

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

#endif
