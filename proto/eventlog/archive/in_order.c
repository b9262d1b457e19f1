/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the markers of all blocks are read first, a few bytes each, and make a list per buffer. Then each buffer has
 * a cursor, and whichever has the earliest event goes on to the earliest of the others. Where events end
 * is known from the header and, of those of variable length, from themselves, so a piece is cut without decoding: its
 * bytes are in the processor's cache when they are decoded. Blocks that are over before another buffer has an event are
 * not looked into, and as many of them as follow each other in the file are read at once.
 *
 * An event may be older than the one before it (GC_START and others have times of their own): it stays behind that one.
 */
#include "proto/eventlog/archive/in_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heapwatch/eventlog.h"
#include "proto/base/array.h"
#include "proto/base/bytes.h"
#include "proto/eventlog/internal.h"

#define HEADER_MOST   131072u /* bytes of a header that is looked for */
#define BUFFERS_MOST  1000u
#define BLOCKS_MOST   2000000u
#define MARKERS_BYTES 1024u
#define WINDOW_BYTES  65536u /* of a buffer's block that are at hand: an event is at most as long */
#define UNDECLARED    0xfffeu

struct listed {
        uint64_t at; /* of its marker, in the file */
        struct block_marker marker;
};

struct buffer {
        uint16_t cap;
        struct listed *blocks;
        size_t n_blocks, block; /* the one that is read */
        uint64_t at, end;       /* in the file: the next event, the end of the block */
        size_t size;            /* of the next event; 0: none, or the rest of the block is not understood */
        uint64_t own_ns;        /* its time */
        uint64_t time_ns;       /* the same, or the time of one before it that is later */
        uint64_t window_at;     /* in the file */
        size_t window_n;
        uint8_t *window; /* WINDOW_BYTES */
        bool fresh;      /* nothing of the block was given yet */
        bool examined;   /* its next event was; else time_ns is that of the block's marker: at most the event's */
};

struct in_order {
        int fd;
        uint16_t sizes[HW_EVENT_IDS]; /* of payloads, by id; HW_EVENT_VARIABLE, UNDECLARED */
        uint32_t n_sizes;             /* that are known: of the ids below it */
        struct buffer *buffers;
        size_t n_buffers;
        uint64_t at, header_end; /* of the header, while it is read */
        uint64_t rest_at;        /* behind the last whole block */
        bool end_marker;         /* that ends the last block, and is to come */
        bool left;               /* a part of a piece that did not fit, or blocks as they lie in the file */
        uint64_t left_at, left_end;
        uint64_t given; /* bytes, so far */
        uint64_t markers, most_blocks;
};

/* ------------------------------------------------------------------------ open */

static ssize_t read_at(int fd, void *bytes, size_t size, uint64_t at)
{
        ssize_t n;

        do
                n = pread(fd, bytes, size, (off_t)at);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : n;
}

/* Reads the sizes of events from the header; the place behind it, or 0: there is none. */
static uint64_t read_header(struct in_order *o)
{
        static const uint8_t end[8] = "hdredatb";
        struct hw_eventlog *log = hw_eventlog_new();
        uint8_t *bytes = malloc(HEADER_MOST);
        const ssize_t n = log && bytes ? read_at(o->fd, bytes, HEADER_MOST, 0) : 0;
        const uint8_t *found = n > 0 ? memmem(bytes, (size_t)n, end, sizeof(end)) : NULL;
        uint64_t behind = 0;
        struct hw_event event;
        size_t count;

        if (found) {
                behind = (uint64_t)(found - bytes) + sizeof(end);
                hw_eventlog_input(log, bytes, behind);
                enum hw_eventlog_status status;
                while ((status = hw_eventlog_read(log, &event, 1, &count)) == HW_EVENTLOG_BAD)
                        ; /* what is in front of it */
                if (status != HW_EVENTLOG_RUN)
                        behind = 0;
        }
        for (; behind > 0 && o->n_sizes <= log->max_id; o->n_sizes++) {
                const int32_t size = hw_eventlog_declared_size(log, (uint16_t)o->n_sizes);
                o->sizes[o->n_sizes] = size < 0 ? UNDECLARED : (uint16_t)size;
        }
        free(bytes);
        hw_eventlog_destroy(&log);
        return behind;
}

