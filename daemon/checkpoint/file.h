/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file.h - one checkpoint as a file: DIRECTORY/TARGET.checkpoint, 0600, written
 * to a temporary file and renamed, so that it is always a whole one, new or
 * old. May wait for the disk.
 *
 *     "HWCHECK2"  u64 wall_ns  u64 raw     in this machine's byte order
 *     a zstd frame with a checksum
 */
#ifndef HW_DAEMON_CHECKPOINT_FILE_H
#define HW_DAEMON_CHECKPOINT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"

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

#endif
