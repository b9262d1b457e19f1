/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN. After damage the stream is searched, byte by byte from the failing
 * event on, for a place where it makes sense again:
 *
 *     a header begins (hdrb hetb), or
 *     one ends (hete hdre datb): when a program is killed inside an event and
 *     started again on the same FIFO, the start of its next header is taken
 *     for the rest of that event. As it is the same program, the known table
 *     holds; or
 *     a declared id, its time inside the block's (or within 30 s of the last
 *     good event, and not before the run), its payload inside the block, and
 *     after it the same again, or the block's end; a block marker's own size,
 *     times and capability must be possible, too.
 *
 * Two times of 8 bytes each that fit make a false match very unlikely. Each
 * place costs one table look-up; only heads are read, so hostile lengths cost
 * nothing. At most an event and the next one's head are held back undecided;
 * at the end of the input a candidate that needs more bytes is rejected.
 * Inside a block its size is trusted before its times: a false match with a
 * length that leads far away would hold back all that follows.
 *
 * A file may be preallocated, have a hole, or be a gigabyte of zeros made small
 * by its compression: a run of zeros, in which nothing can begin, is skipped at
 * the speed of memory.
 *
 * A damaged place is reported once, when it is over and its length is known;
 * only a stream in which no event can be found until a header comes (it is not
 * an eventlog, or its header is damaged) is reported at once.
 */
#include "proto/eventlog/internal.h"

#include <string.h>

#include "proto/base/bytes.h"

#define NEAR_NS UINT64_C(30000000000)

static const struct block no_block = { .cap = HW_CAP_NONE };

bool frame_near(const struct hw_eventlog *log, const struct frame *frame)
{
        uint64_t away = frame->time_ns > log->last_ns ? frame->time_ns - log->last_ns : log->last_ns - frame->time_ns;
        bool before_run = log->has_blocks && frame->time_ns < log->floor_ns;
        return away <= NEAR_NS && !before_run;
}

/* Whether the frame alone can be where it is; `block` may be closed. */
static bool frame_fits(const struct hw_eventlog *log, const struct frame *frame, const struct block *block)
{
        if (frame->kind & KIND_VARIABLE && !(frame->kind & KIND_UNKNOWN) && frame->size < (frame->kind & KIND_SIZE))
                return false;
        if (frame->offset < block->end_offset)
                return frame_in_block(block, frame);
        return frame_near(log, frame);
}

/* Whether an event, a header or an end can begin `at` bytes after `p`, where `block` holds as far as it goes. */
enum answer next_fits(struct hw_eventlog *log, size_t at, const struct block *block)
{
        struct cursor *v = &log->cursor;
        uint64_t offset = cursor_offset(v) + at;
        struct block opened;
        struct frame frame;
        if (block->end_offset > 0 && offset == block->end_offset)
                return ANSWER_YES;
        if (!cursor_need(v, at + 2))
                return ANSWER_MORE;
        if (be16(v->p + at) == DATA_END)
                return offset > block->end_offset || block->end_offset - offset == 2 ? ANSWER_YES : ANSWER_NO;
        enum answer known = frame_read(log, at, &frame);
        if (known == ANSWER_YES && frame.kind & KIND_MARKER)
                return marker_read(log, at, &frame, &opened);
        if (known == ANSWER_YES)
                return frame_fits(log, &frame, block) ? ANSWER_YES : ANSWER_NO;
        if (known == ANSWER_MORE || be16(v->p + at) != HEADER_BEGIN >> 16)
                return known;
        if (!cursor_need(v, at + 4))
                return ANSWER_MORE;
        return be32(v->p + at) == HEADER_BEGIN ? ANSWER_YES : ANSWER_NO;
}

/* Whether the event at `p` and what follows it fit. IPE: its announced length may be one too long. */
static enum answer chain_fits(struct hw_eventlog *log, const struct frame *frame, const struct block *block)
{
        if (!frame_fits(log, frame, block))
                return ANSWER_NO;
        size_t bytes = frame->head + frame->size;
        if (frame->kind & KIND_IPE && frame->size > 0) {
                enum answer shorter = next_fits(log, bytes - 1, block);
                if (shorter != ANSWER_NO)
                        return shorter;
        }
        return next_fits(log, bytes, block);
}

/* Whether the block marker at `p` opens a block whose first event fits. */
static enum answer marker_fits(struct hw_eventlog *log, const struct frame *frame)
{
        struct block opened;
        enum answer fits = marker_read(log, 0, frame, &opened);
        if (fits != ANSWER_YES)
                return fits;
        if (log->has_blocks && frame->time_ns < log->floor_ns)
                return ANSWER_NO;
        return next_fits(log, frame->head + frame->size, &opened);
}

/* Whether an event of the current run begins at `p`. Sets the block that it is in. */
static enum answer event_found(struct hw_eventlog *log)
{
        struct frame frame;
        enum answer fits = frame_read(log, 0, &frame);
        if (fits != ANSWER_YES)
                return fits;
        bool inside = frame.offset < log->block.end_offset;
        if (frame.kind & KIND_MARKER)
                fits = marker_fits(log, &frame);
        else if (inside && (fits = chain_fits(log, &frame, &log->block)) != ANSWER_NO)
                return fits;
        else if (inside && !frame_in_bytes(&log->block, &frame))
                return ANSWER_NO;
        else
                fits = chain_fits(log, &frame, &no_block);
        if (fits == ANSWER_YES) {
                log->block = no_block;
                log->adrift = log->has_blocks;
        }
        return fits;
}

