/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a state machine that always has one piece of eventlog - the header,
 * the blocks of a frame, the end marker - and hands it out bit by bit.
 *
 * Opening reads the indexes of all segments once, to find those with a part in
 * the range. A frame has the definitions that came with it. So before a frame is
 * handed out come those of all frames since the last one that was: frames before
 * the range, outside of it, damaged, or never written because the disk was slow.
 */
#include "proto/eventlog/recording/stretch.h"
#include "proto/base/array.h"
#include "proto/base/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heapwatch/eventlog.h"
#include "proto/eventlog/recording/frame.h"

static const uint8_t end_marker[2] = { 0xff, 0xff };

#define MESSAGE_HEAD 12u /* of the event: id, time, length */

enum stage { STAGE_SEGMENTS, STAGE_END, STAGE_OVER };

struct cutout {
        struct cutout_range range;
        struct cutout_stats stats;
        struct frame_unpacker *unpacker;
        int directory;      /* of the run */
        uint32_t *segments; /* those with a part in the range, oldest first */
        size_t n, next;
        uint32_t last;  /* ordinal of the run's last frame; 0: the run is not over */
        bool has_end;   /* that frame is in it, so the run's end marker is, too */
        uint32_t taken; /* ordinal of the newest frame that was handed out; 0: none yet */
        bool wanted;    /* the segment's current frame is to be handed out, after its definitions */
        bool defines;   /* the current definitions have not been looked at */
        struct frame_file definitions, segment;
        enum stage stage;
        bool gap;        /* something is missing before the piece */
        uint8_t *header; /* with the log message declared; NULL: it is as recorded */
        uint8_t end_block[BLOCK_MARKER_BYTES + MESSAGE_HEAD + RUN_END_TEXT_BYTES];
        size_t end_size; /* of the text in it, which is to come; 0: it is out, or there is none */
        const uint8_t *piece;
        size_t left;
};

/* ----------------------------------------------------------------- opening */

static bool is_overlapping(const struct frame_head *h, struct cutout_range range)
{
        return h->begin_ns <= range.to_ns && h->end_ns >= range.from_ns;
}

/* Remembers the segment if a frame of it has a part in the range. */
static int add_segment(struct cutout *c, uint32_t number)
{
        char name[SEGMENT_NAME_BYTES];
        struct frame_file f;
        bool wanted = false;

        segment_name_make(name, number);
        int r = frame_file_open(&f, c->directory, name);
        if (r != 0)
                return r == -ENOENT ? 0 : r;
        while (!wanted && frame_file_next(&f))
                wanted = is_overlapping(&f.head, c->range);
        frame_file_close(&f);
        if (!wanted)
                return 0;
        if (!ARRAY_RESERVE_NEXT(c->segments, c->n))
                return -ENOMEM;
        c->segments[c->n++] = number;
        return 0;
}