static struct buffer *buffer_of(struct in_order *o, uint16_t cap)
{
        for (size_t i = 0; i < o->n_buffers; i++)
                if (o->buffers[i].cap == cap)
                        return &o->buffers[i];
        if (o->n_buffers == BUFFERS_MOST || !ARRAY_RESERVE_NEXT(o->buffers, o->n_buffers))
                return NULL;
        struct buffer *b = &o->buffers[o->n_buffers++];
        *b = (struct buffer){ .cap = cap, .window = malloc(WINDOW_BYTES) };
        return b->window ? b : NULL;
}

/* Lists the blocks. False: it need not, or cannot, be put in order. */
static bool list_blocks(struct in_order *o, uint64_t at, uint64_t file_end)
{
        uint64_t latest_ns = 0;
        bool overlap = false;
        unsigned n = 0;
        uint8_t near[MARKERS_BYTES];
        uint64_t near_at = at, near_end = at;

        while (at + BLOCK_MARKER_BYTES <= file_end) {
                struct listed block = { .at = at };
                const struct block_marker *marker = &block.marker;
                if (at + BLOCK_MARKER_BYTES > near_end) {
                        const ssize_t got = read_at(o->fd, near, sizeof(near), at);
                        near_at = at;
                        near_end = at + (got > 0 ? (uint64_t)got : 0);
                }
                if (at + BLOCK_MARKER_BYTES > near_end || !block_marker_read(near + (at - near_at), &block.marker) ||
                    marker->size > file_end - at)
                        break;
                struct buffer *b = n++ < BLOCKS_MOST ? buffer_of(o, marker->cap) : NULL;
                if (!b || !ARRAY_RESERVE_NEXT(b->blocks, b->n_blocks))
                        return false;
                b->blocks[b->n_blocks++] = block;
                if (b->n_blocks > o->most_blocks)
                        o->most_blocks = b->n_blocks;
                overlap = overlap || marker->begin_ns < latest_ns;
                if (marker->end_ns > latest_ns)
                        latest_ns = marker->end_ns;
                at += marker->size;
        }
        o->rest_at = at;
        return overlap;
}

/* ---------------------------------------------------------------------- events */

/* The bytes at a place of the block: fewer than `size` only where the file became shorter. */
static const uint8_t *bytes_at(const struct in_order *o, struct buffer *b, uint64_t at, size_t size, size_t *ret_n)
{
        if (at < b->window_at || at + size > b->window_at + b->window_n) {
                const uint64_t left = b->end - at;
                const ssize_t n = read_at(o->fd, b->window, left < WINDOW_BYTES ? (size_t)left : WINDOW_BYTES, at);
                b->window_at = at;
                b->window_n = n > 0 ? (size_t)n : 0;
        }
        *ret_n = b->window_n - (size_t)(at - b->window_at);
        return b->window + (at - b->window_at);
}

/* The length of the event at `at`; 0: there is none that ends in this block and whose time is in it. */
static size_t event_size(const struct in_order *o, struct buffer *b, uint64_t at, uint64_t *ret_time_ns)
{
        const struct block_marker *whole = &b->blocks[b->block - 1].marker;
        const uint64_t left = b->end - at;
        size_t n, size;
        const uint8_t *p =
                bytes_at(o, b, at, left < EVENT_HEAD_VARIABLE_BYTES ? (size_t)left : EVENT_HEAD_VARIABLE_BYTES, &n);

        if (n < EVENT_HEAD_BYTES || be16(p) >= o->n_sizes || o->sizes[be16(p)] == UNDECLARED)
                return 0;
        *ret_time_ns = be64(p + 2);
        if (event_has_own_time(be16(p)) && *ret_time_ns < whole->begin_ns && whole->begin_ns - *ret_time_ns <= EARLY_NS)
                *ret_time_ns = whole->begin_ns;
        if (*ret_time_ns < whole->begin_ns || *ret_time_ns > whole->end_ns)
                return 0;
        size = EVENT_HEAD_BYTES + o->sizes[be16(p)];
        if (o->sizes[be16(p)] == HW_EVENT_VARIABLE) {
                if (n < EVENT_HEAD_VARIABLE_BYTES)
                        return 0;
                size = EVENT_HEAD_VARIABLE_BYTES + be16(p + EVENT_HEAD_BYTES);
                if (be16(p) == HW_IPE && size - 1 <= left && size - 1 <= WINDOW_BYTES) {
                        p = bytes_at(o, b, at, size - 1, &n);
                        const uint32_t end =
                                n < size - 1 ? 0
                                             : ipe_strings_end(p + EVENT_HEAD_VARIABLE_BYTES,
                                                               (uint32_t)(size - 1 - EVENT_HEAD_VARIABLE_BYTES));
                        if (end > 0) /* the runtime announces one byte too many */
                                size = EVENT_HEAD_VARIABLE_BYTES + end;
                }
        }
        return size <= left ? size : 0;
}

