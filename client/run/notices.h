/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notices.h - what `heapwatch run` writes to standard error, without ever waiting.
 *
 * The reader of standard error may have stopped (a terminal after Ctrl-S, a full pipe). The program must start all the
 * same, and its end must be seen. So notices wait in NOTICES_BYTES and are written as there is room; what does not fit
 * is left out and counted.
 */
#ifndef HW_CLIENT_RUN_NOTICES_H
#define HW_CLIENT_RUN_NOTICES_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#define NOTICES_BYTES 8192u

struct notices {
        int fd;         /* our own, for O_NONBLOCK; or standard error itself */
        bool is_socket; /* written with MSG_DONTWAIT */
        bool own;
        size_t used;
        unsigned long left_out;
        char bytes[NOTICES_BYTES];
};

void notices_open(struct notices *n);

/* "heapwatch run: ..." and a newline, in whole or not at all; writes what can be written now. */
void notices_print(struct notices *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For poll(2): waits for room while something waits to be written. After it, notices_write(). */
struct pollfd notices_pollfd(const struct notices *n);
void notices_write(struct notices *n);

/* Waits at most wait_ms for what is left to be taken. */
void notices_close(struct notices *n, int wait_ms);

#endif
