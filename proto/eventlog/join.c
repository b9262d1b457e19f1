/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN. Opening a FIFO or socket late finds the middle of a run: the header,
 * which declares the events, is gone. If this is allowed, the events of
 * event_table.c are declared instead, and the stream is searched, byte by byte,
 * for a block marker. One that fits proves little, so what follows it has to fit
 * as well, event by event, until there is enough evidence:
 *
 *     JOIN_BLOCKS blocks, each of which ends exactly where the next one begins, or
 *     one, and JOIN_EVENTS events in it.
 *
 * Every event is known and inside its block by size and by time. Events alone
 * prove nothing: in a row of samples a stack of two cost centres may look like a
 * marker (its length, 18, is the marker's number), and real events follow.
 * Everything is checked again when it is read: only the marker's place is taken
 * from here.
 *
 * A candidate is followed once, however small the pieces of input are, and the
 * steps are limited in proportion to the bytes (JOIN_STEPS_A_BYTE), also for a
 * stream that is made of candidates.
 *
 * A few kinds have grown over the years. The size that a program writes shows
 * when the first one is read: an event begins after it, or the block ends
 * (settle_size). Until then such a kind is unsettled. Kinds that are not in the
 * table are lost: their length is unknown.
 */
#include "proto/eventlog/internal.h"

#include "proto/base/bytes.h"
#include "proto/eventlog/limits.h"

#define JOIN_BLOCKS     3u
#define JOIN_EVENTS     32u
#define JOIN_END_EVENTS 4u                  /* markers and events, where the stream ends */
#define JOIN_MAX_NS     (UINT64_C(1) << 60) /* no clock reads 36 years; letters taken for a time do */

/* ------------------------------------------------------------- known events */

uint16_t known_size(uint16_t id)
{
        const struct hw_event_info *info = hw_event_info(id);
        uint32_t size = 0;

        for (unsigned i = 0; i < info->n_fields; i++) {
                if (field_bytes(info->fields[i].type) == 0)
                        return HW_EVENT_VARIABLE;
                size += field_bytes(info->fields[i].type);
        }
        return (uint16_t)size;
}

/* The payload's size of the unsettled event `at` bytes from here, in `block`: the whole one, else the least one. */
static enum answer find_size(struct hw_eventlog *log, size_t at, const struct frame *f, const struct block *block,
                             uint32_t *ret_size)
{
        const uint32_t sizes[] = { known_size(f->id), f->size };

        for (unsigned i = 0; i < 2; i++) {
                struct frame as = *f;
                as.size = sizes[i];
                if (f->offset < block->end_offset && !frame_in_bytes(block, &as))
                        continue;
                enum answer fits = next_fits(log, at + as.head + as.size, block);
                *ret_size = as.size;
                if (fits != ANSWER_NO)
                        return fits;
        }
        return ANSWER_NO;
}

enum answer settle_size(struct hw_eventlog *log, const struct frame *f, uint32_t *ret_size)
{
        enum answer fits = find_size(log, 0, f, &log->block, ret_size);

        if (fits == ANSWER_YES)
                header_declare(log, f->id, (uint16_t)*ret_size);
        return fits;
}

/* ----------------------------------------------------------------- evidence */

/* A block opens where one has ended. */
static enum answer add_marker(struct hw_eventlog *log, const struct frame *f)
{
        struct block opened;
        enum answer fits = marker_read(log, log->join.at, f, &opened);

        if (fits != ANSWER_YES)
                return fits;
        if (opened.end_offset - f->offset > JOIN_BLOCK_BYTES || opened.begin_ns + opened.span_ns > JOIN_MAX_NS)
                return ANSWER_NO;
        log->join.newest = opened;
        log->join.blocks++;
        log->join.at += f->head + f->size;
        return ANSWER_YES;
}

static enum answer add_event(struct hw_eventlog *log, const struct frame *f)
{
        const size_t at = log->join.at;
        const struct block *block = &log->join.newest;
        uint32_t size = f->size;
        enum answer fits = ANSWER_YES;

        if ((f->kind & KIND_VARIABLE && size < (f->kind & KIND_SIZE)) || !frame_in_block(block, f))
                return ANSWER_NO;
        if (f->kind & KIND_IPE && size > 0) {
                fits = next_fits(log, at + f->head + size - 1, block);
                size -= fits == ANSWER_YES;
        } else if (f->kind & KIND_UNSETTLED) {
                fits = find_size(log, at, f, block, &size);
                if (fits == ANSWER_NO)
                        return fits;
        }
        if (fits == ANSWER_MORE)
                return fits;
        log->join.at += f->head + size;
        log->join.events++;
        return ANSWER_YES;
}

/* Follows one more event or block. NO: the first marker was none. */
static enum answer follow_stream(struct hw_eventlog *log)
{
        const bool inside = cursor_offset(&log->cursor) + log->join.at < log->join.newest.end_offset;
        struct frame f;
        enum answer known = frame_read(log, log->join.at, &f);

        if (known != ANSWER_YES)
                return known;
        log->join.steps++;
        if (inside == ((f.kind & KIND_MARKER) != 0))
                return ANSWER_NO;
        return inside ? add_event(log, &f) : add_marker(log, &f);
}

/* Whether the run's end marker is here, after or at the end of a whole block. */
static enum answer at_end(struct hw_eventlog *log)
{
        const size_t at = log->join.at;
        const uint64_t left = log->join.newest.end_offset - cursor_offset(&log->cursor) - at;

        if (left != 0 && left != 2)
                return ANSWER_NO;
        if (!cursor_need(&log->cursor, at + 2))
                return ANSWER_MORE;
        return be16(log->cursor.p + at) == DATA_END ? ANSWER_YES : ANSWER_NO;
}

static bool steps_left(const struct hw_eventlog *log)
{
        return log->join.steps <= JOIN_FREE_STEPS + JOIN_STEPS_A_BYTE * log->damage.lost_bytes;
}

/* Whether a block of a run begins at `p`. MORE: what was found so far is kept. */
static enum answer block_found(struct hw_eventlog *log)
{
        for (;;) {
                const uint32_t blocks = log->join.blocks, events = log->join.events;
                const bool some = blocks + events >= JOIN_END_EVENTS;
                if (blocks > JOIN_BLOCKS || (blocks > 1 && events >= JOIN_EVENTS))
                        return ANSWER_YES;
                if (log->join.at > JOIN_BLOCK_BYTES || !steps_left(log))
                        return ANSWER_NO;
                if (some && at_end(log) == ANSWER_YES)
                        return ANSWER_YES;
                enum answer fits = follow_stream(log);
                if (fits == ANSWER_MORE && log->input_ended)
                        return some && blocks > 1 ? ANSWER_YES : ANSWER_NO;
                if (fits != ANSWER_YES)
                        return fits;
        }
}

static void forget_evidence(struct hw_eventlog *log)
{
        log->join.at = log->join.blocks = log->join.events = 0;
        log->join.newest = (struct block){ .cap = HW_CAP_NONE };
}

/* ------------------------------------------------------------------- search */

bool join_begin(struct hw_eventlog *log)
{
        if (!cursor_widen(&log->cursor))
                return false;
        header_forget(log);
        for (uint16_t id = 0; id < HW_KNOWN_IDS; id++) {
                const struct hw_event_info *info = hw_event_info(id);
                if (!info)
                        continue;
                uint16_t size = known_size(id);
                header_declare(log, id, size);
                if (size == HW_EVENT_VARIABLE || size == info->min_size)
                        continue;
                log->kinds[id] = KIND_DECLARED | KIND_UNSETTLED | info->min_size;
                log->quick[id] = 0;
        }
        log->join.steps = 0;
        forget_evidence(log);
        log->stage = STAGE_JOIN;
        log->lost_reported = false;
        log->lost_limit = false;
        log->damage = (struct hw_eventlog_damage){ .offset = cursor_offset(&log->cursor) };
        log->lost_mark = log->damage.offset;
        return true;
}

/* Counts bytes as passed, or as lost once it is reported that there may be no run. */
static void account_bytes(struct hw_eventlog *log, uint64_t until)
{
        if (log->lost_reported)
                log->stats.lost_bytes += until - log->lost_mark;
        else
                log->stats.passed_bytes += until - log->lost_mark;
        log->lost_mark = until;
        log->damage.lost_bytes = until - log->damage.offset;
}

static enum step report_doubt(struct hw_eventlog *log)
{
        log->lost_reported = true;
        log->stats.lost_bytes += log->damage.lost_bytes;
        log->stats.passed_bytes -= log->damage.lost_bytes;
        log->stats.resyncs++;
        log->damage.reason = "not an eventlog: it does not begin with hdrb, and no block of one was found";
        return STEP_BAD;
}

enum step join_step(struct hw_eventlog *log)
{
        struct cursor *v = &log->cursor;

        for (;;) {
                account_bytes(log, cursor_offset(v));
                if (!log->lost_reported && log->damage.lost_bytes >= JOIN_DOUBT_BYTES)
                        return report_doubt(log);
                if (!cursor_need(v, 2))
                        return STEP_MORE;
                const enum answer header = header_found(log);
                if (header == ANSWER_YES) {
                        cursor_narrow(&log->cursor);
                        header_begin(log);
                        return STEP_AGAIN;
                }
                const enum answer block = be16(v->p) == HW_BLOCK_MARKER ? block_found(log) : ANSWER_NO;
                if (block == ANSWER_YES) {
                        cursor_narrow(&log->cursor);
                        events_begin(log);
                        log->joined = true;
                        return STEP_RUN;
                }
                if (block == ANSWER_MORE || (header == ANSWER_MORE && !log->input_ended))
                        return STEP_MORE;
                forget_evidence(log);
                v->p++;
        }
}

void join_finish(struct hw_eventlog *log, uint64_t left)
{
        account_bytes(log, cursor_offset(&log->cursor) + left);
        if (!log->lost_reported)
                (void)report_doubt(log);
}