/* Looks at the next event. */
static void examine_next(struct in_order *o, struct buffer *b)
{
        const bool may_end = b->end == o->rest_at && b->end - b->at == 2;
        size_t n = 0;
        const uint8_t *end = may_end ? bytes_at(o, b, b->at, 2, &n) : NULL;

        if (n >= 2 && be16(end) == DATA_END) {
                o->end_marker = true;
                b->end = b->at;
        }
        b->size = b->at < b->end ? event_size(o, b, b->at, &b->own_ns) : 0;
        b->examined = true;
        if (b->size > 0 && b->own_ns > b->time_ns)
                b->time_ns = b->own_ns;
}

/* Goes to the next block, if this one is read. False: that was the last one. */
static bool next_block(struct buffer *b)
{
        if (b->fresh || b->at < b->end)
                return true;
        if (b->block == b->n_blocks)
                return false;
        const struct listed *next = &b->blocks[b->block++];
        b->at = next->at + BLOCK_MARKER_BYTES;
        b->end = next->at + next->marker.size;
        b->fresh = true;
        b->examined = false;
        if (next->marker.begin_ns > b->time_ns)
                b->time_ns = next->marker.begin_ns;
        return true;
}

/* ---------------------------------------------------------------------- pieces */

/* The buffer whose next event is the earliest, and the time of the earliest of others; NULL: all blocks were read. */
static struct buffer *find_earliest(struct in_order *o, uint64_t *ret_others_ns)
{
        struct buffer *found = NULL;

        *ret_others_ns = UINT64_MAX;
        for (size_t i = 0; i < o->n_buffers; i++) {
                struct buffer *b = &o->buffers[i];
                if (!next_block(b))
                        continue;
                if (!found || b->time_ns < found->time_ns) {
                        *ret_others_ns = found ? found->time_ns : UINT64_MAX;
                        found = b;
                } else if (b->time_ns < *ret_others_ns) {
                        *ret_others_ns = b->time_ns;
                }
        }
        return found;
}

/* Whether its block is over before another buffer has an event, and has not begun. */
static bool has_whole_block(const struct in_order *o, const struct buffer *b, uint64_t others_ns)
{
        const struct listed *whole = &b->blocks[b->block - 1];

        return b->fresh && whole->marker.end_ns <= others_ns && whole->at + whole->marker.size != o->rest_at;
}

/* The same as find_earliest(), with the time of the event itself, unless that has a whole block. */
static struct buffer *find_next(struct in_order *o, uint64_t *ret_others_ns)
{
        struct buffer *b;

        while ((b = find_earliest(o, ret_others_ns)) && !b->examined && !has_whole_block(o, b, *ret_others_ns))
                examine_next(o, b);
        return b;
}

/* Passes on the whole block of `b`, and those behind it in the file that come next. */
static void pass_blocks(struct in_order *o, struct buffer *b, uint64_t others_ns)
{
        o->left_at = o->left_end = b->at - BLOCK_MARKER_BYTES;
        o->left = true;
        while (b && has_whole_block(o, b, others_ns) && b->at - BLOCK_MARKER_BYTES == o->left_end) {
                const uint64_t end_ns = b->blocks[b->block - 1].marker.end_ns;

                b->time_ns = end_ns > b->time_ns ? end_ns : b->time_ns;
                o->left_end = b->at = b->end;
                b->fresh = false;
                b = find_earliest(o, &others_ns);
        }
}

/* Takes the events up to those of others, as many as have room. Returns the marker that they are to have. */
static struct block_marker cut_piece(struct in_order *o, struct buffer *b, uint64_t others_ns, size_t room)
{
        const struct block_marker *whole = &b->blocks[b->block - 1].marker;
        struct block_marker piece = { .begin_ns = b->fresh ? whole->begin_ns : UINT64_MAX, .cap = b->cap };
        const uint64_t from = b->at;

        while (b->size > 0 && b->time_ns <= others_ns && (b->at == from || b->at + b->size - from <= room)) {
                if (b->own_ns < piece.begin_ns)
                        piece.begin_ns = b->own_ns;
                if (b->own_ns > piece.end_ns)
                        piece.end_ns = b->own_ns;
                b->at += b->size;
                examine_next(o, b);
        }
        if (b->at == from)
                b->at = b->end; /* it is not understood, or is empty */
        if (piece.begin_ns == UINT64_MAX)
                piece.begin_ns = whole->begin_ns;
        if (b->at == b->end)
                piece.end_ns = whole->end_ns;
        piece.size = BLOCK_MARKER_BYTES + (uint32_t)(b->at - from);
        return piece;
}

