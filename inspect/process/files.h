/* SPDX-License-Identifier: BSD-3-Clause */
/* files.h - files as memory: their addresses are offsets. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "inspect/memory/program.h"
#include "proto/base/error.h"

struct opened_file;

struct files {
        pid_t pid;                     /* whose file system it is; 0: ours */
        const struct program *program; /* borrowed: its own file is opened as the kernel has it */
        struct opened_file *opened;
};

/* Opens one, which may be compressed (unpack.c). False with a sentence. It stays open until files_close(). */
bool files_open_unpacked(struct files *f, const char *path, struct memory **ret, uint64_t *ret_size,
                         struct error *error);

/* For program_load(): paths of the program. */
struct file_opener files_opener(struct files *f);

/* All of a file of ours; malloc'd. NULL with a sentence: `too_large` of one of more than `most` bytes. */
uint8_t *files_read_whole(const char *path, uint64_t most, const char *too_large, size_t *ret_size,
                          struct error *error);

void files_close(struct files *f);

/*
 * unpack.c: a compressed file, as systemd and people keep core files, as a plain one without a name: in $TMPDIR, else
 * in /var/tmp. It needs no room for what is zero.
 */

/*
 * The descriptor of the plain bytes of a regular file of gzip or zstd; -1: it is not compressed so. False with a
 * sentence: what it has is damaged, or there is no room.
 */
bool unpack(const char *path, int *ret_fd, struct error *error);
