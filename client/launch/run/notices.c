/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: O_NONBLOCK applies to all who share an open file description, here also the watched program, so standard
 * error is opened again through /proc, which gives us our own. Where that is not possible (another user's terminal),
 * poll(2) promises room for PIPE_BUF bytes in a pipe, and no more is written at a time. For a socket there is a flag
 * with each message, and a file never waits for a reader.
 */
#include "client/launch/run/run_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/clock.h"

void notices_open(struct notices *n)
{
        struct stat st;
        int fd = -1;

        *n = (struct notices){ .fd = STDERR_FILENO };
        if (fstat(STDERR_FILENO, &st) < 0)
                return;
        n->is_socket = S_ISSOCK(st.st_mode);
        if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))
                fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0)
                return;
        n->fd = fd;
        n->own = true;
}

struct pollfd notices_pollfd(const struct notices *n)
{
        return (struct pollfd){ n->used > 0 ? n->fd : -1, POLLOUT, 0 };
}

void notices_write(struct notices *n)
{
        while (n->used > 0) {
                struct pollfd room = { n->fd, POLLOUT, 0 };
                if (poll(&room, 1, 0) <= 0)
                        return;
                const size_t size = n->used < PIPE_BUF ? n->used : PIPE_BUF;
                const ssize_t wrote = n->is_socket ? send(n->fd, n->bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL)
                                                   : write(n->fd, n->bytes, size);
                if (wrote < 0 && (errno == EAGAIN || errno == EINTR))
                        return;
                if (wrote < 0) { /* nobody will read it */
                        n->used = 0;
                        return;
                }
                n->used -= (size_t)wrote;
                memmove(n->bytes, n->bytes + wrote, n->used);
        }
}

void notices_print(struct notices *n, const char *format, ...)
{
        static const char prefix[] = "heapwatch run: ";
        const size_t before = sizeof(prefix) - 1;
        char *at = n->bytes + n->used;
        const size_t room = sizeof(n->bytes) - n->used;
        int size = 0;
        va_list arguments;

        va_start(arguments, format);
        if (room > before)
                size = vsnprintf(at + before, room - before, format, arguments);
        va_end(arguments);
        if (size <= 0 || (size_t)size >= room - before) { /* it does not fit */
                n->left_out++;
        } else {
                memcpy(at, prefix, before);
                at[before + (size_t)size] = '\n'; /* in place of the NUL */
                n->used += before + (size_t)size + 1;
        }
        notices_write(n);
}

void notices_close(struct notices *n, int wait_ms)
{
        const uint64_t end_ms = clock_mono_ms() + (uint64_t)wait_ms;

        notices_write(n);
        const unsigned long left_out = n->used == 0 ? n->left_out : 0;
        n->left_out -= left_out;
        if (left_out > 0)
                notices_print(n, "%lu notices were left out: standard error was not read", left_out);
        for (uint64_t now_ms; n->used > 0 && (now_ms = clock_mono_ms()) < end_ms; notices_write(n)) {
                struct pollfd room = { n->fd, POLLOUT, 0 };
                (void)poll(&room, 1, end_ms - now_ms < 50 ? (int)(end_ms - now_ms) : 50);
        }
        if (n->own)
                (void)close(n->fd);
        n->fd = STDERR_FILENO;
        n->own = false;
}
