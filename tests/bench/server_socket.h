/* SPDX-License-Identifier: BSD-3-Clause */
/* server_socket.h - the system calls of Server.hs. -1: nothing yet; 0: the connection has ended. */
#pragma once

int server_listen(int *ret_port);
int server_accept(int listener);
int server_receive(int fd, unsigned char *buffer, int size);
int server_send(int fd, const unsigned char *buffer, int size);
