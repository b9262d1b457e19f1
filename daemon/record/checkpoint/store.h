/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store.h - the directory of checkpoints, and the thread that writes them.
 *
 * The reading thread makes an image (a copy of a target's state in memory) and
 * hands it over; the writing thread compresses it and waits for the disk. A
 * waiting image is replaced by a newer one of its target.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"

/*
 * file.c: one checkpoint as a file: DIRECTORY/TARGET.checkpoint, 0600, written
 * to a temporary file and renamed, so that it is always a whole one, new or
 * old. May wait for the disk.
 *
 *     "HWCHECK2"  u64 wall_ns  u64 raw     in this machine's byte order
 *     a zstd frame with a checksum
 */

#define CHECKPOINT_PATH_MAX 2048u
#define CHECKPOINT_SUFFIX   ".checkpoint"

struct checkpoint {
        uint64_t wall_ns; /* when it was made, Unix time */
        uint8_t *image;   /* to free() */
        size_t n;
};

/* Returns 0, or -errno and leaves the previous file untouched. */
int checkpoint_write(const char *directory, const char *target, const struct checkpoint *c);

/*
 * Returns 0; -ENOENT; or with a sentence -EBADMSG: damaged, another -errno.
 */
int checkpoint_read(const char *directory, const char *target, struct checkpoint *ret, struct error *error);

/* Removes it, if it is there. */
void checkpoint_remove(const char *directory, const char *target);

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
