/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_writer.h - writes one small file, again and again, without waiting for
 * the disk: each time in a child process that does nothing else and ends.
 *
 * The reading thread must never wait, and a disk may hang for minutes (NFS, a
 * full journal). A child is started by fork and calls only what is safe after
 * it (whole_file.h); it closes what it inherited first, so that one that hangs
 * holds no source and no socket open. At most one is under way.
 */
#ifndef HW_DAEMON_ALERTING_FILE_WRITER_H
#define HW_DAEMON_ALERTING_FILE_WRITER_H

#include <stdbool.h>

struct event_base;
struct file_writer;

struct file_writer_options {
        struct event_base *base;
        const char *path; /* copied */
        /* A write is over, well or not: NULL, or why it could not be written. From the loop. */
        void (*written)(void *ctx, const char *error);
        void *ctx;
};

/* NULL when out of memory. */
struct file_writer *file_writer_new(const struct file_writer_options *options);

/* For the daemon's end: waits at most FILE_WRITER_STOP_S for the write that is under way. */
#define FILE_WRITER_STOP_S 4
void file_writer_wait(struct file_writer *w);

/* Waits as well. */
void file_writer_destroy(struct file_writer **w);

/* Writes the text as the whole file. False: one is under way, or there can be no process now; try again later. */
bool file_writer_start(struct file_writer *w, const char *text);

bool file_writer_is_busy(const struct file_writer *w);

#endif
