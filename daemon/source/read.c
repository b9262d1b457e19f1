/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: all sources of the daemon share one read buffer. The loop has one
 * thread, the sink only borrows the bytes for its call, and a decoder keeps
 * what it still needs itself; so a thousand targets cost one buffer. A piece
 * that the sink could not take in its turn is kept in its buffer until the sink
 * has taken it: nothing is copied.
 *
 * A turn is bounded by bytes and by time: what bytes cost depends on what is in
 * them. Descriptors that epoll watches level-triggered need nothing more: it
 * reports them again in the next iteration of the loop, after all others.
 * Files, which epoll refuses, re-arm a zero-delay timer (tail.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/source/loop/watchdog.h"
#include "daemon/source/limits.h"
#include "proto/base/clock.h"
#include "proto/base/event.h"
#include "daemon/source/medium.h"

static const struct timeval at_once = { 0, 0 };

struct turn turn_begin(void)
{
        return (struct turn){ .left = READ_TURN_BYTES, .end_ns = clock_mono_ns() + READ_TURN_NS };
}

bool turn_has_budget(struct turn *turn, const struct source *s, size_t n)
{
        turn->left -= n;
        return turn->left > 0 && !source_is_busy(s) && clock_mono_ns() < turn->end_ns;
}

/* ------------------------------------------------- what the sink has not taken */

void source_drop_held(struct source *s)
{
        if (s->held)
                read_buffer_release(s->held);
        s->held = NULL;
        free_event(&s->again);
}

static void on_again(evutil_socket_t fd, short what, void *ctx)
{
        struct source *s = ctx;

        watchdog_begin(WATCHDOG_SOURCE);
        if (s->sink.more(s->sink.ctx))
                source_drop_held(s);
        else
                (void)event_add(s->again, &at_once); /* its timer slot exists since it was first armed */
        watchdog_end();
}

/* Keeps the piece in its buffer. Without memory for another buffer, the sink takes all now, however long that takes. */
static void hold(struct source *s, const struct read_piece *piece)
{
        s->again = evtimer_new(s->base, on_again, s);
        if (s->again && event_add(s->again, &at_once) == 0 &&
            read_buffer_keep(piece->buffer, piece->data + piece->size, READ_BUFFERS_ANY)) {
                s->held = piece->buffer;
                return;
        }
        while (!s->sink.more(s->sink.ctx))
                ;
        source_drop_held(s); /* the timer */
}

ssize_t source_read_some(struct source *s, int fd, size_t max, const uint8_t **ret_data)
{
        struct read_buffer *buffer;
        uint8_t *room = read_buffer_room(&buffer);
        ssize_t n;

        do
                n = read(fd, room, max < READ_PIECE_BYTES ? max : READ_PIECE_BYTES);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        if (n > 0) {
                const struct read_piece piece = { buffer, room, (size_t)n };
                s->stats.bytes += (uint64_t)n;
                s->flowing = true;
                *ret_data = room;
                if (!s->sink.bytes(s->sink.ctx, &piece))
                        hold(s, &piece);
        }
        return n;
}

static enum turn_end read_turn(struct source *s, int fd, int *ret_error)
{
        struct turn turn = turn_begin();
        const uint8_t *data;
        ssize_t n;

        if (source_is_busy(s))
                return TURN_BUDGET;
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
                if ((size_t)n < turn.left && n < READ_PIECE_BYTES)
                        return TURN_DRAINED; /* without a second read(2), which would fail */
        } while (turn_has_budget(&turn, s, (size_t)n));
        return TURN_BUDGET;
}

enum turn_end source_read_turn(struct source *s, int fd, int *ret_error)
{
        watchdog_begin(WATCHDOG_SOURCE);
        enum turn_end end = read_turn(s, fd, ret_error);
        watchdog_end();
        return end;
}
