/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: events are copied in stretches; of each event only size, time and id
 * are read. The decoder has checked the bytes: a size that leads beyond them
 * cannot occur, and would end the stretch.
 *
 * The marker of a block is copied when it comes and its size set when the block
 * is closed. A batch that is taken in the middle of a block ends it there, with
 * the time of its newest event, and the next event opens it again: so readers
 * that take a block's end as a watermark are not misled.
 */
#include "daemon/record/assembler.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/rts_options.h"
#include "proto/eventlog/stack_message.h"
#include "proto/eventlog/writer.h"

#define HEAD_FIXED    10u
#define HEAD_VARIABLE 12u

/* What happens to an event, by id. */
enum fate {
        PLAIN = 0,
        MARKER,
        ALWAYS,    /* moved to the definitions */
        BEFORE,    /* stays in the stream and is copied to the definitions */
        MESSAGE,   /* ALWAYS, if it names frames of sampled stacks; else PLAIN */
        ARGUMENTS, /* only the program's name and its RTS options stay, unless all are wanted */
        NEVER
};

static const uint8_t fates[HW_KNOWN_IDS] = {
        [HW_BLOCK_MARKER] = MARKER,
        [HW_PROGRAM_ENV] = NEVER,
        [HW_PROGRAM_ARGS] = ARGUMENTS,
        [HW_IPE] = ALWAYS,
        [HW_HEAP_PROF_COST_CENTRE] = ALWAYS,
        [HW_TICKY_COUNTER_DEF] = ALWAYS,
        [HW_CAPSET_CREATE] = BEFORE,
        [HW_CAPSET_DELETE] = BEFORE,
        [HW_CAPSET_ASSIGN_CAP] = BEFORE,
        [HW_CAPSET_REMOVE_CAP] = BEFORE,
        [HW_RTS_IDENTIFIER] = BEFORE,
        [HW_OSPROCESS_PID] = BEFORE,
        [HW_OSPROCESS_PPID] = BEFORE,
        [HW_WALL_CLOCK_TIME] = BEFORE,
        [HW_CAP_CREATE] = BEFORE,
        [HW_CAP_DELETE] = BEFORE,
        [HW_CAP_DISABLE] = BEFORE,
        [HW_CAP_ENABLE] = BEFORE,
        [HW_HEAP_INFO_GHC] = BEFORE,
        [HW_HEAP_PROF_BEGIN] = BEFORE,
        [HW_PROF_BEGIN] = BEFORE,
        [HW_PERF_NAME] = BEFORE,
        [HW_INTERN_STRING] = BEFORE,
        [HW_THREAD_LABEL] = BEFORE,
        [HW_USER_BINARY_MSG] = MESSAGE,
};

/* ------------------------------------------------------------------ blocks */

/* The stream's memory is large and used again and again; definitions are few. */
static struct blocks_spare *spare_for(const struct assembler *a, const struct whole_blocks *b)
{
        return b == &a->stream ? a->spare : NULL;
}

static void append_bytes(struct assembler *a, struct whole_blocks *b, const uint8_t *bytes, size_t size)
{
        if (!blocks_append(b, spare_for(a, b), bytes, size))
                a->lost_bytes += size;
}

static bool open_block(struct assembler *a, struct whole_blocks *b, const uint8_t marker[BLOCK_MARKER_BYTES],
                       uint64_t begin_ns)
{
        if (blocks_open(b, spare_for(a, b), marker, begin_ns))
                return true;
        a->lost_bytes += BLOCK_MARKER_BYTES;
        return false;
}

/* The end of the current block: as in its marker, if it has one. */
static uint64_t block_end_ns(const struct assembler *a)
{
        return a->has_marker ? block_marker_end_ns(a->marker) : a->newest_ns;
}

/* ------------------------------------------------------------------ events */

static uint32_t head_of(const struct assembler *a, uint16_t id)
{
        return a->sizes[id] == HW_EVENT_VARIABLE ? HEAD_VARIABLE : HEAD_FIXED;
}

