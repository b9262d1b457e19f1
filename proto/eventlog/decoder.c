/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN. Bytes become events without being copied: an event is a view into
 * the lent input. Two paths lead there.
 *
 * The fast path (read_block) takes the run of events that lie wholly in view
 * and wholly in the current block, so that bounds are those of the block. Per
 * event: one byte of the id gives the whole size (quick[]), that is compared
 * with what is left, the time with the block's times, the cursor is stored, the
 * id counted. Short texts - every tenth event of a user's log, nearly all of a
 * heap profile - have their least size in that table, and a length. Everything
 * else - markers, IPE, unknown or undeclared ids, whatever is odd or cut - has
 * size 0 in that table and goes to the slow path, one event at a time.
 *
 * What bounds the loop is the chain id -> size -> next id. A table of 256 whole
 * sizes instead of a word of flags under 16 bits of id took a byte swap, a mask
 * and an addition out of it: 7.3 to 6.6 ns an event; a bare loop that skips
 * from event to event takes 6.5 (290 MB, 17 M events, docs/PERFORMANCE.md).
 *
 * The slow path (event_step) judges one event:
 *
 *     id not declared, time outside its block's, longer than the block,
 *     a long payload after which no event begins      -> damage (resync.c)
 *     outside any block in a run that has blocks      -> damage of no bytes;
 *                      adrift: no capability and times near the last one's,
 *                      until a block marker comes
 *     payload shorter than its kind needs             -> dropped, counted
 *
 * Times are the strongest check there is: 8 bytes that must lie between the
 * block's start and end. Only GC_START, GC_END and Eden's CREATE_MACHINE carry
 * times of their own, which may be older than their block. Runs without any
 * marker (other writers) are not checked by time.
 *
 * Only a call that delivers nothing returns NEED_MORE, because the cut tail then
 * moves into the carry, where events that were just delivered may lie.
 *
 * Costs: one table of 256 KiB and one of 512 KiB, of which pages are only
 * touched where ids are used; a carry of 128 KiB, touched as far as events are
 * cut. Rejected: a callback per event (an indirect call costs as much as the
 * decoding), decoded structs (most fields are never read).
 */
#include <stdlib.h>

#include "proto/base/bytes.h"
#include "proto/eventlog/limits.h"
#include "proto/eventlog/internal.h"

#define LONG_PAYLOAD 128u /* from here on the event after it is checked, too */

/* -------------------------------------------------------------- fast path */

/* The whole size of a plain event with a length, if it is short and its first `left` bytes are here; else 0. */
static inline uint32_t short_text(const uint8_t *p, size_t left, uint32_t least)
{
        uint32_t size = left < EVENT_HEAD_VARIABLE_BYTES ? 0 : be16(p + EVENT_HEAD_BYTES);

        return size < least || size >= LONG_PAYLOAD ? 0 : EVENT_HEAD_VARIABLE_BYTES + size;
}

/* The events at `p` that are plain, in view and in the block; stops at the first that is not, or at `max`. */
static size_t read_block(struct hw_eventlog *log, struct hw_event *events, size_t max)
{
        const uint8_t *const start = log->cursor.p;
        const uint64_t offset = cursor_offset(&log->cursor);
        const uint64_t begin_ns = log->block.begin_ns, span_ns = log->block.span_ns;
        const uint16_t cap = log->block.cap;
        if (offset >= log->block.end_offset)
                return 0;
        size_t left = (size_t)(log->cursor.end - start);
        if (log->block.end_offset - offset < left)
                left = (size_t)(log->block.end_offset - offset);

        const uint8_t *p = start;
        struct hw_event *e = events, *const full = events + max;
        while (e < full && left >= EVENT_HEAD_BYTES) {
                const uint8_t id = p[1];
                uint32_t bytes = p[0] == 0 ? log->quick[id] : 0, head = EVENT_HEAD_BYTES;
                uint64_t time_ns = be64(p + 2);
                if (bytes & QUICK_VARIABLE) {
                        bytes = short_text(p, left, bytes & QUICK_SIZE);
                        head = EVENT_HEAD_VARIABLE_BYTES;
                }
                if (bytes == 0 || bytes > left || time_ns - begin_ns > span_ns)
                        break;
                *e++ = (struct hw_event){
                        .time_ns = time_ns,
                        .offset = offset + (uint64_t)(p - start),
                        .payload = p + head,
                        .size = bytes - head,
                        .id = id,
                        .cap = cap,
                };
                log->quick_counts[id]++;
                p += bytes;
                left -= bytes;
        }
        log->cursor.p = p;
        if (e > events) {
                log->last_ns = e[-1].time_ns;
                log->stats.events += (uint64_t)(e - events);
        }
        return (size_t)(e - events);
}

