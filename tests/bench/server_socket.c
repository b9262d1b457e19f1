/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "server_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

int server_listen(int *ret_port)
{
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t size = sizeof(address);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, 64) < 0 ||
            getsockname(fd, (struct sockaddr *)&address, &size) < 0)
                abort();
        *ret_port = ntohs(address.sin_port);
        return fd;
}

int server_accept(int listener)
{
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), one = 1;

        if (fd >= 0)
                (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        return fd;
}

int server_receive(int fd, unsigned char *buffer, int size)
{
        ssize_t n = recv(fd, buffer, (size_t)size, 0);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return -1;
        return n == size ? (int)n : 0;
}

int server_send(int fd, const unsigned char *buffer, int size)
{
        return (int)send(fd, buffer, (size_t)size, MSG_NOSIGNAL);
}
