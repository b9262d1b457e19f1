/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped_file.h - the files that other processes have mapped, by their paths in /proc/PID/maps. */
#ifndef HW_PROTO_BASE_MAPPED_FILE_H
#define HW_PROTO_BASE_MAPPED_FILE_H

#include <sys/types.h>

/*
 * Opens for reading the regular file that a path of a process most likely means: no link leads out of its root, and
 * nothing else is opened, as that alone may wait or act on a device. It may be another file, of the same path: callers
 * check what is in it. -1: there is none.
 */
int mapped_file_open(pid_t pid, const char *path);

#endif