/* ----------------------------------------------------------------- frames */

enum answer frame_read(struct hw_eventlog *log, size_t at, struct frame *ret_frame)
{
        struct cursor *v = &log->cursor;
        if (!cursor_need(v, at + 2))
                return ANSWER_MORE;
        uint16_t id = be16(v->p + at);
        uint32_t kind = log->kinds[id];
        if (kind == 0)
                return ANSWER_NO;
        uint32_t head = kind & KIND_VARIABLE ? EVENT_HEAD_VARIABLE_BYTES : EVENT_HEAD_BYTES;
        if (!cursor_need(v, at + head))
                return ANSWER_MORE;
        const uint64_t time_ns = be64(v->p + at + 2);
        if (id == 0 && time_ns == 0) { /* thread 0, which there is never, created at time 0: a hole in the file */
                if (!cursor_need(v, at + NO_EVENT_BYTES))
                        return ANSWER_MORE;
                if (be32(v->p + at + EVENT_HEAD_BYTES) == 0)
                        return ANSWER_NO;
        }
        *ret_frame = (struct frame){
                .offset = cursor_offset(v) + at,
                .time_ns = time_ns,
                .head = head,
                .size = kind & KIND_VARIABLE ? be16(v->p + at + 10) : kind & KIND_SIZE,
                .kind = kind,
                .id = id,
        };
        return ANSWER_YES;
}

bool frame_in_bytes(const struct block *block, const struct frame *frame)
{
        uint32_t bytes = frame->head + frame->size - (frame->kind & KIND_IPE ? 1 : 0);
        return frame->offset < block->end_offset && bytes <= block->end_offset - frame->offset;
}

bool frame_in_block(const struct block *block, const struct frame *frame)
{
        if (!frame_in_bytes(block, frame))
                return false;
        if (frame->time_ns - block->begin_ns <= block->span_ns)
                return true;
        return frame->kind & KIND_EARLY && frame->time_ns < block->begin_ns &&
               block->begin_ns - frame->time_ns <= EARLY_NS;
}

enum answer marker_read(struct hw_eventlog *log, size_t at, const struct frame *frame, struct block *ret_block)
{
        if (!cursor_need(&log->cursor, at + frame->head + frame->size))
                return ANSWER_MORE;
        const uint8_t *p = log->cursor.p + at + frame->head;
        uint32_t bytes = be32(p);
        uint64_t end_ns = be64(p + 4);
        uint16_t cap = be16(p + 12);
        if (bytes < frame->head + frame->size || bytes > LIMIT_BLOCK_BYTES || end_ns < frame->time_ns ||
            (cap >= LIMIT_CAPS && cap != HW_CAP_NONE))
                return ANSWER_NO;
        *ret_block = (struct block){
                .end_offset = frame->offset + bytes,
                .begin_ns = frame->time_ns,
                .span_ns = end_ns - frame->time_ns,
                .cap = cap,
        };
        return ANSWER_YES;
}

/* -------------------------------------------------------------- slow path */

/* Whether the stream is inside the block in force. */
static bool in_block(const struct hw_eventlog *log, uint64_t offset)
{
        return offset < log->block.end_offset;
}

/* Something is wrong, but no byte is skipped for it. */
static enum step report_damage(struct hw_eventlog *log, uint64_t offset, const char *reason)
{
        log->damage = (struct hw_eventlog_damage){ .offset = offset, .reason = reason };
        log->stats.resyncs++;
        return STEP_BAD;
}

/* Accepts the event at `p`, and delivers it unless its payload is too short for its kind. */
static enum step accept_event(struct hw_eventlog *log, const struct frame *f, uint32_t size, struct hw_event *ret_event)
{
        const uint8_t *payload = log->cursor.p + f->head;
        log->cursor.p = payload + size;
        if (!(f->kind & KIND_MARKER))
                log->last_ns = f->time_ns;
        if (f->kind & KIND_DROP || (f->kind & KIND_VARIABLE && size < (f->kind & KIND_SIZE))) {
                log->stats.short_payload++;
                return STEP_AGAIN;
        }
        *ret_event = (struct hw_event){
                .time_ns = f->time_ns,
                .offset = f->offset,
                .payload = payload,
                .size = size,
                .id = f->id,
                .cap = in_block(log, f->offset) ? log->block.cap : HW_CAP_NONE,
        };
        log->stats.events++;
        log->stats.unknown += f->kind & KIND_UNKNOWN ? 1 : 0;
        ++*(f->id < HW_QUICK_IDS ? &log->quick_counts[f->id] : &log->counts[f->id]);
        return STEP_EVENT;
}

