/* SPDX-License-Identifier: BSD-3-Clause */
/* unix_socket.h - sockets that have a path: reaching one, and whether its listener is gone. */
#ifndef HW_PROTO_BASE_UNIX_SOCKET_H
#define HW_PROTO_BASE_UNIX_SOCKET_H

#include <stdbool.h>

/* A stream socket connected to whoever listens at the path: nonblocking, closed on exec. A descriptor or -errno. */
int unix_connect(const char *path);

/* True: connections are refused, or there is no such file. False also when that cannot be found out. */
bool unix_nobody_listens(const char *path);

/* Whether the path is a socket at which connections are refused: then its file may be replaced. */
bool unix_is_left_over(const char *path);

#endif