/* Reads what there is of the range in the file, as much as has room. Its length, or -errno. */
static ssize_t read_range(const struct in_order *o, uint64_t at, uint64_t end, uint8_t *buffer, size_t size)
{
        return read_at(o->fd, buffer, end - at < size ? (size_t)(end - at) : size, at);
}

/* What comes next, without its place: the next bytes from *ret_at on, behind `ret_made` that the file does not have. */
static ssize_t read_next(struct in_order *o, uint8_t *buffer, size_t size, uint64_t *ret_at, size_t *ret_made)
{
        const bool is_begun = o->at == o->header_end && !o->left;
        uint64_t others_ns = 0;
        struct buffer *b = is_begun ? find_next(o, &others_ns) : NULL;
        ssize_t n;

        *ret_made = 0;
        if (b && has_whole_block(o, b, others_ns))
                pass_blocks(o, b, others_ns);
        if (o->at < o->header_end || o->left) {
                uint64_t *at = o->left ? &o->left_at : &o->at;
                const uint64_t end = o->left ? o->left_end : o->header_end;
                n = read_range(o, *at, end, buffer, size);
                *ret_at = *at;
                *at += n > 0 ? (uint64_t)n : 0;
                if (*at == end || n <= 0)
                        o->left = false;
                return n;
        }
        if (!b && o->end_marker) {
                put_be(buffer, DATA_END, 2);
                o->end_marker = false;
                *ret_at = o->rest_at - 2;
                return 2;
        }
        if (!b) {
                n = read_at(o->fd, buffer, size, o->rest_at);
                *ret_at = o->rest_at;
                o->rest_at += n > 0 ? (uint64_t)n : 0;
                return n;
        }
        const bool made = !b->fresh;
        const uint64_t from = b->at;
        const struct block_marker piece = cut_piece(o, b, others_ns, size - BLOCK_MARKER_BYTES);
        o->markers += made;
        b->fresh = false;
        block_marker_write(buffer, piece.begin_ns, piece.end_ns, piece.size, piece.cap);
        if (from >= b->window_at && b->at <= b->window_at + b->window_n && piece.size <= size) {
                n = (ssize_t)(b->at - from);
                memcpy(buffer + BLOCK_MARKER_BYTES, b->window + (from - b->window_at), (size_t)n);
        } else {
                n = read_range(o, from, b->at, buffer + BLOCK_MARKER_BYTES, size - BLOCK_MARKER_BYTES);
        }
        if (n < 0)
                return n;
        o->left = n > 0 && from + (uint64_t)n < b->at;
        o->left_at = from + (uint64_t)n;
        o->left_end = b->at;
        *ret_at = from;
        *ret_made = BLOCK_MARKER_BYTES;
        return n + BLOCK_MARKER_BYTES;
}

ssize_t in_order_read(struct in_order *o, uint8_t *buffer, size_t size, struct in_order_place *ret_place)
{
        uint64_t at = 0;
        size_t made;
        const ssize_t n = read_next(o, buffer, size, &at, &made);

        *ret_place = (struct in_order_place){ .from = o->given + made,
                                              .moved = (int64_t)(at - o->given - made),
                                              .markers = o->markers,
                                              .blocks = o->most_blocks };
        o->given += n > 0 ? (uint64_t)n : 0;
        return n;
}

/* ------------------------------------------------------------------- open, close */

struct in_order *in_order_open(int fd)
{
        struct in_order *o = calloc(1, sizeof(*o));
        struct stat st;

        if (!o)
                return NULL;
        o->fd = fd;
        o->header_end = fstat(fd, &st) == 0 ? read_header(o) : 0;
        if (!o->header_end || !list_blocks(o, o->header_end, (uint64_t)st.st_size))
                in_order_close(&o);
        for (size_t i = 0; o && i < o->n_buffers; i++)
                (void)next_block(&o->buffers[i]);
        return o;
}

void in_order_close(struct in_order **op)
{
        struct in_order *o = *op;

        *op = NULL;
        for (size_t i = 0; o && i < o->n_buffers; i++) {
                free(o->buffers[i].blocks);
                free(o->buffers[i].window);
        }
        if (o)
                free(o->buffers);
        free(o);
}