/* An id that the header does not declare: a new header, or damage. */
static enum step undeclared_step(struct hw_eventlog *log, uint64_t offset)
{
        if (be16(log->cursor.p) == HEADER_BEGIN >> 16) {
                if (!cursor_need(&log->cursor, 4))
                        return STEP_MORE;
                if (be32(log->cursor.p) == HEADER_BEGIN) {
                        header_begin(log);
                        return STEP_AGAIN;
                }
        }
        return lose_bytes(log, offset,
                          be16(log->cursor.p) == 0 && log->kinds[0] ? "zeros where an event should begin"
                                                                    : "event id that the header does not declare",
                          false);
}

/* Opens a block. Its marker's capability is the block's. */
static enum step marker_step(struct hw_eventlog *log, const struct frame *f, struct hw_event *ret_event)
{
        struct block block;
        bool nested = in_block(log, f->offset);
        switch (marker_read(log, 0, f, &block)) {
        case ANSWER_MORE:
                return STEP_MORE;
        case ANSWER_NO:
                return lose_bytes(log, f->offset, "block marker with an impossible size, time or capability",
                                  be32(log->cursor.p + f->head) > LIMIT_BLOCK_BYTES);
        case ANSWER_YES:
                break;
        }
        if (nested) {
                log->block = (struct block){ .cap = HW_CAP_NONE };
                return report_damage(log, f->offset, "block ended before its size");
        }
        log->block = block;
        log->has_blocks = true;
        log->adrift = false;
        if (f->time_ns < log->floor_ns)
                log->floor_ns = f->time_ns;
        log->stats.blocks++;
        return accept_event(log, f, f->size, ret_event);
}

/* Why the event cannot be where it is, or NULL. */
static const char *find_misplaced(const struct hw_eventlog *log, const struct frame *f)
{
        if (in_block(log, f->offset))
                return frame_in_block(&log->block, f)
                               ? NULL
                               : "an event longer than its block, or whose time is not its block's";
        if (log->adrift && !frame_near(log, f))
                return "event outside blocks and of another time";
        return NULL;
}

/* The payload's size, once the whole event is in view. */
static enum answer whole_event(struct hw_eventlog *log, const struct frame *f, uint32_t *ret_size)
{
        *ret_size = f->size;
        if (f->kind & KIND_IPE && ipe_size(log, f, ret_size) == ANSWER_MORE)
                return ANSWER_MORE;
        if (f->kind & KIND_UNSETTLED)
                return settle_size(log, f, ret_size);
        if (!cursor_need(&log->cursor, f->head + *ret_size))
                return ANSWER_MORE;
        if (f->kind & KIND_VARIABLE && *ret_size >= LONG_PAYLOAD && (log->has_blocks || log->adrift))
                return next_fits(log, f->head + *ret_size, &log->block);
        return ANSWER_YES;
}

/* One event of STAGE_EVENTS, of any kind. */
static enum step event_step(struct hw_eventlog *log, struct hw_event *ret_event)
{
        struct frame f;
        uint64_t offset = cursor_offset(&log->cursor);
        if (!cursor_need(&log->cursor, 2))
                return STEP_MORE;
        if (be16(log->cursor.p) == DATA_END) {
                /* The end marker: after the last block (<= 9.0) or the last two bytes in it (>= 9.2). */
                if (in_block(log, offset) && log->block.end_offset - offset != 2)
                        return lose_bytes(log, offset, "end marker in the middle of a block", false);
                log->cursor.p += 2;
                log->block = (struct block){ .cap = HW_CAP_NONE };
                log->stage = STAGE_END;
                return STEP_END;
        }
        switch (frame_read(log, 0, &f)) {
        case ANSWER_MORE:
                return STEP_MORE;
        case ANSWER_NO:
                return undeclared_step(log, offset);
        case ANSWER_YES:
                break;
        }
        if (f.kind & KIND_MARKER)
                return marker_step(log, &f, ret_event);
        if (log->has_blocks && !log->adrift && !in_block(log, offset)) {
                log->adrift = true;
                return report_damage(log, offset, "event outside blocks: a block's size was wrong");
        }
        const char *reason = find_misplaced(log, &f);
        if (reason)
                return lose_bytes(log, offset, reason, false);
        uint32_t size;
        switch (whole_event(log, &f, &size)) {
        case ANSWER_MORE:
                return STEP_MORE;
        case ANSWER_NO:
                return lose_bytes(log, offset, "no event begins where a long payload ends", false);
        case ANSWER_YES:
                break;
        }
        return accept_event(log, &f, size, ret_event);
}

static enum step one_step(struct hw_eventlog *log, struct hw_event *ret_event)
{
        switch (log->stage) {
        case STAGE_START:
        case STAGE_END:
                return header_expect(log);
        case STAGE_HEADER:
                return header_step(log);
        case STAGE_LOST:
                return lost_step(log);
        case STAGE_JOIN:
                return join_step(log);
        case STAGE_EVENTS:
                break;
        }
        return event_step(log, ret_event);
}

