/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * internal.h - what the files of the decoder share.
 *
 *     header.c   the event-type table            -> kinds[]
 *     decoder.c  events, blocks, the fast path
 *     ipe.c      where event 169 ends
 *     resync.c   finding events again after damage
 *     join.c     finding a run's blocks without its header
 *     cursor.c   bytes at hand
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwatch/eventlog.h"
#include "proto/eventlog/limits.h"

/*
 * cursor.c: the bytes at hand, in one piece, whatever the pieces they came in.
 *
 * The decoder reads at `p`, up to `end`, and asks cursor_need() for more than is
 * there. Normally these point into the lent input: nothing is copied. Only
 * what is cut by a piece's end is carried over (cursor_stash) and completed
 * from the next piece; as soon as `p` has left the carried bytes, the cursor is
 * the input itself again.
 */

/* The most that cursor_need may request: an event, and the start of the next one (a block marker is 24 bytes). */
#define CURSOR_NEED_MAX (HW_EVENT_MAX_BYTES + 32u)

/* While it is wide: a block, and the start of the next one. */
#define CURSOR_WIDE_NEED_MAX (JOIN_BLOCK_BYTES + CURSOR_NEED_MAX)

struct cursor {
        const uint8_t *p, *end; /* bytes at hand */
        const uint8_t *origin;  /* where `origin_offset` of the stream lies: start of the carry or the input */
        uint64_t origin_offset;
        const uint8_t *input;      /* the lent piece */
        const uint8_t *input_next; /* its bytes from here on are not at hand yet */
        const uint8_t *input_end;
        size_t carried;  /* of earlier pieces, at the carry's start; 0: the cursor is the input */
        uint8_t *carry;  /* `narrow` or `wide` */
        uint8_t *wide;   /* of 2 * CURSOR_WIDE_NEED_MAX; owned; NULL: not wide */
        bool narrows;    /* it no longer needs to be wide */
        uint8_t *narrow; /* CURSOR_NARROW_BYTES, the owner's */
};

#define CURSOR_NARROW_BYTES (2 * CURSOR_NEED_MAX)

/* Empty, at stream offset 0. A new one must be zeroed but for `narrow`. */
void cursor_reset(struct cursor *v);

/* From now on cursor_need may request more. False when out of memory. */
bool cursor_widen(struct cursor *v);

/* Ends that; the memory is freed by the next cursor_stash. */
void cursor_narrow(struct cursor *v);

/* Lends the next piece. Only after cursor_stash. */
void cursor_input(struct cursor *v, const uint8_t *data, size_t size);

/* The slow half of cursor_need. */
bool cursor_more(struct cursor *v, size_t n);

/* Keeps the bytes at hand, before the input goes away. Only after a refused cursor_need. Moves what `p` points to. */
void cursor_stash(struct cursor *v);

/*
 * Whether `n` bytes (at most CURSOR_NEED_MAX, or CURSOR_WIDE_NEED_MAX) are at hand at `p`. May move `p`; earlier
 * pointers stay readable.
 */
static inline bool cursor_need(struct cursor *v, size_t n)
{
        return (size_t)(v->end - v->p) >= n || cursor_more(v, n);
}

/* Stream offset of `p`. */
static inline uint64_t cursor_offset(const struct cursor *v)
{
        return v->origin_offset + (uint64_t)(v->p - v->origin);
}

/* How much older than its block an event with a time of its own may be. */
#define EARLY_NS UINT64_C(30000000000)

#define EVENT_HEAD_BYTES          10u     /* id and time */
#define EVENT_HEAD_VARIABLE_BYTES 12u     /* and the length */
#define DATA_END                  0xffffu /* in place of an id */
#define NO_EVENT_BYTES            14u     /* of zeros: see frame_read */
#define STRAY_MARKER_BYTES        24u     /* a block marker may precede a restarted log's header */