/* Opens a block for an event of that time, unless one is open. */
static bool need_block(struct assembler *a, uint64_t time_ns)
{
        if (a->stream.open != BLOCKS_CLOSED)
                return true;
        if (!a->resume) { /* events outside of blocks: of old runtime systems, after damage or after a gap */
                block_marker_write(a->marker, time_ns, time_ns, BLOCK_MARKER_BYTES, a->cap);
                a->has_marker = false;
                a->marker_end = UINT64_MAX;
                a->oldest_ns = a->newest_ns = time_ns;
        }
        a->resume = false;
        return open_block(a, &a->stream, a->marker, block_marker_begin_ns(a->marker));
}

/* Events of one block, with times between these two. */
static void copy_events(struct assembler *a, const uint8_t *bytes, size_t size, uint64_t oldest_ns, uint64_t newest_ns)
{
        if (size == 0)
                return;
        if (!need_block(a, oldest_ns)) {
                a->lost_bytes += size;
                return;
        }
        append_bytes(a, &a->stream, bytes, size);
        if (newest_ns > a->newest_ns)
                a->newest_ns = newest_ns;
        if (oldest_ns < a->oldest_ns)
                a->oldest_ns = oldest_ns;
        if (!a->has_marker) {
                blocks_set_begin(&a->stream, a->oldest_ns);
                blocks_widen(&a->stream, a->oldest_ns, a->newest_ns);
        }
}

/* The current block is over: if it was taken in the middle, its end still has to be written. */
static void end_block(struct assembler *a)
{
        if (a->resume && a->has_marker)
                (void)open_block(a, &a->stream, a->marker, block_marker_begin_ns(a->marker));
        a->resume = false;
        blocks_close(&a->stream, block_end_ns(a));
}

static void define_event(struct assembler *a, struct whole_blocks *b, const struct hw_event *e)
{
        const uint32_t head = head_of(a, e->id);
        uint8_t marker[BLOCK_MARKER_BYTES];

        if (b->open == BLOCKS_CLOSED) {
                block_marker_write(marker, e->time_ns, e->time_ns, BLOCK_MARKER_BYTES, HW_CAP_NONE);
                if (!open_block(a, b, marker, e->time_ns)) {
                        a->lost_bytes += head + e->size;
                        return;
                }
        }
        blocks_widen(b, e->time_ns, e->time_ns);
        blocks_set_begin(b, b->begin_ns);
        append_bytes(a, b, e->payload - head, head + e->size);
}

/* Keeps the event that names the program and its arguments, without those that may be secrets. */
static void keep_some_arguments(struct assembler *a, const struct hw_event *e)
{
        uint8_t *copy = malloc(HW_EVENT_MAX_BYTES);
        size_t n = HEAD_VARIABLE + 4;
        struct rts_options state = { .inside = false };

        if (!copy || e->size < 4) {
                a->lost_bytes += copy ? 0 : HEAD_VARIABLE + e->size;
                free(copy);
                return;
        }
        memcpy(copy, e->payload - HEAD_VARIABLE, n);
        for (size_t at = 4; at < e->size;) {
                const char *argument = (const char *)e->payload + at;
                size_t length = strnlen(argument, e->size - at);
                if (length == e->size - at)
                        break; /* not terminated: cut off */
                if (at == 4 || rts_argument(&state, argument, length) != RTS_NONE) {
                        memcpy(copy + n, argument, length + 1);
                        n += length + 1;
                }
                at += length + 1;
        }
        put_be(copy + HEAD_FIXED, n - HEAD_VARIABLE, 2);
        struct hw_event kept = *e;
        kept.payload = copy + HEAD_VARIABLE;
        kept.size = (uint32_t)(n - HEAD_VARIABLE);
        define_event(a, &a->before, &kept);
        copy_events(a, copy, n, e->time_ns, e->time_ns);
        free(copy);
}