/* -------------------------------------------------------------- interface */

struct hw_eventlog *hw_eventlog_new(void)
{
        struct hw_eventlog *log = calloc(1, sizeof(*log));
        if (!log)
                return NULL;
        log->cursor.narrow = log->narrow;
        hw_eventlog_reset(log);
        return log;
}

void hw_eventlog_destroy(struct hw_eventlog **log)
{
        if (*log)
                cursor_reset(&(*log)->cursor);
        free(*log);
        *log = NULL;
}

void hw_eventlog_reset(struct hw_eventlog *log)
{
        cursor_reset(&log->cursor);
        header_forget(log);
        log->stage = STAGE_START;
        log->block = (struct block){ .cap = HW_CAP_NONE };
        log->has_blocks = log->adrift = false;
        log->lost_mark = 0;
        log->input_ended = false;
}

void hw_eventlog_allow_join(struct hw_eventlog *log)
{
        log->may_join = true;
}

bool hw_eventlog_searching(const struct hw_eventlog *log)
{
        return log->stage == STAGE_JOIN;
}

bool hw_eventlog_joined(const struct hw_eventlog *log)
{
        return log->joined;
}

void hw_eventlog_input(struct hw_eventlog *log, const void *data, size_t size)
{
        cursor_input(&log->cursor, data, size);
        log->stats.bytes += size;
}

void hw_eventlog_input_end(struct hw_eventlog *log)
{
        log->input_ended = true;
}

enum hw_eventlog_status hw_eventlog_read(struct hw_eventlog *log, struct hw_event *events, size_t max,
                                         size_t *ret_count)
{
        size_t n = 0;
        enum hw_eventlog_status status = HW_EVENTLOG_OK;
        while (n < max && status == HW_EVENTLOG_OK) {
                if (log->stage == STAGE_EVENTS) {
                        n += read_block(log, events + n, max - n);
                        if (n == max)
                                break;
                }
                switch (one_step(log, events + n)) {
                case STEP_EVENT:
                        n++;
                        break;
                case STEP_AGAIN:
                        break;
                case STEP_RUN:
                        status = HW_EVENTLOG_RUN;
                        break;
                case STEP_END:
                        status = HW_EVENTLOG_END;
                        break;
                case STEP_BAD:
                        status = HW_EVENTLOG_BAD;
                        break;
                case STEP_LIMIT:
                        status = HW_EVENTLOG_LIMIT;
                        break;
                case STEP_MORE:
                        *ret_count = n;
                        if (n > 0)
                                return HW_EVENTLOG_OK;
                        cursor_stash(&log->cursor);
                        return HW_EVENTLOG_NEED_MORE;
                }
        }
        *ret_count = n;
        return status;
}

static uint64_t bytes_left(const struct cursor *v)
{
        return (uint64_t)(v->end - v->p) + (uint64_t)(v->input_end - v->input_next);
}

bool hw_eventlog_finish(struct hw_eventlog *log, uint64_t *ret_left)
{
        struct cursor *v = &log->cursor;
        const bool ended = log->stage == STAGE_END;
        uint64_t left = bytes_left(v);
        *ret_left = left;
        if (ended && left > 0 && !header_is_expected(log)) {
                (void)lose_bytes(log, cursor_offset(v), after_end, false);
                left = bytes_left(v);
        }
        if (log->stage == STAGE_LOST)
                lost_finish(log, left);
        else if (log->stage == STAGE_JOIN)
                join_finish(log, left);
        return ended || (log->stage == STAGE_START && left == 0);
}

const struct hw_eventlog_damage *hw_eventlog_damage(const struct hw_eventlog *log)
{
        return &log->damage;
}

const struct hw_eventlog_stats *hw_eventlog_stats(const struct hw_eventlog *log)
{
        return &log->stats;
}

uint64_t hw_eventlog_count(const struct hw_eventlog *log, uint16_t id)
{
        return id < HW_QUICK_IDS ? log->quick_counts[id] : log->counts[id];
}

bool hw_eventlog_declares(const struct hw_eventlog *log, uint16_t id)
{
        return log->kinds[id] != 0;
}

int32_t hw_eventlog_declared_size(const struct hw_eventlog *log, uint16_t id)
{
        uint32_t kind = log->kinds[id];

        if (kind == 0)
                return -1;
        if (kind & KIND_UNSETTLED)
                return known_size(id);
        return kind & KIND_VARIABLE ? (int32_t)HW_EVENT_VARIABLE : (int32_t)(kind & KIND_SIZE);
}
