/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store.h - the directory of checkpoints, and the thread that writes them.
 *
 * The thread that reads makes an image (a copy of a target's state in memory)
 * and hands it over; compressing it and waiting for the disk is this thread's.
 * An image that waits for the disk when a newer one of its target comes is
 * replaced by it.
 */
#ifndef HW_DAEMON_CHECKPOINT_STORE_H
#define HW_DAEMON_CHECKPOINT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/checkpoint/file.h"
#include "proto/base/error.h"

#define CHECKPOINT_QUEUE_BYTES ((size_t)16 << 20) /* above, no further image is asked for */

struct checkpoint_store;

/* Makes the directory when it is not there, 0700. NULL with a sentence: it cannot be used, or others may enter it. */
struct checkpoint_store *checkpoint_store_new(const char *directory, struct error *error);

/* Writes what waits, for a few seconds at most, and ends the thread. */
void checkpoint_store_destroy(struct checkpoint_store **s);

/* Whether another image may be made now. */
bool checkpoint_store_has_room(struct checkpoint_store *s);

/* Takes over the image. */
void checkpoint_store_put(struct checkpoint_store *s, const char *target, uint8_t *image, size_t n, uint64_t wall_ns);

/* The target is not watched any more. */
void checkpoint_store_forget(struct checkpoint_store *s, const char *target);

const char *checkpoint_store_directory(const struct checkpoint_store *s);

/* Calls `each` for the name of every target that has a checkpoint. */
void checkpoint_store_each(const struct checkpoint_store *s, void (*each)(void *ctx, const char *target), void *ctx);

#endif
