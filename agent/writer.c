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

#include "agent/patch.h"
#include "agent/queue.h"

static struct {
        struct event_log_writer *file; /* the runtime's, while it is ours; else NULL */
        struct event_log_writer own;   /* what was in it */
        _Atomic bool tees;             /* the file gets the log, too */
        bool joined;                   /* it had it before */
        _Atomic bool serves;           /* a log comes here */
        void (*begun)(void), (*piece)(void), (*stopped)(void);
        void (*begun_muted)(void);
        _Atomic bool muted; /* in the child of a fork */
} w;

void writer_on_muted(void (*begun)(void))
{
        w.begun_muted = begun;
}

bool writer_is_in_use(const struct rts_symbol *event_log_writer)
{
        return event_log_writer->address && *(void **)event_log_writer->address == (const void *)&writer;
}

void writer_on(void (*begun)(void), void (*piece)(void), void (*stopped)(void))
{
        w.begun = begun;
        w.piece = piece;
        w.stopped = stopped;
}

void writer_replace_file(const struct rts_symbol *file)
{
        if (w.file || !file->address || (file->size != 0 && file->size != sizeof(w.own)))
                return;
        memcpy(&w.own, file->address, sizeof(w.own));
        if (patch_memory(file->address, &writer, sizeof(writer)))
                w.file = file->address;
}

void writer_give_back_file(void)
{
        w.serves = false;
        if (w.file && patch_memory(w.file, &w.own, sizeof(w.own)))
                w.file = NULL;
}

bool writer_join(const struct rts_symbol *file)
{
        w.tees = true; /* first: what is written without a capability may come at once, and belongs into the file */
        writer_replace_file(file);
        w.serves = w.tees = w.joined = w.file && w.own.write;
        return w.joined;
}

void writer_leave(void)
{
        uint8_t end[2] = { 0xff, 0xff };

        writer_give_back_file();
        w.tees = w.joined = false;
        (void)queue_push(CHUNK_LOG, end, sizeof(end), true);
}

bool writer_joined(void)
{
        return w.joined;
}

bool writer_serves(void)
{
        return w.serves;
}

void writer_tee(void)
{
        w.tees = w.own.write != NULL;
}

bool writer_tees(void)
{
        return w.tees;
}

void writer_mute(bool mute)
{
        w.muted = mute;
        w.serves &= !mute;
}

/* The header and small pieces that end the log are never dropped: without them the rest is useless. */
static bool must_arrive(const uint8_t *bytes, size_t size)
{
        return (size >= 4 && !memcmp(bytes, "hdrb", 4)) ||
               (size >= 2 && size < 4096 && bytes[size - 2] == 0xff && bytes[size - 1] == 0xff);
}

bool writer_write(void *bytes, size_t size)
{
        if (w.piece && !w.muted)
                w.piece();
        if (w.tees)
                (void)w.own.write(bytes, size);
        if (!w.muted)
                (void)queue_push(CHUNK_LOG, bytes, size, must_arrive(bytes, size));
        return true; /* the runtime would report it on stderr */
}

static void init(void)
{
        if (w.muted && w.begun_muted)
                w.begun_muted();
        if (w.begun && !w.muted)
                w.begun();
        if (w.tees && w.own.init)
                w.own.init();
        w.serves = !w.muted;
        if (!w.muted)
                (void)queue_push(CHUNK_START, NULL, 0, true);
}

static void flush(void)
{
        if (w.tees && w.own.flush)
                w.own.flush();
}

static void stop(void)
{
        if (w.tees && w.own.stop)
                w.own.stop();
        if (w.stopped && !w.muted)
                w.stopped();
}

const struct event_log_writer writer = { init, writer_write, flush, stop };