enum answer header_found(struct hw_eventlog *log)
{
        struct cursor *v = &log->cursor;
        if (*v->p != HEADER_BEGIN >> 24)
                return ANSWER_NO;
        if (!cursor_need(v, 2))
                return ANSWER_MORE;
        if (be16(v->p) != HEADER_BEGIN >> 16)
                return ANSWER_NO;
        if (!cursor_need(v, 8))
                return ANSWER_MORE;
        return be32(v->p) == HEADER_BEGIN && be32(v->p + 4) == TYPES_BEGIN ? ANSWER_YES : ANSWER_NO;
}

/* Whether the types of a header end at `p`, whose start was taken for something else. */
static enum answer header_end_found(struct hw_eventlog *log)
{
        struct cursor *v = &log->cursor;
        if (!cursor_need(v, 4))
                return *v->p == TYPES_END >> 24 ? ANSWER_MORE : ANSWER_NO;
        if (be32(v->p) != TYPES_END || !log->has_table)
                return ANSWER_NO;
        if (!cursor_need(v, 12))
                return ANSWER_MORE;
        return be32(v->p + 4) == HEADER_END && be32(v->p + 8) == DATA_BEGIN ? ANSWER_YES : ANSWER_NO;
}

static size_t count_zeros(const uint8_t *p, size_t size)
{
        uint64_t word = 0;
        size_t n = 0;

        while (n + sizeof(word) <= size && word == 0) {
                memcpy(&word, p + n, sizeof(word));
                n += word == 0 ? sizeof(word) : 0;
        }
        while (n < size && p[n] == 0)
                n++;
        return n;
}

/* Counts the bytes skipped since the last call as lost. */
static void account_bytes(struct hw_eventlog *log, uint64_t until)
{
        if (until > log->lost_mark) {
                log->stats.lost_bytes += until - log->lost_mark;
                log->lost_mark = until;
        }
        log->damage.lost_bytes = until - log->damage.offset;
}

enum step lose_bytes(struct hw_eventlog *log, uint64_t offset, const char *reason, bool limit)
{
        log->damage = (struct hw_eventlog_damage){ .offset = offset, .reason = reason };
        log->lost_mark = offset;
        log->lost_limit = limit;
        log->lost_reported = !log->has_table;
        log->stats.resyncs++;
        log->stage = STAGE_LOST;
        if (cursor_offset(&log->cursor) == offset)
                log->cursor.p++;
        if (!log->lost_reported)
                return STEP_AGAIN;
        account_bytes(log, cursor_offset(&log->cursor));
        return limit ? STEP_LIMIT : STEP_BAD;
}

/* The damage is over: `begin` handles the header that was found; NULL: it was an event. */
static enum step resume_at(struct hw_eventlog *log, void (*begin)(struct hw_eventlog *log))
{
        account_bytes(log, cursor_offset(&log->cursor));
        log->stage = STAGE_EVENTS;
        if (begin)
                begin(log);
        if (log->lost_reported)
                return STEP_AGAIN;
        return log->lost_limit ? STEP_LIMIT : STEP_BAD;
}

enum step lost_step(struct hw_eventlog *log)
{
        struct cursor *v = &log->cursor;
        for (;;) {
                if (!cursor_need(v, 1))
                        break;
                if (!log->has_table) {
                        /* Without a table only a header helps: skips to the next byte that may begin one. */
                        const uint8_t *h = memchr(v->p, HEADER_BEGIN >> 24, (size_t)(v->end - v->p));
                        v->p = h ? h : v->end;
                } else if (*v->p == 0) {
                        /*
                         * Skips the zeros at `p`, which are no event (frame_read), but for so many that one may begin
                         * with.
                         */
                        const size_t n = count_zeros(v->p, (size_t)(v->end - v->p));
                        if (n >= NO_EVENT_BYTES)
                                v->p += n - NO_EVENT_BYTES + 1;
                }
                if (!cursor_need(v, 1))
                        break;
                enum answer header = header_found(log);
                if (header == ANSWER_YES)
                        return resume_at(log, header_begin);
                enum answer end = header_end_found(log);
                if (end == ANSWER_YES)
                        return resume_at(log, header_resume);
                enum answer event = log->has_table ? event_found(log) : ANSWER_NO;
                if (log->input_ended) { /* what needs more bytes is not here */
                        header = header == ANSWER_MORE ? ANSWER_NO : header;
                        end = end == ANSWER_MORE ? ANSWER_NO : end;
                        event = event == ANSWER_MORE ? ANSWER_NO : event;
                }
                if (event == ANSWER_YES && header == ANSWER_NO && end == ANSWER_NO)
                        return resume_at(log, NULL);
                if (header == ANSWER_MORE || end == ANSWER_MORE || event == ANSWER_MORE)
                        break;
                v->p++;
        }
        account_bytes(log, cursor_offset(v));
        return STEP_MORE;
}

void lost_finish(struct hw_eventlog *log, uint64_t left)
{
        account_bytes(log, cursor_offset(&log->cursor) + left);
}
