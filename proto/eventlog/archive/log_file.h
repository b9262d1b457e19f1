/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_file.h - a finished log as a stream of bytes, plain or compressed with gzip or zstd: its beginning decides, not
 * its name. Pipes are as good as files.
 *
 * What the runtime writes as text (.hp, -pj) is converted to an equivalent eventlog (proto/eventlog/texts),
 * compressed or not.
 *
 * A path that begins with "recording:" is a stretch of what the flight recorder has kept
 * (proto/eventlog/recording/stretch.h).
 *
 * Memory is bounded whatever the file claims: one input buffer and the window of the method (gzip 32 KiB, zstd at most
 * LIMIT_ZSTD_WINDOW_LOG). A file that unpacks to terabytes takes time: who reads it stops where nothing can be decoded
 * any more; of a text this does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "proto/base/error.h"
#include "proto/eventlog/recording/run_end.h"

#define LIMIT_UNPACKED_BYTES  (UINT64_C(1) << 30)
#define LIMIT_ZSTD_WINDOW_LOG 27 /* 128 MiB, what `zstd` itself accepts without being asked for more */

struct in_order_place;
struct log_file;

/*
 * NULL with a sentence in `error`, without the path. Files compressed in another way are read as they are. Does not
 * wait for the first bytes of a pipe: that is for the first read.
 */
struct log_file *log_file_open(const char *path, struct error *error);

/*
 * Before the first read: it is read in the order of time (proto/eventlog/archive/in_order.h), if it is a file that is
 * not and can be. One that is compressed is unpacked for this, into a file without a name, if that is not longer than
 * LIMIT_UNPACKED_BYTES. 0 or -errno: it could not be read.
 */
int log_file_put_in_order(struct log_file *f);

/* Where the bytes of the newest read lie in the file; NULL: where they were read. */
const struct in_order_place *log_file_place(const struct log_file *f);

/* Clears the pointer; NULL allowed. */
void log_file_close(struct log_file **f);

/* Bytes of the log, at most `size` of them (size > 0); 0 at the end; -errno when reading fails. */
ssize_t log_file_read(struct log_file *f, void *buffer, size_t size);

/* Skips the next `n` bytes. False at the end, or when reading fails. */
bool log_file_skip(struct log_file *f, uint64_t n);

/*
 * After the end: why there may be more of the log that could not be read ("its archive breaks off"), or which lines of
 * a text could not be read, or what a recording does not have. NULL: it is complete.
 */
const char *log_file_damage(const struct log_file *f);

/* After the end: whether it is that of what could be read, and not the log's. */
bool log_file_is_cut(const struct log_file *f);

/* As the daemon judged the run, of a recording that is read to its end: step and limits in it are 0 where not known. */
const struct run_end *log_file_judged(const struct log_file *f);

/* Whether it is compressed or converted from text: then its size is unknown before its end. */
bool log_file_is_packed(struct log_file *f);

/* Its descriptor, to wait for the bytes of a pipe; -1: a recording, which never makes its reader wait. */
int log_file_fd(const struct log_file *f);

/* Of the file itself. */
const struct stat *log_file_stat(const struct log_file *f);
