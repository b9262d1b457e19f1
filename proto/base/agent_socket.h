/* SPDX-License-Identifier: BSD-3-Clause */
/* agent_socket.h - the name of an agent's socket, by which its clients find it and know that a log comes from one. */
#ifndef HW_PROTO_BASE_AGENT_SOCKET_H
#define HW_PROTO_BASE_AGENT_SOCKET_H

#define AGENT_SOCKET_NAME "agent-%ld.sock" /* of a process; for printf and scanf */

#endif