static int open_all(struct cutout *c, const char *directory, const struct recorded_run *run)
{
        char path[RECORDED_PATH_MAX];
        int r = recorded_run_path(path, directory, run);

        if (r == 0 && (c->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
                r = -errno;
        for (uint32_t n = run->first; r == 0 && n && n <= run->last; n++)
                r = add_segment(c, n);
        c->last = run->live ? 0 : run->last_frame;
        return r == 0 ? frame_file_open(&c->definitions, c->directory, RUN_DEFINITIONS) : r;
}

/* The header is the first frame of the definitions. */
static bool start_header(struct cutout *c)
{
        if (!frame_file_next(&c->definitions) || c->definitions.head.raw < 4)
                return false;
        c->left = c->definitions.head.raw;
        c->piece = frame_file_blocks(&c->definitions, c->unpacker);
        return c->piece && !memcmp(c->piece, "hdrb", 4);
}

/* ------------------------------------------------------------------ its end */

/* The size that the header declares for an event; -1: none. *ret_end: where its list ends; 0: the list is not whole. */
static int declared_size(const uint8_t *header, size_t n, unsigned event, size_t *ret_end)
{
        int size = -1;
        size_t at = 8;

        *ret_end = 0;
        while (n >= at + 20 && !memcmp(header + at, "etb", 4)) {
                const size_t text = be32(header + at + 8);
                if (text > n - at - 20)
                        return -1;
                const size_t more = be32(header + at + 12 + text);
                if (more > n - at - 20 - text)
                        return -1;
                if (be16(header + at + 4) == event)
                        size = be16(header + at + 6);
                at += 20 + text + more;
        }
        *ret_end = n >= at + 4 && !memcmp(header + at, "hete", 4) ? at : 0;
        return size;
}

/* Declares log messages if the program did not. False: that cannot be done. */
static bool declare_message(struct cutout *c)
{
        static const uint8_t declaration[20] = "etb\0\0\x10\xff\xff\0\0\0\0\0\0\0\0ete";
        size_t end;
        const bool blocks = declared_size(c->piece, c->left, HW_BLOCK_MARKER, &end) == (int)BLOCK_MARKER_BYTES - 10;
        const int size = declared_size(c->piece, c->left, HW_LOG_MSG, &end);

        if (!blocks || end == 0 || (size >= 0 && size != HW_EVENT_VARIABLE))
                return false;
        if (size >= 0)
                return true;
        c->header = malloc(c->left + sizeof(declaration));
        if (!c->header)
                return false;
        memcpy(c->header, c->piece, end);
        memcpy(c->header + end, declaration, sizeof(declaration));
        memcpy(c->header + end + sizeof(declaration), c->piece + end, c->left - end);
        c->piece = c->header;
        c->left += sizeof(declaration);
        return true;
}

#define CUT_OFF "its recording was read up to here; the run itself goes on"

/* Without an end marker the log would be that of a crash. By whether the run goes on now. */
static const struct run_end cut_off[] = {
        [false] = { .state = RUN_END_ENDED, .detail = CUT_OFF },
        [true] = { .state = RUN_END_RUNNING, .detail = CUT_OFF },
};

/* How the run ended; NULL: nobody knows, or its end marker tells all that is known: it ended well. */
static const struct run_end *untold_end(const struct cutout *c, const struct recorded_run *run)
{
        if (run->live || c->range.to_ns < run->end_ns)
                return &cut_off[run->live];
        const struct run_end *end = &run->end;
        const bool told = end->state == RUN_END_ENDED && !end->exit_known && !end->resident_bytes && !end->why.state;

        return end->state == RUN_END_UNKNOWN || told ? NULL : end;
}

/* Makes the text that tells how the run ended; the header is the current piece. */
static void make_end(struct cutout *c, const struct recorded_run *run)
{
        const struct run_end *end = untold_end(c, run);

        if (end && declare_message(c))
                c->end_size = run_end_print(end, (char *)c->end_block + BLOCK_MARKER_BYTES + MESSAGE_HEAD);
}

/*
 * The block of that text is before the first frame, and of its first moment: of no capability, since a program that is
 * read from outside has none.
 */
static void send_end(struct cutout *c)
{
        const uint64_t time_ns = c->segment.head.begin_ns;
        uint8_t *event = c->end_block + BLOCK_MARKER_BYTES;

        c->piece = c->end_block;
        c->left = BLOCK_MARKER_BYTES + MESSAGE_HEAD + c->end_size;
        block_marker_write(c->end_block, time_ns, time_ns, c->left, HW_CAP_NONE);
        put_be(event, HW_LOG_MSG, 2);
        put_be(event + 2, time_ns, 8);
        put_be(event + 10, c->end_size, 2);
        c->end_size = 0;
}

struct cutout *cutout_open(const char *directory, const struct recorded_run *run, struct cutout_range range,
                           struct error *error)
{
        struct cutout *c = calloc(1, sizeof(*c));
        int r = -ENOMEM;

        if (c) {
                c->range = range;
                c->definitions.fd = c->segment.fd = c->directory = -1;
                c->unpacker = frame_unpacker_new();
                if (c->unpacker)
                        r = open_all(c, directory, run);
        }
        if (r != 0)
                error_set(error, "the recording %s@%s cannot be read: %s", run->target, run->name, strerror(-r));
        else if (!start_header(c))
                r = error_code(error, -EINVAL,
                               "the recording %s@%s has no header: it was cut off before its first block was written",
                               run->target, run->name);
        if (r != 0)
                cutout_close(&c);
        else
                make_end(c, run);
        return c;
}

void cutout_close(struct cutout **cp)
{
        struct cutout *c = *cp;

        *cp = NULL;
        if (!c)
                return;
        frame_file_close(&c->definitions);
        frame_file_close(&c->segment);
        if (c->directory >= 0)
                close(c->directory);
        frame_unpacker_destroy(&c->unpacker);
        free(c->segments);
        free(c->header);
        free(c);
}

/* ----------------------------------------------------------------- reading */

/* Definitions from before the frame of this ordinal that were in no frame handed out. False: there are no more. */
static bool next_definitions(struct cutout *c, uint32_t before)
{
        while (c->defines || (c->defines = frame_file_next(&c->definitions))) {
                const struct frame_head *h = &c->definitions.head;

                if (h->ordinal >= before)
                        return false;
                c->defines = false;
                if (h->ordinal == c->taken && c->taken > 0)
                        continue;
                c->piece = frame_file_blocks(&c->definitions, c->unpacker);
                c->left = c->piece ? h->raw : 0;
                return c->piece != NULL;
        }
        return false;
}

/* Opens the next segment. False: there is none. */
static bool open_next(struct cutout *c)
{
        char name[SEGMENT_NAME_BYTES];

        frame_file_close(&c->segment);
        if (c->next == c->n)
                return false;
        if (c->next > 0)
                c->stats.missing += c->segments[c->next] - c->segments[c->next - 1] - 1;
        segment_name_make(name, c->segments[c->next++]);
        if (frame_file_open(&c->segment, c->directory, name) == 0)
                c->stats.segments++;
        else
                c->stats.missing++;
        return true;
}

/* The blocks of the current frame. */
static bool next_frame(struct cutout *c)
{
        const struct frame_head *h = &c->segment.head;
        uint8_t *blocks = frame_file_blocks(&c->segment, c->unpacker);

        if (!blocks) {
                c->stats.missing++;
                return false;
        }
        c->piece = blocks;
        c->left = h->raw;
        c->gap = h->lost_frames > 0 && c->taken > 0;
        c->taken = h->ordinal;
        c->has_end |= h->ordinal == c->last;
        c->stats.lost_bytes += h->lost_bytes;
        if (c->stats.end_ns == 0 || h->begin_ns < c->stats.begin_ns)
                c->stats.begin_ns = h->begin_ns;
        if (h->end_ns > c->stats.end_ns)
                c->stats.end_ns = h->end_ns;
        return true;
}

/* Goes to the next frame with a part in the range. False: there is none. */
static bool find_frame(struct cutout *c)
{
        do {
                while (c->segment.fd >= 0 && frame_file_next(&c->segment))
                        if (is_overlapping(&c->segment.head, c->range))
                                return true;
        } while (open_next(c));
        return false;
}

/* The next piece: definitions that its frame needs, or a frame. False: there are no more. */
static bool more_blocks(struct cutout *c)
{
        while (c->wanted || (c->wanted = find_frame(c))) {
                if (next_definitions(c, c->segment.head.ordinal))
                        return true;
                if (c->end_size) {
                        send_end(c);
                        return true;
                }
                c->wanted = false;
                if (next_frame(c))
                        return true;
        }
        return false;
}

/* Makes the next piece current; it may be empty. */
static void next_piece(struct cutout *c)
{
        switch (c->stage) {
        case STAGE_SEGMENTS:
                if (more_blocks(c))
                        return;
                c->stage = STAGE_END;
                return;
        case STAGE_END:
                c->piece = end_marker;
                c->left = c->has_end ? 0 : sizeof(end_marker);
                c->stage = STAGE_OVER;
                return;
        case STAGE_OVER:
                return;
        }
}

size_t cutout_read(struct cutout *c, uint8_t *bytes, size_t size)
{
        size_t n = 0;

        while (n < size) {
                while (c->left == 0 && c->stage != STAGE_OVER)
                        next_piece(c);
                if (c->left == 0 || (c->gap && n > 0))
                        break;
                c->stats.gaps += c->gap;
                c->gap = false;
                size_t part = c->left < size - n ? c->left : size - n;
                memcpy(bytes + n, c->piece, part);
                c->piece += part;
                c->left -= part;
                n += part;
        }
        return n;
}

const struct cutout_stats *cutout_stats(const struct cutout *c)
{
        return &c->stats;
}
