/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store.h - the directory of checkpoints, and the thread that writes them.
 *
 * The reading thread makes an image (a copy of a target's state in memory) and
 * hands it over; the writing thread compresses it and waits for the disk. A
 * waiting image is replaced by a newer one of its target.
 */
#ifndef HW_DAEMON_CHECKPOINT_STORE_H
#define HW_DAEMON_CHECKPOINT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/checkpoint/file.h"
#include "proto/base/error.h"

#define CHECKPOINT_QUEUE_BYTES ((size_t)16 << 20) /* above, no further image is made */

struct checkpoint_store;

/*
 * Creates the directory if missing, 0700. NULL with a sentence when it cannot be used, others have access to it, or
 * another process uses it.
 */
struct checkpoint_store *checkpoint_store_new(const char *directory, struct error *error);

/* Writes what is queued, for its part of STOP_S, and ends the thread. Nothing is waited for afterwards. */
void checkpoint_store_destroy(struct checkpoint_store **s);

struct checkpoint_trouble {
        char why[128]; /* the newest checkpoint could not be written; "": it could */
        uint64_t since_wall_ns;
};

/* Whether checkpoints cannot be written now. */
bool checkpoint_store_trouble(struct checkpoint_store *s, struct checkpoint_trouble *ret);

/* Whether another image may be made now. */
bool checkpoint_store_has_room(struct checkpoint_store *s);

/*
 * What an image must not be newer than: a recording is not to lack what a daemon that begins with the image will not
 * read again. Before the first image. The writing thread calls `wait`, which returns when `number` is written, and
 * within CHECKPOINT_AFTER_MS: at that time of the monotonic clock.
 */
#define CHECKPOINT_AFTER_MS 2000u
typedef void checkpoint_wait(void *ctx, uint64_t number, uint64_t until_ns);
void checkpoint_store_after(struct checkpoint_store *s, checkpoint_wait *wait, void *ctx);

/* Takes ownership of the image. It is written after `number` is; 0: at once. */
void checkpoint_store_put(struct checkpoint_store *s, const char *target, uint8_t *image, size_t n, uint64_t wall_ns,
                          uint64_t number);

/* The target is no longer watched: removes its checkpoint. */
void checkpoint_store_forget(struct checkpoint_store *s, const char *target);

const char *checkpoint_store_directory(const struct checkpoint_store *s);

/* Renames all checkpoints to NAME.checkpoint.aside, so that none is read. */
void checkpoint_store_set_aside(const struct checkpoint_store *s);

/* Calls `each` for the name of every target that has a checkpoint. */
void checkpoint_store_each(const struct checkpoint_store *s, void (*each)(void *ctx, const char *target), void *ctx);

#endif