/* Stream markers, big-endian. */
#define HEADER_BEGIN 0x68647262u /* hdrb */
#define TYPES_BEGIN  0x68657462u /* hetb */
#define TYPE_BEGIN   0x65746200u /* etb\0 */
#define TYPE_END     0x65746500u /* ete\0 */
#define TYPES_END    0x68657465u /* hete */
#define HEADER_END   0x68647265u /* hdre */
#define DATA_BEGIN   0x64617462u /* datb */

/*
 * What the header says about an id, in one word: bits 0-15 the payload's size
 * (fixed) or the least useful size (variable), above them flags. 0: not
 * declared.
 */
#define KIND_SIZE     0xffffu
#define KIND_DECLARED 0x10000u
#define KIND_PLAIN    0x20000u  /* known, nothing special: what the fast path takes */
#define KIND_VARIABLE 0x40000u  /* a length follows the time */
#define KIND_UNKNOWN  0x80000u  /* not in the event table */
#define KIND_DROP     0x100000u /* declared shorter than its kind needs */
#define KIND_MARKER   0x200000u /* opens a block */
#define KIND_IPE      0x400000u /* announces a wrong length */
#define KIND_EARLY    0x800000u /* carries a time of its own, which may be before its block's start */
#define KIND_UNSETTLED                                                                                                 \
        0x1000000u /* of a run without its header: KIND_SIZE bytes or more, depending on the program's release */

/* Of struct hw_eventlog, quick[]. */
#define QUICK_SIZE     0x7fffu
#define QUICK_VARIABLE 0x8000u /* a length follows the time; QUICK_SIZE is the least payload then */

#define HW_QUICK_IDS 256u /* plain ids are below it */

enum stage {
        STAGE_START, /* nothing but a header may come */
        STAGE_HEADER,
        STAGE_EVENTS,
        STAGE_END,  /* after the end marker */
        STAGE_LOST, /* skipping damage */
        STAGE_JOIN  /* joined in the middle: searching for a block */
};

enum header_item {
        ITEM_TYPES_BEGIN,
        ITEM_TYPE, /* a type's record, or the end of all */
        ITEM_TYPE_FIXED,
        ITEM_TYPE_DESCRIPTION,
        ITEM_TYPE_EXTENSION_SIZE,
        ITEM_TYPE_EXTENSION,
        ITEM_TYPE_END,
        ITEM_HEADER_END,
        ITEM_DATA_BEGIN
};

/* Result of one step of a stage. */
enum step {
        STEP_EVENT, /* one event is delivered */
        STEP_AGAIN, /* go on */
        STEP_MORE,  /* bytes are missing */
        STEP_RUN,
        STEP_END,
        STEP_BAD,
        STEP_LIMIT
};

enum answer {
        ANSWER_NO,
        ANSWER_YES,
        ANSWER_MORE /* bytes are missing */
};

/* The block in force. Closed: end_offset 0, cap none. */
struct block {
        uint64_t end_offset; /* first byte after it */
        uint64_t begin_ns;   /* times of its events lie between these two */
        uint64_t span_ns;
        uint16_t cap;
};

/* An event's outline: read, not yet checked. */
struct frame {
        uint64_t offset; /* of its first byte */
        uint64_t time_ns;
        uint32_t head; /* bytes before the payload */
        uint32_t size; /* of the payload, as declared or announced */
        uint32_t kind;
        uint16_t id;
};

struct hw_eventlog {
        struct cursor cursor;
        enum stage stage;

        /* header */
        enum header_item item;
        uint64_t header_offset;
        uint32_t skip; /* bytes of description or extension to skip */
        uint32_t n_types;
        uint16_t type_id;
        uint16_t type_size;
        uint32_t max_id; /* highest declared: all that must be cleared */
        bool has_table;

        /* events */
        struct block block;
        bool has_blocks;   /* this run has markers, so events belong in blocks */
        bool adrift;       /* in a run with blocks, but not known to be in one: times must be near last_ns */
        uint64_t last_ns;  /* time of the newest accepted event, by place in the stream */
        uint64_t floor_ns; /* no event of this run is older: least start of a block */

