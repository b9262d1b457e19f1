/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * waiting.h - bytes of replies that clients have not taken, of each client and in all.
 *
 * A client may have twice as much waiting as is still free for all (a dynamic threshold, as in switches with shared
 * memory). Alone it gets two thirds of the room; one that does not read its replies leaves a third to the others, and
 * several of them leave something, too: at least a small reply for each, as of `status`. A large one then has to wait
 * until those who read nothing are shut down (front.h). A client is a process or a TCP address, however many
 * connections it has.
 *
 * The owner's thread takes, any thread gives back.
 */
#ifndef HW_DAEMON_TRANSPORT_WAITING_H
#define HW_DAEMON_TRANSPORT_WAITING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAITING_CLIENTS 128u /* with replies waiting; further ones share a place, and its limit */

struct waiting_client {
        uint64_t client; /* whose it was last */
        atomic_size_t bytes;
};

struct waiting {
        struct waiting_client of[WAITING_CLIENTS]; /* all bytes 0: nothing waits */
        atomic_size_t bytes;
};

/* Its place, for as long as a reply is made for it. */
struct waiting_client *waiting_find(struct waiting *w, uint64_t client);

/* Whether a reply of `size` may wait, of `room` bytes for all: of any size when the client is ready. */
bool waiting_may(const struct waiting *w, const struct waiting_client *c, size_t size, size_t room);

/* Whether it has taken most of what it may have waiting. */
bool waiting_is_ready(const struct waiting *w, const struct waiting_client *c, size_t room);

void waiting_take(struct waiting *w, struct waiting_client *c, size_t size);
void waiting_give_back(struct waiting *w, struct waiting_client *c, size_t size);

#endif
