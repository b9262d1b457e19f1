/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_writer.h - rewrites one small file without waiting for the disk: each
 * time in a child process that does nothing else.
 *
 * The reading thread must never wait, and a disk may hang for minutes (NFS, a
 * full journal). A child is started by fork and calls only what is safe after
 * that (whole_file.h); it first closes what it inherited, so that a child that
 * hangs keeps no source and no socket open. At most one write is in progress.
 */
#ifndef HW_DAEMON_ALERTING_FILE_WRITER_H
#define HW_DAEMON_ALERTING_FILE_WRITER_H

#include <stdbool.h>

struct event_base;
struct file_writer;

struct file_writer_options {
        struct event_base *base;
        const char *path; /* copied */
        /* A write has ended: NULL, or why it failed. Called from the loop. */
        void (*written)(void *ctx, const char *error);
        void *ctx;
};

/* NULL when out of memory. */
struct file_writer *file_writer_new(const struct file_writer_options *options);

/* For shutdown: waits for the write in progress, for its part of STOP_S. */
void file_writer_wait(struct file_writer *w);

/* Also waits. */
void file_writer_destroy(struct file_writer **w);

/* Writes the text as the whole file. False: a write is in progress, or no process can be started; try again later. */
bool file_writer_start(struct file_writer *w, const char *text);

bool file_writer_is_busy(const struct file_writer *w);

#endif
