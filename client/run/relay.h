/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * relay.h - keeps a program's FIFO drained, whatever happens to the daemon.
 *
 * The program writes its eventlog into the FIFO; the relay always reads it and
 * serves it to one reader at a time on a Unix socket (the daemon's source
 * `unix:PATH`). If the reader is slow, stopped or gone, whole blocks are lost
 * and counted; reading never stops. A reader that comes back gets the log's
 * header again, then whole blocks.
 *
 * Driven by poll(2); only relay_finish blocks.
 */
#ifndef HW_CLIENT_RUN_RELAY_H
#define HW_CLIENT_RUN_RELAY_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#define RELAY_QUEUE_BYTES (8u << 20) /* waiting for the reader; beyond that whole blocks are left out */
#define RELAY_POLLFDS     3

struct relay;

struct relay_stats {
        uint64_t bytes;           /* read from the program */
        uint64_t left_out_blocks; /* not delivered: no reader, or a slow one */
        uint64_t left_out_bytes;
        uint64_t readers; /* connections accepted */
};

/*
 * Makes the FIFO and the listening socket (mode 0600) at the two paths, which
 * must not exist, and are borrowed. 0 or -errno; on failure nothing is left behind.
 */
int relay_open(struct relay **ret_relay, const char *fifo_path, const char *socket_path);

/* Closes and removes both. Accepts NULL; clears the pointer. */
void relay_close(struct relay **relay);

/* Fills the descriptors to wait for; unused entries have fd -1. */
void relay_pollfds(const struct relay *relay, struct pollfd fds[RELAY_POLLFDS]);

/* Does what poll found. Returns whether any byte of the program moved. */
bool relay_turn(struct relay *relay, const struct pollfd fds[RELAY_POLLFDS]);

/* After the program ended: reads what is left, delivers it for at most timeout_ms, ends the stream. Once. */
void relay_finish(struct relay *relay, int timeout_ms);

bool relay_connected(const struct relay *relay);
struct relay_stats relay_stats(const struct relay *relay);

#endif