/* The event at `p`, where `left` bytes remain. False: it is longer. */
static inline bool event_at(const struct assembler *a, const uint8_t *p, size_t left, struct hw_event *ret)
{
        if (left < HEAD_FIXED)
                return false;
        *ret = (struct hw_event){ .id = be16(p), .time_ns = be64(p + 2), .payload = p + HEAD_FIXED };
        ret->size = a->sizes[ret->id];
        if (ret->size != HW_EVENT_VARIABLE)
                return ret->size <= left - HEAD_FIXED;
        if (left < HEAD_VARIABLE)
                return false;
        ret->payload = p + HEAD_VARIABLE;
        ret->size = be16(p + HEAD_FIXED);
        if (ret->id == HW_IPE && ret->size > left - HEAD_VARIABLE)
                ret->size = (uint32_t)(left - HEAD_VARIABLE); /* some writers declare one byte too many */
        return ret->size <= left - HEAD_VARIABLE;
}

static enum fate fate_of(const struct assembler *a, const struct hw_event *e)
{
        enum fate fate = e->id < HW_KNOWN_IDS ? (enum fate)fates[e->id] : PLAIN;

        if (fate == PLAIN)
                return fate;
        if (fate == MESSAGE)
                return stack_message_defines(e->payload, e->size) ? ALWAYS : PLAIN;
        if (e->size < hw_event_info(e->id)->min_size || (fate == ARGUMENTS && head_of(a, e->id) != HEAD_VARIABLE))
                return NEVER;
        return fate == ARGUMENTS && a->keep_arguments ? BEFORE : fate;
}

/* Handles an event that is not just copied. */
static void handle_special(struct assembler *a, const struct hw_event *e, uint64_t offset, enum fate fate)
{
        switch (fate) {
        case MARKER:
                end_block(a);
                memcpy(a->marker, e->payload - HEAD_FIXED, BLOCK_MARKER_BYTES);
                a->has_marker = true;
                a->marker_end = offset + hw_event_u32(e, 0);
                a->oldest_ns = a->newest_ns = e->time_ns;
                (void)open_block(a, &a->stream, a->marker, e->time_ns);
                break;
        case ALWAYS:
                define_event(a, &a->always, e);
                break;
        case ARGUMENTS:
                keep_some_arguments(a, e);
                break;
        case PLAIN:
        case BEFORE:
        case MESSAGE:
        case NEVER:
                break;
        }
}

/* The end of the current block, if known and inside the stretch; otherwise the end of the stretch. */
static const uint8_t *end_of_block(const struct assembler *a, const struct event_span *s, const uint8_t *p)
{
        const uint64_t offset = s->offset + (uint64_t)(p - s->bytes);

        if (!a->has_marker || a->marker_end >= s->offset + s->size)
                return s->bytes + s->size;
        return a->marker_end > offset ? s->bytes + (a->marker_end - s->offset) : p;
}

/* The following events are in no known block. */
static void leave_block(struct assembler *a, uint16_t cap)
{
        end_block(a);
        a->has_marker = false;
        a->cap = cap;
}

void assembler_events(struct assembler *a, const struct event_span *s)
{
        const uint8_t *const end = s->bytes + s->size, *begin = s->bytes, *p = begin, *inside;
        uint64_t oldest_ns = UINT64_MAX, newest_ns = 0;
        struct hw_event e;

        if (!a->has_marker && s->cap != a->cap)
                leave_block(a, s->cap);
        inside = end_of_block(a, s, p);
        for (; event_at(a, p, (size_t)(end - p), &e); p = e.payload + e.size) {
                const enum fate fate = fate_of(a, &e);
                const bool special = fate != PLAIN && fate != BEFORE;
                if (special || p >= inside) {
                        copy_events(a, begin, (size_t)(p - begin), oldest_ns, newest_ns);
                        begin = special ? e.payload + e.size : p;
                        oldest_ns = UINT64_MAX;
                        newest_ns = 0;
                        if (p >= inside && fate != MARKER)
                                leave_block(a, HW_CAP_NONE);
                        handle_special(a, &e, s->offset + (uint64_t)(p - s->bytes), fate);
                        inside = end_of_block(a, s, p);
                }
                if (special)
                        continue;
                if (fate == BEFORE)
                        define_event(a, &a->before, &e);
                oldest_ns = e.time_ns < oldest_ns ? e.time_ns : oldest_ns;
                newest_ns = e.time_ns > newest_ns ? e.time_ns : newest_ns;
        }
        copy_events(a, begin, (size_t)(p - begin), oldest_ns, newest_ns);
        a->lost_bytes += (uint64_t)(end - p);
        a->offset = s->offset + s->size;
}

