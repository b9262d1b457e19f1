/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped_file.h - the files that other processes have mapped, by their paths in /proc/PID/maps. */
#ifndef HW_PROTO_BASE_MAPPED_FILE_H
#define HW_PROTO_BASE_MAPPED_FILE_H

#include <sys/types.h>

/* Opens for reading what that path of a process most likely means; a FIFO does not block. -1: errno. It may be another
 * file, of the same path: callers check what is in it. */
int mapped_file_open(pid_t pid, const char *path);

#endif
