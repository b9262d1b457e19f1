/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_file.h - a finished log as a stream of bytes, whether it lies there as it was written or compressed with gzip or
 * zstd. Its beginning says which, not its name. Pipes are as good as files.
 *
 * What the runtime writes as text (.hp, the lines of -S) is given as the eventlog that says the same (proto/texts),
 * read compressed or not.
 *
 * A path that begins with "recording:" is a stretch of what the flight recorder has kept (proto/recording/stretch.h).
 *
 * Memory is bounded whatever the file promises: one input buffer and the window of the method (gzip 32 KiB, zstd at
 * most LIMIT_ZSTD_WINDOW_LOG). A file that unpacks to terabytes takes time, and can be left off at any moment.
 */
#ifndef HW_PROTO_ARCHIVE_LOG_FILE_H
#define HW_PROTO_ARCHIVE_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "proto/base/error.h"

#define LIMIT_ZSTD_WINDOW_LOG 27 /* 128 MiB, what `zstd` itself accepts without being asked for more */

struct log_file;

/* NULL with a sentence in `error`, without the path. What is compressed in another way is read as it is. */
struct log_file *log_file_open(const char *path, struct error *error);

/* Clears the pointer; NULL allowed. */
void log_file_close(struct log_file **f);

/* Bytes of the log, at most `size` of them (size > 0); 0 at the end; -errno when the file cannot be read on. */
ssize_t log_file_read(struct log_file *f, void *buffer, size_t size);

/* Leaves out the next `n` bytes. False at the end, or when the file cannot be read on. */
bool log_file_skip(struct log_file *f, uint64_t n);

/*
 * Behind the end: why the log may go on although no more of it could be had ("its archive breaks off"), or which lines
 * of a text could not be read. NULL: whole.
 */
const char *log_file_damage(const struct log_file *f);

/* Whether it is compressed or made from text: then nobody knows its size before its end. */
bool log_file_is_packed(const struct log_file *f);

/* Of the file itself. */
const struct stat *log_file_stat(const struct log_file *f);

#endif
