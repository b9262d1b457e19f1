/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN
 *
 *      program ─▶ FIFO ─▶ relay: header, queue of blocks ─▶ unix socket ─▶ heapwatchd
 *
 * Why a relay and not the daemon on the FIFO itself: when a FIFO's only reader
 * dies, the program hangs as soon as 64 KiB have filled; and a second reader
 * that waits would take bytes away from the first. So there is one reader,
 * here, with nothing to do that could block. It costs one copy of a stream of
 * some kB/s.
 *
 * It serves (`unix:`) rather than connects, so that the daemon's own backoff
 * reconnects after a fault on either side.
 *
 * - The FIFO is opened read-write: without writers there is then no end of file
 *   and no POLLHUP storm; the log may be ended and restarted by the program.
 * - Until the first reader comes, bytes wait in the queue. After a reader was lost
 *   they are left out until the next one: a queue of old blocks would only delay new
 *   ones.
 * - A block enters the queue only if all of it fits, which is decided at its marker:
 *   the queue can only shrink until the rest arrives. So the reader sees gaps between
 *   blocks and never inside one, and needs no resync.
 */
#include "client/run/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/run/blocks.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"

#define RELAY_READ_BYTES 65536u    /* one read of the FIFO */
#define RELAY_TURN_READS 64        /* then the sender has its turn */
#define RELAY_PIPE_BYTES (1 << 20) /* requested from the kernel: room for a pause of ours */

enum { FD_FIFO, FD_LISTEN, FD_READER };

struct relay {
        const char *fifo_path, *socket_path; /* NULL: not made yet */
        int fifo, listener, reader;          /* reader -1: none */
        bool skipping;                       /* the current block is left out */
        struct relay_stats stats;
        struct blocks blocks;
        uint8_t buffer[RELAY_READ_BYTES];
        size_t head, used; /* ring in queue[] */
        uint8_t queue[RELAY_QUEUE_BYTES];
};

/* ------------------------------------------------------------- open, close */

static int open_listener(const char *path)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd, r;

        if (strlen(path) >= sizeof(address.sun_path))
                return -ENAMETOOLONG;
        memcpy(address.sun_path, path, strlen(path) + 1);
        if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) < 0)
                return -errno;
        if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
                if (chmod(path, 0600) == 0 && listen(fd, 4) == 0)
                        return fd;
                r = -errno;
                (void)unlink(path);
        } else {
                r = -errno;
        }
        (void)close(fd);
        return r;
}

static int open_fifo(const char *path)
{
        int fd;

        if (mkfifo(path, 0600) < 0)
                return -errno;
        if ((fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0) {
                int r = -errno;
                (void)unlink(path);
                return r;
        }
        (void)fcntl(fd, F_SETPIPE_SZ, RELAY_PIPE_BYTES); /* only for more room: the default works, too */
        return fd;
}

int relay_open(struct relay **ret_relay, const char *fifo_path, const char *socket_path)
{
        struct relay *r = calloc(1, sizeof(*r));
        int error;

        if (r == NULL)
                return -ENOMEM;
        r->fifo = r->listener = r->reader = -1;
        if ((error = r->fifo = open_fifo(fifo_path)) < 0)
                goto fail;
        r->fifo_path = fifo_path;
        if ((error = r->listener = open_listener(socket_path)) < 0)
                goto fail;
        r->socket_path = socket_path;
        *ret_relay = r;
        return 0;
fail:
        relay_close(&r);
        return error;
}

void relay_close(struct relay **relay)
{
        struct relay *r = *relay;

        if (r == NULL)
                return;
        close_fd(&r->reader);
        close_fd(&r->listener);
        close_fd(&r->fifo);
        if (r->fifo_path != NULL)
                (void)unlink(r->fifo_path);
        if (r->socket_path != NULL)
                (void)unlink(r->socket_path);
        free(r);
        *relay = NULL;
}

/* ------------------------------------------------------------------ queue */

/* The caller has checked that it fits. */
static void queue_put(struct relay *r, const uint8_t *bytes, size_t size)
{
        size_t tail = (r->head + r->used) % RELAY_QUEUE_BYTES;
        size_t first = size < RELAY_QUEUE_BYTES - tail ? size : RELAY_QUEUE_BYTES - tail;

        memcpy(r->queue + tail, bytes, first);
        memcpy(r->queue, bytes + first, size - first);
        r->used += size;
}

static bool takes_nothing(const struct relay *r)
{
        return r->reader < 0 && r->stats.readers > 0;
}

static void accept_piece(struct relay *r, const struct piece *p)
{
        size_t room = RELAY_QUEUE_BYTES - r->used;

        if (p->kind == PIECE_BLOCK) {
                r->skipping = takes_nothing(r) || room < p->size + p->rest;
                r->stats.left_out_blocks += r->skipping;
        }
        bool of_block = p->kind == PIECE_BLOCK || p->kind == PIECE_INSIDE;
        bool skip = of_block ? r->skipping : takes_nothing(r) || room < p->size;
        if (skip)
                r->stats.left_out_bytes += p->size;
        else
                queue_put(r, p->bytes, p->size);
}

static void accept_bytes(struct relay *r, const uint8_t *bytes, size_t size)
{
        struct piece p;

        for (;;) {
                size_t n = blocks_next(&r->blocks, bytes, size, &p);
                if (n == 0 && p.size == 0)
                        return;
                if (p.size > 0)
                        accept_piece(r, &p);
                bytes += n;
                size -= n;
        }
}

/* ---------------------------------------------------------------- reader */

static void lose_reader(struct relay *r)
{
        close_fd(&r->reader);
        r->stats.left_out_bytes += r->used;
        r->used = 0;
        r->skipping = true; /* the rest of a partial block is useless */
}

static void accept_reader(struct relay *r)
{
        int fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0)
                return; /* it has disconnected again */
        r->reader = fd;
        if (r->stats.readers++ > 0 && !r->blocks.header_lost)
                queue_put(r, r->blocks.header, r->blocks.header_size); /* the queue is empty */
}

