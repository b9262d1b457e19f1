/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file.h - one checkpoint as a file: DIRECTORY/TARGET.checkpoint, 0600, written
 * beside and renamed, so that it is whole or the one before. May wait for the disk.
 *
 *     "HWCHECK1"  u64 layout  u64 wall_ns  u64 raw     of this machine's byte order
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

/* Returns 0 or -errno; then the file before is untouched. */
int checkpoint_write(const char *directory, const char *target, const struct checkpoint *c);

/*
 * Returns 0; -ENOENT; -ESTALE with a sentence: of another build; -EBADMSG with one: damaged; another -errno with one.
 */
int checkpoint_read(const char *directory, const char *target, struct checkpoint *ret, struct error *error);

/* Removes it, if it is there. */
void checkpoint_remove(const char *directory, const char *target);

/* What structs look like in this build: what was written by another one cannot be read. */
uint64_t checkpoint_layout(void);

#endif
