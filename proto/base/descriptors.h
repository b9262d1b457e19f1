/* SPDX-License-Identifier: BSD-3-Clause */
/* descriptors.h - a descriptor, or all of a process at once, whatever they are and who opened them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "proto/base/error.h"

/* Closes one that may never have been opened (-1), where an error of close() has nothing to tell. */
static inline void close_fd(int *fd)
{
        if (*fd >= 0)
                (void)close(*fd);
        *fd = -1;
}

/* Reads until `size` bytes have come or there are no more. Their number or -errno. */
ssize_t read_full(int fd, void *to, size_t size);

/* The soft limit of this process; SIZE_MAX: none. */
size_t descriptors_limit(void);

/* Whether that is enough for what serves or asks a daemon: a library that is refused one may end the process. */
bool descriptors_suffice(struct error *error);

/* Raises the soft limit of this process to its hard limit. On failure the limit stays as it was. */
void descriptors_raise(void);

/* Closes those from `first` on. Also in a child of fork(). */
void descriptors_close(int first);

/* Those from `first` on are closed in each program that is executed from now on. */
void descriptors_close_at_exec(int first);

/* unix_socket.c: sockets that have a path: reaching one, and whether its listener is gone. */

/* A stream socket connected to whoever listens at the path: nonblocking, closed on exec. A descriptor or -errno. */
int unix_connect(const char *path);

/* True: connections are refused, or there is no such file. False also when that cannot be found out. */
bool unix_nobody_listens(const char *path);

/* Whether the path is a socket at which connections are refused: then its file may be replaced. */
bool unix_is_left_over(const char *path);
