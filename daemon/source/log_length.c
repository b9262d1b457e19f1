/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: behind a header's end ("hdre" "datb") blocks follow each other. Each
 * begins with a marker (event 18) that says how many bytes it has and when it
 * ends:
 *
 *      u16 18 | u64 begin | u32 size, marker included | u64 end | u16 capability
 *
 * so the file can be walked marker by marker. What is not a marker ends the
 * walk, unless it is the log's end mark with another header behind it. In front
 * of a header there may be something else, as in an archive of tar. Many
 * blocks are small: the file is read in pieces that cost no more than a short
 * read, and often hold the next markers too. It only walks forward, because a
 * compressed log cannot be read otherwise; and not further than a log can become
 * small by compression, because then its blocks are made up.
 */
#include "daemon/source/log_length.h"

#include <string.h>

#include "proto/eventlog/archive/log_file.h"
#include "proto/base/bytes.h"

#define END_ID      0xffffu
#define HEADER_MOST 131072u /* bytes searched for a header's end */
#define PIECE       LOG_LENGTH_PIECE
#define HOPS_MAX    10000000u
#define STEP_HOPS   256u
#define STEP_BYTES  (UINT64_C(16) << 20)

#define UNPACKED_MOST(packed) ((256u << 20) + 256 * (packed)) /* real logs become 4 to 20 times as small */

/*
 * The bytes at a place of the file, never before the place last asked for: *ret_n of them, PIECE at most, and fewer
 * than `least` only at the end of the file.
 */
static const uint8_t *read_at(struct log_length *p, uint64_t at, size_t least, size_t *ret_n)
{
        if (at - p->from > p->n) {
                (void)log_file_skip(p->file, at - p->from - p->n); /* past its end there is nothing to read */
                p->n = 0;
                p->from = at;
        } else if (p->n - (at - p->from) < least) {
                p->n -= at - p->from;
                memmove(p->bytes, p->bytes + (at - p->from), p->n);
                p->from = at;
        }
        while (p->n - (at - p->from) < least) {
                ssize_t n = log_file_read(p->file, p->bytes + p->n, sizeof(p->bytes) - p->n);
                if (n <= 0)
                        break;
                p->n += (size_t)n;
        }
        *ret_n = p->n - (at - p->from);
        return p->bytes + (at - p->from);
}

/* The place behind the end of a header that begins at `at`, or behind what is damaged there; 0 when there is none. */
static uint64_t behind_header(struct log_length *p, uint64_t at)
{
        static const uint8_t end[8] = "hdredatb";

        for (uint64_t seen = 0; seen < HEADER_MOST; seen += PIECE - sizeof(end)) {
                size_t n;
                const uint8_t *bytes = read_at(p, at + seen, PIECE, &n);
                if (n < sizeof(end))
                        return 0;
                const uint8_t *found = memmem(bytes, n, end, sizeof(end));
                if (found)
                        return at + seen + (uint64_t)(found - bytes) + sizeof(end);
        }
        return 0;
}

void log_length_begin(struct log_length *l, struct log_file *file)
{
        const uint64_t packed = (uint64_t)log_file_stat(file)->st_size;

        l->file = file;
        l->most = log_file_is_packed(file) ? UNPACKED_MOST(packed) : UINT64_MAX;
        l->from = l->n = l->longest_ns = 0;
        l->first_ns = UINT64_MAX;
        l->hops = 0;
        l->overlap_ns = 0;
        l->at = behind_header(l, 0);
}

/* Goes to the next block. False: there is none. */
static bool hop(struct log_length *l)
{
        size_t n;
        struct block_marker block;
        const uint8_t *m = read_at(l, l->at, BLOCK_MARKER_BYTES, &n);

        if (n >= 2 && be16(m) == END_ID) {
                l->at = behind_header(l, l->at + 2);
                return true;
        }
        if (n < BLOCK_MARKER_BYTES || !block_marker_read(m, &block))
                return false;
        if (block.begin_ns < l->first_ns)
                l->first_ns = block.begin_ns;
        if (block.begin_ns < l->longest_ns && l->longest_ns - block.begin_ns > l->overlap_ns)
                l->overlap_ns = l->longest_ns - block.begin_ns;
        if (block.end_ns > l->longest_ns)
                l->longest_ns = block.end_ns;
        l->at += block.size;
        return true;
}

bool log_length_step(struct log_length *l)
{
        const uint64_t until = l->at + STEP_BYTES;

        for (unsigned i = 0; i < STEP_HOPS && l->at < until; i++) {
                if (!l->at || l->at >= l->most || l->hops++ == HOPS_MAX)
                        return false;
                if (l->at - l->from - l->n > STEP_BYTES && l->at > l->from + l->n) {
                        /* Towards a block far away: so many bytes may have to be unpacked. */
                        const bool more = log_file_skip(l->file, STEP_BYTES);
                        l->from += l->n + STEP_BYTES;
                        l->n = 0;
                        return more;
                }
                if (!hop(l))
                        return false;
        }
        return true;
}