void assembler_definitions(struct assembler *a, const struct event_span *s)
{
        const uint8_t *const end = s->bytes + s->size;
        struct hw_event e;

        for (const uint8_t *p = s->bytes; event_at(a, p, (size_t)(end - p), &e); p = e.payload + e.size) {
                const enum fate fate = fate_of(a, &e);
                if (fate == ALWAYS || fate == BEFORE)
                        define_event(a, &a->always, &e);
        }
}

bool assembler_may_define(uint16_t id)
{
        return id < HW_KNOWN_IDS && (fates[id] == ALWAYS || fates[id] == BEFORE || fates[id] == MESSAGE);
}

bool assembler_is_definition(const struct hw_event *e)
{
        return assembler_may_define(e->id) && (fates[e->id] != MESSAGE || stack_message_defines(e->payload, e->size));
}

void assembler_gap(struct assembler *a)
{
        a->resume = a->has_marker = false;
        a->marker_end = UINT64_MAX;
}

void assembler_end(struct assembler *a, bool marked, bool lost)
{
        static const uint8_t end_marker[2] = { 0xff, 0xff };

        end_block(a);
        if (lost && !marked && a->stream.n == 0 && need_block(a, a->newest_ns))
                end_block(a);
        if (!marked)
                return;
        if (a->stream.n == 0)
                a->stream.begin_ns = a->stream.end_ns = a->newest_ns;
        append_bytes(a, &a->stream, end_marker, sizeof(end_marker));
}

/* ------------------------------------------------------------------- whole */

bool assembler_init(struct assembler *a, const struct hw_eventlog *log, bool keep_arguments)
{
        *a = (struct assembler){ .stream = BLOCKS_NONE, .always = BLOCKS_NONE, .before = BLOCKS_NONE };
        a->keep_arguments = keep_arguments;
        a->sizes = calloc(HW_EVENT_IDS, sizeof(*a->sizes));
        if (!a->sizes)
                return false;
        for (unsigned id = 0; id < HW_EVENT_IDS; id++) {
                int32_t size = hw_eventlog_declared_size(log, (uint16_t)id);
                if (size > 0)
                        a->sizes[id] = (uint16_t)size;
        }
        a->marker_end = UINT64_MAX;
        return true;
}

uint8_t *assembler_header(const struct hw_eventlog *log, size_t *ret_size)
{
        struct eventlog_writer *w = malloc(sizeof(*w));
        uint8_t *header = NULL;

        if (!w)
                return NULL;
        w->n = 0;
        w->failed = false;
        writer_header_begin(w);
        for (unsigned id = 0; id < HW_EVENT_IDS - 1; id++) {
                int32_t size = hw_eventlog_declared_size(log, (uint16_t)id);
                const struct hw_event_info *info = hw_event_info((uint16_t)id);
                if (size >= 0)
                        writer_type(w, (uint16_t)id, (uint16_t)size, info ? info->name : "unknown to heapwatch");
        }
        writer_header_end(w);
        if (!w->failed && (header = malloc(w->n))) {
                memcpy(header, w->data, w->n);
                *ret_size = w->n;
        }
        free(w);
        return header;
}

struct whole_blocks assembler_detach(struct assembler *a, struct whole_blocks *which)
{
        struct whole_blocks taken;

        if (which != &a->stream) {
                blocks_close(which, which->end_ns);
        } else if (which->open != BLOCKS_CLOSED) {
                a->resume = a->offset < a->marker_end;
                blocks_close(which, a->resume ? a->newest_ns : block_end_ns(a));
        }
        taken = *which;
        *which = BLOCKS_NONE;
        return taken;
}

void assembler_done(struct assembler *a)
{
        free(a->stream.bytes);
        free(a->always.bytes);
        free(a->before.bytes);
        free(a->sizes);
        *a = (struct assembler){ .stream = BLOCKS_NONE, .always = BLOCKS_NONE, .before = BLOCKS_NONE };
}
