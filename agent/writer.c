/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the runtime calls these with its locks held, on any thread. They
 * copy into the queue and return. The end of the log does not end our threads:
 * the runtime also stops and starts its log in a fork's child and on request;
 * the agent ends at the program's end (life.c).
 */
#include "agent/writer.h"

#include <stdatomic.h>
#include <string.h>

#include "agent/queue.h"

static struct {
        const struct event_log_writer *program;
        void (*piece)(void), (*stopped)(void);
        _Atomic bool child;
} w;

void writer_on(void (*piece)(void), void (*stopped)(void))
{
        w.piece = piece;
        w.stopped = stopped;
}

void writer_tee(const struct event_log_writer *program)
{
        w.program = program;
}

void writer_fork_child(void)
{
        w.child = true;
        w.program = NULL;
}

/* The header and small pieces that end the log are never dropped: without them the rest is useless. */
static bool must_arrive(const uint8_t *bytes, size_t size)
{
        return (size >= 4 && !memcmp(bytes, "hdrb", 4)) ||
               (size >= 2 && size < 4096 && bytes[size - 2] == 0xff && bytes[size - 1] == 0xff);
}

bool writer_write(void *bytes, size_t size)
{
        if (w.child)
                return true;
        if (w.piece)
                w.piece();
        if (w.program && w.program->write)
                (void)w.program->write(bytes, size);
        (void)queue_push(CHUNK_LOG, bytes, size, must_arrive(bytes, size));
        return true; /* the runtime would report it on stderr */
}

static void init(void)
{
        if (w.child)
                return;
        if (w.program && w.program->init)
                w.program->init();
        (void)queue_push(CHUNK_START, NULL, 0, true);
}

static void flush(void)
{
        if (!w.child && w.program && w.program->flush)
                w.program->flush();
}

static void stop(void)
{
        if (w.child)
                return;
        if (w.program && w.program->stop)
                w.program->stop();
        if (w.stopped)
                w.stopped();
}

const struct event_log_writer writer = { init, writer_write, flush, stop };