static bool send_some(struct relay *r)
{
        size_t n = r->used < RELAY_QUEUE_BYTES - r->head ? r->used : RELAY_QUEUE_BYTES - r->head;
        ssize_t sent = send(r->reader, r->queue + r->head, n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0) {
                if (errno != EAGAIN && errno != EINTR)
                        lose_reader(r);
                return false;
        }
        r->head = (r->head + (size_t)sent) % RELAY_QUEUE_BYTES;
        r->used -= (size_t)sent;
        return true;
}

static void send_all_that_goes(struct relay *r)
{
        while (r->reader >= 0 && r->used > 0 && send_some(r))
                ;
}

/* Readers send nothing: bytes are dropped, end of file means that it has disconnected. */
static void on_reader(struct relay *r)
{
        char unused[256];
        ssize_t n = recv(r->reader, unused, sizeof(unused), MSG_DONTWAIT);

        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
                lose_reader(r);
}

/* -------------------------------------------------------------------- turn */

/* Reads the FIFO until it is empty or the turn is over. */
static bool drain(struct relay *r)
{
        bool moved = false;

        for (int i = 0; i < RELAY_TURN_READS; i++) {
                ssize_t n = read(r->fifo, r->buffer, sizeof(r->buffer));
                if (n <= 0)
                        break; /* EAGAIN, EINTR: poll will report more */
                r->stats.bytes += (uint64_t)n;
                moved = true;
                accept_bytes(r, r->buffer, (size_t)n);
                send_all_that_goes(r);
        }
        return moved;
}

void relay_pollfds(const struct relay *r, struct pollfd fds[RELAY_POLLFDS])
{
        fds[FD_FIFO] = (struct pollfd){ r->fifo, POLLIN, 0 };
        fds[FD_LISTEN] = (struct pollfd){ r->reader < 0 ? r->listener : -1, POLLIN, 0 };
        fds[FD_READER] = (struct pollfd){ r->reader, (short)(POLLIN | (r->used > 0 ? POLLOUT : 0)), 0 };
}

bool relay_turn(struct relay *r, const struct pollfd fds[RELAY_POLLFDS])
{
        bool moved = false;

        if (fds[FD_FIFO].revents != 0)
                moved = drain(r);
        if (r->reader >= 0 && fds[FD_READER].fd == r->reader && (fds[FD_READER].revents & ~POLLOUT) != 0)
                on_reader(r);
        if (r->reader < 0 && fds[FD_LISTEN].revents != 0)
                accept_reader(r);
        send_all_that_goes(r);
        return moved;
}

void relay_finish(struct relay *r, int timeout_ms)
{
        long long end = (long long)clock_mono_ms() + timeout_ms, left;
        bool more = true;

        while ((more || (r->used > 0 && !takes_nothing(r))) && (left = end - (long long)clock_mono_ms()) > 0) {
                struct pollfd fds[RELAY_POLLFDS];
                relay_pollfds(r, fds);
                if (poll(fds, RELAY_POLLFDS, more ? 0 : (int)left) < 0 && errno != EINTR)
                        break;
                more = relay_turn(r, fds);
        }
        if (r->reader >= 0)
                lose_reader(r);
        close_fd(&r->listener); /* nothing more comes, so refuse new readers */
}

bool relay_connected(const struct relay *r)
{
        return r->reader >= 0;
}

struct relay_stats relay_stats(const struct relay *r)
{
        return r->stats;
}
