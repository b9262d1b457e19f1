/* SPDX-License-Identifier: BSD-3-Clause */
/* whole_file.h - small files, replaced atomically: written beside and renamed, mode 0600. May wait for the disk. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;

/* Makes the directories above a path (0700). Returns 0 or -errno. */
int whole_file_directories(const char *path);

/*
 * Makes the directories above it too (0700). Returns 0 or -errno; then the old file is untouched. Calls nothing but
 * async-signal-safe functions: a child may use it after fork.
 */
int whole_file_write(const char *path, const char *text, size_t size);

/*
 * Reads a regular file of at most `max` bytes that belongs to this user. Returns
 * 0 with a NUL-terminated text to free() in *ret_text; -ENOENT; -EFBIG; -EPERM
 * (not a file, or not ours); another -errno.
 */
int whole_file_read(const char *path, size_t max, char **ret_text, size_t *ret_size);

/* Takes in what a process before has written. False with a sentence: then as if there was no file. */
typedef bool whole_file_parser(void *ctx, const char *text, size_t size, struct error *error);

/*
 * Reads and parses what a process keeps for the next one. True also where there is no file. False with a sentence that
 * begins with the path: a file that is not usable, or larger than `max`, has then the suffix ".broken".
 */
bool whole_file_restore(const char *path, size_t max, whole_file_parser *parse, void *ctx, struct error *error);

/* mapped_file.c: the files that other processes have mapped, by their paths in /proc/PID/maps. */

/*
 * Opens for reading the regular file that a path of a process most likely means: no link leads out of its root, and
 * nothing else is opened, as that alone may wait or act on a device. It may be another file, of the same path: callers
 * check what is in it. -1: there is none.
 */
int mapped_file_open(pid_t pid, const char *path);

/* Which of n parts are in the paths of files that a process has mapped. 0, or -errno: that cannot be read. */
int mapped_file_find(pid_t pid, const char *const *parts, size_t n, bool *ret_found);

/* The first of these files that has the part in its path, opened as by mapped_file_open(). -1: there is none. */
int mapped_file_open_named(pid_t pid, const char *part);