        /* damage */
        struct hw_eventlog_damage damage;
        uint64_t lost_mark; /* bytes before this offset are counted as lost */
        bool lost_limit;    /* report LIMIT, not BAD */
        bool lost_reported; /* reported when it began */
        bool input_ended;   /* no more bytes will come */

        bool may_join; /* a run may be joined in its middle */
        bool joined;   /* the current run was: its header is not known */
        struct join {
                uint64_t steps;      /* in the whole search */
                uint32_t at;         /* followed after `p`; 0: nothing yet */
                uint32_t blocks;     /* markers in these bytes */
                uint32_t events;     /* and other events */
                struct block newest; /* the block in force there */
        } join;

        struct hw_eventlog_stats stats;
        uint16_t quick[HW_QUICK_IDS];        /* plain events: the whole size, or QUICK_VARIABLE; 0: any other id */
        uint64_t quick_counts[HW_QUICK_IDS]; /* events of these ids; apart, so that what is used lies in one page */
        uint32_t kinds[HW_EVENT_IDS];
        uint64_t counts[HW_EVENT_IDS]; /* of all other ids */
        uint8_t narrow[CURSOR_NARROW_BYTES];
};

/* header.c */
void header_begin(struct hw_eventlog *log);  /* at HEADER_BEGIN: drops the old run's table */
void header_resume(struct hw_eventlog *log); /* at TYPES_END, the start being lost: keeps the table */
enum step header_step(struct hw_eventlog *log);
enum step header_expect(struct hw_eventlog *log);       /* STAGE_START and STAGE_END */
bool header_is_expected(const struct hw_eventlog *log); /* after the block marker that may precede one */
extern const char after_end[];                          /* the damage of what is not */
void header_forget(struct hw_eventlog *log);            /* no id is declared any more */
void header_declare(struct hw_eventlog *log, uint16_t id, uint16_t size); /* as a header's record does */
void events_begin(struct hw_eventlog *log);                               /* of a run whose events are declared */

/* decoder.c */
enum answer frame_read(struct hw_eventlog *log, size_t at, struct frame *ret_frame); /* NO: not declared, or zeros */
bool frame_in_bytes(const struct block *block, const struct frame *frame);
bool frame_in_block(const struct block *block, const struct frame *frame);
enum answer marker_read(struct hw_eventlog *log, size_t at, const struct frame *frame, struct block *ret_block);

/* Whether such events carry times of their own. */
static inline bool event_has_own_time(uint16_t id)
{
        return id == HW_GC_START || id == HW_GC_END || id == HW_CREATE_MACHINE;
}

/* ipe.c: bytes of the payload `p` (`size`) up to and including the NUL of the last string; 0: there is none. */
uint32_t ipe_strings_end(const uint8_t *p, uint32_t size);

/* Payload size of the event 169 at `p`. */
enum answer ipe_size(struct hw_eventlog *log, const struct frame *frame, uint32_t *ret_size);

/* fields.c */
uint32_t field_bytes(enum hw_field_type type); /* of a number; 0 for all other types */

/* join.c */
uint16_t known_size(uint16_t id);         /* of the newest release; HW_EVENT_VARIABLE */
bool join_begin(struct hw_eventlog *log); /* false: out of memory */
enum step join_step(struct hw_eventlog *log);
void join_finish(struct hw_eventlog *log, uint64_t left);
enum answer settle_size(struct hw_eventlog *log, const struct frame *frame,
                        uint32_t *ret_size); /* of the event at `p` */

/* resync.c */
enum answer header_found(struct hw_eventlog *log); /* a whole new header begins at `p` */
bool frame_near(const struct hw_eventlog *log, const struct frame *frame);
enum answer next_fits(struct hw_eventlog *log, size_t at, const struct block *block);
enum step lose_bytes(struct hw_eventlog *log, uint64_t offset, const char *reason, bool limit);
enum step lost_step(struct hw_eventlog *log);
void lost_finish(struct hw_eventlog *log, uint64_t left); /* the stream ends `left` bytes after `p` */
