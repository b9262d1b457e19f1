/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flush.c - has GHC 9.0 write its eventlog buffers out now.
 *
 * From GHC 9.2 on, Debug.Trace.flushEventLog does this and this file is empty.
 * 9.0 can only flush what has left its buffers, and they leave when 2 MiB are
 * full; so this closes each buffer's block, hands it to the file writer and
 * begins the next block, which is what the RTS does with a full buffer.
 *
 * DESIGN - the buffers are private to the RTS; a statically linked program
 * can name them, and their layout is that of 9.0 (rts/eventlog/EventLog.c).
 * Each buffer is checked before it is touched; when it does not look right
 * nothing is done and -1 is returned, from then on always.
 * The caller must be an *unsafe* foreign call: it holds its capability, so no
 * Haskell code and no collection runs meanwhile. With more than one capability
 * the others' buffers would be written to at the same time: refused (-2).
 */
#if defined(__GLASGOW_HASKELL__) && __GLASGOW_HASKELL__ == 900

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "Rts.h"
#include "rts/EventLogWriter.h"

#define BLOCK_MARKER 18
#define MARKER_BYTES 24 /* u16 event, u64 time, u32 size, u64 end, u16 capability */
#define SIZE_AT      10
#define END_AT       14
#define BUFFER_MAX   (64u << 20) /* the RTS uses 2 MiB */

struct events_buffer {
        StgInt8 *begin, *position, *marker;
        StgWord64 size;
        uint16_t capability;
};

extern struct events_buffer *capEventBuf;
extern struct events_buffer eventBuf;
extern Time stat_getElapsedTime(void);

int flush_eventlog(void);

static void put(StgInt8 *at, uint64_t value, int bytes)
{
        while (bytes-- > 0) {
                at[bytes] = (StgInt8)(value & 255);
                value >>= 8;
        }
}

/* Whether the memory can be an events buffer with at least room for a marker. */
static bool sane(const struct events_buffer *b)
{
        if (b->begin == NULL || b->size < 2 * MARKER_BYTES || b->size > BUFFER_MAX || b->position < b->begin ||
            (uint64_t)(b->position - b->begin) > b->size)
                return false;
        return b->marker == NULL || (b->marker >= b->begin && b->marker + MARKER_BYTES <= b->position);
}

/* A buffer that holds nothing but its own marker is left alone. */
static void flush_buffer(struct events_buffer *b)
{
        uint64_t now = (uint64_t)stat_getElapsedTime();

        if (b->marker == b->begin && b->position == b->begin + MARKER_BYTES)
                return;
        if (b->position == b->begin)
                return;
        if (b->marker != NULL) {
                put(b->marker + SIZE_AT, (uint64_t)(b->position - b->marker), 4);
                put(b->marker + END_AT, now, 8);
                b->marker = NULL;
        }
        (void)FileEventLogWriter.writeEventLog(b->begin, (size_t)(b->position - b->begin)); /* the RTS reports */
        b->position = b->begin;
        b->marker = b->position;
        put(b->position, BLOCK_MARKER, 2);
        put(b->position + 2, now, 8);
        put(b->position + SIZE_AT, 0, 4);
        put(b->position + END_AT, 0, 8);
        put(b->position + 22, b->capability, 2);
        b->position += MARKER_BYTES;
}

/* 0; -1: this is not the RTS this was written for; -2: more than one capability. */
int flush_eventlog(void)
{
        static bool strange = false;

        if (strange)
                return -1;
        if (eventLogStatus() != EVENTLOG_RUNNING)
                return 0;
        if (enabled_capabilities != 1 || n_capabilities != 1)
                return -2;
        if (capEventBuf == NULL || !sane(&capEventBuf[0]) || !sane(&eventBuf)) {
                strange = true;
                return -1;
        }
        flush_buffer(&capEventBuf[0]);
        flush_buffer(&eventBuf);
        FileEventLogWriter.flushEventLog();
        return 0;
}

#else
typedef int flush_not_needed; /* a file must hold something */
#endif
