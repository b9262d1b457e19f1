/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: all sources of the daemon share one read buffer. The loop has one
 * thread, the sink only borrows the bytes for its call, and a decoder keeps
 * what it still needs itself; so a thousand targets cost one buffer.
 *
 * A turn is bounded by bytes and by time: what bytes cost depends on what is in
 * them. Descriptors that epoll watches level-triggered
 * need nothing more: it reports them again in the next round of the loop, after
 * all others. Files, which epoll refuses, re-arm a zero-delay timer (tail.c).
 */
#include <errno.h>
#include <unistd.h>

#include "daemon/loop/watchdog.h"
#include "daemon/source/limits.h"
#include "proto/base/clock.h"
#include "daemon/source/medium.h"

static uint8_t buffer[READ_PIECE_BYTES];

struct turn turn_begin(void)
{
        return (struct turn){ .left = READ_TURN_BYTES, .end_ns = clock_mono_ns() + READ_TURN_NS };
}

bool turn_goes_on(struct turn *turn, size_t n)
{
        turn->left -= n;
        return turn->left > 0 && clock_mono_ns() < turn->end_ns;
}

ssize_t source_read_some(struct source *s, int fd, size_t max, const uint8_t **ret_data)
{
        ssize_t n;

        do
                n = read(fd, buffer, max < sizeof(buffer) ? max : sizeof(buffer));
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        if (n > 0) {
                s->stats.bytes += (uint64_t)n;
                s->flowing = true;
                s->sink.bytes(s->sink.ctx, buffer, (size_t)n);
        }
        *ret_data = buffer;
        return n;
}

static enum turn_end read_turn(struct source *s, int fd, int *ret_error)
{
        struct turn turn = turn_begin();
        const uint8_t *data;
        ssize_t n;

        do {
                n = source_read_some(s, fd, turn.left, &data);
                if (n == 0)
                        return TURN_EOF;
                if (n == -EAGAIN || n == -EWOULDBLOCK)
                        return TURN_DRAINED;
                if (n < 0) {
                        *ret_error = (int)-n;
                        return TURN_ERROR;
                }
        } while (turn_goes_on(&turn, (size_t)n));
        return TURN_BUDGET;
}

enum turn_end source_read_turn(struct source *s, int fd, int *ret_error)
{
        watchdog_begin(WATCHDOG_SOURCE);
        enum turn_end end = read_turn(s, fd, ret_error);
        watchdog_end();
        return end;
}
